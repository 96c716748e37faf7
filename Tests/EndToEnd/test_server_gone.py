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


def test_recording_ends_while_the_server_is_away(recording, local_server):
    """The file plays, and is not all that was to be recorded."""
    recorder, file = recording("away.mkv")
    local_server.end(signal.SIGKILL)
    recorder.wait_for("reconnecting", 20)
    after(recorder, recorder.wait_for("progress")["duration"] + 3)
    recorder.stop()
    assert_failed(recorder, file.name, "the last", "of alice", "connection to the room was lost", within=20)
    assert_plays(file, 5)


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


@pytest.fixture
def closing(local_server, start):
    """A way to the server by which the room can be closed, and what closes it."""
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    port = proxy.wait_for("listening")["port"]

    def close(reason=10):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/leave?reason={reason}", timeout=5) as answer:
            assert answer.read() == b"1"

    return f"ws://127.0.0.1:{port}", close


# A server closes a room some time after everybody has left (10): a hidden recorder keeps none open. Somebody may end it for
# all (5).
@pytest.mark.parametrize(
    ("reason", "participant", "options"),
    [
        (10, "alice", ()),
        (10, "alice", ("--until-empty", "--empty-timeout", "20s")),
        (10, None, ("--composite", "grid", "--until-empty")),
        (5, "alice", ("--duration", "1m")),
    ],
)
def test_server_closes_the_room(local_server, closing, tmp_path, reason, participant, options):
    url, close = closing
    local_server.own_publisher("gone", "alice", "h264")
    file = tmp_path / "closed.mp4"
    recorder = local_server.recorder("gone", participant, file, *options, url=url)
    after(recorder, 3)
    close(reason)
    assert recorder.wait_for("finished", 15)["ended"] == "room_closed"
    assert recorder.finish(15) == 0, recorder.report("failed")
    assert_plays(file, 3)


def test_server_closes_the_room_of_each(local_server, closing, tmp_path):
    url, close = closing
    local_server.own_publisher("gone", "alice", "h264")
    name = tmp_path / "{publisher_identity}.mkv"
    recorder = local_server.recorder("gone", None, name, "--each", "participant", url=url)
    after(recorder, 3)
    close()
    assert recorder.wait_for("ended", 15)["reason"] == "room_closed"
    assert recorder.finish(15) == 0, recorder.report("failed")
    assert_plays(tmp_path / "alice.mkv", 3)


def test_server_closes_the_room_before_anything_comes(local_server, closing, tmp_path):
    url, close = closing
    recorder = local_server.recorder("gone", "nobody", tmp_path / "x.mp4", url=url)
    recorder.wait_for("waiting")
    close()
    assert_failed(recorder, "x.mp4", "room was closed", "nothing was recorded", within=15)


def test_somebody_else_takes_the_identity(local_server, recording, tmp_path):
    recorder, file = recording("first.mp4", "--identity", "recorder-1")
    second = local_server.recorder("gone", "alice", tmp_path / "second.mp4", "--identity", "recorder-1")
    after(second, 1)
    assert_failed(recorder, "first.mp4", "same identity", within=15)
    assert_plays(file, 3)
