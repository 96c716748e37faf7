"""Subscribes to everything with the LiveKit Python SDK and says what arrived."""

import argparse
import asyncio
import contextlib
import json
import os

import clip
import numpy as np
from livekit import api, rtc


def box(luma):
    """Around what is white; None where nothing is."""
    rows, columns = np.nonzero(luma > 180)
    return [int(end) for end in (columns.min(), rows.min(), columns.max(), rows.max())] if len(rows) else None


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--room", default="test")
    parser.add_argument("--duration", type=float, default=6)
    parser.add_argument("--until", nargs=2, metavar=("COUNT", "SIZE"), help="end once so many frames of it are seen")
    parser.add_argument("--until-left", action="store_true", help="end once everybody has left")
    parser.add_argument("--boxes", action="store_true", help="tell where frames are white: left, top, right, bottom")
    arguments = parser.parse_args()
    grants = api.VideoGrants(room_join=True, room=arguments.room)
    jwt = api.AccessToken("devkey", "secret").with_identity("watcher").with_grants(grants).to_jwt()
    seen = {"frames": 0, "wanted": 0, "sizes": [], "numbers": [], "level": 0.0, "tracks": [], "mutes": [], "messages": [], "boxes": []}
    seen["widths"], seen["details"], seen["sources"] = [], [], []
    tasks, levels = [], []
    wanted, wanted_size = arguments.until or (0, None)
    enough = asyncio.Event()

    async def watch(track):
        async for event in rtc.VideoStream(track, format=rtc.VideoBufferType.I420):
            frame = event.frame
            size = f"{frame.width}x{frame.height}"
            if size not in seen["sizes"]:
                seen["sizes"].append(size)
            seen["frames"] += 1
            seen["wanted"] += size == wanted_size
            if seen["wanted"] >= int(wanted) > 0:
                enough.set()
            luma = np.frombuffer(frame.data, np.uint8)[: frame.width * frame.height].reshape(frame.height, frame.width)
            seen["numbers"].append(clip.read(luma))
            seen["widths"].append(frame.width)
            # How far neighbours in a row are apart.
            seen["details"].append(float(np.abs(np.diff(luma.astype(np.int16))).mean()))
            if arguments.boxes and size == wanted_size:
                seen["boxes"].append(box(luma))

    async def listen(track):
        async for event in rtc.AudioStream(track):
            samples = np.frombuffer(event.frame.data, np.int16).astype(float)
            levels.append(float(np.sqrt((samples**2).mean())))

    room = rtc.Room()

    @room.on("track_subscribed")
    def subscribed(track, publication, participant):
        seen["tracks"].append([participant.identity, publication.mime_type])
        seen["sources"].append(rtc.TrackSource.Name(publication.source).removeprefix("SOURCE_"))
        tasks.append(asyncio.create_task(watch(track) if track.kind == rtc.TrackKind.KIND_VIDEO else listen(track)))

    @room.on("participant_disconnected")
    def left(participant):
        if arguments.until_left and not room.remote_participants:
            enough.set()

    @room.on("track_muted")
    def muted(participant, publication):
        seen["mutes"].append([participant.identity, publication.source == rtc.TrackSource.SOURCE_MICROPHONE, True])

    @room.on("track_unmuted")
    def unmuted(participant, publication):
        seen["mutes"].append([participant.identity, publication.source == rtc.TrackSource.SOURCE_MICROPHONE, False])

    @room.on("data_received")
    def received(packet):
        # Who is hidden is nobody.
        sender = packet.participant.identity if packet.participant else None
        seen["messages"].append([sender, packet.topic, packet.data.decode()])
        print(json.dumps({"event": "message", "message": seen["messages"][-1]}), flush=True)

    await room.connect(arguments.url, jwt)
    print(json.dumps({"event": "connected"}), flush=True)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(enough.wait(), arguments.duration)
    for task in tasks:
        task.cancel()
    await room.disconnect()
    # A beep a second is a twentieth and more; libwebrtc may overdo it for a moment where audio comes late.
    seen["level"] = float(np.percentile(levels, 98)) if levels else 0.0
    print(json.dumps(seen), flush=True)


asyncio.run(main())
# At the interpreter's end threads of the SDK panic now and then, which aborts the program after all is told.
os._exit(0)
