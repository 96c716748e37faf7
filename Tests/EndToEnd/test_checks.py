"""The checks themselves: each passes on a good file and fails on one that is broken in that way."""

import subprocess

import av
import checks
import clip
import numpy as np
import pytest

FPS, WIDTH, HEIGHT, SECONDS = 25, 640, 360, 4


def write(file, audio_delay=0.0, noise=0, silent=False):
    """The clip as a file, by FFmpeg's encoders."""
    random = np.random.default_rng(1)
    with av.open(str(file), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast", "crf": "23", "bf": "0"})
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        audio = container.add_stream("libopus", rate=clip.RATE, layout="stereo")
        samples = clip.audio(-round(audio_delay * clip.RATE), SECONDS * clip.RATE).reshape(-1, 2)
        for number in range(SECONDS * FPS):
            frame = clip.draw(number, WIDTH, HEIGHT, FPS)
            if noise:
                disturbed = frame + random.integers(-noise, noise, frame.shape)
                disturbed[: WIDTH // (clip.BITS + 2)] = frame[: WIDTH // (clip.BITS + 2)]
                frame = disturbed.clip(0, 255).astype(np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), "gray")))
        for place in range(0, len(samples), 960):
            block = samples[place : place + 960] * (0 if silent else 1)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block.reshape(1, -1)), "s16", "stereo")
            frame.rate, frame.pts = clip.RATE, place
            container.mux(audio.encode(frame))
        for stream in (video, audio):
            container.mux(stream.encode(None))
    return file


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return write(tmp_path_factory.mktemp("clip") / "good.mkv")


def test_good_file(good):
    frames = checks.numbered(good)
    first, samples = checks.audio(good)
    assert checks.codecs(good) == {"video": "h264", "audio": "opus"}
    assert checks.durations(good) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.05)
    assert checks.decode_errors(good) == []
    assert checks.disorder(good) == []
    assert [number for number, _, _ in frames] == list(range(SECONDS * FPS))
    assert min(checks.similarities(frames, FPS)) > 0.9
    assert checks.level(samples) > 0.02
    assert checks.frequency(samples) == pytest.approx(clip.TONE, abs=20)
    assert max(map(abs, checks.flash_offsets(frames, FPS, first, samples))) < 0.02


def test_damaged_file_is_seen(good, tmp_path):
    data = bytearray(good.read_bytes())
    for place in range(len(data) // 3, len(data) - 100, 5000):
        data[place : place + 40] = bytes(40)
    damaged = tmp_path / "damaged.mkv"
    damaged.write_bytes(data)
    assert checks.decode_errors(damaged)


def test_short_audio_is_seen(good, tmp_path):
    short = tmp_path / "short.mkv"
    command = ["ffmpeg", "-v", "error", "-i", good, "-t", "2", "-i", good]
    subprocess.run([*command, "-map", "1:v", "-map", "0:a", "-c", "copy", short], check=True)
    covered = checks.durations(short)
    assert covered["audio"] == pytest.approx(4, abs=0.1) and covered["video"] == pytest.approx(2, abs=0.1)


def test_time_that_goes_back_is_seen(monkeypatch):
    monkeypatch.setattr(checks, "packets", lambda _: {"video": [(0, 0, 0.04), (0.04, 0.04, 0.04), (0.04, 0.04, 0.04)]})
    assert len(checks.disorder("any")) == 1


def test_bad_frame_is_seen(tmp_path):
    frames = checks.numbered(write(tmp_path / "noise.mkv", noise=120))
    assert all(number is not None for number, _, _ in frames)
    assert np.mean(checks.similarities(frames, FPS)) < 0.85


def test_wrong_frame_is_seen(good):
    moved = [(number + 7 if number is not None else None, time, luma) for number, time, luma in checks.numbered(good)]
    assert np.mean(checks.similarities(moved, FPS)) < 0.85


def test_silence_is_seen(tmp_path):
    _, samples = checks.audio(write(tmp_path / "silent.mkv", silent=True))
    assert checks.level(samples) < 0.001


@pytest.mark.parametrize("delay", [0.1, -0.08])
def test_shifted_audio_is_seen(tmp_path, delay):
    file = write(tmp_path / "late.mkv", audio_delay=delay)
    offsets = checks.flash_offsets(checks.numbered(file), FPS, *checks.audio(file))
    assert offsets == pytest.approx([delay] * len(offsets), abs=0.02)


@pytest.mark.parametrize("size", [(640, 360), (320, 180), (1280, 720)])
def test_number_survives_scaling_and_noise(size):
    random = np.random.default_rng(2)
    width, height = size
    for number in (0, 1, 25, 1023, 43_690, 65_534):
        luma = checks.source_luma(number, 1280, 720, FPS)[:: 720 // height, :: 1280 // width]
        noisy = (luma + random.normal(0, 20, luma.shape)).clip(0, 255).astype(np.uint8)
        assert clip.read(noisy) == number


def test_parity_refuses_a_wrong_bit():
    luma = checks.source_luma(5, 640, 360, FPS)
    block = 640 // (clip.BITS + 2)
    luma[:block, 3 * block : 4 * block] = 251 - luma[:block, 3 * block : 4 * block]
    assert clip.read(luma) is None


def test_a_white_frame_has_no_number():
    assert clip.read(np.full((180, 320), 235, np.uint8)) is None
