"""Talks in a room with the LiveKit Python SDK, as each line of standard input says, and tells what arrived."""

import asyncio
import json
import os
import sys
from pathlib import Path

import publish
from livekit import rtc

TOPIC = "lk.chat"


def tell(event, **what):
    print(json.dumps({"event": event, **what}), flush=True)


class Guest:
    """Somebody who reads and writes streams, and whose methods others call."""

    def __init__(self, room, folder):
        self._room, self._folder, self._tasks = room, folder, set()
        room.register_text_stream_handler(TOPIC, lambda *stream: self._run(self._text(*stream)))
        room.register_byte_stream_handler(TOPIC, lambda *stream: self._run(self._file(*stream)))

        for method in (self.upper, self.slow, self.refuse, self.fail):
            room.local_participant.register_rpc_method(method.__name__, method)

    async def upper(self, call):
        return f"{call.payload.upper()} for {call.caller_identity}"

    async def slow(self, call):
        await asyncio.sleep(60)
        return "late"

    async def refuse(self, call):
        raise rtc.RpcError(code=7, message="not today", data=call.payload)

    async def fail(self, call):
        raise ValueError(call.payload)

    async def call(self, method, payload):
        try:
            answer = await self._room.local_participant.perform_rpc(
                destination_identity="bridge", method=method, payload=payload, response_timeout=2
            )
            tell("answer", payload=answer)
        except rtc.RpcError as error:
            tell("refused", code=error.code, message=error.message)

    def _run(self, work):
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _text(self, reader, sender):
        try:
            tell("text", text=await reader.read_all(), sender=sender)
        except rtc.StreamError as error:
            tell("cut", reason=error.description, sender=sender)

    async def _file(self, reader, sender):
        content = bytearray()
        try:
            async for piece in reader:
                if not content:
                    tell("begun", name=reader.info.name, size=reader.info.size, type=reader.info.mime_type)
                content += piece
        except rtc.StreamError as error:
            tell("cut", reason=error.description, sender=sender, length=len(content))
            return
        file = self._folder / os.path.basename(reader.info.name)
        file.write_bytes(content)
        tell("file", file=str(file), sender=sender)

    async def do(self, action, value):
        me = self._room.local_participant
        if action == "text":
            await me.send_text(value, topic=TOPIC)
        elif action == "pieces":
            writer = await me.stream_text(topic=TOPIC)
            for piece in value:
                await writer.write(piece)
            await writer.aclose()
        elif action == "file":
            await me.send_file(value, topic=TOPIC)
        elif action == "cut":
            writer = await me.stream_bytes("cut.bin", topic=TOPIC, total_size=100_000)
            await writer.write(bytes(40_000))
            await writer.aclose(reason=value)
        elif action == "call":
            await self.call(*value)
        else:
            raise ValueError(action)


async def main():
    parser = publish.make_parser()
    parser.add_argument("--folder", type=Path, required=True, help="where files go")
    arguments = parser.parse_args()
    room = rtc.Room()
    await room.connect(arguments.url, publish.token(arguments, arguments.identity))
    guest = Guest(room, arguments.folder)
    tell("published")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        for action, value in json.loads(line).items():
            await guest.do(action, value)
    await room.disconnect()


asyncio.run(main())
# At the interpreter's end threads of the SDK panic now and then, which aborts the program after all is told.
os._exit(0)
