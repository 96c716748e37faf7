"""Subscribes to everything with the LiveKit Python SDK and says each second what was seen and heard in it."""

import argparse
import asyncio
import json
import os

import clip
import numpy as np
from livekit import api, rtc

# A tone that is sent without a pause is a gap where it is below this, of 32,768.
AUDIBLE = 500


class Second:
    def __init__(self):
        self.sizes, self.numbers, self.frames = {}, [], 0
        self.stretches, self.audible = 0, 0

    def see(self, frame):
        size = f"{frame.width}x{frame.height}"
        self.sizes[size] = self.sizes.get(size, 0) + 1
        self.frames += 1
        luma = np.frombuffer(frame.data, np.uint8)[: frame.width * frame.height].reshape(frame.height, frame.width)
        self.numbers.append(clip.read(luma))

    def hear(self, frame):
        samples = np.frombuffer(frame.data, np.int16).astype(float)
        self.stretches += 1
        self.audible += float(np.sqrt((samples**2).mean())) > AUDIBLE


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--room", default="test")
    arguments = parser.parse_args()
    grants = api.VideoGrants(room_join=True, room=arguments.room)
    jwt = api.AccessToken("devkey", "secret").with_identity("watcher").with_grants(grants).to_jwt()
    now, tasks, heard = [Second()], [], {}

    async def watch(track):
        async for event in rtc.VideoStream(track, format=rtc.VideoBufferType.I420):
            now[0].see(event.frame)

    async def listen(track):
        async for event in rtc.AudioStream(track):
            now[0].hear(event.frame)

    room = rtc.Room()

    @room.on("track_subscribed")
    def subscribed(track, publication, participant):
        tasks.append(asyncio.create_task(watch(track) if track.kind == rtc.TrackKind.KIND_VIDEO else listen(track)))
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            heard[participant.identity] = track

    async def concealed():
        """Of all samples that were played so far, how many were made up, by participant."""
        shares = {}
        for identity, track in heard.items():
            for statistic in await track.get_stats():
                if statistic.HasField("inbound_rtp"):
                    inbound = statistic.inbound_rtp.inbound
                    shares[identity] = inbound.concealed_samples / max(1, inbound.total_samples_received)
        return shares

    await room.connect(arguments.url, jwt)
    print(json.dumps({"event": "connected"}), flush=True)
    while True:
        await asyncio.sleep(1)
        second, now[0] = now[0], Second()
        print(json.dumps({"event": "second", **vars(second), "concealed": await concealed()}), flush=True)


asyncio.run(main())
os._exit(0)
