"""A WebSocket server as LiveKit's track egress wants one: writes what is binary into a file and tells what is text."""

import argparse
import asyncio
import json
import ssl

from websockets.asyncio.server import serve


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--certificate", help="with its key: of a server of wss")
    parser.add_argument("--stall", type=float, default=0, help="seconds without reading, once something has come")
    arguments = parser.parse_args()

    async def take(connection):
        request = connection.request
        tell("connected", path=request.path, type=request.headers.get("Content-Type"))
        with open(arguments.file, "ab") as file:
            async for message in connection:
                if isinstance(message, str):
                    tell("text", message=json.loads(message), at=file.tell())
                    continue
                file.write(message)
                file.flush()
                await asyncio.sleep(arguments.stall)
                arguments.stall = 0
        tell("closed", code=connection.close_code)

    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate)
    async with serve(take, "127.0.0.1", arguments.port, ssl=context):
        tell("listening")
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
