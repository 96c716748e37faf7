"""`mediabridge publish` under test: what it is given, and what of it has to be seen."""

import subprocess

import clip
import numpy as np
from programs import KEYS, mediabridge

FPS = 25
SIZE = (640, 360)


def encode(file, seconds=8, *options, size=SIZE):
    """The numbered clip with its beeps in a file; `options` are of ffmpeg, for the output."""
    pcm = file.with_suffix(".pcm")
    pcm.write_bytes(clip.audio(0, seconds * clip.RATE).tobytes())
    command = ["ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{size[0]}x{size[1]}"]
    command += ["-r", str(FPS), "-i", "-", "-f", "s16le", "-ar", str(clip.RATE), "-ac", "2", "-i", str(pcm)]
    frames = b"".join(clip.i420(clip.draw(number, *size, FPS)) for number in range(seconds * FPS))
    default = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-g", "25", "-c:a", "flac")
    subprocess.run([*command, *(options or default), str(file)], input=frames, check=True)
    return file


def publish(server, start, *arguments, room="r", identity="alice", environment=(), stdin=None):
    """`environment` holds NAME=VALUE for it, `stdin` is a file."""
    return start(
        server.enter(
            *(("env", *environment) if environment else ()),
            *(("sh", "-c", 'file=$1; shift; exec "$@" < "$file"', "sh", stdin) if stdin else ()),
            *mediabridge("publish", "--url", server.url, *KEYS, "--room", room, "--identity", identity, "--json"),
            *map(str, arguments),
        )
    )


def call(server, start, port, file):
    """Sends a file over SRT again and again, at its pace, to whoever listens there."""
    ways = ("-re", "-stream_loop", "-1", "-i", file, "-c:v", "copy", "-c:a", "aac", "-f", "mpegts")
    start(server.enter("ffmpeg", "-v", "error", *ways, f"srt://127.0.0.1:{port}?mode=caller"))


def numbers(seen):
    """In their order; of a frame that came in two layers, where the server changed between them, once."""
    came = [pair for pair in zip(seen["numbers"], seen["widths"]) if pair[0] is not None]
    return [
        number for index, (number, width) in enumerate(came)
        if index == 0 or number != came[index - 1][0] or width == came[index - 1][1]
    ]


def assert_in_order(got, least):
    assert len(got) >= least, f"{len(got)} frames with a number: {got}"
    steps = np.diff(got)
    assert (steps > 0).all(), f"not in order: {got}"
    assert (steps == 1).mean() > 0.9, f"frames are missing: {got}"
