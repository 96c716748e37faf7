"""A server that goes away, or sends the recorder away, while it records."""

import signal
import urllib.request

import pytest
from failures import after, assert_failed, assert_plays
from programs import KEYS, mediabridge, python


@pytest.fixture
def recording(local_server, tmp_path):
    """Starts a recording that has something in it already."""

    def begin(name, *options, url=None):
        local_server.own_publisher("gone", "alice", "h264")
        file = tmp_path / name
        recorder = local_server.recorder("gone", "alice", file, *options, url=url)
        after(recorder, 3)
        return recorder, file

    return begin


# It comes back in the tests of reconnection.
FEW = ("--reconnect-attempts", "3")
GONE = ("connection was lost", "nothing answers")


@pytest.mark.parametrize(("number", "container"), [(signal.SIGKILL, "mp4"), (signal.SIGTERM, "mkv")])
def test_server_ends(local_server, recording, number, container):
    recorder, file = recording(f"gone.{container}", *FEW)
    local_server.end(number)
    assert_failed(recorder, file.name, *GONE, within=20)
    assert_plays(file, 3)


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGKILL, "connection to"), (signal.SIGTERM, "shutting down")]
)
def test_server_ends_and_nobody_wants_to_wait_for_it(local_server, recording, number, words):
    recorder, file = recording("gone.mp4", "--reconnect-attempts", "0")
    local_server.end(number)
    assert_failed(recorder, file.name, words, within=15)
    assert_plays(file, 3)


def test_server_ends_while_waiting(local_server, tmp_path):
    recorder = local_server.recorder("gone", "nobody", tmp_path / "x.mp4", *FEW)
    recorder.wait_for("waiting")
    local_server.end(signal.SIGTERM)
    assert_failed(recorder, "x.mp4", *GONE, within=20)


@pytest.mark.parametrize("command", ["watch", "probe"])
def test_server_ends_while_watching(local_server, start, command):
    watcher = start(mediabridge(command, "--url", local_server.url, *KEYS, "--room", "r", "--json", "--verbose", *FEW))
    watcher.wait_for_error("data channel open")
    local_server.end(signal.SIGKILL)
    assert_failed(watcher, *GONE, within=20)


# Numbers of LiveKit's DisconnectReason.
@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (0, ["ended the session"]),
        (2, ["same identity"]),
        (4, ["removed this participant"]),
        (5, ["room was deleted"]),
        (10, ["room was closed"]),
        (77, ["ended the session"]),
    ],
)
def test_server_sends_the_recorder_away(local_server, recording, start, reason, words):
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    port = proxy.wait_for("listening")["port"]
    recorder, file = recording("away.mp4", url=f"ws://127.0.0.1:{port}")
    asked = f"http://127.0.0.1:{port}/leave?reason={reason}"
    with urllib.request.urlopen(asked, timeout=5) as answer:
        assert answer.read() == b"1"
    assert_failed(recorder, file.name, *words, within=15)
    assert_plays(file, 3)


def test_somebody_else_takes_the_identity(local_server, recording, tmp_path):
    recorder, file = recording("first.mp4", "--identity", "recorder-1")
    second = local_server.recorder("gone", "alice", tmp_path / "second.mp4", "--identity", "recorder-1")
    after(second, 1)
    assert_failed(recorder, "first.mp4", "same identity", within=15)
    assert_plays(file, 3)
