"""What `make install` puts in place, and that a shell and a reader can use it."""

import json
import os
import re
import stat
import subprocess

import pytest
from programs import BINARY, ROOT


def run_make(*arguments):
    # Not the variables of a `make` that runs these tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def make(target, folder):
    run_make("-s", target, f"BIN={BINARY}", f"DESTDIR={folder}", "PREFIX=/usr")


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    make("install", folder)
    return folder / "usr"


@pytest.fixture(scope="module")
def program():
    """The program with its commands, as it describes them to tools."""
    said = subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["command"]


def commands(command):
    """Those that do something: (names from the program's on, command, whether it is shown)."""
    for inner in command.get("subcommands", []):
        if inner.get("subcommands"):
            yield from commands(inner)
        elif inner["commandName"] != "help":
            yield " ".join([*inner["superCommands"], inner["commandName"]]), inner, inner["shouldDisplay"]


def test_everything_is_there_and_goes_again(installed, tmp_path):
    pipelines = {f"share/mediabridge/{path.relative_to(ROOT)}" for path in ROOT.glob("pipelines/*/*.pipeline")}
    assert files(installed) == pipelines | {
        "bin/mediabridge",
        "share/bash-completion/completions/mediabridge",
        "share/fish/vendor_completions.d/mediabridge.fish",
        "share/man/man1/mediabridge.1",
        "share/zsh/site-functions/_mediabridge",
    }
    for path in installed.rglob("*"):
        mode = path.stat().st_mode
        assert not mode & (stat.S_IWGRP | stat.S_IWOTH), f"others can write {path}"
        assert path.stat().st_size > 0
    make("install", tmp_path)
    kept = tmp_path / "usr/share/mediabridge/pipelines/output/own.pipeline"
    kept.write_text("# Somebody's own.\n")
    make("uninstall", tmp_path)
    assert files(tmp_path) == {str(kept.relative_to(tmp_path))}


def test_root_installs_what_somebody_else_has_built():
    """Also under the name under which `make release` builds it."""
    assert "swift build" in run_make("-n", "install")
    assert "swift" not in run_make("-n", "install", "BIN=.build/release/mediabridge")


def test_the_pages_need_nothing_of_the_tests():
    shown = run_make("-n", "docs")
    assert "python3" in shown
    for package in ("nginx", "coturn", "pulseaudio"):
        assert package not in shown
    assert "--no-remove" in run_make("-n", "setup-test")


def test_the_installed_program_finds_its_pipelines(installed, tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [installed / "bin/mediabridge", "pipelines", "show", "mp4"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"# file: {installed}/share/mediabridge/pipelines/output/mp4.pipeline\n"), done.stdout


def completions(installed, folder, *words):
    """What bash offers for the last word."""
    script = """
        source "$0"
        function=$(complete -p mediabridge | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
        COMP_WORDS=(mediabridge "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
        "$function" mediabridge "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    file = installed / "share/bash-completion/completions/mediabridge"
    command = ["bash", "--norc", "-c", script, file, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes(installed, program, tmp_path):
    for name in ("movie.mkv", "move.txt"):
        (tmp_path / name).touch()
    shown = {command["commandName"] for command in program["subcommands"] if command["shouldDisplay"]}
    assert {word for word in completions(installed, tmp_path, "") if not word.startswith("-")} == shown
    assert completions(installed, tmp_path, "rec") == {"record"}
    assert "--participant" in completions(installed, tmp_path, "record", "--par")
    assert completions(installed, tmp_path, "dev-server", "--pass") == set(), "a hidden option"
    assert "create" in completions(installed, tmp_path, "token", "")
    assert completions(installed, tmp_path, "record", "mov") == {"movie.mkv"}


def plain(text):
    """Words only: where lines are broken, and which dash, is the reader's business."""
    return " ".join(re.sub(r"[‐−]", "-", text).split())


def test_the_manual_shows_every_command(installed, program):
    page = installed / "share/man/man1/mediabridge.1"
    # Without hyphenation and overstriking.
    command = ["groff", "-man", "-ww", "-Tutf8", "-rHY=0", "-P-c", "-P-b", "-P-o", "-P-u", page]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = plain(done.stdout)
    displayed, hidden = set(), set()
    for name, command, is_shown in commands(program):
        assert (name in shown) == is_shown, name
        if not is_shown:
            continue
        for text in (command.get("abstract"), command.get("discussion")):
            assert plain(text or "") in shown, f"{name}: {text}"
        for argument in command.get("arguments", []):
            names = [f"--{long['name']}" for long in argument.get("names", []) if long["kind"] == "long"]
            (displayed if argument["shouldDisplay"] else hidden).update(names)
            if argument["shouldDisplay"]:
                assert plain(argument.get("abstract", "")) in shown, f"{name} {names}"
    source = page.read_text()
    for name, command, is_shown in commands(program):
        for text in (command.get("discussion") or "").split("\n\n")[1:] if is_shown else ():
            word = text.split()[0].replace("-", "\\-")
            assert f"\n.PP\n{word} " in source, f"{name}: no paragraph begins with {word}"
    # What one command hides another may show.
    for option in displayed | hidden:
        assert (f"{option} " in shown) == (option in displayed), option
    for name in ("LIVEKIT_URL", "LIVEKIT_TOKEN", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "MEDIABRIDGE_PIPELINES"):
        assert re.search(rf"\b{name} (Stands in|A folder)", shown), name
