"""Where the program takes its pipeline templates from, and the commands that show and change them."""

import os
import resource
import shutil
import subprocess
from xml.etree import ElementTree

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
            # An editor may signal its whole group.
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), **variables}, start_new_session=True,
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


OWN = "home/.config/mediabridge/pipelines"


def editor(folder, script):
    """A program that stands for a person with an editor."""
    program = folder / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"VISUAL": str(program)}


def test_list_says_what_the_machine_lacks(say):
    listed = say("pipelines", "list").stdout.splitlines()
    entry = next(index for index, line in enumerate(listed) if line.startswith("encode/h264-vaapi "))
    if subprocess.run(["gst-inspect-1.0", "--exists", "vah264enc"], check=False).returncode == 0:
        pytest.skip("this machine has the hardware")
    assert "vah264enc" in listed[entry + 1] and "gstreamer1.0-plugins-bad" in listed[entry + 1]
    checked = say("pipelines", "check")
    assert checked.returncode == 0 and "absent encode/h264-vaapi: " in checked.stdout


def test_hardware_that_is_not_here_is_not_offered(say):
    if subprocess.run(["gst-inspect-1.0", "--exists", "vah264enc"], check=False).returncode == 0:
        pytest.skip("this machine has the hardware")
    record = ("record", "--dev", "--room", "r", "--dry-run", "x.mp4")
    chosen = say(*record, "--set", "target-usage=2")
    assert chosen.returncode != 0 and "no variable 'target-usage'" in chosen.stderr and "vaapi" not in chosen.stderr
    asked = say(*record, "--encode", "h264-vaapi")
    assert asked.returncode != 0 and "vah264enc" in asked.stderr and "gstreamer1.0-plugins-bad" in asked.stderr


def test_show_has_defaults_and_units(say):
    shown = say("pipelines", "show", "encode/h264").stdout
    assert "# variable: bitrate (default 2500, kbit/s)\n" in shown
    assert "# variable: location (required, path or address)\n" in say("pipelines", "show", "output/mp4").stdout


def test_an_edit_is_checked_and_told_as_a_difference(say, tmp_path):
    own = tmp_path / OWN / "output/mp4.pipeline"
    assert "as it ships" in say("pipelines", "diff", "output/mp4").stdout
    done = say("pipelines", "edit", "output/mp4", **editor(tmp_path, 'sed -i "s/fragment:-1000/fragment:-500/" "$1"'))
    assert done.returncode == 0 and f"{own} is ok" in done.stdout, done.stderr
    difference = say("pipelines", "diff", "mp4").stdout
    assert difference.startswith("--- (inside the program)/output/mp4.pipeline\n+++ " + str(own))
    changes = [line for line in difference.splitlines()[2:] if line[0] in "+-"]
    assert [change[0] for change in changes] == ["-", "+"] and "fragment:-500" in changes[1]
    shipped = tmp_path / "shipped"
    shipped.write_text(own.read_text().replace("fragment:-500", "fragment:-1000"))
    patch = subprocess.run(["diff", "-u", shipped, own], capture_output=True, text=True, check=False).stdout
    assert difference.splitlines()[2:] == patch.splitlines()[2:], "as diff has it"


def test_a_broken_edit_is_told_by_line_and_kept(say, tmp_path):
    own = tmp_path / OWN / "output/mp4.pipeline"
    done = say("pipelines", "edit", "mp4", **editor(tmp_path, 'sed -i "s/^! filesink/! fliesink/" "$1"'))
    line = next(n for n, text in enumerate(own.read_text().splitlines(), 1) if text.startswith("! fliesink"))
    assert done.returncode == 1 and f"{own}:{line}: " in done.stderr and "fliesink" in done.stderr
    # A text that cannot even be read goes on being edited.
    broken = say("pipelines", "edit", "output/mp4", **editor(tmp_path, 'echo "! \\${x" >> "$1"'))
    assert broken.returncode == 1 and f"{own}:{len(own.read_text().splitlines())}: " in broken.stderr
    mended = say("pipelines", "edit", "output/mp4", **editor(tmp_path, 'sed -i "s/fliesink/filesink/;\\$d" "$1"'))
    assert mended.returncode == 0, mended.stderr


def test_an_editor_that_fails_is_told(say, tmp_path):
    done = say("pipelines", "edit", "output/mp4", **editor(tmp_path, "exit 3"))
    assert done.returncode == 1 and "$EDITOR" in done.stderr
    assert not (tmp_path / OWN / "output/mp4.pipeline").exists(), "a copy hides what ships"


def test_an_edit_that_changes_nothing_leaves_no_copy(say, tmp_path):
    """It would hide what ships, also what ships later."""
    done = say("pipelines", "edit", "output/mp4", **editor(tmp_path, "exit 0"))
    assert done.returncode == 0 and "Nothing was changed" in done.stdout, done.stderr
    own = tmp_path / OWN / "output/mp4.pipeline"
    assert not own.exists()
    own.write_text(TEXT)
    done = say("pipelines", "edit", "output/mp4", **editor(tmp_path, "exit 0"))
    assert own.read_text() == TEXT, done.stderr


