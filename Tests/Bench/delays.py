"""Reads frames from a socket, and tells how long ago each was taken: milliseconds for each frame that it had not seen."""

import argparse
import json
import socket
import time

import clockcode
import numpy as np


def tell(**event):
    print(json.dumps(event), flush=True)


def frames(stream, width, height):
    while len(data := stream.read(width * height * 3 // 2)) == width * height * 3 // 2:
        yield clockcode.now(), np.frombuffer(data, np.uint8, width * height).reshape(height, width)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, nargs=2, required=True)
    parser.add_argument("--skip", type=float, required=True, help="seconds at the beginning that do not count")
    parser.add_argument("--seconds", type=float, required=True, help="how long it reads after that")
    arguments = parser.parse_args()
    delays, seen = [], set()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tell(event="listening", port=listener.getsockname()[1])
        connection, _ = listener.accept()
        begin = time.monotonic() + arguments.skip
        with connection, connection.makefile("rb") as stream:
            for now, luma in frames(stream, *arguments.size):
                code = clockcode.read(luma)
                if code and code[0] not in seen and time.monotonic() > begin:
                    delays.append((now - code[1]) / 1000)
                if code:
                    seen.add(code[0])
                if time.monotonic() > begin + arguments.seconds:
                    break
    tell(event="delays", milliseconds=delays)


if __name__ == "__main__":
    main()
