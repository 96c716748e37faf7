"""Publishes the synthetic clip with the LiveKit Python SDK, a client that we did not write."""

import argparse
import asyncio
import base64
import contextlib
import functools
import hmac
import json
import os
import sys
import time

import clip
import numpy as np
from livekit import rtc
from livekit.rtc import e2ee


def token(arguments, identity, is_agent=False):
    """By hand (RFC 7519): to import LiveKit's package for it takes half as long as to join. `subscribe.py` uses that."""
    claims = {"iss": arguments.api_key, "sub": identity, "nbf": int(time.time()) - 60, "exp": int(time.time()) + 21_600}
    claims["video"] = {"room": arguments.room, "roomJoin": True, "canUpdateOwnMetadata": True}
    claims["video"] |= {"canSubscribe": False} if arguments.no_subscribe else {}
    claims |= {"kind": "agent"} if is_agent else {}
    said = ".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{said}.{base64url(hmac.digest(arguments.api_secret.encode(), said.encode(), 'sha256'))}"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def video_frame(luma):
    """Gray, as it is sent."""
    height, width = luma.shape
    return rtc.VideoFrame(width, height, rtc.VideoBufferType.I420, clip.i420(luma))


# libwebrtc takes a new measure of a sender's clock then, which is wrong by as much for seconds.
STALL = 0.2
LATE = []


async def until(due):
    """Says, once, where the machine did not let it go on in time."""
    await asyncio.sleep(max(0, due - time.monotonic()))
    late = time.monotonic() - due
    if late > STALL and not LATE:
        LATE.append(late)
        print(json.dumps({"event": "stalled", "seconds": round(late, 3)}), flush=True)


