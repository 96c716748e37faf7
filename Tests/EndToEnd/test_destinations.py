"""One recording that goes to several places at once."""

from pathlib import Path

import checks
import clip
import pytest
from failures import assert_failed

FPS = 25
SECONDS = 8
STORED = {
    "a.mp4": {"video": "h264", "audio": "aac"},
    "b.mp4": {"video": "h264", "audio": "aac"},
    "c.mkv": {"video": "vp8", "audio": "opus"},
    "d.webm": {"video": "vp8", "audio": "opus"},
    "voice.ogg": {"audio": "opus"},
}

OGG = """# Ogg file of Opus.
oggmux name=mux ! filesink location=${location} buffer-mode=unbuffered
appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! opusparse ! mux.
"""


@pytest.fixture
def texts(tmp_path):
    """A folder with a template of audio alone."""
    folder = tmp_path / "texts"
    (folder / "output").mkdir(parents=True)
    (folder / "output/ogg.pipeline").write_text(OGG)
    return folder


def audio_encoders(program):
    """Threads that feed an encoder of audio, which makes no thread itself."""
    names = [(task / "comm").read_text().strip() for task in Path(f"/proc/{program.pid}/task").iterdir()]
    return names.count("pcm:src")


def assert_in_sync(file):
    """Flash and beep come together, and nothing of what was sent is missing."""
    frames = checks.numbered(file, clip.SIZE)
    numbers = [number for number, _, _ in frames if number is not None]
    assert len(numbers) >= 0.95 * SECONDS * FPS and numbers == sorted(set(numbers)), f"{file.name}: {numbers}"
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert len(offsets) >= SECONDS - 2
    assert max(map(abs, offsets)) <= 0.045, f"{file.name}: {[round(float(offset), 3) for offset in offsets]}"


@pytest.mark.realtime
def test_several_destinations(server, tmp_path, texts, disks):
    """Of which one is on a disk that fills up: it alone ends early, and each of the others is as if it were the only one."""
    server.foreign_publisher("--room", "many", "--codec", "VP8")
    files = {name: tmp_path / name for name in STORED}
    full = disks("full", 150) / "full.mkv"
    more = (*files.values(), "--duration", f"{SECONDS}s", "--pipelines", texts)
    recorder = server.recorder("many", "alice", full, *more)
    recorder.wait_for("recording", 40)
    recorder.wait_for("progress")
    assert audio_encoders(recorder) == 1, "two MP4 files share an encoder"
    failed = "the first 00:00:0", "disk is full"
    line = assert_failed(recorder, str(full), *failed, within=60)
    assert not [name for name in STORED if name in line], line
    ended = [event for event in recorder.events if event["event"] == "destination" and event["state"] == "failed"]
    assert [event["file"] for event in ended] == [str(full)], recorder.report("not told when it failed")
    told = {event["file"]: event for event in recorder.events if event["event"] == "finished"}
    assert list(told) == [str(file) for file in files.values()], recorder.report("finished")
    end = [event for event in recorder.events if event["event"] == "ended"]
    assert [event["reason"] for event in end] == ["duration"]
    for name, file in files.items():
        assert checks.codecs(file) == STORED[name]
        covered = checks.durations(file)
        assert covered == pytest.approx({kind: SECONDS for kind in STORED[name]}, abs=0.3), name
        assert checks.decode_errors(file) == [] and checks.disorder(file) == [], name
        assert told[str(file)]["bytes"] == file.stat().st_size
        assert [track["kind"] for track in told[str(file)]["tracks"]] == list(STORED[name])
        if "video" in STORED[name]:
            assert_in_sync(file)
    assert checks.decode_errors(full) == [] and 0 < max(checks.durations(full).values()) < SECONDS - 1
