"""Connections that break while a room is recorded: the media's, the signalling's, or the server itself."""

import signal
import subprocess
import time
import urllib.request

import checks
import clip
import livekit_server
import pytest
from failures import after, assert_plays
from network import reset
from programs import KEYS, mediabridge, python

FPS = 25


def course(program):
    """What the program told of its connection, in order."""
    names = ("reconnecting", "reconnected")
    return [f"{event['event']} {event['mode']}" for event in program.events if event.get("event") in names]


def flows(recorder, seconds=3):
    """Waits until frames of the sender come again, and then records so much more; how long the file is."""
    before = recorder.wait_for("progress")["frames"]
    for _ in range(30):
        told = recorder.wait_for("progress")
        if told["frames"] > before:
            return after(recorder, told["duration"] + seconds)["duration"]
    raise AssertionError(recorder.report("no frames come again"))


def finish(recorder, file, seconds):
    """The file plays to its end, which has the sender's audio."""
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert_plays(file, seconds)
    _, samples = checks.audio(file)
    assert checks.level(samples[-2 * clip.RATE :]) > 0.02, "the end is silent"


def recording(distant_server, tmp_path, *options):
    """A recording behind a router that has something in it already: server, recorder and file; options are the server's."""
    server = distant_server(*options)
    server.own_publisher("cut", "alice", "vp8")
    file = tmp_path / "cut.mkv"
    recorder = server.recorder("cut", "alice", file)
    after(recorder, 2)
    return server, recorder, file


