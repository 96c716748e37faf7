"""How late a program's own frames are at a subscriber: through a `BufferCapturer`, beside the LiveKit Python SDK's
`VideoSource`. The SDK receives both."""

import contextlib
import os
import time
from pathlib import Path

import real_clip
from latency import Latency
from programs import KEYS, mediabridge, python

FPS = 25
BITRATE = 2_500_000
CODECS = {"VP8": "vp8", "H264": "h264"}
# Seconds in which libwebrtc's estimate of the bandwidth reaches the bitrate.
SETTLING = 12


class Capturing:
    def __init__(self, bench):
        self._bench = bench
        self._file = bench.folder / "capturing.i420"
        with self._file.open("wb") as file:
            for frame in real_clip.frames():
                file.write(frame.tobytes())

    def _publishers(self, codec):
        ours = mediabridge(
            *("publish-frames", self._file, "--url", self._bench.url, *KEYS, "--room", "ours", "--identity", "alice"),
            *("--json", "--single-layer", "--codec", CODECS[codec], "--bitrate", BITRATE, "--fps", FPS),
        )
        sdk = python(
            *("publish_clock.py", "--url", self._bench.url, "--room", "sdk", "--no-audio", "--codec", codec),
            *("--keep-size", "--bitrate", BITRATE, "--fps", FPS, "--duration", 1000),
        )
        return {"ours": ours, "sdk": sdk}

    def measure(self):
        """By codec, once for each repetition."""
        return {codec: self._latencies(codec) for codec in CODECS}

    def _latencies(self, codec):
        """Both at the same time."""
        with contextlib.ExitStack() as stack:
            programs = [stack.enter_context(self._bench.running(command)) for command in self._publishers(codec).values()]
            for program in programs:
                program.wait_for("published", 60)
            time.sleep(SETTLING)
            for program in programs:
                go_first(program.pid)
            return [self._receive() for _ in range(self._bench.arguments.repetitions)]

    def _receive(self):
        receive = lambda room: self._bench.peer(room, 600, "--clock-code", "--video-only")
        with receive("ours") as ours, receive("sdk") as sdk:
            for program in (ours, sdk):
                program.wait_for("progress")
            time.sleep(self._bench.arguments.seconds + 2)
            return {"ours": Latency.of(ours, skip=2), "sdk": Latency.of(sdk, skip=2)}


def go_first(pid):
    """As publishers of tests do (`publish.go_first`); libdispatch gives threads a priority of its own."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, int(thread.name), -10)


def tabulate(table, results):
    for codec, runs in results.items():
        for label, wanted in (("latency p50, ms", 1.0), ("latency p95, ms", 1.0), ("frames delivered, %", None)):
            of = Latency.COLUMNS[label]
            ours, theirs = ([of(run[name]) for run in runs] for name in ("ours", "sdk"))
            name = f"{codec.replace('H264', 'H.264')} of a program's own frames, {label}"
            if wanted:
                table.medians(name, "the SDK's VideoSource", ours, theirs, wanted)
            else:
                table.value(name, "the SDK's VideoSource", ours, theirs)
