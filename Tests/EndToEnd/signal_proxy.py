"""Passes signalling on to a server, and says things in its name when asked: a server's behaviour made to order.

GET /leave?reason=N&action=A sends a leave with those to every client, POST /say any SignalResponse, and POST /metadata
tells each client that its own metadata is that text; GET /deafen tells it that it may not subscribe; GET /freeze
passes nothing on any more; GET /hold holds back what
is said of participants, and GET /release says the newest of each in one update, once one of them publishes something;
GET /cut ends every connection without a word, and with ?seconds=N every one that comes within so long. Whom it is to
serve `--without` a codec is offered none of it, as if that client did not know it.
"""

import argparse
import asyncio
import json
import re
import time

from aiohttp import ClientSession, WSMsgType, web
from livekit.protocol import rtc


def without(codec, sdp):
    """A description that has no such codec, nor what repairs it."""
    numbers = set(re.findall(rf"a=rtpmap:(\d+) {codec}/", sdp))
    numbers |= {number for number, of in re.findall(r"a=fmtp:(\d+) apt=(\d+)", sdp) if of in numbers}
    lines = []
    for line in sdp.split("\r\n"):
        if line.startswith("m=video"):
            kind, port, profile, *formats = line.split()
            line = " ".join([kind, port, profile, *(number for number in formats if number not in numbers)])
        if not re.match(rf"a=(rtpmap|fmtp|rtcp-fb):({'|'.join(numbers) or 'none'})[ \b]", line):
            lines.append(line)
    return "\r\n".join(lines)


class Proxy:
    def __init__(self, target, codec):
        self.target = target
        self.codec = codec
        # Each with the transport below it.
        self.clients = {}
        # As the server has introduced them to themselves.
        self.people = {}
        self.is_frozen = False
        # What is held back of whom; None while nothing is.
        self.held = None
        self.closed_until = 0.0

    async def join(self, request):
        if time.monotonic() < self.closed_until:
            request.transport.abort()
            return web.Response()
        client = web.WebSocketResponse()
        headers = {"Authorization": request.headers.get("Authorization", "")}
        async with ClientSession() as session:
            async with session.ws_connect(f"{self.target}{request.path_qs}", headers=headers, max_msg_size=0) as server:
                await client.prepare(request)
                self.clients[client] = request.transport
                await asyncio.wait(
                    [asyncio.create_task(self.copy(*way)) for way in ((client, server), (server, client))],
                    return_when=asyncio.FIRST_COMPLETED,
                )
                self.clients.pop(client, None)
        await client.close()
        return client

    async def copy(self, source, destination):
        async for message in source:
            if message.type == WSMsgType.BINARY and not self.is_frozen:
                if destination in self.clients and destination not in self.people:
                    self.meet(destination, message.data)
                if destination in self.clients and self.hold_back(message.data):
                    continue
                await destination.send_bytes(self.changed(message.data) if destination in self.clients else message.data)

    def changed(self, data):
        said = rtc.SignalResponse.FromString(data)
        if not self.codec or not said.HasField("offer"):
            return data
        said.offer.sdp = without(self.codec, said.offer.sdp)
        return said.SerializeToString()

    def hold_back(self, data):
        if self.held is None:
            return False
        said = rtc.SignalResponse.FromString(data)
        if not said.HasField("update"):
            return False
        self.held |= {info.identity: info for info in said.update.participants}
        return True

    async def hold(self, _):
        self.held = {}
        return web.Response()

    async def release(self, _):
        while not any(info.tracks for info in self.held.values()):
            await asyncio.sleep(0.02)
        update = rtc.ParticipantUpdate(participants=list(self.held.values()))
        self.held = None
        return await self.tell(rtc.SignalResponse(update=update).SerializeToString())

    def meet(self, client, data):
        said = rtc.SignalResponse.FromString(data)
        if said.HasField("join"):
            self.people[client] = said.join.participant

    async def metadata(self, request):
        text = await request.text()
        return await self.change(lambda person: setattr(person, "metadata", text))

    async def deafen(self, _):
        return await self.change(lambda person: setattr(person.permission, "can_subscribe", False))

    async def change(self, change):
        for client in self.clients:
            change(self.people[client])
            # What is older than what the server has said counts for nothing.
            self.people[client].version += 1000
            update = rtc.ParticipantUpdate(participants=[self.people[client]])
            await client.send_bytes(rtc.SignalResponse(update=update).SerializeToString())
        return web.Response(text=str(len(self.clients)))

    async def leave(self, request):
        asked = rtc.LeaveRequest(
            reason=int(request.query.get("reason", 0)), action=request.query.get("action", "DISCONNECT")
        )
        return await self.tell(rtc.SignalResponse(leave=asked).SerializeToString())

    async def say(self, request):
        return await self.tell(await request.read())

    async def tell(self, message):
        for client in self.clients:
            await client.send_bytes(message)
        return web.Response(text=str(len(self.clients)))

    async def cut(self, request):
        self.closed_until = time.monotonic() + float(request.query.get("seconds", 0))
        transports = list(self.clients.values())
        for transport in transports:
            transport.abort()
        return web.Response(text=str(len(transports)))

    async def freeze(self, _):
        self.is_frozen = True
        return web.Response()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", required=True)
    parser.add_argument("--without", metavar="CODEC")
    arguments = parser.parse_args()
    proxy = Proxy(arguments.to, arguments.without)
    application = web.Application()
    application.add_routes(
        [
            web.get("/rtc", proxy.join),
            web.get("/leave", proxy.leave),
            web.post("/say", proxy.say),
            web.post("/metadata", proxy.metadata),
            web.get("/deafen", proxy.deafen),
            web.get("/freeze", proxy.freeze),
            web.get("/hold", proxy.hold),
            web.get("/release", proxy.release),
            web.get("/cut", proxy.cut),
        ]
    )
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    print(json.dumps({"event": "listening", "port": port}), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
