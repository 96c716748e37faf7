"""Says what moves, and where: reads bgr24 frames on standard input, prints a JSON line with the box of each thing that does.

    mediabridge frames --room my-room --format bgr24 --size 320x180 --fps 10 | python3 moving_boxes.py 320x180 10

Needs OpenCV: `python3-opencv` of Debian, or `opencv-python-headless` of PyPI.
"""

import json
import sys

import cv2
import numpy as np

width, height = map(int, sys.argv[1].split("x"))
fps = float(sys.argv[2])
background = cv2.createBackgroundSubtractorMOG2(history=int(10 * fps), detectShadows=False)
number = 0
while len(data := sys.stdin.buffer.read(width * height * 3)) == width * height * 3:
    moving = background.apply(np.frombuffer(data, np.uint8).reshape(height, width, 3))
    # Single pixels are noise of the codec. All of the first frame is new.
    moving = cv2.morphologyEx(moving, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    outlines, _ = cv2.findContours(moving, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines if number else []:
        box = dict(zip(("x", "y", "width", "height"), cv2.boundingRect(outline)))
        print(json.dumps({"time": number / fps, **box}), flush=True)
    number += 1
