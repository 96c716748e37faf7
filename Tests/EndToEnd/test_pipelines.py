"""Where the program takes its pipeline templates from."""

import shutil
import subprocess

import pytest
from programs import mediabridge

TEXT = "# somebody else's\nappsrc name=video ! fakesink\n"


@pytest.fixture
def say(tmp_path):
    """Runs a copy of the program that is neither installed nor in a checkout, for somebody with a home of their own."""
    (tmp_path / "home").mkdir()
    program = tmp_path / "moved" / "program"
    program.parent.mkdir()
    shutil.copy2(mediabridge()[0], program)

    def run(*arguments, **variables):
        return subprocess.run(
            [program, *map(str, arguments)], cwd=program.parent, capture_output=True, text=True, check=False, timeout=60,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), **variables},
        )

    return run


def write(folder, mode=0o755):
    (folder / "output").mkdir(parents=True)
    (folder / "output/mp4.pipeline").write_text(TEXT)
    folder.chmod(mode)
    return folder


def test_a_program_alone_has_its_texts_inside(say, tmp_path):
    write(tmp_path / "pipelines")
    write(tmp_path / "moved/pipelines")
    shown = say("pipelines", "show", "mp4")
    assert shown.stdout.startswith("# file: (inside the program)/output/mp4.pipeline\n"), shown.stderr
    assert say("pipelines", "check").returncode == 0
    named = say("pipelines", "show", "mp4", MEDIABRIDGE_PIPELINES=str(tmp_path / "pipelines"))
    assert TEXT in named.stdout, named.stderr


def test_a_folder_that_others_can_write_is_passed_over_and_said(say, tmp_path):
    folder = write(tmp_path / "home/.config/mediabridge/pipelines", 0o775)
    assert "(inside the program)" in say("pipelines", "show", "mp4").stdout
    assert f"run `chmod go-w {folder}`" in say("pipelines", "list").stdout
    checked = say("pipelines", "check")
    assert checked.returncode == 0
    assert checked.stderr.count(str(folder)) == 2, "once in one line, with what to do"
    assert len(checked.stderr.splitlines()) == 1


@pytest.mark.parametrize("way", ["--pipelines", "MEDIABRIDGE_PIPELINES"])
def test_one_that_was_asked_for_is_an_error(way, say, tmp_path):
    folder = write(tmp_path / "mine", 0o775)
    record = ("record", "--dev", "--room", "r", "x.mp4")
    done = say(*record, way, folder) if way == "--pipelines" else say(*record, **{way: str(folder)})
    assert done.returncode != 0
    assert way in done.stderr and f"run `chmod go-w {folder}`" in done.stderr, done.stderr
