"""Says when something begins to move and when all stands still: reads gray8 frames on standard input, prints JSON lines.

    mediabridge frames --room my-room --format gray8 --size 160x90 --fps 5 | python3 motion.py 160x90 5
    mediabridge frames --room my-room --format gray8 --size 160x90 --fps 5 --exec 'python3 motion.py 160x90 5' --reply data

Needs NumPy: `python3-numpy` of Debian.
"""

import json
import sys

import numpy as np

width, height = map(int, sys.argv[1].split("x"))
fps = float(sys.argv[2])
# What differs by more from the mean of the newest frames has moved, where enough does; it stands still after a second.
CHANGE, SHARE, WEIGHT, STILL = 25, 0.005, 0.3, 1.0
mean, number, newest, is_moving = None, 0, 0.0, False


def tell(event, time, **more):
    print(json.dumps({"event": event, "time": round(time, 3), **more}), flush=True)


while len(data := sys.stdin.buffer.read(width * height)) == width * height:
    frame = np.frombuffer(data, np.uint8).reshape(height, width).astype(float)
    mean = frame if mean is None else mean
    rows, columns = np.nonzero(np.abs(frame - mean) > CHANGE)
    mean = (1 - WEIGHT) * mean + WEIGHT * frame
    time = number / fps
    number += 1
    if len(rows) > SHARE * width * height:
        newest = time
        if not is_moving:
            box = [int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())]
            tell("motion", time, box=box)
        is_moving = True
    elif is_moving and time - newest >= STILL:
        tell("still", time)
        is_moving = False
