"""The times that `mediabridge frames` and `pcm` tell are those of what is shown and heard, in whatever form it comes."""

import contextlib
import json
import os
import socket
import struct
import threading
import time

import clip
import numpy as np
import pytest
from raw import Reader, lines, of
from test_frames import FPS, HEIGHT, WIDTH, eventually, gray, luma, numbers
from test_pcm import RATE, beeps
from test_shared_memory import Shared

FRAME = WIDTH * HEIGHT * 3 // 2


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size")
    return server


def assert_at_their_times(times, read):
    """Numbers in order, each within 5 ms of when its publisher has shown it."""
    assert len(times) == len(read) > 3 and read == sorted(set(read)), read
    for moment, number in zip(times, read):
        assert abs(moment - times[0] - (number - read[0]) / FPS) < 0.005, (moment, number)


def shown(log, read):
    """The times of the frames that are not there again, and their numbers."""
    told = of("frame", lines(log))
    assert [frame["number"] for frame in told] == list(range(len(read)))
    new = [(frame["time"], number) for frame, number in zip(told, read) if "repeated" not in frame]
    return [moment for moment, _ in new], [number for _, number in new]


def test_those_of_y4m(room, tmp_path):
    log, file = tmp_path / "info.jsonl", tmp_path / "a.y4m"
    Reader(room, "frames", "--format", "y4m", "--fps", FPS, "--duration", "2s", "--info", log, file).all()
    head, *frames = file.read_bytes().split(b"FRAME\n")
    assert head.startswith(b"YUV4MPEG2 ")
    assert_at_their_times(*shown(log, numbers(luma(b"".join(frames)))))


def test_those_of_images(room, tmp_path):
    log, folder = tmp_path / "info.jsonl", tmp_path / "images"
    Reader(room, "frames", "--format", "png", "--duration", "1s", "--info", log, f"{folder}/").all()
    read = [clip.read(gray(file)) for file in sorted(folder.iterdir())]
    assert_at_their_times(*shown(log, read))


def test_those_of_a_named_pipe(room, tmp_path):
    log, pipe = tmp_path / "info.jsonl", tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = Reader(room, "frames", "--duration", "2s", "--info", log, pipe)
    with open(pipe, "rb") as end:
        read = numbers(luma(end.read()))
    assert reader.finish() == 0, reader.said
    assert_at_their_times(*shown(log, read))


def test_those_of_shared_memory(room, tmp_path):
    """Which tells them beside it, of more frames than one reader has."""
    log = tmp_path / "info.jsonl"
    shared = Shared(room, tmp_path, "--info", log)
    assert shared.read(tmp_path / "out", count=50).wait(30) == 0
    shared.stop()
    read = numbers(luma((tmp_path / "out").read_bytes()))
    assert read == sorted(set(read))
    places = np.array([frame["time"] for frame in of("frame", lines(log))]) * FPS
    assert np.abs(places - places.round()).max() < 0.005 * FPS, "each is when its publisher shows one"
    assert set(np.diff(read)) <= set(np.diff(places.round())) | {1.0}


HEADER = struct.Struct("<4sIIII4sq")


def framed(stream, count):
    """So many frames of one that `--framed` has made: (stream, time, bytes, when it was read), and what is said of them."""
    found, said = [], []
    while len(found) < count:
        _, length, number, _, _, kind, nanoseconds = HEADER.unpack(stream.read(HEADER.size))
        data = stream.read(length)
        if kind == b"json":
            said.append(json.loads(data))
        else:
            found.append((number, nanoseconds / 1e9, data, time.monotonic()))
    return found, said


def test_those_of_a_socket(room, tmp_path):
    path = tmp_path / "frames.sock"
    reader = Reader(room, "frames", "--framed", f"unix:{path}")
    eventually(path.exists)
    with socket.socket(socket.AF_UNIX) as connection, contextlib.ExitStack() as stack:
        connection.connect(str(path))
        found, said = framed(stack.enter_context(connection.makefile("rb")), 40)
    assert reader.stop() == 0, reader.said
    assert_at_their_times([moment for _, moment, _, _ in found], numbers(luma(b"".join(data for _, _, data, _ in found))))
    assert said[-1]["participant"] == "alice"


