"""A camera that is muted, or no longer published, is black in the file from that moment: nobody looks at a frozen face."""

import checks
import numpy as np
import pytest
from failures import after

pytestmark = pytest.mark.realtime

FPS = 25
SIZE = (640, 360)
BLACK = 20


def shown(file):
    """(number or None, seconds, whether it is black) of every frame."""
    return [(number, time, luma.max() <= BLACK) for number, time, luma in checks.numbered(file, SIZE)]


def clock(frames):
    """Seconds of the file at which the first frame of the publisher was due."""
    return float(np.median([time - number / FPS for number, time, _ in frames if number is not None]))


def assert_whole(file, seconds):
    assert checks.durations(file) == pytest.approx({"video": seconds, "audio": seconds}, abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []


def assert_black_between(frames, begin, end):
    """Black within half a second of `begin`, and nothing else until `end`; seconds of the file.

    When a foreign client says that it has unmuted, its first frame may be on its way.
    """
    turned = [time for _, time, is_black in frames if is_black and time > begin - 0.5]
    assert turned and turned[0] <= begin + 0.5, f"black at {turned[:1]}, muted at {begin:.2f}"
    seen = [time for _, time, is_black in frames if turned[0] < time < end - 0.1 and not is_black]
    assert not seen, f"frames at {np.round(seen, 2)} although it was muted from {begin:.2f} to {end:.2f}"


@pytest.mark.parametrize(
    "codec, container", [("VP8", "mkv"), ("VP9", "mkv"), ("H264", "mkv"), ("H264", "mp4"), ("VP8", "mp4")]
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
    assert_black_between(frames, start + muted, start + unmuted)
    back = [time for number, time, _ in frames if number is not None and time > start + unmuted]
    assert back and back[0] < start + unmuted + 1, f"unmuted at {start + unmuted:.2f}, frames from {back[:1]}"
    assert_black_between(frames, start + ended, 8)
    assert len([number for number, _, _ in frames if number is not None]) > 2.5 * FPS


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
