"""Publishes a bright square that moves to the right over a gray frame, with the LiveKit Python SDK."""

import asyncio
import time

import numpy as np
import publish

# In pixels: how wide the square is, and how far it moves a second.
SIDE, SPEED = 60, 150


async def frames(source, arguments, start):
    luma = np.full((arguments.height, arguments.width), 80, np.uint8)
    top = (arguments.height - SIDE) // 2
    number = 0
    while True:
        due = start + number / arguments.fps
        await asyncio.sleep(max(0, due - time.monotonic()))
        left = round(number / arguments.fps * SPEED) % (arguments.width - SIDE)
        shown = luma.copy()
        shown[top : top + SIDE, left : left + SIDE] = 240
        source.capture_frame(publish.video_frame(shown), timestamp_us=int(due * 1e6))
        number += 1


if __name__ == "__main__":
    parser = publish.make_parser()
    parser.set_defaults(width=640, height=360)
    asyncio.run(publish.publish(parser.parse_args(), frames))
