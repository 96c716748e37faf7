"""What the server and the room do to what `mediabridge publish` sends, and what is said of it."""

import signal
import socket
import time
import urllib.request
from types import SimpleNamespace

import livekit_server
import pytest
from failures import assert_failed
from livekit.protocol import rtc
from programs import python
from publishing import call, encode, publish
from test_events import say

SMALL = ("--set", "pattern.width=320", "--set", "pattern.height=180")


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return encode(tmp_path_factory.mktemp("publish") / "numbered.mkv")


@pytest.fixture
def prompted(local_server, start):
    """A server by way of a proxy, which says things in its name at `at`."""
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    return SimpleNamespace(url=f"ws://{at}", enter=local_server.enter, at=at)


def take_away(server, track):
    say(server.at, track_unpublished=rtc.TrackUnpublishedResponse(track_sid=track["sid"]))


def test_what_the_server_takes_away_is_told(prompted, start, numbered):
    publisher = publish(prompted, start, numbered, "--loop")
    camera, microphone = publisher.wait_for("publishing", 20)["tracks"]
    take_away(prompted, camera)
    assert publisher.wait_for("source_ended", 10)["source"] == "camera"
    take_away(prompted, microphone)
    assert_failed(publisher, "microphone is not sent", "the server has taken it out of the room")


def test_one_source_that_is_taken_away_leaves_the_others(prompted, start):
    publisher = publish(prompted, start, "pattern", "tone", *SMALL)
    take_away(prompted, publisher.wait_for("publishing", 20)["tracks"][0])
    assert publisher.wait_for("source_ended", 10)["source"] == "camera"
    for _ in range(3):
        publisher.wait_for_new("progress", 10)
    publisher.send(signal.SIGINT)
    assert_failed(publisher, "camera is not sent", "the server has taken it out of the room")


def test_what_the_room_mutes_is_told(prompted, start):
    publisher = publish(prompted, start, "pattern", "tone", *SMALL)
    camera = publisher.wait_for("publishing", 20)["tracks"][0]
    for muted in (True, False, True):
        say(prompted.at, mute=rtc.MuteTrackRequest(sid=camera["sid"], muted=muted))
        told = publisher.wait_for("track_muted" if muted else "track_unmuted", 10)
        assert (told["sid"], told["source"]) == (camera["sid"], "camera")
    publisher.send(signal.SIGINT)
    assert publisher.wait_for("finished", 20)["muted"] == ["camera"]
    assert publisher.finish() == 0, publisher.report("failed")


def test_layers_that_nobody_receives_are_not_sent(prompted, start):
    publisher = publish(prompted, start, "pattern", *SMALL)
    sid = publisher.wait_for("publishing", 20)["tracks"][0]["sid"]

    def growth():
        before = publisher.wait_for_new("progress", 10)["bytes"]
        return publisher.wait_for("progress", 10)["bytes"] - before

    for is_received in (False, True):
        layers = [rtc.SubscribedQuality(quality=quality, enabled=is_received) for quality in range(3)]
        wish = rtc.SubscribedQualityUpdate(track_sid=sid, subscribed_qualities=layers)
        say(prompted.at, subscribed_quality_update=wish)
        # What is under way still counts.
        assert any((growth() > 0) == is_received for _ in range(5)), publisher.report(f"received: {is_received}")


def test_a_file_of_which_a_track_was_taken_away_ends_and_fails(prompted, start, numbered):
    publisher = publish(prompted, start, numbered)
    take_away(prompted, publisher.wait_for("publishing", 20)["tracks"][0])
    publisher.wait_for("finished", 30)
    assert_failed(publisher, "camera is not sent", "the server has taken it out of the room")


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_what_is_read_once_goes_on_while_all_of_it_is_muted(prompted, start, numbered, source):
    publisher = publish(prompted, start, numbered) if source == "file" else publish(prompted, start, "-", stdin=numbered)
    for track in publisher.wait_for("publishing", 20)["tracks"]:
        say(prompted.at, mute=rtc.MuteTrackRequest(sid=track["sid"], muted=True))
    publisher.wait_for("finished", 30)
    assert publisher.finish() == 0, publisher.report("failed")


def test_who_waits_for_a_caller_hears_of_the_end_of_the_room(prompted, start):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(prompted, start, f"srt://:{port}?mode=listener")
    publisher.wait_for("waiting", 20)
    removed = rtc.LeaveRequest(reason="PARTICIPANT_REMOVED", action="DISCONNECT")
    say(prompted.at, leave=removed)
    assert "neither video nor audio" not in assert_failed(publisher, within=10)


def test_a_call_while_the_room_is_away_ends_nobody_s_wait(prompted, start, numbered):
    """For longer than a track waits for it to be announced; once the room is back the next call is published."""
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(prompted, start, "tone", f"srt://:{port}?mode=listener")
    publisher.wait_for("waiting", 20)
    urllib.request.urlopen(f"http://{prompted.at}/cut?seconds=22", timeout=5).read()
    publisher.wait_for("reconnecting", 10)
    call(prompted, start, port, numbered)
    assert "the connection to the room is lost" in publisher.wait_for("source_lost", 30)["message"]
    publisher.wait_for("waiting", 10)
    publisher.wait_for("reconnected", 40)
    call(prompted, start, port, numbered)
    tracks = publisher.wait_for("publishing", 30)["tracks"]
    assert [track["source"] for track in tracks] == ["camera", "microphone"], tracks
    publisher.send(signal.SIGINT)
    assert publisher.finish(10) == 0, publisher.report("failed")


def test_who_waits_for_the_server_can_be_ended(prompted, start, numbered):
    """It does not answer any more what is announced."""
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(prompted, start, f"srt://:{port}?mode=listener")
    publisher.wait_for("waiting", 20)
    urllib.request.urlopen(f"http://{prompted.at}/freeze", timeout=5).read()
    call(prompted, start, port, numbered)
    # By then it has been announced, mostly; the answer would be waited for for 10 s.
    time.sleep(4)
    publisher.send(signal.SIGINT)
    assert publisher.finish(6) == 0, publisher.report("failed")
