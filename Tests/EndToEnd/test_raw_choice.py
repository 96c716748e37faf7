"""Which track `mediabridge frames` and `pcm` take, in which size and colours, and where it goes."""

import io
import signal
import time
import wave

import av
import numpy as np
import pytest
from live_server import wait_until
from publish_color import COLORS
from raw import Reader, lines, of
from test_frames import HEIGHT, WIDTH, luma, numbers


def is_screen(plane):
    return plane.std() < 10 and plane.mean() > 150


def waits(server, command, *options, count):
    """What it says that it waits for, so many times; it ends with an error then, since nothing has come."""
    reader = Reader(server, command, *options)
    wait_until("it to be told", lambda: len(of("waiting", reader.events)) >= count, 20)
    assert reader.stop() == 1, reader.said
    return [event["for"] for event in of("waiting", reader.events)]


def test_whom_it_waits_for_is_said(server):
    """And who is there instead, for whom a mistyped name may be meant."""
    assert waits(server, "frames", "--composite", "grid", "--size", "160x90", count=1) == ["somebody to publish"]
    assert waits(server, "pcm", count=1) == ["audio of somebody"]
    server.foreign_publisher("--no-video", "--identity", "alice")
    for command, wish in (("pcm", "the audio of alcie"), ("frames", "the video of alcie")):
        told = waits(server, command, "--participant", "alcie", count=2)
        assert told == [wish, f"{wish} (alice is there: did you mean alice?)"]
    told = waits(server, "frames", "--participant", "alice", count=2)
    assert told[1] == "the video of alice (there is only the microphone of alice)"
    reader = Reader(server, "pcm", "--participant", "alcie", "--wait", "1s")
    assert reader.finish() == 1
    assert "waited in vain for the audio of alcie (alice is there: did you mean alice?); raise --wait" in reader.said


def test_whose_audio_is_taken_is_said(server):
    """Another one follows once nothing of the first is there any more."""
    alice = server.foreign_publisher("--no-video", "--identity", "alice")
    # The room is told of it once something has come.
    server.watcher("test").wait_for("track_published")
    reader = Reader(server, "pcm")
    reader.read(4800)
    wait_until("it to be told", lambda: of("track", reader.events))
    server.foreign_publisher("--no-video", "--identity", "bob")
    alice.send(signal.SIGTERM)
    deadline = time.monotonic() + 30
    while len(of("track", reader.events)) < 2:
        assert time.monotonic() < deadline, reader.said
        reader.read(4800)
    assert reader.stop() == 0, reader.said
    taken = [(event["participant"], event["source"]) for event in of("track", reader.events)]
    assert taken == [("alice", "microphone"), ("bob", "microphone")]
    assert not of("waiting", reader.events)


@pytest.fixture
def both(server):
    """A publisher of a camera, a screen and a microphone."""
    publisher = server.foreign_publisher("--keep-size", "--screen", "last", "--tone")
    return publisher, next(event for event in publisher.events if event["event"] == "published")["sids"]


def planes(reader, count):
    data = reader.read(count * WIDTH * HEIGHT)
    assert reader.stop() == 0, reader.said
    return np.frombuffer(data, np.uint8).reshape(count, HEIGHT, WIDTH)


def test_what_is_named_is_taken(server, both):
    _, sids = both

    def readers(*choices):
        return [(choice, Reader(server, "frames", "--format", "gray8", *choice)) for choice in choices]

    screens = readers(("--source", "screen"), ("--track", sids["screen"]))
    cameras = readers((), ("--source", "camera"), ("--track", sids["video"]))
    for choice, reader in screens:
        assert all(is_screen(plane) for plane in planes(reader, 5)), choice
    for _, reader in cameras:
        numbers(planes(reader, 5))
    for choice in (("--source", "microphone"), ("--track", sids["audio"])):
        samples = np.frombuffer(Reader(server, "pcm", "--duration", "1s", *choice).all(), "<i2")
        assert len(samples) == 48_000 and np.abs(samples[24_000:]).max() > 10_000, choice


def test_a_screen_goes_before_a_camera_that_is_muted(server, both):
    publisher, _ = both
    reader = Reader(server, "frames", "--format", "gray8")

    def next_plane():
        return np.frombuffer(reader.read(WIDTH * HEIGHT), np.uint8).reshape(HEIGHT, WIDTH)

    numbers([next_plane() for _ in range(5)])
    publisher.write("mute-video")
    while not is_screen(next_plane()):
        pass
    publisher.write("unmute-video")
    while is_screen(next_plane()):
        pass
    assert reader.stop() == 0, reader.said


