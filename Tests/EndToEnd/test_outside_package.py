"""The library in a package of somebody else, who knows only what README says."""

import os
import re
import shutil
import subprocess

import pytest
from programs import ROOT, mediabridge

pytestmark = [pytest.mark.long, pytest.mark.outside]

SECONDS = 4
MAIN = f"""
let arguments = CommandLine.arguments
print(try await countFrames(url: arguments[1], token: arguments[2], for: .seconds({SECONDS})))
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def checkout_of_the_library(folder):
    """The working tree."""
    files = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for file in filter(None, files):
        if (ROOT / file).exists():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)
    return folder


@pytest.fixture
def counter(tmp_path):
    """README's example, built by README's manifest beside a checkout."""
    library = checkout_of_the_library(tmp_path / "mediabridge")
    manifest, example, *_ = re.findall(r"```swift\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert 'path: "../mediabridge"' in manifest
    sources = tmp_path / "program/Sources/counter"
    sources.mkdir(parents=True)
    (tmp_path / "program/Package.swift").write_text(manifest)
    (sources / "Example.swift").write_text(example)
    (sources / "main.swift").write_text(MAIN)
    run("swift", "build", cwd=tmp_path / "program", timeout=3600)
    # Nothing of what it was built from is left.
    shutil.rmtree(library)
    shutil.rmtree(tmp_path / "program/.build/checkouts")
    return tmp_path / "program/.build/debug/counter"


def test_the_example_counts_frames(counter, local_server, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    # A folder of that name above a program is none of the library's.
    (counter.parents[2] / "pipelines/receive").mkdir(parents=True)
    (counter.parents[2] / "pipelines/receive/vp8.pipeline").write_text("nonsense")
    local_server.own_publisher("r", "alice", "vp8")
    token = run(*mediabridge("token", "create", "--dev", "--room", "r", "--identity", "counter")).strip()
    environment = {name: value for name, value in os.environ.items() if name != "MEDIABRIDGE_PIPELINES"}
    environment |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    said = run(counter, local_server.url, token, cwd=counter.parents[2], env=environment, timeout=60)
    frames = int(said.split()[-1])
    assert 15 * SECONDS < frames < 30 * SECONDS, f"{frames} frames in {SECONDS} s"
