"""Reads frames of I420 from a named pipe, and tells when the first byte of each was there, as `subscriber.py` does."""

import json
import signal
import sys

import clockcode
import numpy as np

path, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
size = width * height * 3 // 2
frames, unreadable = [], 0


def tell():
    print(json.dumps({"event": "clock", "frames": frames, "unreadable": unreadable}), flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, lambda *_: tell())
with open(path, "rb", buffering=0) as pipe:
    while first := pipe.read(1):
        rendered = clockcode.now()
        parts, rest = [first], size - 1
        while rest > 0 and (part := pipe.read(rest)):
            parts.append(part)
            rest -= len(part)
        if rest:
            break
        luma = np.frombuffer(b"".join(parts), np.uint8, width * height).reshape(height, width)
        code = clockcode.read(luma)
        if code:
            frames.append([*code, rendered])
        else:
            unreadable += 1
tell()
