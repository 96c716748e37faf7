"""Counts the frames of each participant: reads what `--framed` writes on standard input, prints JSON lines.

    mediabridge frames --room my-room --each --framed --format gray8 --size 160x90 --fps 2 | python3 everybody.py
"""

import json
import struct
import sys

HEADER = struct.Struct("<4sIIII4sq")
names, counts = {}, {}
while len(header := sys.stdin.buffer.read(HEADER.size)) == HEADER.size:
    mark, length, track, width, height, kind, nanoseconds = HEADER.unpack(header)
    assert mark == b"MBF1"
    data = sys.stdin.buffer.read(length)
    if kind == b"json":
        names[track] = json.loads(data)["participant"]
        continue
    counts[track] = counts.get(track, 0) + 1
    brightness = sum(data) / max(len(data), 1)
    print(json.dumps({"participant": names[track], "time": nanoseconds / 1e9, "size": f"{width}x{height}",
                      "frames": counts[track], "brightness": round(brightness)}), flush=True)
