"""Sources of `mediabridge publish` that wait for a caller, and calls of which nothing comes."""

import signal
import socket

import livekit_server
import pytest
from failures import assert_failed
from publishing import call, encode, publish

# Packets of MPEG-TS that hold nothing: no program is ever known.
FILLING = b"\x47\x1f\xff\x10" + b"\xff" * 184
CALLS = {
    "next to nothing": (b"x", ""),
    "words": (b"GET / HTTP/1.0\r\n\r\n" * 4000, "no media that GStreamer knows"),
    "no program": (FILLING * 400, "neither video nor audio"),
}


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return encode(tmp_path_factory.mktemp("calls") / "numbered.mkv")


def call_for_a_moment(server, start, port, file):
    """Sends a file in half a second or a little more, and hangs up."""
    pause = 600_000 // (file.stat().st_size // 1316 + 1)
    source = ("filesrc", f"location={file}", "blocksize=1316", "!", "identity", f"sleep-time={pause}")
    # It does not call again by itself, which would take the place of the next one.
    sink = ("srtsink", "auto-reconnect=false", f"uri=srt://127.0.0.1:{port}?mode=caller")
    start(server.enter("gst-launch-1.0", "-q", *source, "!", *sink))


@pytest.mark.parametrize("name", CALLS)
def test_after_a_call_that_comes_to_nothing_the_next_is_taken(server, start, tmp_path, numbered, name):
    """As of whoever begins to send and stops at once, or has the wrong port. Another source goes on meanwhile."""
    content, words = CALLS[name]
    file = tmp_path / "call"
    file.write_bytes(content)
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    place = f"srt://:{port}?mode=listener"
    publisher = publish(server, start, "tone", place, room="test")
    publisher.wait_for("waiting", 20)
    before = publisher.wait_for("progress", 10)["bytes"]
    call_for_a_moment(server, start, port, file)
    lost = publisher.wait_for("source_lost", 20)
    assert lost["source"] == place and words in lost["message"], lost
    assert publisher.wait_for("waiting", 10)["source"] == place
    assert publisher.wait_for_new("progress", 10)["bytes"] > before
    call(server, start, port, numbered)
    tracks = publisher.wait_for("publishing", 30)["tracks"]
    assert [track["source"] for track in tracks] == ["camera", "microphone"], tracks
    subscriber = server.subscriber("--duration", "15", "--until", "25", "640x360")
    subscriber.wait_for("connected")
    seen = subscriber.next(30, "what was seen")
    assert seen["wanted"] >= 25, seen
    publisher.send(signal.SIGINT)
    assert publisher.finish(10) == 0, publisher.report("failed")


def test_an_address_where_nobody_can_listen_is_told_at_once(server, start):
    """It is none of this machine, which no caller can change."""
    publisher = publish(server, start, "tone", "srt://192.0.2.7:9000?mode=listener")
    assert_failed(publisher, "srt://192.0.2.7:9000", within=20)
    told = [event["event"] for event in publisher.events]
    assert "waiting" not in told and "source_lost" not in told, told
