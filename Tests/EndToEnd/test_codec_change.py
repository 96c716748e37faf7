"""A camera that comes back in another codec goes on in the same file, which holds one codec."""

import checks
import clip
import numpy as np
import pytest
from failures import after

pytestmark = pytest.mark.realtime

FPS = 25
SECONDS = 9


@pytest.mark.parametrize("first, second, container", [("H264", "VP8", "mp4"), ("VP8", "H264", "mkv")])
def test_it_goes_on(server, tmp_path, first, second, container):
    file = tmp_path / f"change.{container}"
    recorder = server.recorder("change", "alice", file, "--duration", f"{SECONDS}s")
    recorder.wait_for("waiting")
    publisher = server.foreign_publisher("--room", "change", "--codec", first)
    after(recorder, 2)
    publisher.write(f"republish:{second}")
    change = recorder.wait_for("codec_changed")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert (change["held"], change["sent"], change["encoder"]) == (first.lower(), second.lower(), first.lower())
    assert told["codec_changes"] == [{name: value for name, value in change.items() if name != "event"}]
    assert told["not_recorded"] == []
    assert checks.codecs(file)["video"] == first.lower()
    assert checks.durations(file) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.3)
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.sizes(file) == {clip.SIZE}
    frames = checks.numbered(file, clip.SIZE)
    numbers = [number for number, _, _ in frames if number is not None]
    assert numbers == sorted(numbers), f"frames go back: {numbers}"
    anew = [time for number, time, _ in frames if number is not None and time > change["start"]]
    assert anew and anew[0] < change["start"] + 1.5 and len(anew) > 2.5 * FPS, f"it goes on at {anew[:1]}"
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert max(map(abs, offsets)) <= 0.045, f"flash and beep apart: {np.round(offsets, 3)}"


def test_another_size_in_an_mp4_file_is_told_once(server, tmp_path):
    """Some players find the first one alone, and stop there."""
    file = tmp_path / "size.mp4"
    publisher = server.foreign_publisher("--room", "size", "--codec", "H264", "--keep-size", "--duration", "60")
    recorder = server.recorder("size", "alice", file)
    after(recorder, 2)
    publisher.write("resize:640x360")
    told = recorder.wait_for("size_changed", 20)
    publisher.write("resize:480x270")
    after(recorder, told["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert told["file"] == str(file)
    assert [event["event"] for event in recorder.events].count("size_changed") == 1
    assert {clip.SIZE, (640, 360)} <= checks.sizes(file)