def test_a_small_size_costs_little_on_the_wire(server, tmp_path):
    """The server is asked for that layer of a simulcast track, and sends it."""
    layers = ("--simulcast", "--width", 1280, "--height", 720, "--fps", 10, "--bitrate", 2_500_000)
    server.foreign_publisher(*layers, "--keep-size", "--no-audio", "--duration", 60)
    readers = {size: Reader(server, "frames", "--size", size, "--info", tmp_path / size) for size in ("320x180", "640x360")}

    def sent():
        """The sizes of the newest frames, as they came, and those of the ones before."""
        for size, reader in readers.items():
            width, height = map(int, size.split("x"))
            numbers(luma(reader.read(5 * width * height * 3 // 2), width, height))
        return {size: [event["size"] for event in of("size", lines(tmp_path / size))] for size in readers}

    # Whoever publishes begins with less than the largest.
    deadline = time.monotonic() + 30
    told = sent()
    while any(told[size][-1:] != [size] for size in told):
        assert time.monotonic() < deadline, told
        told = sent()
    assert all(reader.stop() == 0 for reader in readers.values())


def rgb(form, data, width, height):
    """One frame as red, green and blue, by readers that are not ours."""
    if form in ("rgb24", "bgr24"):
        frame = np.frombuffer(data, np.uint8).reshape(height, width, 3)
        return frame if form == "rgb24" else frame[..., ::-1]
    if form in ("png", "jpeg"):
        with av.open(io.BytesIO(data), format="png_pipe" if form == "png" else "jpeg_pipe") as container:
            return next(container.decode(video=0)).to_ndarray(format="rgb24")
    shape = (height, width) if form == "gray8" else (height * 3 // 2, width)
    name = {"i420": "yuv420p", "nv12": "nv12", "gray8": "gray", "y4m": "yuv420p"}[form]
    return av.VideoFrame.from_ndarray(np.frombuffer(data, np.uint8).reshape(shape), format=name).to_ndarray(format="rgb24")


def test_every_format_has_the_colours_of_the_source(server):
    width, height = 160, 96
    server.foreign_publisher("--keep-size", "--no-audio", "--width", width, "--height", height, script="publish_color.py")
    forms = ("i420", "nv12", "rgb24", "bgr24", "gray8", "y4m", "png", "jpeg")
    readers = {form: Reader(server, "frames", "--format", form, "--fps", 1, "--duration", "1s") for form in forms}
    for form, reader in readers.items():
        data = reader.all()
        if form == "y4m":
            data = data[data.index(b"FRAME\n") + 6 :]
        frame = rgb(form, data, width, height).astype(int)
        for row, colors in enumerate(COLORS):
            for column, color in enumerate(colors):
                red, green, blue = color
                # Of ITU-R BT.601, as it is sent.
                gray = round(0.299 * red + 0.587 * green + 0.114 * blue)
                wanted = np.array((gray, gray, gray) if form == "gray8" else color)
                y, x = height // 4 + row * height // 2, width // 4 + column * width // 2
                seen = frame[y - 5 : y + 5, x - 5 : x + 5].mean(axis=(0, 1))
                assert np.abs(seen - wanted).max() < 24, (form, color, seen)


def test_names_of_files_have_what_is_known_of_the_track(server, tmp_path):
    publisher = server.foreign_publisher("--no-video")
    sid = next(event for event in publisher.events if event["event"] == "published")["sids"]["audio"]
    name = "{room_name}-{publisher_identity}-{track_type}-{track_source}-{track_id}-{room_id}-{utc}.wav"
    for folder, options in (("one", ()), ("each", ("--each",))):
        Reader(server, "pcm", "--format", "wav", "--duration", "1s", *options, f"{tmp_path}/{folder}/{name}").all()
        [file] = (tmp_path / folder).iterdir()
        assert file.name.startswith(f"test-alice-audio-microphone-{sid}-RM_"), file.name
        with wave.open(str(file)) as read:
            assert read.getnframes() == 48_000
    Reader(server, "pcm", "--mix", "--duration", "1s", tmp_path / "{room_name}.{time}.raw").all()
    [file] = tmp_path.glob("test.20*.raw")
    assert file.stat().st_size == 2 * 48_000
