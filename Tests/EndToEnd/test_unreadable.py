"""Tracks that nobody here can read: said at once and at the end, and never a file of noise or a silent black one."""

import signal
import subprocess
import time

import numpy as np
from failures import assert_failed
from live_server import wait_until
from programs import KEYS, ROOT, mediabridge
from raw import Reader, of

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

    each = server.recorder("secret", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant")
    assert each.wait_for("waiting", 10)["for"] == "a participant"
    # It goes on, for whoever comes.
    waiting = each.wait_for("waiting", 20)["for"]
    assert waiting.startswith("another participant: ") and ENCRYPTED.format("camera") in waiting, waiting
    each.send(signal.SIGINT)
    assert each.finish(20) != 0, each.report("it ended with 0")

    endless = start(
        server.enter(*mediabridge("record", "--url", server.url, *KEYS, "--room", "secret", "--json", file))
    )
    assert endless.finish(20) == 1
    assert ENCRYPTED.format("camera") in endless.errors and not file.exists()


def hand_on(server, command, *options):
    """What `frames` or `pcm` writes of the usual room, its exit status and what it says."""
    access = ("--url", server.url, *KEYS, "--room", "test")
    words = [str(word) for word in server.enter(*mediabridge(command, *access, *options))]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=60, check=False)
    return done.stdout, done.returncode, done.stderr.decode()


def test_what_can_be_had_is_handed_on_and_the_rest_said_to_be_missing(server):
    """Without a limit to the wait, too: nobody ends the others."""
    server.foreign_publisher("--identity", "alice", "--encrypted", "--duration", 90)
    for command, source in (("pcm", "microphone"), ("frames", "camera")):
        data, status, said = hand_on(server, command)
        assert (data, status) == (b"", 1) and ENCRYPTED.format(source) in said, said
    server.foreign_publisher("--identity", "bob", "--tone", "--width", 320, "--height", 180, "--duration", 90)
    data, status, said = hand_on(server, "pcm", "--mix", "--duration", "2s")
    samples = np.frombuffer(data, "<i2")
    assert len(samples) == 2 * 48_000 and np.abs(samples[48_000:]).max() > 10_000, said
    last = [line for line in said.splitlines() if line.startswith("mediabridge: ")]
    assert status == 1 and len(last) == 1 and ENCRYPTED.format("microphone") in last[0], said
    # Of the one who can be had, whoever was there first.
    gray = ("--format", "gray8", "--size", "160x90", "--fps", 5, "--duration", "1s")
    data, status, said = hand_on(server, "frames", *gray)
    assert len(data) == 5 * 160 * 90 and status == 0, said


def test_probe_says_why_nothing_came(server):
    """At its end, and of the track alone where others are received."""
    server.foreign_publisher("--identity", "alice", "--encrypted", "--duration", 90)
    alone = server.probe("test", "--duration", "2s")
    said = assert_failed(alone, "nothing was received", "camera of alice")
    assert all(ENCRYPTED.format(source) in said for source in ("camera", "microphone")), said
    told = of("track_subscription_failed", alone.events)
    assert sorted(event["source"] for event in told) == ["camera", "microphone"], told
    server.foreign_publisher("--identity", "bob", "--tone", "--width", 320, "--height", 180, "--duration", 90)
    both = server.probe("test", "--duration", "3s")
    assert both.finish(20) == 0, both.report("it failed")
    [finished] = of("finished", both.events)
    tracks = {(track["participant"], track.get("code")) for track in finished["tracks"]}
    assert tracks == {("alice", "encrypted"), ("bob", None)}, finished


def test_why_nothing_came_is_said_where_it_was_waited_for(server):
    """At the end of the wait, and where somebody stops it."""
    server.foreign_publisher("--identity", "alice", "--encrypted", "--duration", 90)
    for command, source in (("pcm", "microphone"), ("frames", "camera")):
        data, status, said = hand_on(server, command, "--wait", "4s")
        assert (data, status) == (b"", 1) and "waited in vain for" in said, said
        assert ENCRYPTED.format(source) in said and "raise --wait" not in said, said
        reader = Reader(server, command)
        # Its events end with what it has sent.
        wait_until("it to be refused", lambda: ENCRYPTED.format(source) in reader.said, 20)
        # It is looked at four times a second.
        time.sleep(1)
        assert reader.stop() == 1, reader.said
        [failed] = of("failed", reader.events)
        assert failed["code"] == "encrypted" and "stopped while waiting for" in failed["message"], failed
        assert ENCRYPTED.format(source) in failed["message"], failed


def test_of_whom_nothing_comes_is_missing_in_what_is_handed_on(server):
    server.foreign_publisher("--identity", "alice", "--no-video", "--duration", 90)
    bob = server.foreign_publisher("--identity", "bob", "--no-video", "--duration", 90)
    # It is announced once something has come.
    time.sleep(2)
    bob.send(signal.SIGSTOP)
    try:
        data, status, said = hand_on(server, "pcm", "--mix", "--duration", "14s")
    finally:
        bob.send(signal.SIGCONT)
    last = [line for line in said.splitlines() if line.startswith("mediabridge: ")]
    assert (len(data), status) == (2 * 14 * 48_000, 1), said
    assert len(last) == 1 and "of bob" in last[0] and "has come in 10 s" in last[0], said
