"""The programs of `Examples` do what their first lines say."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import av
import checks
import clip
import numpy as np
import pytest
from programs import KEYS, ROOT, mediabridge

# Where `swift build` puts them.
FOLDER = Path(os.environ.get("MEDIABRIDGE_EXAMPLES", ROOT / ".build/debug"))


def example(name, *arguments):
    """Its command; what it prints is read line by line."""
    if not (FOLDER / name).is_file():
        subprocess.run(["swift", "build", "--product", name], cwd=ROOT, check=True)
    return ("stdbuf", "-oL", FOLDER / name, *arguments)


@pytest.fixture
def room(local_server, start):
    """Whose address and token an example takes; alice is there."""
    local_server.own_publisher("r", "alice", "vp8")
    token = start(mediabridge("token", "create", *KEYS, "--room", "r", "--identity", "example"))
    assert token.finish() == 0, token.report("no token")
    return local_server.url, token.events[0]["text"]


def interrupt(program, number=signal.SIGINT):
    program.send(number)
    assert program.finish() == 0, program.report("it failed")


def eventually(what, found, timeout=20):
    deadline = time.monotonic() + timeout
    while not (result := found()):
        assert time.monotonic() < deadline, f"no {what} in {timeout} s"
        time.sleep(0.02)
    return result


def test_count_frames(start, room):
    counter = start(example("CountFrames", "2", *room))
    assert counter.finish() == 0, counter.report("it failed")
    frames = int(re.fullmatch(r"(\d+) frames in 2 s", counter.events[-1]["text"])[1])
    # Of what came before it began up to a second is decoded, too.
    assert 25 < frames <= 3 * 25 + 1, "frames of one participant with 25 a second"


def test_count_frames_is_the_example_of_the_readme():
    blocks = re.findall(r"```swift\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    shown = next(block for block in blocks if "func countFrames" in block)
    imports, code = shown.split("\n\n", 1)
    source = (ROOT / "Examples/CountFrames/CountFrames.swift").read_text()
    assert source.endswith(code) and set(imports.splitlines()) <= set(source.splitlines())


def test_save_snapshots(start, room, local_server, tmp_path):
    """Also of somebody whose name would lead elsewhere."""
    local_server.own_publisher("r", "../../eve", "vp8")
    folder = tmp_path / "a/snapshots"
    program = start(example("SaveSnapshots", folder, "0.5", *room))
    for name in ("alice", "______eve"):
        eventually(f"two files of {name}", lambda name=name: len(list(folder.glob(f"{name}-TR_*.jpg"))) > 1)
    interrupt(program)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert {file.parent for file in files} == {folder}
    for file in files:
        with av.open(str(file)) as container:
            frame = next(container.decode(video=0))
        assert frame.format.name.startswith("yuvj") and (frame.width, frame.height) == clip.SIZE
        luma = frame.to_ndarray(format="gray")
        assert luma.std() > 5 and luma.max() > 150, f"{file.name} shows nothing"
    alice = [file.read_bytes() for file in files if file.name.startswith("alice")]
    assert len(set(alice)) == len(alice), "the frame does not move"


def test_a_snapshot_that_cannot_be_saved(start, room, tmp_path):
    folder = tmp_path / "snapshots"
    program = start(example("SaveSnapshots", folder, "0.2", *room))
    eventually("a file", lambda: list(folder.glob("*.jpg")))
    folder.rename(tmp_path / "gone")
    assert program.finish() == 1
    assert re.fullmatch(r"SaveSnapshots: .*alice.*\.jpg.*", program.errors), program.errors


def test_audio_levels(start, room):
    """A sine of 0.3 is 10.5 dB below full scale at its peaks, and 3 dB less on average."""
    program = start(example("AudioLevels", *room))
    levels = []
    while len(levels) < 3:
        line = re.fullmatch(r"alice +(-?\d+\.\d) dBFS +(#*)", program.wait_for("text")["text"])
        assert line, program.report("not a meter")
        # The first moments of a track are silent.
        if line[2]:
            levels.append(float(line[1]))
            assert len(line[2]) == pytest.approx((levels[-1] + 60) / 2, abs=1)
    interrupt(program)
    assert float(np.median(levels)) == pytest.approx(-13.5, abs=1.5)


def recording(start, file, *room):
    """Of alice, that has written something."""
    # The end of a terminal counts, also where whoever runs the tests has it ignored.
    program = start(("env", "--default-signal=HUP", *example("RecordParticipant", "alice", file, *room)))
    while not program.wait_for("text")["text"].startswith("recording"):
        pass
    eventually("bytes", lambda: file.stat().st_size > 50_000)
    return program


@pytest.mark.parametrize(("suffix", "number"), [("mkv", signal.SIGINT), ("mp4", signal.SIGHUP)])
def test_record_participant(suffix, number, start, room, tmp_path):
    file = tmp_path / f"alice.{suffix}"
    interrupt(recording(start, file, *room), number)
    assert set(checks.codecs(file)) == {"video", "audio"}
    assert checks.decode_errors(file) == []
    assert min(checks.durations(file).values()) > 0.5
    first, samples = checks.audio(file)
    assert checks.frequency(samples) == pytest.approx(440, abs=5)


def test_a_recording_that_fails_is_told_at_once(start, room, tmp_path):
    """Long before anybody ends it."""
    file = tmp_path / "alice.mkv"
    program = recording(start, file, *room)
    file.unlink()
    assert program.finish() == 1
    assert "RecordParticipant: " in program.errors and str(file) in program.errors, program.errors


def test_a_recording_that_nobody_comes_for(start, room, tmp_path):
    file = tmp_path / "nobody.mkv"
    program = start(example("RecordParticipant", "nobody", file, *room))
    assert "nobody" in program.wait_for("text")["text"]
    program.send(signal.SIGINT)
    assert program.finish() == 1, program.report("a signal kills it")
    assert "RecordParticipant: " in program.errors
    assert not file.exists()


def test_a_file_that_is_there_stays(start, room, tmp_path):
    file = tmp_path / "alice.mkv"
    file.write_text("of yesterday")
    program = start(example("RecordParticipant", "alice", file, *room))
    assert program.finish() == 1
    assert str(file) in program.errors and file.read_text() == "of yesterday", program.errors


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("CountFrames", ["1"]),
        ("SaveSnapshots", ["x", "1"]),
        ("AudioLevels", []),
        ("RecordParticipant", ["a", "a.mkv"]),
        ("Messages", ["x"]),
    ],
)
def test_mistakes(name, arguments, start, tmp_path):
    lost = start(("env", "-u", "LIVEKIT_URL", "-u", "LIVEKIT_TOKEN", *example(name, *arguments)))
    assert lost.finish() == 64
    assert "LIVEKIT_URL" in lost.errors and f"usage: {name}" in lost.errors
    address = ("LIVEKIT_URL=ws://127.0.0.1:9", "LIVEKIT_TOKEN=a.b.c")
    arguments = [str(tmp_path / argument) if argument in ("x", "a.mkv") else argument for argument in arguments]
    refused = start(("env", *address, *example(name, *arguments)))
    assert refused.finish() == 1
    assert refused.errors.startswith(f"{name}: ") and "127.0.0.1:9" in refused.errors, refused.errors
