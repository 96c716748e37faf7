"""Subscribes to everything with Chromium, and says what it showed until it is ended.

The page has no protobuf: signalling passes through here and becomes JSON. `quality LOW` on standard input asks the
server for that layer of each video.
"""

import argparse
import asyncio
import json
import signal
import sys

import chromium
import clip
import numpy as np
from aiohttp import ClientSession, WSMsgType, web
from google.protobuf import json_format
from livekit import api
from livekit.protocol import rtc
from publishing import FPS, SIZE


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Seen:
    """Each frame that the page tells of, and how loud each sound was."""

    def __init__(self):
        self.videos = set()
        self._frame = None

    def take(self, told):
        if "rows" in told:
            self.videos.add(told["track"])
            self._frame = told
        else:
            tell(next(name for name in ("error", "peak", "codec") if name in told), **told)

    def take_luma(self, data):
        frame, self._frame = self._frame, None
        luma = np.frombuffer(data, np.uint8).reshape(frame.pop("rows"), frame["width"])
        number = clip.read(luma)
        if len(luma) == frame["height"] and number is not None:
            frame["off"] = self._distance(luma, number)
        tell("frame", number=number, **frame)

    def _distance(self, luma, number):
        """How far pixels are, on average, from those of the frame of that number, in the size that is shown."""
        (height, width), scale = luma.shape, SIZE[0] // luma.shape[1]
        drawn = clip.draw(number, *SIZE, FPS).reshape(height, scale, width, scale).mean(axis=(1, 3))
        return float(np.abs(luma - drawn).mean())


class Bridge:
    def __init__(self, url, room):
        grants = api.VideoGrants(room_join=True, room=room)
        self._token = api.AccessToken("devkey", "secret").with_identity("browser").with_grants(grants).to_jwt()
        self._url = f"{url}/rtc?protocol=16&auto_subscribe=1"
        self._seen = Seen()
        self._server = None

    async def signal(self, request):
        page = web.WebSocketResponse(max_msg_size=0)
        await page.prepare(request)
        async with ClientSession(headers={"Authorization": f"Bearer {self._token}"}) as session:
            async with session.ws_connect(self._url, max_msg_size=0) as self._server:
                ways = (self.from_page(page), self.from_server(page))
                await asyncio.wait(map(asyncio.create_task, ways), return_when=asyncio.FIRST_COMPLETED)
        return page

    async def from_page(self, page):
        async for message in page:
            if message.type == WSMsgType.BINARY:
                self._seen.take_luma(message.data)
            else:
                said = json.loads(message.data)
                if "seen" in said:
                    self._seen.take(said["seen"])
                else:
                    await self.ask(said)

    async def from_server(self, page):
        async for message in self._server:
            said = rtc.SignalResponse.FromString(message.data)
            await page.send_str(json_format.MessageToJson(said, preserving_proto_field_name=True))

    async def ask(self, request):
        await self._server.send_bytes(json_format.ParseDict(request, rtc.SignalRequest()).SerializeToString())

    async def obey(self, line):
        _, quality = line.split()
        while self._server is None:
            await asyncio.sleep(0.05)
        await self.ask({"track_setting": {"track_sids": sorted(self._seen.videos), "quality": quality}})


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--room", default="test")
    arguments = parser.parse_args()
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    bridge = Bridge(arguments.url, arguments.room)
    application = web.Application()
    page = chromium.FOLDER / "subscriber.html"
    application.add_routes([web.get("/", lambda _: web.FileResponse(page)), web.get("/signal", bridge.signal)])
    runner = web.AppRunner(application, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    loop.add_reader(sys.stdin, lambda: loop.create_task(bridge.obey(sys.stdin.readline())))
    with chromium.showing(f"http://127.0.0.1:{runner.addresses[0][1]}/", "--autoplay-policy=no-user-gesture-required"):
        await ended.wait()
    await runner.cleanup()


asyncio.run(main())
