import json
import random
import signal
import subprocess
import time

import checks
import clip
import numpy as np
import pytest
from conftest import ACCESS, BINARY

FPS = 25


def check_pictures(file, expected_seconds):
    seen = list(checks.pictures(file))
    times = [time for time, _ in seen]
    assert times == sorted(times)
    numbers = [clip.read(luma) for _, luma in seen]
    readable = [number for number in numbers if number is not None]
    assert len(readable) >= 0.95 * len(numbers)
    assert readable == sorted(readable)
    # libwebrtc may leave a frame out when its encoder is late on a busy machine; more than that would be our loss.
    assert len(set(readable)) >= 0.9 * (readable[-1] - readable[0] + 1)
    assert len(seen) >= 0.85 * expected_seconds * FPS
    similar = [
        checks.ssim(luma, clip.draw(number, luma.shape[1], luma.shape[0], FPS)[..., 0])
        for (_, luma), number in list(zip(seen, numbers))[FPS :: FPS // 2]
        if number is not None
    ]
    assert np.median(similar) >= 0.85, similar


@pytest.mark.parametrize(
    "codec, suffix, stored",
    [
        ("VP8", "mkv", {"vp8", "opus"}),
        ("VP8", "mp4", {"h264", "aac"}),
        ("H264", "mp4", {"h264", "aac"}),
        ("H264", "mkv", {"h264", "opus"}),
        ("VP9", "webm", {"vp9", "opus"}),
    ],
)
def test_a_participant_becomes_a_file(bench, tmp_path, codec, suffix, stored):
    bench.publish("--codec", codec)
    file = tmp_path / f"recording.{suffix}"
    result, events = bench.record(file, "--duration", "6s")
    assert result.returncode == 0, result.stderr
    finished = events[-1]
    assert finished["event"] == "finished" and finished["size"] == file.stat().st_size
    assert {event["event"] for event in events} >= {"recording", "progress", "finished"}
    duration, codecs = checks.durations(file)
    assert abs(duration - 6) <= 0.3 and codecs == stored
    assert checks.decode_errors(file) == ""
    check_pictures(file, 6)
    apart = checks.offsets(file, FPS)
    assert len(apart) >= 4
    # The SDK itself sends sound about 25 ms late (its queue and its 10 ms blocks), which adds to ours.
    assert abs(np.median(apart)) <= 0.060, apart


def test_a_killed_recording_plays(bench, tmp_path):
    bench.publish()
    for suffix in ("mkv", "mp4"):
        file = tmp_path / f"killed.{suffix}"
        process = bench.start(
            BINARY, "record", *ACCESS, "--participant", "alice", "--wait", "20s", "--json", file, first_event="recording"
        )
        length = random.uniform(3, 6)
        time.sleep(length)
        process.send_signal(signal.SIGKILL)
        process.wait(5)
        last = max(time for time, _ in checks.pictures(file))
        assert last >= length - 2, (suffix, length, last)


def test_ctrl_c_completes_the_file(bench, tmp_path):
    bench.publish()
    file = tmp_path / "stopped.mp4"
    process = bench.start(
        BINARY, "record", *ACCESS, "--participant", "alice", "--wait", "20s", "--json", file, first_event="recording"
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 0
    duration, _ = checks.durations(file)
    assert 2.5 <= duration <= 4
    assert checks.decode_errors(file) == ""


def test_the_demo_records_a_participant(tmp_path):
    file = tmp_path / "demo.mp4"
    result = subprocess.run(
        (BINARY, "demo", "--duration", "5s", "--output", str(file), "--json"),
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert result.returncode == 0, result.stderr
    finished = json.loads(result.stdout.splitlines()[-1])
    assert {track["kind"] for track in finished["tracks"]} == {"audio", "video"}
    duration, codecs = checks.durations(file)
    assert abs(duration - 5) <= 0.3 and codecs == {"h264", "aac"}
    assert checks.decode_errors(file) == ""
    _, samples = checks.sound(file)
    spectrum = np.abs(np.fft.rfft(samples[48_000:96_000]))
    assert abs(int(spectrum.argmax()) - 440) <= 2
