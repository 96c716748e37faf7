"""Frames of a camera that is turned while it films: upright in a file, and told to whoever shows them.

With square frames a file needs no bars, and the number in each of them is readable in one turn only."""

import time

import checks
import clip
import pytest
from conftest import RoomServer
from desktop import Desktop
from programs import KEYS, mediabridge

SIZE = (360, 360)
FPS = 25
TURNS = (0, 90, 180, 270)
SECONDS = 6


def publish(server, room, codec):
    server.foreign_publisher(
        *("--room", room, "--codec", codec, "--keep-size", "--width", SIZE[0], "--height", SIZE[1]),
        *("--turns", *TURNS, "--duration", 60),
    )


@pytest.fixture
def passing_server(start, namespace):
    """One that leaves it to subscribers to turn frames, other than LiveKit's."""
    return RoomServer(start, namespace.command, "--pass-orientation")


def turns_seen(server, room):
    program = server.probe(room)
    rotations = [program.wait_for("progress") for _ in range(6)]
    program.stop()
    assert {event["size"] for event in rotations[1:]} == {"360x360"}
    return {event["rotation"] for event in rotations[1:]}


def assert_upright(server, room, file):
    recorder = server.recorder(room, "alice", file, "--duration", f"{SECONDS}s")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    frames = checks.numbered(file, SIZE)
    unreadable = [round(time, 2) for number, time, _ in frames if number is None]
    assert len(unreadable) <= 0.01 * len(frames), f"not upright, or not to be read: {unreadable}"
    numbers = [number for number, _, _ in frames if number is not None]
    assert numbers == sorted(numbers) and numbers[-1] - numbers[0] > 0.8 * SECONDS * FPS
    assert checks.decode_errors(file) == []


# Each codec and each container: a turn is taken out of frames behind the decoder and before the encoder.
@pytest.mark.parametrize("codec, container", [("VP8", "mkv"), ("VP9", "webm"), ("H264", "mp4")])
def test_a_turned_camera_is_recorded_upright(passing_server, tmp_path, codec, container):
    publish(passing_server, "turned", codec)
    assert_upright(passing_server, "turned", tmp_path / f"turned.{container}")


@pytest.mark.parametrize("codec", ["VP8", "H264", "VP9"])
def test_whoever_shows_frames_is_told_their_turn(passing_server, codec):
    publish(passing_server, "told", codec)
    assert turns_seen(passing_server, "told") == set(TURNS)


def test_a_turned_camera_is_seen_upright(passing_server, start):
    publish(passing_server, "seen", "VP8")
    with Desktop() as desktop:
        command = mediabridge("view", "--url", passing_server.url, *KEYS, "--room", "seen", "--json")
        view = start(passing_server.enter(*desktop.command(*command, "--size", f"{SIZE[0]}x{SIZE[1]}")))
        view.wait_for("tile_added")
        seconds = set()
        deadline = time.monotonic() + 40
        # Of each of the turns, which last a second.
        while {second % len(TURNS) for second in seconds} != set(range(len(TURNS))):
            assert time.monotonic() < deadline, view.report(f"upright in the seconds {seconds} only")
            number = clip.read(desktop.screenshot()[: SIZE[1], : SIZE[0]])
            if number is not None:
                seconds.add(number // FPS)
        view.stop()


def test_a_publisher_that_is_not_asked_turns_its_frames_itself(server, tmp_path):
    publish(server, "asked", "VP8")
    assert turns_seen(server, "asked") == {0}
    file = tmp_path / "asked.mkv"
    assert_upright(server, "asked", file)
    assert checks.codecs(file)["video"] == "vp8"