def recording_by_proxy(server, start, tmp_path, container):
    """A recording whose signalling can be told what to do: where to tell it, recorder and file."""
    server.own_publisher("proxy", "alice", "vp8")
    proxy = start(python("signal_proxy.py", "--to", server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    file = tmp_path / f"proxy.{container}"
    recorder = server.recorder("proxy", "alice", file, url=f"ws://{at}")
    after(recorder, 3)
    return at, recorder, file


def tell_proxy(at, what):
    return urllib.request.urlopen(f"http://{at}/{what}", timeout=5).read()


def longest_pause(file):
    """How long a frame stays at most, in seconds."""
    times = [time for _, time, _ in checks.numbered(file)]
    return max(b - a for a, b in zip(times, times[1:]))


@pytest.mark.parametrize("pause", [0.3, 10])
def test_media_is_cut(routed, distant_server, tmp_path, pause):
    """UDP alone, both ways. The session goes on, over the same way or another."""
    _, recorder, file = recording(distant_server, tmp_path)
    routed.drop(forward="meta l4proto udp drop;")
    time.sleep(pause)
    routed.open()
    finish(recorder, file, flows(recorder))
    assert all(step.endswith("quick") for step in course(recorder)), recorder.report("the session was given up")


def test_media_is_cut_for_good(routed, distant_server, tmp_path):
    """Who is not answered stops to send (RFC 7675) and looks for another way: here the server's TCP candidate."""
    _, recorder, file = recording(distant_server, tmp_path)
    routed.drop(forward="meta l4proto udp drop;")
    recorder.wait_for("reconnected", 60)
    finish(recorder, file, flows(recorder))
    assert course(recorder) == ["reconnecting quick", "reconnected quick"], recorder.report("another course")


def test_the_network_changes(routed, distant_server, tmp_path):
    """The machine has another address from one moment to the next, and nobody tells it that its packets go nowhere."""
    _, recorder, file = recording(distant_server, tmp_path)
    routed.move_client("10.77.1.3")
    recorder.wait_for("reconnecting", 8)
    recorder.wait_for("reconnected", 10)
    finish(recorder, file, flows(recorder))
    assert course(recorder) == ["reconnecting quick", "reconnected quick"], recorder.report("another course")
    assert longest_pause(file) < 8, "frames stood still"


@pytest.mark.parametrize("pause", [0.3, 10])
def test_signalling_is_cut(routed, distant_server, tmp_path, pause):
    """TCP to the server's port is refused from now on. Media flows all the while."""
    # As LiveKit's, which keeps who has media: it knows of the cut as soon as it has to say who speaks.
    server, recorder, file = recording(distant_server, tmp_path, *livekit_server.patient())
    routed.drop(forward=reset(server))
    # A ping finds it out, which is sent every ten seconds.
    recorder.wait_for("reconnecting", 20)
    time.sleep(pause)
    routed.open()
    recorder.wait_for("reconnected", 40)
    finish(recorder, file, flows(recorder))
    assert course(recorder) == ["reconnecting quick", "reconnected quick"], recorder.report("another course")
    # No frame is held, for all of them came.
    assert longest_pause(file) < 0.5, "frames stood still"


@pytest.mark.parametrize("pause", [0.3, 2])
def test_signalling_is_reset(local_server, start, tmp_path, pause):
    """Both ends know at once, and whoever comes back too early is reset again. Media flows all the while."""
    proxy_at, recorder, file = recording_by_proxy(local_server, start, tmp_path, "mkv")
    began = time.monotonic()
    assert tell_proxy(proxy_at, f"cut?seconds={pause}") == b"1"
    recorder.wait_for("reconnecting", 1)
    recorder.wait_for("reconnected", 10)
    away = time.monotonic() - began
    assert pause <= away < 2 * pause + 2, f"the session was away for {away:.2f} s"
    finish(recorder, file, flows(recorder))
    assert course(recorder) == ["reconnecting quick", "reconnected quick"], recorder.report("another course")
    assert longest_pause(file) < 0.5, "frames stood still"


# How long it takes to join again is the machine's, too.
WAYS = [("RESUME", "quick"), pytest.param("RECONNECT", "full", marks=pytest.mark.realtime)]


@pytest.mark.parametrize(("action", "mode"), WAYS)
@pytest.mark.parametrize("container", ["mkv", "mp4"])
def test_the_server_asks_for_it(local_server, start, tmp_path, action, mode, container):
    """The participant that is recorded stays, and its tracks go on in the same file: a second is held at most."""
    proxy_at, recorder, file = recording_by_proxy(local_server, start, tmp_path, container)
    assert tell_proxy(proxy_at, f"leave?action={action}") == b"1"
    recorder.wait_for("reconnected", 20)
    finish(recorder, file, flows(recorder))
    assert course(recorder) == [f"reconnecting {mode}", f"reconnected {mode}"], recorder.report("another course")
    assert longest_pause(file) < 1.2, "frames stood still"


@pytest.mark.parametrize("pause", [0.3, 10])
def test_the_server_starts_again(server, tmp_path, pause):
    """A client that we did not write publishes; it loses the server as we do, and publishes again by itself."""
    server.foreign_publisher("--room", "again", "--identity", "alice", "--duration", "120")
    file = tmp_path / "again.mkv"
    recorder = server.recorder("again", "alice", file)
    after(recorder, 3)
    server.program.send(signal.SIGKILL)
    server.program.finish(10)
    time.sleep(pause)
    server.start_again()
    recorder.wait_for("reconnected", 60)
    finish(recorder, file, flows(recorder))
    assert course(recorder)[-1] == "reconnected full", recorder.report("another course")
    # One file with the sender's frames from before and from afterwards.
    numbers = sorted({number for number, _, _ in checks.numbered(file, clip.SIZE) if number is not None})
    gap, last = max((b - a, a) for a, b in zip(numbers, numbers[1:]))
    assert gap >= pause * FPS, "the server was away for longer than that"
    assert sum(number <= last for number in numbers) > FPS, "what was before it is missing"
    assert sum(number > last for number in numbers) > FPS, "what came after it is missing"


def test_a_foreign_client_resumes_in_the_development_server(server, start):
    """Its signalling is cut, and it goes on with its session: nobody in the room is told anything."""
    proxy = start(server.enter(*python("signal_proxy.py", "--to", server.url)))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    server.foreign_publisher("--room", "r", "--identity", "alice", "--duration", "60", url=f"ws://{at}")
    watcher = server.watcher("r")
    while len([event for event in watcher.events if event.get("event") == "track_subscribed"]) < 2:
        watcher.next()
    watcher.events.clear()
    assert server.ask(f"http://{at}/cut") == "1"
    # For longer than the server waits for one who does not come back.
    deadline = time.monotonic() + 13
    while time.monotonic() < deadline:
        room = watcher.wait_for("room")
    told = {event["event"] for event in watcher.events}
    assert not told & {"participant_disconnected", "track_unpublished", "track_unsubscribed"}, watcher.report("it left")
    tracks = {track["kind"]: track for track in room["participants"][0]["tracks"]}
    assert tracks["video"]["fps"] > 0.6 * FPS, watcher.report("its frames have stopped")


def test_who_is_longer_there_than_its_token_is_valid_comes_back(server, start):
    """The server sends another one meanwhile."""
    grants = ("--room", "r", "--identity", "watcher", "--valid-for", "10s")
    token = subprocess.check_output([*map(str, mediabridge("token", "create", *KEYS, *grants))], text=True).strip()
    expiry = time.monotonic() + 11
    proxy = start(server.enter(*python("signal_proxy.py", "--to", server.url)))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    watcher = server.watcher("r", url=f"ws://{at}", access=("--token", token))
    watcher.wait_for("connected")
    time.sleep(max(0, expiry - time.monotonic()))
    assert server.ask(f"http://{at}/cut") == "1"
    assert watcher.wait_for("reconnected")["mode"] == "quick"
