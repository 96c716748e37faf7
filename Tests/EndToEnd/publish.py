"""Publishes the synthetic clip with the LiveKit Python SDK, a client that we did not write."""

import argparse
import asyncio
import json
import time

import clip
from livekit import api, rtc


def token(arguments, identity):
    grants = api.VideoGrants(room_join=True, room=arguments.room)
    return api.AccessToken(arguments.api_key, arguments.api_secret).with_identity(identity).with_grants(grants).to_jwt()


async def pictures(source, arguments, start):
    number = 0
    while True:
        due = start + number / arguments.fps
        await asyncio.sleep(max(0, due - time.monotonic()))
        picture = clip.draw(number, arguments.width, arguments.height, arguments.fps)
        frame = rtc.VideoFrame(arguments.width, arguments.height, rtc.VideoBufferType.RGBA, picture.tobytes())
        source.capture_frame(frame, timestamp_us=int(due * 1e6))
        number += 1


async def sound(source, start):
    block = clip.RATE // 100
    position = 0
    while True:
        await asyncio.sleep(max(0, start + position / clip.RATE - time.monotonic()))
        samples = clip.sound(position, block)
        await source.capture_frame(rtc.AudioFrame(samples.tobytes(), clip.RATE, 2, block))
        position += block


def make_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--api-key", default="devkey")
    parser.add_argument("--api-secret", default="secret")
    parser.add_argument("--room", default="test")
    parser.add_argument("--identity", default="alice")
    parser.add_argument("--codec", default="VP8", choices=["VP8", "H264", "VP9"])
    parser.add_argument("--simulcast", action="store_true")
    parser.add_argument("--keep-size", action="store_true", help="never send fewer or smaller pictures than asked for")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=int, default=25)
    parser.add_argument("--bitrate", type=int, default=2_000_000)
    parser.add_argument("--duration", type=float, default=30)
    return parser


async def publish(arguments, pictures=pictures):
    """Publishes what `pictures` puts into the video source, and the sound of the clip."""
    room = rtc.Room()
    await room.connect(arguments.url, token(arguments, arguments.identity))
    video = rtc.VideoSource(arguments.width, arguments.height)
    # Without a queue: one that ran empty once would leave the sound late for good.
    audio = rtc.AudioSource(clip.RATE, 2, queue_size_ms=0)
    options = rtc.TrackPublishOptions(
        source=rtc.TrackSource.SOURCE_CAMERA,
        simulcast=arguments.simulcast,
        video_codec=rtc.VideoCodec.Value(arguments.codec),
        video_encoding=rtc.VideoEncoding(max_framerate=arguments.fps, max_bitrate=arguments.bitrate),
    )
    if arguments.keep_size:
        options.degradation_preference = int(rtc.DegradationPreference.MAINTAIN_FRAMERATE_AND_RESOLUTION)
    await room.local_participant.publish_track(rtc.LocalVideoTrack.create_video_track("camera", video), options)
    await room.local_participant.publish_track(
        rtc.LocalAudioTrack.create_audio_track("microphone", audio),
        rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE, dtx=False),
    )
    print(json.dumps({"event": "published"}), flush=True)
    start = time.monotonic()
    tasks = [asyncio.create_task(pictures(video, arguments, start)), asyncio.create_task(sound(audio, start))]
    await asyncio.wait(tasks, timeout=arguments.duration, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await room.disconnect()


if __name__ == "__main__":
    asyncio.run(publish(make_parser().parse_args()))
