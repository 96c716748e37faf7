"""Images of the video, every so often, read by FFmpeg."""

import datetime

import av
import checks
import clip
import pytest
from failures import assert_failed

FPS = 25
SECONDS = 6


def values(**named):
    return [part for name, value in named.items() for part in ("--set", f"{name.replace('_', '-')}={value}")]


def shown(file):
    """The number in an image, and its size."""
    with av.open(str(file)) as container:
        (frame,) = container.decode(video=0)
        return clip.read(frame.reformat(format="gray").to_ndarray()), (frame.width, frame.height)


@pytest.mark.realtime
def test_every_second_and_the_newest(server, tmp_path, disks):
    """Beside a recording, and of a participant whose frames are decoded for that alone."""
    server.foreign_publisher("--room", "shots", "--identity", "alice", "--codec", "VP8")
    folder, file, full = tmp_path / "shots", tmp_path / "a.mkv", disks("full", 60) / "a.png"
    options = (*values(capture_interval=1), "--duration", f"{SECONDS}s")
    stamped = ("--set", "images-png.filename-suffix=timestamp")
    recorder = server.recorder("shots", "alice", file, *options, *stamped, folder / "image.jpg", folder / "still.png")
    newest = server.recorder("shots", "alice", tmp_path / "only.jpeg", *options, *values(filename_suffix="none", image_height=180))
    filling = server.recorder("shots", "alice", full, *values(capture_interval=0.1))
    assert_failed(filling, str(full), "disk is full", within=40)
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0 and newest.finish() == 0, recorder.report("failed")
    told = {event["file"]: event for event in recorder.events if event["event"] == "finished"}
    assert checks.codecs(file)["video"] == "vp8" and checks.durations(file)["video"] == pytest.approx(SECONDS, abs=0.3)
    for name in ("image.jpg", "still.png"):
        stem, ending = name.split(".")
        images = sorted(folder.glob(f"{stem}_*"))
        assert len(images) in (SECONDS, SECONDS + 1)
        if ending == "jpg":
            assert images == [folder / f"image_{number:05}.jpg" for number in range(len(images))]
        else:
            times = [datetime.datetime.strptime(image.stem + "000", "still_%Y%m%d%H%M%S%f") for image in images]
            gaps = [(after - before).total_seconds() for before, after in zip(times, times[1:])]
            assert gaps == pytest.approx([1] * len(gaps), abs=0.2), times
        seen = [shown(image) for image in images[:SECONDS]]
        assert {size for _, size in seen} == {(640, 360)}
        steps = [after - before for (before, _), (after, _) in zip(seen, seen[1:])]
        assert all(abs(step - FPS) <= 3 for step in steps), steps
        event = told[str(folder / name)]
        assert event["segments"] == [str(path) for path in sorted(folder.glob(f"{stem}_*"))]
        assert (folder / name).read_bytes() == sorted(folder.glob(f"{stem}_*"))[-1].read_bytes()
        assert event["duration"] == pytest.approx(SECONDS, abs=0.3)
        assert [track["kind"] for track in event["tracks"]] == ["video"]
    assert shown(tmp_path / "only.jpeg")[1] == (320, 180) and len(list(tmp_path.glob("only*"))) == 1
