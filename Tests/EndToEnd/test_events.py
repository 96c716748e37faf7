"""Whatever a foreign participant does is told, in the order in which it was done."""

import os
import signal
import subprocess
import urllib.request

import livekit_server
import pytest
from livekit.protocol import models, rtc
from programs import KEYS, mediabridge, python


def track(source, *events):
    """What is told of one track."""
    return [(name, {"participant": "alice", "source": source, **fields}) for name, fields in events]


def alice(event, /, **fields):
    return [(event, {"participant": "alice", **fields})]


def gone(source):
    return track(source, ("track_unsubscribed", {}), ("track_unpublished", {}))


def come(source):
    return track(source, ("track_published", {}), ("track_subscribed", {}))


def forbidden(source):
    denied = ("track_subscription_failed", {"code": "permissionDenied"})
    change = ("track_subscription_permission_changed", {"allowed": False})
    ended = ("track_unsubscribed", {})
    # LiveKit's server takes the track away while it says why, and either may come first.
    strands = ((ended,), (change, denied)) if livekit_server.BINARY else ((change, denied, ended),)
    return [track(source, *strand) for strand in strands]


def allowed(source):
    return track(source, ("track_subscription_permission_changed", {"allowed": True}), ("track_subscribed", {}))


def seen(source, muted):
    """A camera's mute is also why its frames stop."""
    video = ("video_disabled" if muted else "video_enabled", {"reason": "publisherPropertyChanged"})
    return track(source, ("track_muted" if muted else "track_unmuted", {}), *([video] if source == "camera" else []))


# What `watch` tells of each action of the publisher's, apart from what is told unasked. An action has strands: what is
# told of one track, or of the participant, comes in that order. Strands may mix, for it is the server that goes through
# the tracks of a participant, in an order of its own.
TOLD = [
    ("name:Alice Liddell", [alice("participant_name_changed", name="Alice Liddell")]),
    ("metadata:down the hole", [alice("participant_metadata_changed", metadata="down the hole")]),
    ("attributes:size=small", [alice("participant_attributes_changed", attributes={"size": "small"})]),
    ("attributes:size=", [alice("participant_attributes_changed", attributes={"size": ""})]),
    ("message:eat me", [alice("data_received", topic="chat", text="eat me")]),
    ("mute", [seen("microphone", True)]),
    ("unmute", [seen("microphone", False)]),
    ("mute-video", [seen("camera", True)]),
    ("unmute-video", [seen("camera", False)]),
    ("forbid", [*forbidden("camera"), *forbidden("microphone")]),
    ("allow", [allowed("camera"), allowed("microphone")]),
    # LiveKit's server looks each 3 s at what may be subscribed to again.
    ("wait:3", []),
    ("unpublish", [gone("camera")]),
    ("publish", [come("camera")]),
    ("leave", [gone("camera"), gone("microphone")]),
]
PERMISSIONS = ("subscribe", "publish", "publish_data", "update_metadata", "hidden")
UNASKED = {"is_speaking_changed", "active_speakers_changed", "connection_quality_changed", "room"}
# LiveKit's server tells that layers flow, the development server does not.
UNASKED |= {"track_stream_state_changed"}
# When media can flow is a matter of the transports'.
UNASKED |= {"participant_state_changed"}


def is_told(event, wanted):
    name, fields = wanted
    return event["event"] == name and all(event.get(key) == value for key, value in fields.items())


def expect(watcher, strands):
    """Waits until all of them are told to their ends; nothing else may come in between."""
    left = [list(strand) for strand in strands]
    while any(left):
        event = watcher.next()
        strand = next((strand for strand in left if strand and is_told(event, strand[0])), None)
        if not strand and event["event"] in UNASKED:
            continue
        assert strand, watcher.report(f"{event} instead of one of {[strand[0] for strand in left if strand]}")
        strand.pop(0)


def test_what_a_participant_does_is_told_in_order(server):
    """From its coming to its going, of frames in three layers."""
    # A recorder is let in wherever it is.
    grants = ("--room", "events", "--identity", "watcher", "--hidden", "--no-publish")
    token = subprocess.check_output(mediabridge("token", "create", *KEYS, *grants), text=True).strip()
    watcher = server.watcher("events", access=("--token", token))
    watcher.wait_for("connected")
    server.foreign_publisher(
        *("--room", "events", "--identity", "alice", "--codec", "VP8", "--simulcast"),
        *("--soft", "--fps", 10, "--duration", 90, "--actions", "wait:4", *(action for action, _ in TOLD)),
        # Frames of 1280x720 that are there before: who draws them on a busy machine has no time left to send.
        script="publish_clock.py",
    )
    expect(watcher, [alice("participant_connected")])
    expect(watcher, [come("camera"), come("microphone")])
    for _, strands in TOLD:
        expect(watcher, strands)
    expect(watcher, [alice("participant_disconnected")])
    states = [event["state"] for event in watcher.events if event["event"] == "participant_state_changed"]
    # Of who publishes within its 3 s LiveKit's server tells at first what has become of them.
    assert "active" in states or livekit_server.BINARY and not states, states
    rooms = [event["participants"] for event in watcher.events if event["event"] == "room"]
    layers = [track["layers"] for people in rooms for person in people for track in person["tracks"] if track["layers"]]
    sizes = ["1280x720", "640x360", "320x180"]
    # LiveKit's server begins with the smallest.
    wanted = sizes[::-1] if livekit_server.BINARY else sizes
    assert layers and all(each == wanted for each in layers), layers


