"""Says how loud it is: reads s16le samples on standard input, prints a JSON line for each tenth of a second.

    mediabridge pcm --room my-room --mix --rate 16000 | python3 loudness.py 16000

Needs NumPy: `python3-numpy` of Debian.
"""

import json
import sys

import numpy as np

rate = int(sys.argv[1])
block, position = rate // 10, 0
while len(data := sys.stdin.buffer.read(2 * block)) == 2 * block:
    samples = np.frombuffer(data, "<i2") / 32768
    power = float(np.mean(samples**2))
    level = None if power == 0 else round(10 * np.log10(power), 1)
    print(json.dumps({"time": position / rate, "decibels": level}), flush=True)
    position += block