def test_streams_of_one_pipe_have_one_clock(room, tmp_path):
    """That of the machine: each frame was shown shortly before it is read, whoever came first."""
    room.foreign_publisher("--keep-size", "--no-audio", "--identity", "bob")
    log = tmp_path / "info.jsonl"
    reader = Reader(room, "frames", "--each", "--framed", "--format", "gray8", "--size", "160x90", "--info", log)
    found, said = framed(reader.process.stdout, 120)
    reader.process.stdout.close()
    assert reader.stop() == 0, reader.said
    starts = {line["track"]: line["start"] for line in said if "start" in line}
    assert {line["participant"] for line in said if "start" in line} == {"alice", "bob"} and len(starts) == 2
    ages = [read - (starts[number] + moment) for number, moment, _, read in found]
    assert -0.1 < np.median(ages) < 1.5 and len({number for number, *_ in found}) == 2
    assert {line["track"]: line["start"] for line in of("track", lines(log)) if "start" in line} == starts


def test_what_is_seen_and_what_is_heard_have_one_clock(room, tmp_path):
    """A beep goes with each flash, and two commands tell when."""
    logs = tmp_path / "frames.jsonl", tmp_path / "pcm.jsonl"
    pictures = Reader(room, "frames", "--format", "gray8", "--size", "320x180", "--duration", "6s", "--info", logs[0])
    sound = Reader(room, "pcm", "--duration", "6s", "--info", logs[1])
    taken = []
    taker = threading.Thread(target=lambda: taken.append(sound.all()))
    taker.start()
    data = np.frombuffer(pictures.all(), np.uint8).reshape(-1, 180, 320)
    taker.join()
    starts = [[line["start"] for line in of("track", lines(log)) if "start" in line] for log in logs]
    times = [frame["time"] for frame in of("frame", lines(logs[0]))]
    flashes = [starts[0][0] + moment for moment, number in zip(times, numbers(data)) if number % FPS == 0]
    heard = [starts[1][0] + begin for begin, _ in beeps(np.frombuffer(taken[0], "<i2"))]
    apart = [min((beep - flash for beep in heard), key=abs) for flash in flashes[1:-1]]
    assert len(apart) >= 3 and abs(np.median(apart)) < 0.1, apart


def test_samples_have_the_times_of_their_sender(room, tmp_path):
    log = tmp_path / "info.jsonl"
    reader = Reader(room, "pcm", "--rate", 16_000, "--info", log, tmp_path / "a.raw")
    # Which a sender report tells.
    eventually(lambda: "captured" in (of("samples", lines(log)) or [{}])[-1])
    assert reader.stop() == 0, reader.said
    told = of("samples", lines(log))
    known = [line for line in told if "rtp" in line]
    assert len(known) > 0.9 * len(told)
    for a, b in zip(known, known[1:]):
        # By the clock of Opus; samples are brought to their place within a millisecond.
        assert (b["rtp"] - a["rtp"]) % 2**32 == pytest.approx((b["sample"] - a["sample"]) * 3, abs=100)
    captured = [line["captured"] for line in known if "captured" in line]
    assert captured and captured == sorted(captured) and abs(captured[-1] - time.time()) < 10


@pytest.mark.realtime
def test_the_phase_of_a_tone_goes_on(server):
    """Not by a tenth of its millisecond is it elsewhere from one hundredth of a second to the next."""
    server.foreign_publisher("--no-video", "--tone")
    samples = np.frombuffer(Reader(server, "pcm", "--duration", "6s").all(), "<i2").astype(float)[RATE:]
    block = RATE // 100
    turned = samples * np.exp(-2j * np.pi * clip.TONE * np.arange(len(samples)) / RATE)
    phases = np.angle(turned.reshape(-1, block).mean(axis=1))
    steps = np.angle(np.exp(1j * np.diff(phases)))
    assert np.abs(steps).max() < 2 * np.pi / 10, steps.round(2)
    assert np.abs(np.unwrap(phases) - phases[0]).max() < 2 * np.pi, "and nowhere is one missing or too many"
