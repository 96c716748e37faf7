"""`mediabridge view` shows a room of foreign participants, as a screenshot by another program has it."""

import os
import signal
import time

import checks
import clip
import numpy as np
import pytest
from desktop import Desktop
from failures import assert_failed
from programs import KEYS, mediabridge

WIDTH, HEIGHT = 800, 450
GAP = 4
FPS = 25


@pytest.fixture
def desktop():
    with Desktop() as shown:
        yield shown


def viewer(server, start, desktop, room, *options):
    command = mediabridge("view", "--url", server.url, *KEYS, "--room", room, "--json")
    return start(server.enter(*desktop.command(*command, "--size", f"{WIDTH}x{HEIGHT}", *options)))


def publisher(server, room, identity, *options):
    small = ("--width", "320", "--height", "180", "--no-audio", "--keep-size", "--duration", "60")
    return server.foreign_publisher("--room", room, "--identity", identity, *small, *options)


def tiles(count):
    """Places of frames of 16:9 beside each other, in the middle of their tiles: (x, y, width, height)."""
    width = (WIDTH - GAP * (count - 1)) // count // 2 * 2
    left = (WIDTH - count * width - GAP * (count - 1)) // 2
    height = width * 9 // 16
    return [(left + index * (width + GAP), (HEIGHT - height) // 2, width, height) for index in range(count)]


def frame(screen, place):
    """Of a screenshot what is in a place, brought to the size of the source by nearest neighbours."""
    x, y, width, height = place
    rows = [y + row * height // 180 for row in range(180)]
    columns = [x + column * width // 320 for column in range(320)]
    return screen[rows][:, columns]


def number(screen, place):
    """The number of the frame in a place when it is the source's frame of that number, else None."""
    shown = frame(screen, place)
    found = clip.read(shown)
    if found is None or clip.is_flash(found, FPS):
        return None
    # The name stands in the lower left corner.
    likeness = checks.similarity(shown[:136], clip.draw(found, 320, 180, FPS)[:136])
    return found if likeness > 0.6 else None


def wait_for_frames(desktop, count, but=()):
    """Waits until there is a source's frame in each of `count` tiles; their numbers."""
    deadline = time.monotonic() + 30
    while True:
        screen = desktop.screenshot()
        numbers = [number(screen, place) for place in tiles(count)]
        if None not in numbers and numbers != list(but):
            return numbers
        assert time.monotonic() < deadline, f"no frames in {count} tiles: {numbers}"


def test_a_room_in_a_window(server, start, desktop):
    publisher(server, "seen", "alice")
    bob = publisher(server, "seen", "bob")
    view = viewer(server, start, desktop, "seen")
    added = {view.wait_for("tile_added")["name"] for _ in range(2)}
    assert added == {"alice", "bob"}
    before = wait_for_frames(desktop, 2)
    # They move.
    wait_for_frames(desktop, 2, but=before)
    assert [size for _, *size in desktop.windows()] == [[WIDTH, HEIGHT]]
    bob.send(signal.SIGTERM)
    assert view.wait_for("tile_removed")["name"] == "bob"
    wait_for_frames(desktop, 1)
    view.send(signal.SIGINT)
    assert view.finish(20) == 0, view.report("Ctrl-C")
    assert not view.errors
    assert view.events[-1]["event"] == "finished"
    assert not os.path.exists(f"/proc/{view.pid}") and not desktop.windows()


def test_only_one_participant(server, start, desktop):
    publisher(server, "one", "alice")
    publisher(server, "one", "bob")
    view = viewer(server, start, desktop, "one", "--participant", "bob")
    assert view.wait_for("tile_added")["name"] == "bob"
    wait_for_frames(desktop, 1)
    view.send(signal.SIGTERM)
    assert view.finish(20) == 0
    assert [event["name"] for event in view.events if event["event"] == "tile_added"] == ["bob"]


def test_those_who_are_shown_may_have_a_pattern(local_server, start, desktop):
    for name in ("host", "guest-1"):
        local_server.own_publisher("some", name, "vp8")
    view = viewer(local_server, start, desktop, "some", "--participant", "nobody", "--participant", "guest-*")
    assert view.wait_for("tile_added")["name"] == "guest-1"
    # The window may be there before anybody is.
    if not [event for event in view.events if event["event"] == "window"]:
        view.wait_for("window")
    view.send(signal.SIGTERM)
    assert view.finish(20) == 0
    assert [event["name"] for event in view.events if event["event"] == "tile_added"] == ["guest-1"]


def test_a_mistyped_name_is_noticed(local_server, start, desktop):
    local_server.own_publisher("typo", "alice", "vp8")
    view = viewer(local_server, start, desktop, "typo", "--participant", "alcie")
    assert view.wait_for("waiting")["for"] == "the video of alcie"
    assert view.wait_for("waiting", 10)["for"] == "the video of alcie (alice is there: did you mean alice?)"
    view.send(signal.SIGTERM)
    assert view.finish(20) == 0


# The template of one's own that a person writes to keep what is played. The mixer waits for longer than any machine of
# tests stands still, since what comes too late is silent.
KEPT = """audiomixer name=audiomix force-live=true latency=700000000 discont-wait=0
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2 ! filesink location=${location} buffer-mode=unbuffered
"""


def test_what_is_said_is_heard(server, start, desktop, tmp_path):
    """Of the one who is shown: her beeps once a second, and not Bob's tone."""
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "playback.pipeline").write_text(KEPT)
    server.foreign_publisher("--room", "heard", "--identity", "alice", "--width", "320", "--height", "180")
    server.foreign_publisher("--room", "heard", "--identity", "bob", "--no-video", "--tone")
    played = tmp_path / "played.raw"
    options = ("--participant", "alice", "--audio", "--pipelines", tmp_path, "--set", f"location={played}")
    view = viewer(server, start, desktop, "heard", *options)
    view.wait_for("tile_added")
    deadline = time.monotonic() + 30
    while not played.exists() or played.stat().st_size < 5 * clip.RATE * 4:
        assert time.monotonic() < deadline, view.report("nothing is played")
        time.sleep(0.1)
    view.send(signal.SIGTERM)
    assert view.finish(20) == 0
    samples = np.fromfile(played, np.int16).reshape(-1, 2)[:, 0] / 32768
    heard = checks.beeps(0, samples)
    # The first one may be under way when she is subscribed to.
    assert len(heard) >= 4 and np.diff(heard[1:]) == pytest.approx(1, abs=0.03), np.round(heard, 3)


def test_a_machine_without_an_audio_device_is_told(local_server, start, desktop):
    silent = ("env", "-u", "PULSE_SERVER", "XDG_RUNTIME_DIR=/nowhere", "PULSE_RUNTIME_PATH=/nowhere")
    command = mediabridge("view", "--url", local_server.url, *KEYS, "--room", "silent", "--audio")
    view = start((*silent, *desktop.command(*command)))
    assert view.finish(20) != 0
    assert "no audio device" in view.errors and "--set sink=" in view.errors, view.report("says something else")


def test_closing_the_window_ends_it(local_server, start, desktop):
    view = viewer(local_server, start, desktop, "empty")
    view.wait_for("window")
    deadline = time.monotonic() + 10
    while not desktop.windows():
        assert time.monotonic() < deadline, "no window"
    desktop.act("close", desktop.windows()[0][0])
    assert view.finish(20) == 0
    assert not view.errors and view.events[-1]["event"] == "finished"


def test_without_a_display_it_says_what_to_do(local_server, start):
    command = mediabridge("view", "--url", local_server.url, *KEYS, "--room", "r")
    view = start(("env", "-u", "DISPLAY", *map(str, command)))
    assert view.finish(20) == 1
    assert "DISPLAY" in view.errors and len(view.errors.splitlines()) == 1


def test_a_small_window_is_sent_small_frames(server, start, desktop):
    large = ("--width", "1280", "--height", "720", "--simulcast", "--no-audio", "--keep-size", "--duration", "60")
    server.foreign_publisher("--room", "small", "--identity", "alice", *large)
    view = viewer(server, start, desktop, "small", "--size", "320x180")
    while view.wait_for("track_dimensions_changed")["size"] != "320x180":
        pass
    # The window's owner makes it larger.
    desktop.act("resize", desktop.windows()[0][0], 960, 640)
    while view.wait_for("track_dimensions_changed")["size"] != "1280x720":
        pass
    view.send(signal.SIGINT)
    assert view.finish(20) == 0


def test_a_display_that_goes_away_is_told(local_server, start, desktop):
    local_server.own_publisher("gone", "alice", "vp8")
    view = viewer(local_server, start, desktop, "gone")
    view.wait_for("tile_added")
    desktop.end()
    assert_failed(view, f"display {desktop.environment['DISPLAY']} is gone")


def test_a_window_that_another_program_destroys_is_told(local_server, start, desktop):
    view = viewer(local_server, start, desktop, "destroyed")
    view.wait_for("window")
    deadline = time.monotonic() + 10
    while not desktop.windows():
        assert time.monotonic() < deadline, "no window"
    desktop.act("destroy", desktop.windows()[0][0])
    assert_failed(view, "window")
