"""Publishes a real clip with the LiveKit Python SDK, the moment of capture burned into every picture."""

import asyncio
import time

import clockcode
import publish
import real_clip
from livekit import rtc


def showing(clip):
    """What puts the clip into a video source, over and over."""

    async def pictures(source, arguments, start):
        number = 0
        while True:
            due = start + number / arguments.fps
            await asyncio.sleep(max(0, due - time.monotonic()))
            picture = clip[number % len(clip)]
            luma = picture[: arguments.height]
            clockcode.burn(luma, number, clockcode.now())
            data = memoryview(picture.reshape(-1))
            frame = rtc.VideoFrame(arguments.width, arguments.height, rtc.VideoBufferType.I420, data)
            source.capture_frame(frame, timestamp_us=int(due * 1e6))
            number += 1

    return pictures


if __name__ == "__main__":
    # Decoded before, so that publishing costs the encoder alone.
    clip = real_clip.pictures()
    arguments = publish.make_parser().parse_args()
    arguments.height, arguments.width = clip[0].shape[0] * 2 // 3, clip[0].shape[1]
    asyncio.run(publish.publish(arguments, showing(clip)))
