"""A real clip with audio, published by a foreign client, is in the file as it was."""

import checks
import clip
import numpy as np
import pytest
import real_clip

pytestmark = pytest.mark.long

FPS = 25
SIZE = (640, 360)
SECONDS = 6


@pytest.mark.parametrize("codec, container", [("VP8", "webm"), ("H264", "mp4"), ("VP9", "mkv"), ("VP8", "mp4")])
def test_a_real_clip_is_recorded_as_it_was(server, tmp_path, codec, container):
    file = tmp_path / f"{codec}.{container}"
    server.foreign_publisher("--room", "clip", "--codec", codec, "--keep-size", script="publish_clip.py")
    recorder = server.recorder("clip", "alice", file, "--duration", f"{SECONDS}s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.durations(file) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.3)
    assert checks.decode_errors(file) == []
    frames = [frame for frame in checks.numbered(file, SIZE) if frame[0] is not None]
    assert len(frames) > 0.9 * SECONDS * FPS
    assert_frames(frames)
    assert_audio(frames, *checks.audio(file))


def assert_frames(frames):
    source = real_clip.frames(SIZE)
    strip = clip.blocks(SIZE[0])[1]
    likeness = [
        checks.similarity(luma[strip:], source[number % len(source)][strip : SIZE[1]]) for number, _, luma in frames
    ]
    assert np.mean(likeness) >= 0.85
    # It would be as like to its neighbours if the clip stood still.
    other = np.mean([
        checks.similarity(luma[strip:], source[(number + 20) % len(source)][strip : SIZE[1]])
        for number, _, luma in frames
    ])  # fmt: skip
    assert np.mean(likeness) > other + 0.1


def assert_audio(frames, first, samples):
    """The audio is the clip's, and where the frames say."""
    source = real_clip.samples().reshape(-1, 2).mean(axis=1) / 32768
    # Sample of the clip that belongs to the first sample of the file. A busy publisher shows single frames late.
    begin = round(np.median([number / FPS - (time - first) for number, time, _ in frames]) * clip.RATE)
    expected = source[(begin + np.arange(len(samples))) % len(source)]
    spectrum = np.fft.rfft(samples, 2 * len(samples)) * np.conj(np.fft.rfft(expected, 2 * len(samples)))
    likeness = np.fft.irfft(spectrum)
    best = int(np.argmax(likeness))
    lag = (best if best < len(samples) else best - 2 * len(samples)) / clip.RATE
    assert likeness[best] > 0.7 * np.linalg.norm(samples) * np.linalg.norm(expected), "another audio"
    assert abs(lag) <= 0.060, f"audio comes {lag * 1000:.0f} ms after its frame"
