"""What agents transcribe and people write with the LiveKit Python SDK, as events."""

import json
import signal

from live_server import wait_until
from programs import KEYS, mediabridge
from terminal import EMPTY, OnTerminal


def transcriber(server, room, *options):
    return server.foreign_publisher("--room", room, "--identity", "agent", *options, script="transcribe.py")


def say(transcriber, **actions):
    transcriber.write(json.dumps(actions))
    transcriber.wait_for("said")


def heard(watcher):
    """The segment that is told next."""
    told = watcher.wait_for("transcription_received")
    assert told["participant"] == "alice" and told["sid"].startswith("TR_"), told
    return [tuple(segment[key] for key in ("id", "text", "final")) for segment in told["segments"]]


def test_every_way_of_transcribing_is_told_alike(server):
    server.foreign_publisher("--room", "said", "--identity", "alice", "--no-video", "--duration", 60)
    watcher = server.watcher("said")
    watcher.wait_for("track_published")
    agent = transcriber(server, "said")
    say(agent, interim=["1", "Hello"])
    assert heard(watcher) == [("1", "Hello", False)]
    say(agent, final=["1", "Hello, world."])
    assert heard(watcher) == [("1", "Hello, world.", True)]
    say(agent, grow=["2", "How ", "are", " you?"])
    assert heard(watcher) == [("2", "How ", False)]
    assert heard(watcher) == [("2", "How are", False)]
    assert [heard(watcher) for _ in range(2)] == [[("2", "How are you?", final)] for final in (False, True)]
    say(agent, older=[["3", "Fine", 1000, 2000, True], ["4", "and", 2000, 0, False]])
    assert heard(watcher) == [("3", "Fine", True), ("4", "and", False)]
    segments = watcher.events[-1]["segments"]
    assert [(each["start_time"], each["end_time"], each["language"]) for each in segments] == [
        (1000, 2000, "en"),
        (2000, 0, "en"),
    ]
    for action, whose in (("plain", "agent"), ("in_their_name", "alice")):
        say(agent, **{action: ["of no track"]})
        told = watcher.wait_for("transcription_received"), watcher.wait_for("transcription_received")
        assert [(each["participant"], each["sid"], each["segments"][0]["final"]) for each in told] == [
            (whose, "", False),
            (whose, "", True),
        ]


def test_both_ways_of_chatting_are_told_alike(server):
    watcher = server.watcher("written")
    watcher.wait_for("connected")
    agent = transcriber(server, "written")
    for action in ("chat", "older_chat"):
        say(agent, **{action: ["Tea?"]})
        told = watcher.wait_for("chat_message_received")
        assert (told["participant"], told["message"]) == ("agent", "Tea?"), told
        assert told["timestamp"] > 1e12 and not told["deleted"] and not told["edited"] and told["id"], told


def test_what_is_compressed_is_told(server):
    """The SDK does so where everybody whom it sees reads that: nobody, since who watches with a key is hidden."""
    watcher = server.watcher("long")
    watcher.wait_for("connected")
    agent = transcriber(server, "long")
    for text in ("Tea for two, and two for tea. " * 10, " ".join(map(str, range(20_000)))):
        say(agent, chat=[text])
        assert watcher.wait_for("chat_message_received")["message"] == text


def test_what_is_written_stays_on_the_screen(server):
    """Below the table, which is drawn anew each second."""
    agent = transcriber(server, "shown")
    # Which the library warns of.
    odd = ("--ice-server", "stun:odd:server")
    watcher = OnTerminal(server.enter(*mediabridge("watch", "--url", server.url, *KEYS, "--room", "shown", *odd)))
    watcher.wait_for("agent")
    say(agent, chat=["Tea?"])

    def screens(text):
        return [screen for screen in watcher.written.decode(errors="replace").split(EMPTY) if text in screen]

    for text in ("Tea?", "odd:server"):
        wait_until("it on several screens", lambda: len(screens(text)) >= 3, 20)
    watcher.process.send_signal(signal.SIGINT)
    watcher.finish()
