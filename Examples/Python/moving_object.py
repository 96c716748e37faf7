"""Says where something moves: reads rgb24 frames on standard input, prints a JSON line for each in which it does.

    mediabridge frames --room my-room --format rgb24 --size 320x180 --fps 10 | python3 moving_object.py 320x180 10

Needs NumPy: `python3-numpy` of Debian.
"""

import json
import sys

import numpy as np

width, height = map(int, sys.argv[1].split("x"))
fps = float(sys.argv[2])
before, number = None, 0
while len(data := sys.stdin.buffer.read(width * height * 3)) == width * height * 3:
    frame = np.frombuffer(data, np.uint8).reshape(height, width, 3).mean(axis=2)
    if before is not None:
        rows, columns = np.nonzero(np.abs(frame - before) > 40)
        # Single pixels are noise of the codec.
        if len(rows) > width * height / 2000:
            x, y = float(np.median(columns)), float(np.median(rows))
            print(json.dumps({"time": number / fps, "x": x, "y": y}), flush=True)
    before, number = frame, number + 1
