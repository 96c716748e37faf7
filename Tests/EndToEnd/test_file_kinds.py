"""Every kind of file that the shipped output templates write, of one participant at once, read by FFmpeg."""

import subprocess

import checks
import numpy as np
import pytest
from programs import KEYS, mediabridge

FPS = 25
SIZE = (320, 180)
SMALL = ("--width", 320, "--height", 180, "--bitrate", 800_000)
SECONDS = 4
# By the name of the file: what is in it, and of which kinds of media it is as it was sent.
HELD = {
    "a.opus": ({"audio": "opus"}, {"audio"}),
    "a.ogg": ({"audio": "opus"}, {"audio"}),
    "a.mp3": ({"audio": "mp3"}, set()),
    "a.wav": ({"audio": "pcm_s16le"}, set()),
    "h264.ts": ({"video": "h264", "audio": "aac"}, {"video"}),
    "vp8.ts": ({"video": "h264", "audio": "aac"}, set()),
    "h264.h264": ({"video": "h264"}, {"video"}),
    "vp8.ivf": ({"video": "vp8"}, {"video"}),
    "vp9.ivf": ({"video": "vp9"}, {"video"}),
}
FILES = {"H264": ["a.opus", "a.mp3", "a.wav", "h264.ts", "h264.h264"], "VP8": ["a.ogg", "vp8.ivf", "vp8.ts"], "VP9": ["vp9.ivf"]}


@pytest.fixture(params=FILES)
def recorded(request, server, tmp_path):
    """The files, each with what was told of it at the end."""
    server.foreign_publisher("--room", "kinds", "--codec", request.param, *SMALL)
    files = [tmp_path / name for name in FILES[request.param]]
    recorders = [server.recorder("kinds", "alice", file, "--duration", f"{SECONDS}s") for file in files]
    told = {}
    for file, recorder in zip(files, recorders):
        told[file] = recorder.wait_for("finished", 40)
        assert recorder.finish() == 0, recorder.report("failed")
    return told


# How long each stream is as it came, and how far flash and beep are apart.
@pytest.mark.realtime
def test_each_file_plays_and_holds_what_was_sent(recorded):
    for file, told in recorded.items():
        held, as_sent = HELD[file.name]
        assert checks.codecs(file) == held and checks.decode_errors(file) == [], file.name
        assert {track["kind"] for track in told["tracks"] if track["passthrough"]} == as_sent, told["tracks"]
        assert {(track["kind"], track["wanted"]) for track in told["not_recorded"]} == {
            (kind, False) for kind in {"video", "audio"} - set(held)
        }, f"{file.name}: what it does not take is named, and no error"
        assert told["bytes"] == file.stat().st_size and told["duration"] == pytest.approx(SECONDS, abs=0.3)
        if "audio" in held:
            assert_audio(file)
        if "video" in held:
            assert_video(file)
        if len(held) == 2:
            offsets = checks.flash_offsets(checks.numbered(file, SIZE), FPS, *checks.audio(file))
            assert max(map(abs, offsets)) <= 0.045, f"{file.name}: flash and beep apart: {np.round(offsets, 3)}"


def assert_audio(file):
    first, samples = checks.audio(file)
    assert len(samples) / checks.clip.RATE == pytest.approx(SECONDS, abs=0.3), file.name
    heard = checks.beeps(first, samples)
    assert len(heard) >= 3 and np.diff(heard) == pytest.approx(1, abs=0.03), f"{file.name}: {np.round(heard, 3)}"


def assert_video(file):
    frames = [(number, time) for number, time, _ in checks.numbered(file, SIZE)]
    numbers = [number for number, _ in frames if number is not None]
    assert len(numbers) >= 0.95 * len(frames) and numbers == sorted(set(numbers)), f"{file.name}: {numbers}"
    assert numbers[-1] - numbers[0] >= (SECONDS - 0.5) * FPS and len(numbers) >= 0.9 * (numbers[-1] - numbers[0])
    if file.suffix == ".h264":
        return
    drift = [number / FPS - time for number, time in frames if number is not None]
    assert max(drift) - min(drift) < 0.1, f"{file.name}: frames move against their time"


@pytest.mark.parametrize(
    "options, name, reason",
    [
        (["--audio-only"], "x.ivf", "output/ivf takes no audio"),
        (["--source", "camera"], "x.mp3", "output/mp3 takes no video"),
        (["--encode", "h264"], "x.wav", "output/wav does not take"),
        (["--encode", "aac"], "x.mp3", "output/mp3 takes MP3"),
        (["--set", "audio-bitrate=1000"], "x.mp3", "'1000' is no value for `audio-bitrate`"),
        ([], "x.flv", ".mp3, .mp4"),
    ],
)
def test_what_a_kind_cannot_take_is_said(tmp_path, options, name, reason):
    command = mediabridge("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", *options, tmp_path / name)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode != 0 and reason in done.stderr, done.stderr
    assert not (tmp_path / name).exists()
