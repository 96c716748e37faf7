"""Texts, files and calls between `Examples/Messages` and the LiveKit Python SDK."""

import json
import random
from pathlib import Path

import pytest
from livekit import api
from test_examples import example, interrupt

# Ten bytes again and again behind one more: the 15000 bytes of a piece end inside a scalar.
LONG = "x" + "aé€😀" * 5000


# What deflate makes shorter, and no single packet of it.
WORDS = " ".join(random.Random(8).choices(["tea", "for", "two", "and", "milk", "sugar", "cup"], k=40_000))


@pytest.fixture
def bridge(request, start, server, tmp_path):
    """The example, in the room, hidden where a test asks for that; what it saves is in `saved`."""
    grants = api.VideoGrants(room_join=True, room="test", hidden=getattr(request, "param", False))
    token = api.AccessToken("devkey", "secret").with_identity("bridge").with_grants(grants).to_jwt()
    program = start(server.enter(*example("Messages", tmp_path / "saved", server.url, token)))
    assert program.wait_for("text")["text"] == "joined"
    return program


@pytest.fixture
def guest(server, bridge, tmp_path):
    (tmp_path / "received").mkdir()
    return server.foreign_publisher("--folder", tmp_path / "received", script="messages.py")


def said(bridge):
    """What the example tells next, of alice."""
    sender, _, what = bridge.wait_for("text", 60)["text"].partition(": ")
    assert sender == "alice", bridge.report("not of alice")
    return what


def noise(path, size):
    path.write_bytes(random.Random(7).randbytes(size))
    return path


def test_texts_arrive_whole(bridge, guest):
    """One after the other: those who read several at a time are done in any order."""
    for text in ("hello", LONG, ""):
        bridge.write(text)
        assert guest.wait_for("text") == {"event": "text", "text": text, "sender": "bridge"}
    pieces = {"pieces": ["ä\n", LONG, "z"]}
    for action, told in (({"text": "hello"}, "hello"), ({"text": LONG}, LONG), (pieces, f"ä\\n{LONG}z")):
        guest.write(json.dumps(action))
        assert said(bridge) == f'"{told}"'


def test_files_of_ten_megabytes_arrive_as_they_were(bridge, guest, tmp_path):
    sent = noise(tmp_path / "photo.jpg", 10_000_000)
    bridge.write(f"/file {sent}")
    begun = guest.wait_for("begun", 60)
    assert (begun["name"], begun["size"], begun["type"]) == ("photo.jpg", 10_000_000, "image/jpeg")
    received = Path(guest.wait_for("file", 120)["file"])
    assert received.read_bytes() == sent.read_bytes()
    guest.write(json.dumps({"file": str(sent)}))
    saved = Path(said(bridge))
    assert saved == tmp_path / "saved/photo.jpg" and saved.read_bytes() == sent.read_bytes()


@pytest.mark.parametrize("bridge", [True], indirect=True)
def test_what_is_compressed_arrives_as_it_was(bridge, guest, tmp_path):
    """The SDK compresses where everybody whom it sees reads that: nobody, here."""
    for text in (LONG, WORDS):
        guest.write(json.dumps({"text": text}))
        assert said(bridge) == f'"{text}"'
    for name, content in (("words.txt", WORDS.encode()), ("empty.txt", b""), ("noise.bin", bytes(range(256)) * 9)):
        sent = tmp_path / name
        sent.write_bytes(content)
        guest.write(json.dumps({"file": str(sent)}))
        assert Path(said(bridge)).read_bytes() == content


def test_what_is_given_up_halfway_is_an_error(bridge, guest, tmp_path):
    guest.write(json.dumps({"cut": "changed my mind"}))
    assert "changed my mind" in said(bridge)
    assert list((tmp_path / "saved").iterdir()) == [], "no half of a file stays"
    bridge.write(f"/file {noise(tmp_path / 'large.bin', 60_000_000)}")
    guest.wait_for("begun", 60)
    interrupt(bridge)
    cut = guest.wait_for("cut", 60)
    assert cut["sender"] == "bridge" and 0 < cut["length"] < 60_000_000


def test_a_file_that_is_not_there_is_said(bridge, guest):
    bridge.write("/file /nowhere", "still here")
    assert bridge.wait_for("text")["text"].startswith("not sent: ") and "/nowhere" in bridge.events[-1]["text"]
    assert guest.wait_for("text")["text"] == "still here"


def test_methods_of_the_guest_are_called(bridge, guest):
    bridge.write("/call alice upper hey you", f"/call alice upper {LONG[:3000]}")
    assert [said(bridge) for _ in range(2)] == ['"HEY YOU for bridge"', f'"{LONG[:3000].upper()} for bridge"']
    bridge.write("/call alice refuse why", "/call alice fail x", "/call alice nothing x", "/call alice slow x")
    assert [said(bridge) for _ in range(4)] == [
        "not today (7): why",
        "Application error in method handler (1500)",
        "Method not supported at destination (1400)",
        "Response timeout (1502)",
    ]


def test_calls_have_payloads_of_any_length(bridge, guest):
    """Version 2 of RPC, which the SDK has: 100 KB there and back, in streams."""
    # Both have heard of each other then, and of what the other one reads.
    guest.write(json.dumps({"text": "hello"}))
    assert said(bridge) == '"hello"'
    payload = LONG * 2
    assert len(payload.encode()) > 100_000
    bridge.write(f"/call alice upper {payload}")
    assert said(bridge) == f'"{payload.upper()} for bridge"'
    guest.write(json.dumps({"call": ["upper", payload]}))
    assert guest.wait_for("answer", 60)["payload"] == payload.upper()


def test_what_others_choose_moves_no_cursor(bridge, guest):
    """The error of a method comes from whoever answers."""
    bridge.write("/call alice refuse \x1b[2J")
    assert said(bridge) == "not today (7): \\u{1B}[2J"


def test_the_guest_calls_methods(bridge, guest):
    def call(method, payload):
        guest.write(json.dumps({"call": [method, payload]}))
        event = guest.next(60)
        return event.get("payload") or (event["code"], event["message"])

    assert call("upper", "hey ü") == "HEY Ü"
    assert call("wait", "0.1") == "alice has waited"
    assert call("upper", "") == (1, "there is no text")
    assert call("wait", "long") == (1500, "Application error in method handler")
    assert call("nothing", "") == (1400, "Method not supported at destination")
    assert call("wait", "60") == (1502, "Response timeout")
