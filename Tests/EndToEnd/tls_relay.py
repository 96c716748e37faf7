"""Takes TLS at a port of its own, and carries what comes to a server that does not: PORT SERVER_PORT CERTIFICATE_WITH_KEY."""

import asyncio
import ssl
import sys


async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def serve(port, server_port, certificate):
    async def accept(reader, writer):
        server = await asyncio.open_connection("127.0.0.1", server_port)
        await asyncio.gather(carry(reader, server[1]), carry(server[0], writer), return_exceptions=True)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listening = await asyncio.start_server(accept, "127.0.0.1", port, ssl=context)
    print('{"event": "listening"}', flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
