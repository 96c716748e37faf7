"""Publishes four colours that stand still, red and green above blue and white, with the LiveKit Python SDK."""

import asyncio

import numpy as np
import publish
from livekit import rtc

COLORS = [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (255, 255, 255)]]


def drawn(width, height):
    frame = np.zeros((height, width, 3), np.uint8)
    for row, colors in enumerate(COLORS):
        for column, color in enumerate(colors):
            rows, columns = slice(row * height // 2, (row + 1) * height // 2), slice(column * width // 2, (column + 1) * width // 2)
            frame[rows, columns] = color
    return frame


async def frames(source, arguments, start):
    data = drawn(arguments.width, arguments.height).tobytes()
    while True:
        source.capture_frame(rtc.VideoFrame(arguments.width, arguments.height, rtc.VideoBufferType.RGB24, data))
        await asyncio.sleep(1 / arguments.fps)


if __name__ == "__main__":
    asyncio.run(publish.publish(publish.make_parser().parse_args(), frames))