def test_an_editor_has_the_signals_of_its_terminal(say, tmp_path):
    """None is blocked, and what is typed to interrupt ends a command within it, and not us below it."""
    told = tmp_path / "told"
    script = f"""
trap 'echo interrupted >> {told}' INT
grep SigBlk /proc/self/status > {told}
kill -INT 0
sed -i "s/fragment:-1000/fragment:-500/" "$1"
"""
    done = say("pipelines", "edit", "output/mp4", **editor(tmp_path, script))
    assert done.returncode == 0 and "is ok" in done.stdout, done.stderr
    blocked, interrupted = told.read_text().splitlines()
    assert int(blocked.split()[1], 16) == 0 and interrupted == "interrupted"


def test_an_editor_has_as_many_descriptors_as_whoever_began_the_program_granted(say, tmp_path):
    """The program itself takes as many as it may have."""
    told = tmp_path / "told"
    script = f"{{ ulimit -Sn; ulimit -Hn; grep 'open files' /proc/$PPID/limits; }} > {told}; true"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500, hard))
    try:
        done = say("pipelines", "edit", "output/mp4", VISUAL=script)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert told.exists(), done.stderr
    *given, own = told.read_text().splitlines()
    assert given == ["500", str(hard)]
    assert own.split()[3:5] == [str(hard), str(hard)], own


KINDS = ["receive", "process", "mix", "tile", "decode", "encode", "send", "output", "capture"]


def test_a_new_text_works_and_is_found(say, tmp_path):
    for kind in KINDS:
        done = say("pipelines", "new", f"{kind}/mine")
        assert done.returncode == 0, done.stderr
    listed = say("pipelines", "list").stdout
    assert all(f"{kind}/mine " in listed for kind in KINDS)
    assert say("pipelines", "check").returncode == 0
    again = say("pipelines", "new", "output/mine")
    assert again.returncode == 1 and "there already" in again.stderr


def test_every_name_that_is_listed_is_found(say):
    assert say("pipelines", "new", "output/with-a-name-that-is-longer-than-all-the-others").returncode == 0
    names = [line.split()[0] for line in say("pipelines", "list").stdout.splitlines() if line.split("/")[0] in KINDS]
    assert len(names) > 50 and "output/with-a-name-that-is-longer-than-all-the-others" in names
    for name in names:
        assert say("pipelines", "show", name).returncode == 0, name


def test_a_new_text_may_be_a_copy(say, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir(0o755)
    done = say("pipelines", "new", "output/film", "--from", "output/mkv", "--pipelines", folder)
    assert done.returncode == 0, done.stderr
    assert "Matroska" in (folder / "output/film.pipeline").read_text()
    assert (folder / "output/film.pipeline").stat().st_mode & 0o022 == 0
    unlike = say("pipelines", "diff", "output/film", "--pipelines", folder)
    assert unlike.returncode == 1 and "film.pipeline: no such template ships" in unlike.stderr
    wrong = say("pipelines", "new", "encode/film", "--from", "output/mkv")
    assert wrong.returncode == 1 and "no template of the kind encode" in wrong.stderr
    assert "did you mean 'output'?" in say("pipelines", "new", "outptu/film").stderr


def test_a_mask_that_lets_others_write_changes_nothing(say, tmp_path):
    before = os.umask(0o002)
    try:
        assert say("pipelines", "new", "output/mine").returncode == 0
    finally:
        os.umask(before)
    assert "(inside the program)" not in say("pipelines", "show", "output/mine").stdout.splitlines()[0]


def test_the_picture_has_every_element_and_link(say, tmp_path):
    svg = "{http://www.w3.org/2000/svg}"
    for name, elements, links, contract in [
        ("encode/h264", 9, 8, 3), ("mix/video", 8, 7, 4), ("output/hls", 4, 3, 3), ("receive/vp8", 7, 6, 4),
    ]:
        done = say("pipelines", "graph", name, "--output", tmp_path / "picture.svg")
        assert done.returncode == 0, done.stderr
        root = ElementTree.parse(tmp_path / "picture.svg").getroot()
        inside = root.find(f"{svg}g")
        boxes = inside.findall(f"{svg}rect")
        assert len(boxes) == elements and len(inside.findall(f"{svg}path")) == links, name
        assert sum(box.get("class") == "contract" for box in boxes) == contract, name
        width = float(root.get("width"))
        shift = float(inside.get("transform").removeprefix("translate(").split(",")[0])
        assert all(0 <= shift + float(box.get("x")) <= width - float(box.get("width")) for box in boxes)
    drawn = say("pipelines", "graph", "output/mp4", "--set", "location=<&\">.mp4").stdout
    assert "location=<&\">.mp4" in "".join(ElementTree.fromstring(drawn).itertext())
    wrong = say("pipelines", "graph", "output/mp4", "--set", "locaton=a")
    assert wrong.returncode == 64 and "did you mean location?" in wrong.stderr