def say(at, **message):
    """Lets the server say something that the development server never says."""
    said = rtc.SignalResponse(**message).SerializeToString()
    assert urllib.request.urlopen(f"http://{at}/say", data=said, timeout=5).read() == b"1"


def test_what_a_server_tells_of_its_own_accord_is_told(local_server, start):
    if livekit_server.BINARY:
        pytest.skip("LiveKit's server tells of the same room meanwhile, and takes back what is said here")
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    local_server.own_publisher("said", "alice", "vp8")
    watcher = local_server.watcher("said", url=f"ws://{at}")
    sids = {told["source"]: told["sid"] for told in [watcher.wait_for("track_subscribed") for _ in range(2)]}
    person = watcher.wait_for("room")["participants"][0]["sid"]
    for state, frames in (("paused", "video_disabled"), ("active", "video_enabled")):
        info = rtc.StreamStateInfo(track_sid=sids["camera"], state=state.upper())
        say(at, stream_state_update=rtc.StreamStateUpdate(stream_states=[info]))
        changes = ("track_stream_state_changed", {"state": state}), (frames, {"reason": "qualityChanged"})
        expect(watcher, [track("camera", *changes)])
    poor = rtc.ConnectionQualityInfo(participant_sid=person, quality="POOR")
    say(at, connection_quality=rtc.ConnectionQualityUpdate(updates=[poor]))
    expect(watcher, [alice("connection_quality_changed", quality="poor")])
    # The watcher counts as a recorder.
    say(at, room_update=rtc.RoomUpdate(room=models.Room(metadata="tea", active_recording=False)))
    expect(watcher, [[("room_metadata_changed", {"metadata": "tea"}), ("recording_changed", {"recording": False})]])
    say(at, subscription_response=rtc.SubscriptionResponse(track_sid=sids["camera"], err="SE_TRACK_NOTFOUND"))
    expect(watcher, [alice("track_subscription_failed", sid=sids["camera"], code="trackNotFound")])
    may = models.ParticipantPermission(can_subscribe=True)
    # Without tracks, which are gone with the right to publish them.
    info = models.ParticipantInfo(sid=person, identity="alice", state="ACTIVE", permission=may, version=2**32 - 1)
    say(at, update=rtc.ParticipantUpdate(participants=[info]))
    permissions = {name: name == "subscribe" for name in PERMISSIONS}
    told = alice("participant_permissions_changed", permissions=permissions)
    expect(watcher, [told, gone("camera"), gone("microphone")])


def test_who_speaks_is_told(server):
    publisher = server.foreign_publisher("--room", "speech", "--identity", "alice", "--no-video", "--tone")
    watcher = server.watcher("speech")
    assert watcher.wait_for("active_speakers_changed")["speakers"] == ["alice"]
    publisher.write("mute")
    watcher.wait_for("track_muted")
    while watcher.wait_for("active_speakers_changed")["speakers"]:
        pass


def test_media_that_stays_away_and_comes_back_is_told(server):
    publisher = server.foreign_publisher("--room", "away", "--identity", "alice", "--codec", "VP8", "--duration", 60)
    watcher = server.watcher("away")
    for _ in range(2):
        watcher.wait_for("track_subscribed")
    # Both kinds of media have to flow before they can stop.
    while not flows(watcher.wait_for("room")):
        pass
    os.kill(publisher.pid, signal.SIGSTOP)
    try:
        assert sources(watcher, "stream_lost") == ["camera", "microphone"]
    finally:
        os.kill(publisher.pid, signal.SIGCONT)
    assert sources(watcher, "stream_restored") == ["camera", "microphone"]


def flows(room):
    rates = [track.get("bitrate") for participant in room["participants"] for track in participant["tracks"]]
    return len(rates) == 2 and all(rates)


def sources(watcher, name):
    return sorted(watcher.wait_for(name)["source"] for _ in range(2))
