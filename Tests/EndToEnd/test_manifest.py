"""What is written beside a file about it."""

import json
import signal
import time
import urllib.request

import pytest
from failures import after
from livekit import api
from programs import mediabridge, python


def test_the_manifest_tells_what_is_in_the_file(server, tmp_path):
    """Of a participant whose camera sends nothing for 3 s, and of a screen that is left out."""
    start = time.time()
    publisher = server.foreign_publisher("--room", "told", "--codec", "VP8", "--screen", "last", "--tone")
    recorder = server.recorder(
        "told", "alice", tmp_path / "a.mp4", tmp_path / "b.mkv", "--duration", "12s", "--manifest"
    )
    after(recorder, 4)
    publisher.write("hold:3")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    told = json.loads((tmp_path / "a.mp4.json").read_text())
    assert told == json.loads((tmp_path / "b.mkv.json").read_text())
    assert told["room_name"] == "told" and told["room_id"] and told["publisher_identity"] == "alice"
    assert start < told["started_at"] / 1e9 < time.time()
    assert (told["ended_at"] - told["started_at"]) / 1e9 == pytest.approx(12, abs=0.4)
    assert sorted(file["filename"] for file in told["files"]) == ["a.mp4", "b.mkv"]
    assert {(track["kind"], track["codec"].lower()) for track in told["tracks"]} == {("video", "vp8"), ("audio", "opus")}
    assert all(track["packets"] > 100 and track["lost"] == 0 for track in told["tracks"])
    (gap,) = told["gaps"]
    assert gap["kind"] == "video" and gap["to"] - gap["from"] == pytest.approx(3, abs=0.3), gap
    assert [missing["source"] for missing in told["not_recorded"]] == ["screen_share"], told["not_recorded"]
    assert told["speakers"] and {turn["identity"] for turn in told["speakers"]} == {"alice"}, told["speakers"]


def test_the_manifest_of_a_room_tells_who_spoke(server, tmp_path):
    alice, bob = (
        server.foreign_publisher("--room", "speak", "--identity", name, "--no-video", "--tone") for name in ("alice", "bob")
    )
    recorder = server.recorder(
        "speak", None, tmp_path / "a.ogg", *("--composite", "grid", "--audio-only", "--manifest", "--until-empty")
    )
    after(recorder, 2)
    bob.stop()
    alice.write("mute")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    alice.write("unmute")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    alice.stop()
    assert recorder.finish(30) == 0, recorder.report("failed")
    assert next(event for event in recorder.events if event["event"] == "ended")["reason"] == "room_empty"
    told = json.loads((tmp_path / "a.ogg.json").read_text())
    assert "publisher_identity" not in told
    assert [track["publisher_identity"] for track in told["tracks"]] == ["alice", "bob"]
    ends = {turn["identity"]: turn["to"] for turn in told["speakers"]}
    assert ends["alice"] > ends["bob"] + 2, told["speakers"]
    # Of who has gone without a word nothing comes, either, until the server takes them out.
    gap = next(gap for gap in told["gaps"] if gap["identity"] == "alice")
    # It is unmuted after three seconds, as the progress of each second tells them.
    assert 2.5 < gap["to"] - gap["from"] < 5.5 and gap["kind"] == "audio", told["gaps"]
    assert gap["track_id"] in {track["track_id"] for track in told["tracks"]}, told


@pytest.mark.realtime
def test_what_comes_while_signalling_is_away_is_no_gap(local_server, start, tmp_path):
    """Of a mixed room, whose media flows all the while."""
    local_server.own_publisher("calm", "alice", "vp8")
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    options = ("--composite", "grid", "--size", "320x180", "--manifest")
    recorder = local_server.recorder("calm", None, tmp_path / "calm.mkv", *options, url=f"ws://{at}")
    after(recorder, 3)
    assert urllib.request.urlopen(f"http://{at}/cut?seconds=3", timeout=5).read() == b"1"
    assert recorder.wait_for("reconnected", 20)["mode"] == "quick", recorder.report("another session")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.send(signal.SIGINT)
    assert recorder.wait_for("finished", 20)["not_recorded"] == [], recorder.report("something was left out")
    assert recorder.finish() == 0, recorder.report("failed")
    told = json.loads((tmp_path / "calm.mkv.json").read_text())
    assert {track["kind"] for track in told["tracks"]} == {"video", "audio"} and told["gaps"] == [], told["gaps"]


@pytest.mark.parametrize("options", [("--participant", "alice"), ("--composite", "grid", "--size", "320x180")], ids=["one", "mixed"])
def test_who_may_receive_nothing_any_more_says_so(local_server, start, tmp_path, options):
    """As where a server's API changes what the recorder may do, and leaves that out."""
    local_server.own_publisher("deaf", "alice", "vp8")
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    recorder = local_server.recorder("deaf", None, tmp_path / "deaf.mkv", *options, url=f"ws://{at}")
    after(recorder, 2)
    assert urllib.request.urlopen(f"http://{at}/deafen", timeout=5).read() == b"1"
    told = recorder.wait_for("not_recorded", 10)
    assert told["sid"] == "permission" and told["wanted"] and "canSubscribe" in told["reason"], told
    recorder.send(signal.SIGINT)
    assert recorder.wait_for("finished", 20)["not_recorded"] == [{k: v for k, v in told.items() if k != "event"}]
    assert recorder.finish() == 1, recorder.report("all is there")


@pytest.mark.parametrize("options", [("--participant", "alice"), ("--composite", "grid", "--size", "320x180")], ids=["one", "mixed"])
def test_what_was_forbidden_for_a_while_stays_told(server, start, tmp_path, options):
    """To whom it may be: a token that says `recorder`, as ours do, is exempt."""
    publisher = server.foreign_publisher("--room", "forbid", "--codec", "VP8")
    grants = api.VideoGrants(room_join=True, room="forbid")
    token = api.AccessToken("devkey", "secret").with_identity("watcher").with_grants(grants).to_jwt()
    command = mediabridge("record", "--url", server.url, "--token", token, "--json", *options, tmp_path / "forbid.mkv")
    recorder = start(server.enter(*command))
    after(recorder, 2)
    publisher.write("forbid")
    left_out = {recorder.wait_for("not_recorded", 10)["kind"] for _ in range(2)}
    assert left_out == {"video", "audio"}
    publisher.write("allow")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.send(signal.SIGINT)
    finished = recorder.wait_for("finished", 20)
    assert {one["kind"] for one in finished["not_recorded"] if one["wanted"]} == left_out, finished
    assert recorder.finish() == 1, recorder.report("all is there")
