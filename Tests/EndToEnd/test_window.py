"""A window as a destination: it shows what is recorded, and disturbs nothing."""

import signal
import time

import checks
import pytest
from desktop import Desktop
from failures import after
from programs import KEYS, ROOT, mediabridge


@pytest.fixture
def desktop():
    with Desktop() as shown:
        yield shown


def recorder(server, start, desktop, room, *destinations):
    command = mediabridge("record", "--url", server.url, *KEYS, "--room", room, "--json", "--composite", "grid")
    return start(server.enter(*desktop.command(*command, *destinations)))


def wait_until_seen(desktop):
    deadline = time.monotonic() + 30
    while desktop.screenshot().std() < 20:
        assert time.monotonic() < deadline, "nothing is seen"


def test_a_display_that_hangs_holds_up_nothing(server, start, desktop, tmp_path):
    server.foreign_publisher("--room", "hangs")
    file = tmp_path / "room.mp4"
    recording = recorder(server, start, desktop, "hangs", file, "window=")
    recording.wait_for("recording", 20)
    wait_until_seen(desktop)
    with desktop.hanging():
        length = after(recording, recording.wait_for("progress")["duration"] + 2)["duration"]
        recording.send(signal.SIGINT)
        assert recording.finish(40) == 0, recording.report("failed")
    assert checks.decode_errors(file) == [] and checks.length(file) >= length - 0.5
    times = [time for time, _ in checks.frames(file)]
    assert max(b - a for a, b in zip(times, times[1:])) < 0.5


def test_closing_it_ends_nothing_else(server, start, desktop, tmp_path):
    server.foreign_publisher("--room", "window")
    file = tmp_path / "room.mp4"
    recording = recorder(server, start, desktop, "window", file, "window=")
    recording.wait_for("recording", 20)
    wait_until_seen(desktop)
    ((window, width, height),) = desktop.windows()
    assert (width, height) == (960, 540)
    desktop.act("close", window)
    while recording.wait_for("destination").get("state") != "complete":
        pass
    assert not desktop.windows()
    length = after(recording, recording.wait_for("progress")["duration"] + 1.5)["duration"]
    recording.send(signal.SIGINT)
    assert recording.finish(40) == 0, recording.report("failed")
    assert checks.decode_errors(file) == [] and checks.length(file) >= length - 0.5


def test_an_edited_template_opens_another_in_its_place(server, start, desktop, tmp_path):
    """A broken one is told, and changes nothing."""
    server.foreign_publisher("--room", "edited")
    text = (ROOT / "pipelines/output/window.pipeline").read_text()
    template = tmp_path / "texts" / "output" / "window.pipeline"
    template.parent.mkdir(parents=True)
    template.write_text(text)
    file = tmp_path / "room.mp4"
    recording = recorder(server, start, desktop, "edited", file, "window=", "--pipelines", tmp_path / "texts")
    recording.wait_for("recording", 20)
    wait_until_seen(desktop)
    template.write_text(text.replace("ximagesink", "ximagesnk"))
    assert "ximagesnk" in recording.wait_for("reload_refused", 20)["message"]
    ((before, *size),) = desktop.windows()
    assert size == [960, 540]
    template.write_text(text.replace("width:-960", "width:-640").replace("height:-540", "height:-360"))
    assert recording.wait_for("reloaded", 20)["templates"] == ["output/window"]
    deadline = time.monotonic() + 10
    while [size for _, *size in desktop.windows()] != [[640, 360]]:
        assert time.monotonic() < deadline, desktop.windows()
    wait_until_seen(desktop)
    ((now, _, _),) = desktop.windows()
    assert now != before
    desktop.act("close", now)
    while recording.wait_for("destination").get("state") != "complete":
        pass
    recording.send(signal.SIGINT)
    assert recording.finish(40) == 0, recording.report("failed")
    assert checks.decode_errors(file) == []


def test_a_display_that_goes_ends_nothing_else(server, start, desktop, tmp_path):
    server.foreign_publisher("--room", "gone")
    file = tmp_path / "room.mp4"
    recording = recorder(server, start, desktop, "gone", file, "window=")
    recording.wait_for("recording", 20)
    wait_until_seen(desktop)
    desktop.end()
    while recording.wait_for("destination").get("state") != "failed":
        pass
    length = after(recording, recording.wait_for("progress")["duration"] + 1.5)["duration"]
    recording.send(signal.SIGINT)
    assert recording.finish(40) == 1
    assert "the display is gone" in recording.errors + str(recording.events)
    assert checks.decode_errors(file) == [] and checks.length(file) >= length - 0.5


def test_a_window_alone_is_refused(local_server):
    recording = local_server.recorder("alone", None, "window=", "--composite", "grid")
    assert recording.finish(20) != 0
    assert "a window shows what is recorded" in recording.errors + str(recording.events)
