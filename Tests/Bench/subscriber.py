"""The peer: the LiveKit Python SDK as a subscriber that reads its frames as they are decoded, and does no more.

Tells the same as `mediabridge probe --json`.
"""

import argparse
import asyncio
import json
import signal
import time

import clockcode
import numpy as np
import publish
from livekit import rtc


class Watch:
    def __init__(self, reads_clock):
        self._reads_clock = reads_clock
        self.frames = 0
        self.first = None
        self.size = ""
        self.clock = []
        self.unreadable = 0

    async def follow(self, track):
        # Without a format the frames stay in the decoder's, which is I420, and nothing is converted.
        async for event in rtc.VideoStream(track):
            self._take(event.frame, clockcode.now())

    def _take(self, frame, rendered):
        if self.first is None:
            self.first = time.monotonic()
        assert frame.type == rtc.VideoBufferType.I420, f"not the decoder's own format: {frame.type}"
        self.frames += 1
        self.size = (frame.width, frame.height)
        if self._reads_clock:
            luma = np.frombuffer(frame.data, np.uint8, frame.width * frame.height).reshape(frame.height, frame.width)
            code = clockcode.read(luma)
            if code:
                self.clock.append([*code, rendered])
            else:
                self.unreadable += 1


def tell(name, **fields):
    print(json.dumps({"event": name, **fields}), flush=True)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--api-key", default="devkey")
    parser.add_argument("--api-secret", default="secret")
    parser.add_argument("--room", required=True)
    parser.add_argument("--duration", type=float, required=True)
    parser.add_argument("--clock-code", action="store_true")
    parser.add_argument("--video-only", action="store_true", help="subscribe to no audio")
    parser.set_defaults(no_subscribe=False)
    parser.add_argument("--participant", help="with --video-only: subscribe to this one only")
    parser.add_argument("--quality", choices=["low", "medium", "high"], help="layer of simulcast tracks")
    arguments = parser.parse_args()
    watch = Watch(arguments.clock_code)
    tasks = []
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    room = rtc.Room()

    @room.on("track_subscribed")
    def subscribed(track, publication, participant):
        if track.kind == rtc.TrackKind.KIND_VIDEO:
            if arguments.quality:
                publication.set_video_quality(["low", "medium", "high"].index(arguments.quality))
            tasks.append(asyncio.create_task(watch.follow(track)))

    def choose(publication, participant):
        if arguments.participant not in (None, participant.identity):
            return
        if arguments.video_only and publication.kind == rtc.TrackKind.KIND_VIDEO:
            publication.set_subscribed(True)

    room.on("track_published", choose)

    token = publish.token(arguments, f"peer-{time.monotonic_ns()}")
    begun = time.monotonic()
    await room.connect(arguments.url, token, rtc.RoomOptions(auto_subscribe=not arguments.video_only))
    for participant in room.remote_participants.values():
        for publication in participant.track_publications.values():
            choose(publication, participant)
    deadline = time.monotonic() + arguments.duration
    while not ended.is_set() and time.monotonic() < deadline:
        try:
            await asyncio.wait_for(ended.wait(), min(1, max(0, deadline - time.monotonic())))
        except TimeoutError:
            tell("progress", frames=watch.frames, size="x".join(map(str, watch.size)))
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    if arguments.clock_code:
        tell("clock", frames=watch.clock, unreadable=watch.unreadable)
    tell("finished", frames=watch.frames, first_frame_ms=(watch.first - begun) * 1000 if watch.first else -1)
    await room.disconnect()


asyncio.run(main())