class Camera:
    """What the camera does while it is on."""

    def __init__(self):
        self._held_until = 0

    def hold(self, seconds):
        """Stalls: gives no frame for so long."""
        self._held_until = time.monotonic() + seconds

    async def frames(self, source, arguments, start):
        number = 0
        while True:
            due = start + number / arguments.fps
            await until(due)
            if due >= self._held_until:
                quarters = arguments.turns[number // arguments.fps % len(arguments.turns)] // 90
                drawn = clip.draw(
                    arguments.first_number + number, *upright_size(arguments, quarters), arguments.fps
                )
                frame = video_frame(np.rot90(drawn, quarters))
                source.capture_frame(frame, timestamp_us=int(due * 1e6), rotation=quarters)
            number += 1


CAMERA = Camera()


def upright_size(arguments, quarters):
    size = (arguments.width, arguments.height)
    return size if quarters % 2 == 0 else size[::-1]


async def screen(source, arguments, publications):
    """A shared screen, on which nothing moves."""
    frame = video_frame(clip.screen(arguments.width, arguments.height))
    while True:
        if "screen" in publications:
            source.capture_frame(frame)
        await asyncio.sleep(0.1)


def audio_source():
    """The SDK takes what is due from a queue, each 10 ms: to hand it over in such steps costs a third of all."""
    return rtc.AudioSource(clip.RATE, 2, queue_size_ms=2_000)


# In seconds, by which the queue is filled ahead: one that ran empty once would leave the audio late for good.
AHEAD = 1.5
# In seconds. The SDK takes audio each 10 ms, and libwebrtc tells of the first sample of a packet that it was taken when
# the packet went, 10 ms later.
TAKEN_LATE = 0.015


async def play(source, stretch, start):
    block = clip.RATE // 10
    position = 0
    while True:
        await until(start - TAKEN_LATE + max(0, position / clip.RATE - AHEAD))
        samples = stretch(position, block)
        await source.capture_frame(rtc.AudioFrame(samples.tobytes(), clip.RATE, 2, block))
        position += block


INFORMATION = {
    "name": lambda participant, text: participant.set_name(text),
    "metadata": lambda participant, text: participant.set_metadata(text),
    "attributes": lambda participant, text: participant.set_attributes(dict([text.split("=")])),
}


MUTES = {
    "mute": ("audio", lambda track: track.mute()),
    "unmute": ("audio", lambda track: track.unmute()),
    "mute-video": ("video", lambda track: track.mute()),
    "unmute-video": ("video", lambda track: track.unmute()),
}


async def act(room, sources, arguments, publications, start):
    """Does what was asked for, a while apart, then what lines of standard input ask for, at once."""
    for action in arguments.actions:
        name, _, text = action.partition(":")
        await asyncio.sleep(float(text) if name == "wait" else 1.5)
        await do(name, text, room, sources, arguments, publications, start)
    async for line in lines_of_input():
        name, _, text = line.strip().partition(":")
        await do(name, text, room, sources, arguments, publications, start)


async def lines_of_input():
    reader = asyncio.StreamReader()
    # Where it is a file or the null device nobody asks.
    with contextlib.suppress(ValueError, PermissionError):
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            yield line.decode()


async def do(name, text, room, sources, arguments, publications, start):
    """Says that it is done, with the seconds since the first frame was due."""
    at = time.monotonic() - start
    if name == "message":
        await room.local_participant.publish_data(text, reliable=True, topic="chat")
    elif name in MUTES:
        kind, way = MUTES[name]
        way(publications[kind].track)
    elif name in INFORMATION:
        await INFORMATION[name](room.local_participant, text)
    elif name in ("forbid", "allow"):
        room.local_participant.set_track_subscription_permissions(allow_all_participants=name == "allow")
    elif name == "leave":
        await room.disconnect()
    elif name == "screen":
        publications["screen"] = await publish_screen(room, sources["screen"], arguments)
    elif name == "hold":
        CAMERA.hold(float(text))
    elif name == "resize":
        arguments.width, arguments.height = (int(side) for side in text.split("x"))
    elif name not in ("unpublish", "publish", "republish", "wait"):
        raise ValueError(f"there is no action {name}")
    if name in ("unpublish", "republish"):
        await room.local_participant.unpublish_track(publications["video"].sid)
    if name in ("publish", "republish"):
        publications["video"] = await publish_video(room, sources["video"], arguments, text)
    print(json.dumps({"event": name, "at": at}), flush=True)


def make_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--api-key", default="devkey")
    parser.add_argument("--api-secret", default="secret")
    parser.add_argument("--room", default="test")
    parser.add_argument("--identity", default="alice")
    parser.add_argument("--agent", action="store_true", help="join as an agent")
    parser.add_argument("--no-subscribe", action="store_true", help="with a token that may only publish")
    parser.add_argument("--codec", default="VP8", choices=["VP8", "H264", "VP9", "AV1"])
    parser.add_argument("--encrypted", action="store_true", help="end to end, with a key that nobody else has")
    parser.add_argument("--simulcast", action="store_true")
    parser.add_argument("--layers", metavar="MODE", help="in one stream, as L3T3_KEY")
    parser.add_argument("--keep-size", action="store_true", help="never send fewer or smaller frames than asked for")
    parser.add_argument("--width", type=int, default=clip.SIZE[0])
    parser.add_argument("--height", type=int, default=clip.SIZE[1])
    parser.add_argument("--fps", type=int, default=25)
    parser.add_argument("--bitrate", type=int, default=2_000_000)
    parser.add_argument("--duration", type=float, default=30)
    parser.add_argument("--first-number", type=int, default=0, help="of the frames, a multiple of --fps")
    parser.add_argument("--beep", type=int, default=clip.TONE, metavar="HZ")
    parser.add_argument("--no-video", action="store_true")
    parser.add_argument("--no-audio", action="store_true")
    parser.add_argument("--screen", choices=["first", "last"], help="publish a screen before or after the camera, too")
    parser.add_argument("--chirp", action="store_true", help="a chirp at the beginning of each second, and a tone after it")
    parser.add_argument("--tone", action="store_true", help="audio without a pause instead of beeps")
    parser.add_argument(
        "--turns",
        type=int,
        nargs="+",
        default=[0],
        help="degrees clockwise by which the frames of each second are to be turned, as those of a camera held askew",
    )
    parser.add_argument(
        "--actions",
        nargs="*",
        default=[],
        help="each after 1.5 s: wait:SECONDS, message:TEXT, mute, unmute, mute-video, unmute-video, unpublish, publish, "
        "republish:CODEC, screen, hold:SECONDS without a frame, resize:WIDTHxHEIGHT, name:TEXT, metadata:TEXT, "
        "attributes:KEY=VALUE, forbid, allow, leave; then the same at once for each line of standard input",
    )
    return parser


def go_first():
    """What is measured is how the receiver keeps time, so a busy machine shall not make the sender late."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)


async def publish(arguments, frames=CAMERA.frames, stretch=clip.audio):
    """Publishes what `frames` puts into the video source, and the audio that `stretch` gives."""
    go_first()
    room = rtc.Room()
    await room.connect(arguments.url, token(arguments, arguments.identity, arguments.agent), room_options(arguments))
    video = rtc.VideoSource(arguments.width, arguments.height)
    audio = audio_source()
    sources = {"video": video, "screen": rtc.VideoSource(arguments.width, arguments.height)}
    publications = {}
    if arguments.screen == "first":
        publications["screen"] = await publish_screen(room, sources["screen"], arguments)
    if not arguments.no_video:
        publications["video"] = await publish_video(room, video, arguments)
    if arguments.screen == "last":
        publications["screen"] = await publish_screen(room, sources["screen"], arguments)
    if not arguments.no_audio:
        publications["audio"] = await publish_audio(room, audio)
    print(json.dumps({"event": "published", "sids": sids(publications)}), flush=True)
    # The first audio is due before it.
    start = time.monotonic() + 2 * TAKEN_LATE
    tasks = [asyncio.create_task(frames(video, arguments, start))]
    tasks.append(asyncio.create_task(screen(sources["screen"], arguments, publications)))
    if not arguments.no_audio:
        tasks.append(asyncio.create_task(play(audio, stretch, start)))
    acting = asyncio.create_task(act(room, sources, arguments, publications, start))
    await asyncio.wait(tasks, timeout=arguments.duration, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    if acting.done():
        acting.result()
    await room.disconnect()


def sids(publications):
    return {name: publication.sid for name, publication in publications.items()}


def room_options(arguments):
    if not arguments.encrypted:
        return rtc.RoomOptions()
    keys = e2ee.KeyProviderOptions(shared_key=b"nobody knows it")
    return rtc.RoomOptions(e2ee=rtc.E2EEOptions(key_provider_options=keys))


async def publish_video(room, source, arguments, codec=None):
    options = rtc.TrackPublishOptions(
        source=rtc.TrackSource.SOURCE_CAMERA,
        simulcast=arguments.simulcast,
        video_codec=rtc.VideoCodec.Value(codec or arguments.codec),
        video_encoding=rtc.VideoEncoding(max_framerate=arguments.fps, max_bitrate=arguments.bitrate),
    )
    if arguments.layers:
        options.scalability_mode = arguments.layers
    if arguments.keep_size:
        options.degradation_preference = int(rtc.DegradationPreference.MAINTAIN_FRAMERATE_AND_RESOLUTION)
    track = rtc.LocalVideoTrack.create_video_track("camera", source)
    return await room.local_participant.publish_track(track, options)


async def publish_screen(room, source, arguments):
    options = rtc.TrackPublishOptions(
        source=rtc.TrackSource.SOURCE_SCREENSHARE, simulcast=False, video_codec=rtc.VideoCodec.Value(arguments.codec)
    )
    track = rtc.LocalVideoTrack.create_video_track("screen_share", source)
    return await room.local_participant.publish_track(track, options)


async def publish_audio(room, source):
    track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
    options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE, dtx=False)
    return await room.local_participant.publish_track(track, options)


if __name__ == "__main__":
    options = make_parser().parse_args()
    beeping = functools.partial(clip.audio, frequency=options.beep)
    stretch = clip.tone if options.tone else clip.chirps if options.chirp else beeping
    asyncio.run(publish(options, stretch=stretch))
