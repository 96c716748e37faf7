"""Whatever a foreign participant does is told, in the order in which it was done."""

import os
import signal
from collections import Counter

# What `watch` tells of each action of the publisher's, apart from who speaks.
TOLD = {
    "name:Alice Liddell": [("participant_name_changed", {"name": "Alice Liddell"})],
    "metadata:down the hole": [("participant_metadata_changed", {"metadata": "down the hole"})],
    "attributes:size=small": [("participant_attributes_changed", {"attributes": {"size": "small"}})],
    "attributes:size=": [("participant_attributes_changed", {"attributes": {"size": ""}})],
    "message:eat me": [("data_received", {"topic": "chat", "text": "eat me"})],
    "mute": [("track_muted", {"source": "microphone"})],
    "unmute": [("track_unmuted", {"source": "microphone"})],
    "forbid": [
        ("track_subscription_permission_changed", {"source": "camera", "allowed": False}),
        ("track_subscription_permission_changed", {"source": "microphone", "allowed": False}),
        ("track_unsubscribed", {"source": "camera"}),
        ("track_unsubscribed", {"source": "microphone"}),
    ],
    "allow": [
        ("track_subscription_permission_changed", {"source": "camera", "allowed": True}),
        ("track_subscription_permission_changed", {"source": "microphone", "allowed": True}),
        ("track_subscribed", {"source": "camera"}),
        ("track_subscribed", {"source": "microphone"}),
    ],
    "unpublish": [("track_unsubscribed", {"source": "camera"}), ("track_unpublished", {"source": "camera"})],
    "publish": [("track_published", {"source": "camera"}), ("track_subscribed", {"source": "camera"})],
}
UNASKED = {"is_speaking_changed", "active_speakers_changed", "connection_quality_changed", "room"}


def key(event, fields):
    return event["event"], str({name: event.get(name) for name in sorted(fields)})


def expect(watcher, actions):
    """Waits for what is told of each action; nothing else may come in between, but within one action order is free."""
    for action in actions:
        wanted = Counter((name, str(dict(sorted(fields.items())))) for name, fields in TOLD[action])
        shapes = {name: fields for name, fields in TOLD[action]}
        while wanted:
            event = watcher.next()
            if event["event"] in UNASKED:
                continue
            assert event["event"] in shapes, watcher.report(f"{event} was not asked for by {action}")
            found = key(event, shapes[event["event"]])
            assert wanted[found] > 0, watcher.report(f"{event} was not asked for by {action}: {wanted}")
            assert event["participant"] == "alice"
            wanted -= Counter([found])


def test_what_a_participant_does_is_told_in_order(server):
    actions = list(TOLD)
    publisher = server.foreign_publisher(
        "--room", "events", "--identity", "alice", "--codec", "VP8", "--actions", "wait:4", *actions
    )
    watcher = server.watcher("events")
    for _ in range(2):
        watcher.wait_for("track_subscribed")
    publisher.wait_for("wait")
    expect(watcher, actions)


def test_who_speaks_is_told(server):
    sounding = ("--no-video", "--tone", "--actions", "wait:6", "mute")
    server.foreign_publisher("--room", "speech", "--identity", "alice", *sounding)
    watcher = server.watcher("speech")
    assert watcher.wait_for("active_speakers_changed")["speakers"] == ["alice"]
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
