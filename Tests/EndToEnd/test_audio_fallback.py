"""Video is dropped for the audio while a link is too narrow for both."""

import time

import pytest


def tracks(room):
    """How the tracks of the one participant come, by source."""
    return {track["source"]: track for participant in room["participants"] for track in participant["tracks"]}


def watch_until(watcher, name, timeout):
    """The next event of that name, and what was told each second before it."""
    rooms = []
    deadline = time.monotonic() + timeout
    while True:
        event = watcher.next(deadline - time.monotonic(), name)
        if event["event"] == "room":
            rooms.append(tracks(event))
        if event["event"] == name:
            return event, rooms


def flows(room):
    return all(room.get(source, {}).get("bitrate", 0) > 10_000 for source in ("camera", "microphone"))


def test_frames_stop_for_the_audio_and_come_back(routed, distant_server):
    server = distant_server()
    server.own_publisher("narrow", "alice", "vp8")
    watcher = server.watcher("narrow", "--audio-fallback")
    while not flows(tracks(watcher.wait_for("room"))):
        pass
    # The audio has 50 a second, the frames 25 and what is asked for again.
    routed.narrow(60)
    begun = time.monotonic()
    stopped, before = watch_until(watcher, "video_disabled", 30)
    assert (stopped["source"], stopped["reason"]) == ("camera", "qualityChanged")
    assert 5 < time.monotonic() - begun < 15, watcher.report("not after some seconds")
    assert max(room["microphone"]["loss"] for room in before) > 0.1, watcher.report("the audio is well")
    # What was under way has passed: only the audio comes now, and all of it.
    rooms = [tracks(watcher.wait_for("room")) for _ in range(6)][3:]
    for room in rooms:
        assert room["camera"]["bitrate"] == 0 and room["microphone"]["bitrate"] > 20_000, watcher.report(f"{room}")
        assert room["microphone"]["loss"] < 0.02, watcher.report(f"{room}")
    routed.open()
    resumed, _ = watch_until(watcher, "video_enabled", 40)
    assert (resumed["source"], resumed["reason"]) == ("camera", "qualityChanged")
    while not flows(tracks(watcher.wait_for("room"))):
        pass
    # It stays so.
    assert all(flows(tracks(watcher.wait_for("room"))) for _ in range(12)), watcher.report("it does not stay")
    told = [event["event"] for event in watcher.events if event["event"].startswith(("video_", "stream_"))]
    assert told == ["video_disabled", "video_enabled"], watcher.report(f"{told}")


# A sender of three layers has to keep up.
@pytest.mark.realtime
def test_the_smallest_layer_is_asked_for_first(routed, distant_server):
    server = distant_server()
    layered = ("--codec", "VP8", "--simulcast", "--width", 960, "--height", 540, "--fps", 15, "--duration", 100)
    server.foreign_publisher("--room", "layers", "--identity", "alice", *layered)
    watcher = server.watcher("layers", "--audio-fallback")

    def camera(is_as_expected, seconds=40):
        deadline = time.monotonic() + seconds
        while not is_as_expected(track := tracks(watcher.wait_for("room"))["camera"]):
            assert time.monotonic() < deadline, watcher.report(f"{track}")

    # Congestion control of the publisher's takes its time for the large layer.
    camera(lambda track: track.get("bitrate", 0) > 800_000)
    routed.narrow(110)
    camera(lambda track: track["loss"] > 0.2)
    camera(lambda track: 0 < track["bitrate"] < 400_000 and track["loss"] < 0.02 and track["fps"] > 10)
    routed.open()
    camera(lambda track: track["bitrate"] > 800_000 and track["loss"] < 0.02)
    told = [event for event in watcher.events if event["event"].startswith(("video_", "stream_"))]
    assert not [event for event in told if event["source"] == "camera"], watcher.report(f"{told}")
