"""Guests who come and go one after the other, with the LiveKit Python SDK: their frames change size and turn each second."""

import asyncio
import json
import time

import clip
import numpy as np
import publish
from livekit import rtc

SIZES = [(320, 180), (640, 360), (180, 320), (240, 240)]


async def frames(source, arguments, start, first):
    """What a camera sends whose owner turns it and takes another one; `first` is what the first second is like."""
    for number in range(arguments.fps * 3600):
        await asyncio.sleep(max(0, start + number / arguments.fps - time.monotonic()))
        second = first + number // arguments.fps
        width, height = SIZES[second % len(SIZES)]
        drawn = np.rot90(clip.draw(number, width, height, arguments.fps), second % 4)
        source.capture_frame(publish.video_frame(drawn), rotation=second % 4)


async def visit(arguments, number):
    room = rtc.Room()
    await room.connect(arguments.url, publish.token(arguments, f"guest {number}"))
    video, audio = rtc.VideoSource(*SIZES[0]), publish.audio_source()
    await publish.publish_video(room, video, arguments)
    await publish.publish_audio(room, audio)
    start = time.monotonic()
    sending = [frames(video, arguments, start, number), publish.play(audio, silence, start)]
    tasks = [asyncio.create_task(task) for task in sending]
    await asyncio.wait(tasks, timeout=arguments.stay, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await room.disconnect()
    print(json.dumps({"event": "left", "guest": number}), flush=True)


def silence(_, count):
    return np.zeros(2 * count, np.int16)


async def come_and_go(arguments):
    print(json.dumps({"event": "published"}), flush=True)
    for number in range(arguments.guests):
        await visit(arguments, number)


if __name__ == "__main__":
    parser = publish.make_parser()
    parser.add_argument("--guests", type=int, required=True)
    parser.add_argument("--stay", type=float, required=True, help="seconds")
    asyncio.run(come_and_go(parser.parse_args()))
