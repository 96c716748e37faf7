"""A screen that is seen by way of the desktop's portal: the person there is asked, and may change their mind."""

import signal

import checks
import numpy as np
import pytest
from failures import after, assert_failed
from portal import desktop
from publishing import publish


@pytest.fixture
def at(start):
    """The person, the environment of who is at their desktop, and PipeWire."""
    with desktop(start) as at:
        yield at


def test_what_is_chosen_is_seen_until_it_is_taken_back(server, start, tmp_path, at):
    person, environment, _ = at
    subscriber = server.subscriber("--duration", "30", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, "screen", room="test", environment=environment)
    told = publisher.wait_for("publishing", 20)
    assert [(track["source"], track["size"]) for track in told["tracks"]] == [("screen_share", "320x240")], told
    assert person.wait_for("asked") == {"event": "asked", "restored": False, "cursor": 2}
    file = tmp_path / "screen.mkv"
    recorder = server.recorder("test", "alice", file, "--source", "screen")
    after(recorder, 3)
    person.write("end")
    assert "has ended what was shared" in publisher.wait_for("source_ended", 10)["message"]
    assert publisher.finish(10) == 0, publisher.report("it is no failure")
    assert "320x240" in subscriber.next(20, "what was seen")["sizes"]
    recorder.send(signal.SIGINT)
    assert recorder.finish(20) == 0, recorder.report("failed")
    assert_bars(file)


def assert_bars(file):
    """Seven, each darker than the one before it, and snow in the corner below, which is never the same."""
    # Black is what follows it.
    frames = [luma.astype(float) for _, luma in checks.frames(file) if luma.mean() > 30]
    assert len(frames) > 30, f"{len(frames)} frames of 3 s at 15 a second"
    bars = np.array_split(frames[-1][:120], 7, axis=1)
    levels = [bar[:, 10:-10].mean() for bar in bars]
    assert all(np.diff(levels) < -10), levels
    corners = [frame[-40:, -60:] for frame in frames]
    assert min(np.abs(b - a).mean() for a, b in zip(corners, corners[1:])) > 5


def test_who_refuses_is_told(server, start, at):
    person, environment, _ = at
    person.write("refuse")
    publisher = publish(server, start, "screen", environment=environment)
    assert_failed(publisher, "screen: ", "the person at the desktop has shared nothing", within=10)


def test_nobody_waits_for_who_does_not_answer(server, start, at):
    person, environment, _ = at
    person.write("wait")
    publisher = publish(server, start, "screen-portal", environment=environment)
    person.wait_for("asked", 10)
    publisher.send(signal.SIGINT)
    publisher.finish(5)


def lose(server, start, at, answer):
    """A screen that was seen, and whose PipeWire has died; the person is to answer so when they are asked again."""
    person, environment, pipewire = at
    publisher = publish(server, start, "screen", environment=environment)
    publisher.wait_for("publishing", 20)
    person.wait_for("asked", 10)
    person.write(answer)
    pipewire.send(signal.SIGKILL)
    publisher.wait_for("source_lost", 20)
    person.wait_for("asked", 20)
    return publisher


def test_nobody_waits_for_who_is_asked_again_and_does_not_answer(server, start, at):
    publisher = lose(server, start, at, "wait")
    publisher.send(signal.SIGINT)
    publisher.finish(10)


def test_who_refuses_to_share_it_again_is_not_asked_once_more(server, start, at):
    person, _, _ = at
    publisher = lose(server, start, at, "refuse")
    assert "has shared nothing" in publisher.wait_for("source_ended", 20)["message"]
    assert publisher.finish(10) == 0, publisher.report("it is no failure")
    assert not [event for event in person.events if event["event"] == "asked"][2:], person.events


def test_a_desktop_without_a_portal_says_so(server, start):
    none = ("WAYLAND_DISPLAY=wayland-7", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere")
    publisher = publish(server, start, "screen", environment=none)
    assert_failed(publisher, "screen: this desktop shows no screen", "xdg-desktop-portal", within=10)
