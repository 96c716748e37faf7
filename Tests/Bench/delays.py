"""Gets frames, and tells how long ago each was taken: milliseconds for each that it had not seen."""

import argparse
import json
import socket
import time

import av
import clockcode
import numpy as np

# What a player asks of FFmpeg that shows a live stream as soon as it can.
AT_ONCE = {"fflags": "nobuffer", "flags": "low_delay", "probesize": "32768", "analyzeduration": "0"}


def tell(**event):
    print(json.dumps(event), flush=True)


def received(width, height):
    """(when, luma) of each raw frame that comes over a socket."""
    size = width * height
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tell(event="listening", port=listener.getsockname()[1])
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            while len(data := stream.read(size * 3 // 2)) == size * 3 // 2:
                yield clockcode.now(), np.frombuffer(data, np.uint8, size).reshape(height, width)


def played(address):
    """(when, luma) of each frame of a live stream."""
    with av.open(address, options=AT_ONCE) as stream:
        for frame in stream.decode(video=0):
            plane = frame.planes[0]
            yield clockcode.now(), np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]


def read(luma, columns):
    """The code of the tile that has one."""
    rows = np.array_split(luma, columns)
    tiles = [tile for row in rows for tile in np.array_split(row, columns, axis=1)]
    return next(filter(None, map(clockcode.read, tiles)), None)


def measure(frames, columns, skip, seconds):
    delays, seen, begin = [], set(), None
    for now, luma in frames:
        begin = begin or time.monotonic() + skip
        code = read(luma, columns)
        if code and code[0] not in seen and time.monotonic() > begin:
            delays.append((now - code[1]) / 1000)
        if code:
            seen.add(code[0])
        if time.monotonic() > begin + seconds:
            return delays
    return delays


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, nargs=2, help="of raw frames that come over a socket")
    parser.add_argument("--play", metavar="ADDRESS", help="of a live stream")
    parser.add_argument("--columns", type=int, default=1, help="of a grid, in whose tiles the code is looked for")
    parser.add_argument("--skip", type=float, required=True, help="seconds at the beginning that do not count")
    parser.add_argument("--seconds", type=float, required=True, help="how long it reads after that")
    arguments = parser.parse_args()
    frames = played(arguments.play) if arguments.play else received(*arguments.size)
    tell(event="delays", milliseconds=measure(frames, arguments.columns, arguments.skip, arguments.seconds))


if __name__ == "__main__":
    main()
