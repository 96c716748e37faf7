"""Tracks that nobody here can read: said at once and at the end, and never a file of noise or a silent black one."""

import time

from programs import KEYS, mediabridge

ENCRYPTED = "the {} of alice is encrypted end to end, which is not supported yet"


def wait_for_failures(watcher, sources):
    """The message of each source that cannot be had, and its code."""
    failures = {}
    while set(failures) != set(sources):
        event = watcher.wait_for("track_subscription_failed")
        assert event["source"] not in failures, watcher.report("told twice")
        failures[event["source"]] = (event["code"], event["message"])
    return failures


def test_an_encrypted_room_is_said_to_be_one(server, start, tmp_path):
    watcher = server.watcher("secret")
    server.foreign_publisher("--room", "secret", "--encrypted")
    failures = wait_for_failures(watcher, ("camera", "microphone"))
    for source, (code, message) in failures.items():
        assert code == "encrypted" and ENCRYPTED.format(source) in message
    tracks = []
    while len(tracks) < 2:
        tracks = [track for person in watcher.wait_for("room")["participants"] for track in person["tracks"]]
    assert {(track["encryption"], track["subscribed"]) for track in tracks} == {("gcm", False)}

    file = tmp_path / "secret.mkv"
    recorder = server.recorder("secret", "alice", file, "--wait", "5s")
    begun = time.monotonic()
    told = {recorder.wait_for("not_recorded", 10)["source"] for _ in range(2)}
    assert told == {"camera", "microphone"} and time.monotonic() - begun < 4
    # Whoever sets a limit to the wait may wait for somebody to publish something else.
    assert recorder.finish(20) == 1 and time.monotonic() - begun > 4
    assert all(ENCRYPTED.format(source) in recorder.errors for source in told), recorder.report("not said")
    assert len(recorder.errors.splitlines()) == 1 and not file.exists()

    endless = start(
        server.enter(*mediabridge("record", "--url", server.url, *KEYS, "--room", "secret", "--json", file))
    )
    assert endless.finish(20) == 1
    assert ENCRYPTED.format("camera") in endless.errors and not file.exists()
