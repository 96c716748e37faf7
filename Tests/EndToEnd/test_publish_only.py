"""Tokens that may only publish: a server offers them no connection, and ours is the primary one."""

import json
import signal
import subprocess

import pytest
from livekit import api
from programs import mediabridge
from test_examples import example

PATTERN = ("pattern", "--set", "width=640", "--set", "height=360")


def token(identity, **grants):
    grants = api.VideoGrants(room_join=True, room="test", **grants)
    return api.AccessToken("devkey", "secret").with_identity(identity).with_grants(grants).to_jwt()


def publish_only(server, start):
    only = token("alice", can_subscribe=False)
    publisher = start(server.enter(*mediabridge("publish", "--url", server.url, "--token", only, "--json", *PATTERN)))
    publisher.wait_for("publishing", 20)
    return publisher


def assert_seen(server):
    """By LiveKit's client."""
    subscriber = server.subscriber("--duration", "30", "--until", "50", "640x360")
    seen = subscriber.next(30, "connected") and subscriber.next(40, "what was seen")
    assert ["alice", "video/VP8"] in seen["tracks"] and seen["wanted"] >= 50, seen


def test_the_sdk_sees_what_is_published(server, start):
    publisher = publish_only(server, start)
    assert_seen(server)
    publisher.send(signal.SIGINT)
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0, publisher.report("it failed")


def test_it_is_published_again_after_the_server_came_back(server, start):
    publish_only(server, start)
    server.end(signal.SIGKILL)
    assert_seen(server.start_again())


def test_what_the_sdk_publishes_with_such_a_token_is_received(server, start, tmp_path):
    """LiveKit's client says whether the server treats it as LiveKit's does."""
    sdk = server.foreign_publisher("--no-subscribe", "--tone", "--width", 640, "--height", 360)
    sdk.write("message:hello", "mute", "unmute")
    recorder = server.recorder("test", "alice", tmp_path / "alice.mkv", "--duration", "3s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("it failed")
    assert_seen(server)


@pytest.mark.parametrize("who", ["bridge", "alice"])
def test_texts_files_and_calls_go_both_ways(server, start, tmp_path, who):
    """Between ours and the SDK, one of which may only publish.

    The SDK speaks first: a server keeps no message for who is not active yet.
    """
    (tmp_path / "received").mkdir()
    own = token("bridge", can_subscribe=who != "bridge")
    bridge = start(server.enter(*example("Messages", tmp_path / "saved", server.url, own)))
    assert bridge.wait_for("text")["text"] == "joined"
    limits = ("--no-subscribe",) if who == "alice" else ()
    guest = server.foreign_publisher("--folder", tmp_path / "received", *limits, script="messages.py")
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(bytes(range(256)) * 2000)

    guest.write(json.dumps({"text": "hello"}), json.dumps({"file": str(photo)}), json.dumps({"call": ["upper", "hey"]}))
    heard = {bridge.wait_for("text", 60)["text"] for _ in range(2)}
    assert heard == {'alice: "hello"', f"alice: {tmp_path / 'saved/photo.jpg'}"}
    assert guest.wait_for("answer")["payload"] == "HEY"

    bridge.write("hello", f"/file {photo}", "/call alice upper hey you")
    heard = {(event := guest.next(60))["event"]: event for _ in range(3)}
    assert heard["text"]["text"] == "hello" and heard["file"]["sender"] == "bridge"
    assert bridge.wait_for("text")["text"] == 'alice: "HEY YOU for bridge"'
    assert (tmp_path / "saved/photo.jpg").read_bytes() == (tmp_path / "received/photo.jpg").read_bytes()


@pytest.mark.parametrize("command", ["record x.mkv", "frames", "pcm", "watch", "probe"])
def test_who_is_to_receive_is_refused(local_server, tmp_path, command):
    only = ("--url", local_server.url, "--token", token("recorder", can_subscribe=False))
    done = subprocess.run(
        mediabridge(*command.split(), *only), capture_output=True, text=True, cwd=tmp_path, timeout=30
    )
    assert done.returncode == 1, done.stderr
    assert "canSubscribe" in done.stderr.splitlines()[0], done.stderr
