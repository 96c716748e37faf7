"""What a participant does not send: the file is as long as the recording, silent and still where nothing came."""

import checks
import clip
import numpy as np
import pytest
from failures import after

pytestmark = pytest.mark.realtime

FPS = 25
SECONDS = 8


def start(server, room, file, *options, seconds=SECONDS):
    return server.recorder(room, "alice", file, "--duration", f"{seconds}s", *options)


def complete(recorder):
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    return told


def record(server, room, file, *options, seconds=SECONDS):
    return complete(start(server, room, file, *options, seconds=seconds))


def assert_whole(file, seconds=SECONDS, kinds=("video", "audio")):
    assert checks.durations(file) == pytest.approx(dict.fromkeys(kinds, seconds), abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []


def assert_audio_goes_on(file, seconds=SECONDS):
    """A beep in every second, none missing and none twice."""
    heard = checks.beeps(*checks.audio(file))
    assert np.diff(heard) == pytest.approx(1, abs=0.03), f"beeps at {np.round(heard, 3)}"
    assert len(heard) >= seconds - 1


def assert_together(file, frames):
    # A frame that is held may be a flash.
    new = [frame for before, frame in zip([(None, 0, 0), *frames], frames) if frame[0] != before[0]]
    offsets = checks.flash_offsets(new, FPS, *checks.audio(file))
    # By how much each frame is later than its number says tells where a step came from.
    late = np.round([time - number / FPS for number, time, _ in new if number is not None], 3)
    assert max(map(abs, offsets)) <= 0.040, f"flash and beep apart: {np.round(offsets, 3)}, frames: {late - late[0]}"


@pytest.mark.parametrize(
    "codec, container", [("VP8", "webm"), ("VP9", "mkv"), ("H264", "mp4"), ("H264", "mkv"), ("VP8", "mp4"), ("AV1", "webm")]
)
def test_a_camera_that_stalls_holds_its_frame(server, tmp_path, codec, container):
    file = tmp_path / f"stalled.{container}"
    publisher = server.foreign_publisher("--room", "stall", "--codec", codec)
    recorder = start(server, "stall", file)
    after(recorder, 1)
    publisher.write("hold:4")
    complete(recorder)
    assert_whole(file)
    assert_audio_goes_on(file)
    frames = checks.numbered(file, clip.SIZE)
    numbers = [number for number, _, _ in frames]
    assert None not in numbers
    assert all(a <= b for a, b in zip(numbers, numbers[1:])), f"frames go back: {numbers}"
    # The longest time without a new frame is the pause, and its frames show what was shown last.
    changes = [time for (a, _, _), (b, time, _) in zip(frames, frames[1:]) if a != b]
    pause = int(np.argmax(np.diff(changes)))
    assert changes[pause + 1] - changes[pause] == pytest.approx(4, abs=0.5)
    held = [time for _, time, _ in frames if changes[pause] < time < changes[pause + 1]]
    assert len(held) >= 3, "the file did not grow in the pause"
    assert_together(file, frames)


@pytest.mark.parametrize("codec, container", [("VP8", "mp4"), ("VP8", "mkv"), ("VP8", "webm"), ("H264", "webm")])
def test_a_camera_that_comes_later_is_in_the_file(server, tmp_path, codec, container):
    file = tmp_path / f"late.{container}"
    publisher = server.foreign_publisher("--room", "camera", "--no-video", "--codec", codec)
    recorder = start(server, "camera", file, seconds=10)
    after(recorder, 2)
    publisher.write("publish")
    complete(recorder)
    assert_whole(file, 10)
    assert_audio_goes_on(file, 10)
    frames = checks.numbered(file, clip.SIZE)
    black = [time for number, time, luma in frames if number is None and luma.max() < 20]
    shown = [time for number, time, _ in frames if number is not None]
    assert len(black) + len(shown) >= len(frames) - 2
    assert len(shown) > 3 * FPS and black and max(black) < min(shown)
    # The first frames of a camera wait for its encoder.
    assert_together(file, [frame for frame in frames if frame[1] > min(shown) + 0.3])


def test_a_participant_without_camera_is_recorded_at_once(server, tmp_path):
    file = tmp_path / "voice.mp4"
    server.foreign_publisher("--room", "voice", "--no-video")
    record(server, "voice", file, seconds=5)
    assert_whole(file, 5)
    assert_audio_goes_on(file, 5)
    assert max(luma.max() for _, luma in checks.frames(file)) < 20


@pytest.mark.parametrize("container", ["mp4", "mkv", "ogg"])
def test_audio_alone(server, tmp_path, container):
    file = tmp_path / f"audio.{container}"
    server.foreign_publisher("--room", "audio")
    told = record(server, "audio", file, "--audio-only", seconds=4)
    # Also where the file takes no video.
    assert ["it was not asked for" in left["reason"] for left in told["not_recorded"]] == [True], told
    assert_whole(file, 4, ("audio",))
    assert_audio_goes_on(file, 4)


def test_video_alone(server, tmp_path):
    file = tmp_path / "video.mkv"
    server.foreign_publisher("--room", "video")
    told = record(server, "video", file, "--video-only", seconds=4)
    assert [(left["kind"], left["wanted"]) for left in told["not_recorded"]] == [("audio", False)], told
    assert_whole(file, 4, ("video",))


def test_a_participant_without_microphone_is_silent(server, tmp_path):
    file = tmp_path / "silent.mp4"
    server.foreign_publisher("--room", "silent", "--no-audio", "--codec", "H264")
    record(server, "silent", file, seconds=5)
    assert_whole(file, 5)
    assert checks.level(checks.audio(file)[1]) < 1e-4


@pytest.mark.parametrize("container", ["webm", "mp4"])
def test_a_republished_camera_goes_on_in_the_same_file(server, tmp_path, container):
    file = tmp_path / f"again.{container}"
    publisher = server.foreign_publisher("--room", "again")
    recorder = start(server, "again", file, seconds=10)
    for seconds, action in ((2, "unpublish"), (3.5, "publish")):
        after(recorder, seconds)
        publisher.write(action)
    complete(recorder)
    assert [event["kind"] for event in recorder.events if event["event"] == "track"] == ["video"]
    assert_whole(file, 10)
    assert_audio_goes_on(file, 10)
    frames = checks.numbered(file, clip.SIZE)
    numbers = [number for number, _, _ in frames if number is not None]
    assert all(a <= b for a, b in zip(numbers, numbers[1:])), f"frames go back: {numbers}"
    assert len(set(numbers)) > 7 * FPS
    assert_together(file, frames)
