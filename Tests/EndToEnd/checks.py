"""What a person would notice in a recorded file."""

import json
import subprocess

import av
import clip
import numpy as np


def durations(file):
    """Seconds of each stream, counted from its packets, and the names of the codecs."""
    text = subprocess.run(
        ("ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=codec_name:format=duration", str(file)),
        capture_output=True, text=True, check=True,
    ).stdout
    probe = json.loads(text)
    return float(probe["format"]["duration"]), {stream["codec_name"] for stream in probe["streams"]}


def decode_errors(file):
    """What ffmpeg complains of when it decodes everything; empty for a sound file."""
    return subprocess.run(
        ("ffmpeg", "-v", "error", "-i", str(file), "-f", "null", "-"), capture_output=True, text=True, check=False
    ).stderr.strip()


def pictures(file):
    """(time, luma) of each picture."""
    with av.open(str(file)) as container:
        for frame in container.decode(video=0):
            plane = frame.reformat(format="gray").to_ndarray()
            yield float(frame.pts * frame.time_base), plane


def sound(file):
    """(time of the first sample, mono samples at 48 kHz)."""
    blocks, start = [], None
    with av.open(str(file)) as container:
        resampler = av.AudioResampler("s16", "mono", clip.RATE)
        for frame in container.decode(audio=0):
            if start is None:
                start = float(frame.pts * frame.time_base)
            blocks += [block.to_ndarray().reshape(-1) for block in resampler.resample(frame)]
    return start or 0.0, np.concatenate(blocks).astype(float) if blocks else np.zeros(0)


def ssim(a, b):
    """Structural similarity of two luma planes over blocks of 8x8."""
    height, width = (min(a.shape[0], b.shape[0]) // 8 * 8, min(a.shape[1], b.shape[1]) // 8 * 8)

    def blocks(plane):
        return plane[:height, :width].astype(float).reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2)

    x, y = blocks(a), blocks(b)
    mx, my = x.mean((2, 3)), y.mean((2, 3))
    vx, vy = x.var((2, 3)), y.var((2, 3))
    covariance = (x * y).mean((2, 3)) - mx * my
    c1, c2 = 6.5025, 58.5225
    return float((((2 * mx * my + c1) * (2 * covariance + c2)) / ((mx**2 + my**2 + c1) * (vx + vy + c2))).mean())


def onsets(times, values, threshold):
    """When `values` rises above `threshold` after having been below."""
    above = np.asarray(values) > threshold
    return [times[index] for index in range(1, len(above)) if above[index] and not above[index - 1]]


def flashes(file, fps):
    """When the picture turns white, below the blocks of the number."""
    seen = [(time, luma[luma.shape[0] // 2 :].mean()) for time, luma in pictures(file)]
    return onsets([time for time, _ in seen], [level for _, level in seen], 225)


def beeps(file):
    start, samples = sound(file)
    step = clip.RATE // 500
    count = len(samples) // step
    level = np.sqrt((samples[: count * step].reshape(count, step) ** 2).mean(1))
    return onsets([start + index / 500 for index in range(count)], level, 1500)


def offsets(file, fps):
    """For each flash, how much later the nearest beep comes, in seconds."""
    heard = np.array(beeps(file))
    return [float(heard[np.abs(heard - time).argmin()] - time) for time in flashes(file, fps)] if len(heard) else []
