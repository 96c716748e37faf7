"""A camera that is muted, or no longer published, is black in the file from that moment: nobody looks at a frozen face.
A microphone that is muted is silent."""

import checks
import clip
import numpy as np
import pytest
from failures import after

pytestmark = pytest.mark.realtime

FPS = 25
BLACK = 20


def shown(file, size=clip.SIZE):
    """(number or None, seconds, whether it is black) of every frame."""
    return [(number, time, luma.max() <= BLACK) for number, time, luma in checks.numbered(file, size)]


def clock(frames):
    """Seconds of the file at which the first frame of the publisher was due."""
    return float(np.median([time - number / FPS for number, time, _ in frames if number is not None]))


def assert_whole(file, seconds):
    assert checks.durations(file) == pytest.approx({"video": seconds, "audio": seconds}, abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []


def assert_black_between(frames, begin, end, within=0.5):
    """Black within so many seconds of `begin`, and nothing else until `end`; seconds of the file.

    When a foreign client says that it has unmuted, its first frame may be on its way.
    """
    turned = [time for _, time, is_black in frames if is_black and time > begin - within]
    assert turned and turned[0] <= begin + within, f"black at {turned[:1]}, muted at {begin:.2f}"
    seen = [time for _, time, is_black in frames if turned[0] < time < end - 0.1 and not is_black]
    assert not seen, f"frames at {np.round(seen, 2)} although it was muted from {begin:.2f} to {end:.2f}"


@pytest.mark.parametrize(
    "codec, container", [("VP8", "mkv"), ("VP9", "mkv"), ("H264", "mkv"), ("H264", "mp4"), ("VP8", "mp4"), ("AV1", "mkv")]
)
def test_a_muted_camera_is_black(server, tmp_path, codec, container):
    file = tmp_path / f"muted.{container}"
    recorder = server.recorder("muted", "alice", file, "--duration", "8s")
    recorder.wait_for("waiting")
    publisher = server.foreign_publisher("--room", "muted", "--codec", codec)
    at = {}
    for seconds, action in ((2, "mute-video"), (4, "unmute-video"), (6, "unpublish")):
        after(recorder, seconds)
        publisher.write(action)
        at[action] = publisher.wait_for(action)["at"]
    muted, unmuted, ended = at.values()
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(file, 8)
    frames = shown(file)
    start = clock(frames)
    assert_black_between(frames, start + muted, start + unmuted, within=0.1)
    back = [time for number, time, _ in frames if number is not None and time > start + unmuted]
    assert back and back[0] < start + unmuted + 0.3, f"unmuted at {start + unmuted:.2f}, frames from {back[:1]}"
    assert_black_between(frames, start + ended, 8)
    assert len([number for number, _, _ in frames if number is not None]) > 2.5 * FPS


def longest_silence(first, samples):
    """Where it begins and ends, in seconds."""
    blocks = samples[: len(samples) // checks.MILLISECOND * checks.MILLISECOND].reshape(-1, checks.MILLISECOND)
    loud = np.flatnonzero(np.sqrt((blocks.astype(np.float64) ** 2).mean(axis=1)) >= 1e-4)
    place = int(np.argmax(np.diff(loud)))
    return first + (loud[place] + 1) / 1000, first + loud[place + 1] / 1000


def black(frames):
    """When it begins, and when it is over, in seconds; once in the file."""
    changes = [time for (_, _, before), (_, time, is_black) in zip(frames, frames[1:]) if is_black != before]
    assert len(changes) == 2, f"it changes between black and frames at {np.round(changes, 2)}"
    return changes


@pytest.mark.parametrize("codec, container", [("VP8", "mkv"), ("H264", "mp4")])
def test_a_mute_takes_its_time_and_moves_nothing(server, tmp_path, codec, container):
    """The microphone for 5 s, and the camera, 1.5 s later. The clip's audio has no pause of its own."""
    file = tmp_path / f"mutes.{container}"
    publisher = server.foreign_publisher(
        *("--room", "mutes", "--codec", codec, "--width", 320, "--height", 180, "--chirp"),
        *("--actions", "wait:2", "mute", "mute-video", "wait:2", "unmute", "unmute-video"),
    )
    recorder = server.recorder("mutes", "alice", file, "--duration", "10s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(file, 10)
    frames, sound = shown(file, (320, 180)), checks.audio(file)
    start = clock(frames)
    at = {action: start + publisher.wait_for(action)["at"] for action in ("mute", "mute-video", "unmute", "unmute-video")}
    assert at["unmute"] - at["mute"] == pytest.approx(5, abs=0.1), "the publisher is late"
    assert longest_silence(*sound) == pytest.approx((at["mute"], at["unmute"]), abs=0.1)
    # The first frame after it may have been on its way, and frames come every 40 ms.
    assert black(frames) == pytest.approx([at["mute-video"], at["unmute-video"]], abs=0.1 + 1 / FPS)
    heard = np.array(checks.beeps(*sound))
    assert sum(heard < at["mute"]) >= 2 and sum(heard > at["unmute"]) >= 2, f"beeps at {heard.round(3)}"
    # They stay a second apart, and with the frames of their seconds.
    places = heard - start
    assert np.diff(heard) == pytest.approx(np.diff(heard).round(), abs=0.03), f"beeps at {heard.round(3)}"
    assert places == pytest.approx(places.round(), abs=0.045), f"beeps of the seconds {places.round(3)}"
    # Until the sender's first report the frames are placed by guess, and the first ones of a camera wait for its encoder.
    late = np.array([(time, time - number / FPS - start) for number, time, _ in frames if number is not None])
    begins, goes_on = late[late[:, 0] < 0.3, 1], late[late[:, 0] >= 0.3, 1]
    assert np.ptp(goes_on) < 0.06, f"frames are moved by {np.ptp(goes_on):.3f} s"
    assert np.abs(begins).max() < 0.1, f"the first frames are {begins.round(3)} s late"


def test_whoever_leaves_is_not_seen_any_more(server, tmp_path):
    file = tmp_path / "left.mkv"
    publisher = server.foreign_publisher("--room", "left", "--codec", "H264")
    recorder = server.recorder("left", "alice", file, "--duration", "5s")
    after(recorder, 1.5)
    publisher.write("leave")
    left = publisher.wait_for("leave")["at"]
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(file, 5)
    frames = shown(file)
    assert_black_between(frames, clock(frames) + left, 5)
