"""Publishing 720p25 in three layers with audio, beside the LiveKit Python SDK publishing the same: processor time, and
how much the largest layer looks like the clip."""

import subprocess
import time
from pathlib import Path

import av
import clip
import clockcode
import numpy as np
import real_clip
from measure import Window
from programs import KEYS, mediabridge, python

FPS = 25
BITRATE = 1_700_000
# Seconds in which libwebrtc's estimate of the bandwidth lets it send all layers.
SETTLING = 12
# A file that is begun again costs a little.
TIMES = 4
WANTED = 0.9
# So much worse is still the same.
SSIM_TOLERANCE = 0.005
CODECS = {"VP8": "vp8", "H264": "h264"}


def numbered():
    frames = real_clip.frames()
    for number, frame in enumerate(frames):
        clockcode.burn(frame[: frame.shape[0] * 2 // 3], number, 0)
    return frames


def ssim(one, other):
    """Of two luma planes, over blocks of 8 pixels (Wang et al. 2004, with an even window)."""
    height, width = (length // 8 * 8 for length in one.shape)
    blocks = [
        plane[:height, :width].reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2).reshape(-1, 64).astype(float)
        for plane in (one, other)
    ]
    (x, y), (mx, my) = blocks, [block.mean(axis=1) for block in blocks]
    vx, vy = (block.var(axis=1) for block in blocks)
    both = ((x - mx[:, None]) * (y - my[:, None])).mean(axis=1)
    (c1, c2) = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(np.mean((2 * mx * my + c1) * (2 * both + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2))))


class Publishing:
    def __init__(self, bench):
        self._bench = bench
        self._clip = numbered()
        self._file = bench.folder / "publishing.mkv"
        self._write(self._file)

    def _write(self, file):
        height, width = self._clip[0].shape[0] * 2 // 3, self._clip[0].shape[1]
        audio = file.with_suffix(".pcm")
        # As long as the frames, so that both begin again together.
        count = len(self._clip) * clip.RATE // FPS
        audio.write_bytes(np.tile(np.resize(real_clip.samples(), 2 * count), TIMES).tobytes())
        command = ["ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}"]
        command += ["-r", str(FPS), "-i", "-", "-f", "s16le", "-ar", str(clip.RATE), "-ac", "2", "-i", str(audio)]
        # The SDK takes the planes as they are. Of frames of this size without a word players take BT.709 for granted, and
        # what is published has BT.601: to convert them is not what is compared.
        for name in ("colorspace", "color_primaries", "color_trc"):
            command += [f"-{name}", "smpte170m"]
        command += ["-color_range", "tv", "-c:v", "rawvideo", "-c:a", "copy", str(file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as writer:
            for frame in self._clip * TIMES:
                writer.stdin.write(frame.tobytes())
            writer.stdin.close()
        assert writer.returncode == 0, "ffmpeg cannot write the clip"

    def costs(self):
        """By codec, once for each repetition."""
        return {codec: [self._cost(codec) for _ in range(self._bench.arguments.repetitions)] for codec in CODECS}

    def _cost(self, codec):
        """One after the other: two that encode three layers each would take each other's time."""
        ours = mediabridge("publish", "--url", self._bench.url, *KEYS, "--room", "bench-publish", "--identity", "alice", "--json")
        ours += ("--codec", CODECS[codec], "--video-bitrate", str(BITRATE // 1000), "--loop", str(self._file))
        theirs = python(
            Path(__file__).with_name("publisher.py"), "--url", self._bench.url, "--room", "bench-publish", "--codec", codec,
            "--fps", FPS, "--keep-size", "--simulcast", "--bitrate", BITRATE, "--duration", 1000,
        )  # fmt: skip
        run = {"ours": self._measure(ours, "publishing"), "sdk": self._measure(theirs, "published")}
        rates = {name: round(measured["rate"], 1) for name, measured in run.items()}
        assert min(rates.values()) > 0.9 * FPS, f"{rates} frames a second of {FPS}: the machine is too busy"
        return run

    def _measure(self, command, begun):
        file, seconds = self._bench.folder / "published.mkv", self._bench.arguments.seconds
        with self._bench.running(command) as publisher:
            publisher.wait_for(begun, 60)
            time.sleep(SETTLING)
            with self._bench.recorder("bench-publish", seconds, file) as recorder:
                recorder.wait_for("recording", 30)
                with Window(publisher.pid, [publisher.pid, recorder.pid]) as window:
                    recorder.wait_for("finished", seconds + 30)
                assert recorder.finish() == 0, recorder.report("failed")
        return {"cpu": window.used / window.span, "others": window.others, **self._look(file)}

    def _look(self, file):
        """What came of the largest layer."""
        with av.open(str(file)) as container:
            size = sum(packet.size for packet in container.demux(video=0))
        height = self._clip[0].shape[0] * 2 // 3
        below = 2 * (self._clip[0].shape[1] // clockcode.COLUMNS)
        frames, likeness, times = 0, [], []
        with av.open(str(file)) as container:
            for frame in container.decode(video=0):
                luma = frame.to_ndarray(format="gray8" if frame.format.name == "gray8" else "yuv420p")[: frame.height]
                frames += 1
                times.append(frame.time)
                code = clockcode.read(luma) if luma.shape[0] == height else None
                if code and frames % 5 == 0:
                    likeness.append(ssim(luma[below:], self._clip[code[0]][below:height]))
        span = max(times) - min(times)
        assert len(likeness) > frames / 10, f"only {len(likeness)} of {frames} frames are whole and of the full size"
        return {"rate": frames / span, "ssim": float(np.mean(likeness)), "kbit": size * 8 / span / 1000}


def tabulate(table, results):
    for codec, runs in results.items():
        label = {"VP8": "VP8", "H264": "H.264"}[codec]
        pair = lambda name: [(run["ours"][name], run["sdk"][name]) for run in runs]
        table.ratio(f"{label} published in three layers with audio, cores", "the SDK", pair("cpu"), WANTED)
        # Unlikeness is what is judged: it may be so much larger.
        unlike = [tuple(1 - value for value in values) for values in pair("ssim")]
        worst = 1 + SSIM_TOLERANCE / max(theirs for _, theirs in unlike)
        table.ratio(f"{label} published, 1 - SSIM of the largest layer", "the SDK", unlike, worst)
        table.ratio(f"{label} published, frames a second of the largest layer", "the SDK", pair("rate"))
        table.ratio(f"{label} published, kbit/s of the largest layer", "the SDK", pair("kbit"))
