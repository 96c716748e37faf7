"""A participant that calls everything by names that would command a terminal, with the LiveKit Python SDK.

Twice a second it changes its name, metadata and attributes, and sends a message, so that whoever joins is told all of it.
"""

import argparse
import asyncio
import json

import clip
import numpy as np
from livekit import api, rtc

# Title and screen of a terminal, ends of lines, NUL, DEL, C1, directions, separators, zero width, tags, private use,
# and what looks like our escapes.
CONTROLS = "\x1b]0;owned\x07\x1b[2J\x1b[31m\r\n\t\x00\x08\x7f\x85\x9b2J"
DIRECTIONS = "\u202e\u202a\u2066\u2069\u200e\u200f\u061c"
HIDDEN = "\u2028\u2029\u200b\u200d\u2060\ufeff\u00ad\u3164\ufe0f\U000e0041\U000e0100\ue000"
EVIL = f"{CONTROLS}{DIRECTIONS}{HIDDEN}\\u{{1b}}\\x1b end"
FLOOD = "\x1b[2J" * 16_000
IDENTITY = f"alice {EVIL}"
# On command lines there is no NUL.
ROOM = f"room {EVIL}".replace("\x00", "")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    arguments = parser.parse_args()
    grants = api.VideoGrants(room_join=True, room=ROOM, can_update_own_metadata=True)
    jwt = api.AccessToken("devkey", "secret").with_identity(IDENTITY).with_name(EVIL).with_metadata(EVIL)
    room = rtc.Room()
    await room.connect(arguments.url, jwt.with_grants(grants).to_jwt())
    video, audio = rtc.VideoSource(160, 96), rtc.AudioSource(clip.RATE, 2)
    me = room.local_participant
    # A track's name goes through the session description, where it cannot be anything.
    camera = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_CAMERA, simulcast=False)
    await me.publish_track(rtc.LocalVideoTrack.create_video_track(EVIL.replace("\x00", ""), video), camera)
    microphone = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
    await me.publish_track(rtc.LocalAudioTrack.create_audio_track(EVIL.replace("\x00", ""), audio), microphone)
    print(json.dumps({"event": "published"}), flush=True)
    sending = [asyncio.create_task(send(video, audio)), asyncio.create_task(talk(me))]
    await asyncio.wait(sending, return_when=asyncio.FIRST_EXCEPTION)
    for task in sending:
        task.result()


async def send(video, audio):
    frame = np.zeros((96, 160, 4), np.uint8)
    silence = np.zeros(2 * clip.RATE // 10, np.int16)
    while True:
        frame[..., 0] += 16
        video.capture_frame(rtc.VideoFrame(160, 96, rtc.VideoBufferType.RGBA, frame.tobytes()))
        await audio.capture_frame(rtc.AudioFrame(silence.tobytes(), clip.RATE, 2, clip.RATE // 10))
        await asyncio.sleep(0.1)


async def talk(me):
    while True:
        for name in (FLOOD, EVIL):
            await me.set_name(name)
            await me.set_metadata(name)
            await me.set_attributes({EVIL: name})
            await me.publish_data(name[:10_000], reliable=True, topic=EVIL)
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(main())
