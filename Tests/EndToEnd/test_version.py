"""The version is one: what the program says, what a server is told, and what CHANGELOG has."""

import re
import socket

from programs import KEYS, ROOT, mediabridge


def version(program):
    assert program.finish() == 0, program.report("no version")
    return [event["text"] for event in program.events]


def joined_with(start):
    """The head of the request with which a room is joined."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
        start(mediabridge("watch", "--url", url, *KEYS, "--room", "r", "--reconnect-attempts", "0"))
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as request:
            return "".join(line.decode() for line in iter(request.readline, b"\r\n"))


def test_version(start):
    program, gstreamer = version(start(mediabridge("--version")))
    name, number = program.split(" ")
    assert name == "mediabridge" and re.fullmatch(r"\d+\.\d+\.\d+", number)
    assert re.fullmatch(r"GStreamer 1\.\d+\.\d+.*", gstreamer)
    assert f"\n## {number}" in (ROOT / "CHANGELOG.md").read_text()
    head = joined_with(start)
    assert f"User-Agent: mediabridge/{number}\r\n" in head
    # A server offers ICE over TCP to no Swift client that is older.
    assert "sdk=swift" in head and re.search(r"&version=([2-9]|1\.[1-9])", head), head
