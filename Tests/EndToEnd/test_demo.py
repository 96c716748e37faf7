"""What `make demo` runs."""

import subprocess

import checks
import pytest
from programs import KEYS, ROOT, mediabridge


def test_demo(tmp_path):
    file = tmp_path / "demo.mp4"
    command = [*mediabridge("demo", "--output"), file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert checks.codecs(file)["video"] == "h264" and set(checks.codecs(file)) == {"video", "audio"}
    assert checks.durations(file) == pytest.approx({"video": 10, "audio": 10}, abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []
    for word in ("H.264", str(file), "lost", "00:00:"):
        assert word in done.stdout, f"'{word}' is not in what it said:\n{done.stdout}"
    first, samples = checks.audio(file)
    assert checks.level(samples) > 0.01
    assert checks.frequency(samples) == pytest.approx(440, abs=5), "it recorded somebody else"
    changed = [luma for _, luma in checks.frames(file)]
    assert (changed[0] != changed[-1]).mean() > 0.001, "the frame does not move"


def test_the_demo_says_where_the_file_is(tmp_path):
    command = [*mediabridge("demo", "--duration", "2s", "--output"), tmp_path / "demo-{utc}.mkv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("demo-*.mkv")
    assert f"It is at {file}: " in done.stdout, done.stdout


@pytest.mark.parametrize("helper", ["yes", "no"])
def test_first_start_of_gstreamer(helper, start, local_server, tmp_path):
    """Plugins are scanned then, by a helper process or where there is none in ours: both leave SRTP working."""
    local_server.own_publisher("r", "alice", "vp8")
    scan = ("env", f"GST_REGISTRY={tmp_path / 'registry'}", f"GST_REGISTRY_FORK={helper}")
    options = ("--url", local_server.url, *KEYS, "--room", "r", "--duration", "2s", "--json")
    program = start((*scan, *mediabridge("probe", *options)))
    assert program.finish() == 0, program.report("no frames")
    assert program.events[-1]["frames"] > 25
