"""What is asked of a recording while it runs, in lines on its standard input."""

import json
import signal
import time

import checks
import clip
import hls
import pytest
from failures import after
from live_server import LiveServer, wait_until
from programs import KEYS, mediabridge
from terminal import OnTerminal

FPS = 25


def ask(recorder, command, **more):
    """Has it do something; its answer."""
    number = len(recorder.events)
    recorder.write(json.dumps({"command": command, "id": number, **more}))
    answer = recorder.wait_for("control")
    assert answer["id"] == number, recorder.report("another answer")
    return answer


def assert_done(recorder, command, **more):
    assert ask(recorder, command, **more)["done"], recorder.report(f"not done: {command}")


def assert_whole(file, at_least):
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    lengths = checks.durations(file)
    assert set(lengths) == {"video", "audio"} and min(lengths.values()) >= at_least, f"{file.name}: {lengths}"
    assert abs(lengths["video"] - lengths["audio"]) < 0.3, f"{file.name}: {lengths}"


def test_destinations_by_json(server, tmp_path):
    """One is added and removed, mistakes are answered, and a standard input that is closed ends nothing."""
    server.foreign_publisher("--room", "asked", "--codec", "VP8")
    first, second = tmp_path / "a.mkv", tmp_path / "b.mkv"
    recorder = server.recorder("asked", "alice", first, "--control", "-")
    assert not ask(recorder, "remove", location="a.mkv")["done"], "nothing runs yet"
    recorder.wait_for("recording")
    assert_done(recorder, "add", location=str(second), values={"cluster": 500_000_000})
    after(recorder, 3)
    recorder.write("rtmp://server/live/secret-key")
    refused = recorder.wait_for("control")
    assert not refused["done"] and "secret-key" not in str(refused)
    for wrong, said in (
        ({"command": "add", "location": str(second)}, "are the same"),
        ({"command": "layout", "layout": "speaker"}, "--composite speaker"),
        ({"command": "label", "text": "a"}, "only a mixed room has labels"),
        ({"command": "label"}, '"text" is missing'),
        ({"command": "layout", "layout": "mosaic"}, "grid, speaker"),
        ({"command": "remove"}, "location"),
        ({"command": "add", "location": str(tmp_path / "c.mkv"), "valeus": {"cluster": 1}}, 'did you mean "values"?'),
        ({"command": "label", "text": "a", "topic": "b"}, '"label" takes no key of that name; there are'),
        ({"command": "end", "now": True}, '"end" takes no key'),
        ({"command": "jump"}, "add, remove"),
    ):
        answer = ask(recorder, **wrong)
        assert not answer["done"] and said in answer["message"], recorder.report("says something else")
    assert_done(recorder, "remove", location=str(second))
    assert_whole(second, 1)
    recorder.close_input()
    after(recorder, recorder.wait_for("progress")["duration"] + 0.5)
    recorder.send(signal.SIGINT)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(first, 3)
    states = {event["file"]: event["state"] for event in recorder.events if event["event"] == "destination"}
    assert states[str(second)] == "complete", recorder.report("not told of")


def test_a_file_that_is_taken_away_is_followed_by_another_of_its_name(server, tmp_path):
    """Each is told, and has its command run."""
    server.foreign_publisher("--room", "asked", "--codec", "VP8")
    file, store = tmp_path / "b.mkv", tmp_path / "store"
    store.mkdir()
    take = f'cp "$1" {store}/$(ls {store} | wc -l).mkv; rm "$1"'
    recorder = server.recorder("asked", "alice", tmp_path / "a.mkv", "--control", "-", "--on-complete", take)
    recorder.wait_for("recording")
    for _ in range(2):
        assert_done(recorder, "add", location=str(file))
        after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
        assert_done(recorder, "remove", location=str(file))
        told = recorder.wait_for("file_complete", 20)
        assert told["file"] == str(file), recorder.report("another file")
        wait_until("it is taken away", lambda: not file.exists())
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert len(list(store.iterdir())) == 3
    for stored in ("0.mkv", "1.mkv"):
        assert_whole(store / stored, 1)


def test_a_server_that_was_lost_for_good_is_added_again(server, start, namespace, tmp_path):
    live = LiveServer(start, namespace.command, tmp_path / "live")
    server.foreign_publisher("--room", "asked", "--codec", "H264")
    recorder = server.recorder("asked", "alice", tmp_path / "a.mkv", "--control", "-", "--reconnect-for", "1s")
    recorder.wait_for("recording")
    assert_done(recorder, "add", location=live.address)
    after(recorder, 2)
    live.kill()
    while recorder.wait_for("destination", 20)["state"] != "failed":
        pass
    live.start()
    assert_done(recorder, "add", location=live.address)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    assert_done(recorder, "remove", location=live.address)
    recorder.stop()
    # What was lost is missing.
    assert recorder.finish() == 1, recorder.report("all is there")
    assert len(live.received) == 2 and checks.length(live.received[1]) > 1
    assert_whole(tmp_path / "a.mkv", 4)


def test_the_last_line_needs_no_end(server, tmp_path):
    (tmp_path / "commands").write_text('{"command": "jump", "id": 7}')
    fed = ("sh", "-c", 'file=$1; shift; exec "$@" < "$file"', "sh", tmp_path / "commands")
    recorder = server.recorder("quiet", "nobody", tmp_path / "a.mkv", "--control", "-", prefix=fed)
    assert recorder.wait_for("control", 10)["id"] == 7
    recorder.stop()


def test_lines_on_a_terminal(server, tmp_path):
    """A room gets another layout and another file, and is ended, by somebody at a keyboard."""
    server.foreign_publisher("--room", "typed", "--codec", "VP8")
    first, second = tmp_path / "a.mkv", tmp_path / "b.webm"
    command = mediabridge("record", "--url", server.url, *KEYS, "--room", "typed", "--composite", "grid", first)
    recorder = OnTerminal(server.enter(*command), is_typed=True)
    recorder.wait_for("Recording the room")
    for line, said in (
        ("l single-speaker", "single-speaker from now on"),
        ("t welcome all", "The label is shown"),
        ("t", "The label is gone"),
        (f"+{second}", "next keyframe"),
        ("jump", "Not done: that is no command"),
        ("p", "Paused"),
        ("p", "The recording goes on"),
    ):
        recorder.type(line)
        recorder.wait_for(said)
    recorder.wait_for(f"{second}: video")
    # On a busy machine the live line leaves seconds out.
    recorder.wait_for(*(f"00:00:{second:02}" for second in range(3, 20)))
    recorder.type("q")
    recorder.wait_for("The recording ends")
    recorder.finish()
    assert_whole(first, 2.9)
    assert_whole(second, 1)
    assert checks.codecs(second) == {"video": "vp8", "audio": "opus"}


def test_segments_after_a_pause_are_of_their_time_of_day(server, tmp_path):
    """The length of the pause is between two dates, and in no segment."""
    server.foreign_publisher("--room", "paused", "--codec", "H264")
    file = tmp_path / "web.m3u8"
    recorder = server.recorder("paused", "alice", file, "--control", "-", "--set", "segment-duration=1")
    recorder.wait_for("recording")
    after(recorder, 3)
    assert_done(recorder, "pause")
    time.sleep(4)
    assert_done(recorder, "resume")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    segments = hls.read(file).segments
    ends = [segment.date.timestamp() + segment.duration for segment in segments]
    steps = [later.date.timestamp() - end for end, later in zip(ends, segments[1:])]
    # The one in which it is cut out begins before it.
    assert 3.5 < sum(steps) < 5.5 and sorted(steps)[-2] < 0.5, steps
    assert abs(ends[-1] - time.time()) < 5


PAUSE = 2.0


@pytest.mark.realtime
def test_a_pause_is_cut_out(server, tmp_path):
    """Of what is stored as sent and of what is encoded, by a signal and by a line; flash and beep stay together."""
    server.foreign_publisher("--room", "paused", "--codec", "VP8")
    files = [tmp_path / "a.mkv", tmp_path / "b.mp4"]
    recorder = server.recorder("paused", "alice", files[0], "--control", "-", "--duration", "7s", files[1])
    recorder.wait_for("recording")
    assert_done(recorder, "add", location="udp://127.0.0.1:9")
    after(recorder, 2)
    assert "is live" in ask(recorder, "pause")["message"]
    assert_done(recorder, "remove", location="udp://127.0.0.1:9")
    recorder.send(signal.SIGUSR1)
    told = {}
    while not {"control", "paused"} <= told.keys():
        event = recorder.next(wanted="paused")
        told[event["event"]] = event
    assert (told["control"]["command"], told["control"]["done"]) == ("pause", True), told
    paused = told["paused"]["duration"]
    begun = time.monotonic()
    while time.monotonic() < begun + PAUSE:
        told = recorder.wait_for("progress")
        assert not told["paused"] or told["duration"] <= paused + 0.1, recorder.report("it grows")
    assert_done(recorder, "resume")
    length = time.monotonic() - begun
    assert recorder.wait_for("ended", 40)["duration"] == pytest.approx(7, abs=0.3)
    assert recorder.finish() == 0, recorder.report("failed")
    assert [time for time in checks.keyframes(files[0]) if paused - 0.3 < time < paused + 0.7], "none after the pause"
    for file in files:
        assert_whole(file, 6.7)
        frames = checks.numbered(file, clip.SIZE)
        numbers = [number for number, _, _ in frames if number is not None]
        assert numbers == sorted(set(numbers)), f"{file.name}: {numbers}"
        steps = [b - a for a, b in zip(numbers, numbers[1:])]
        assert (length - 0.5) * FPS < max(steps) < (length + 1.5) * FPS, f"{file.name}: {max(steps)} frames are cut out"
        offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
        assert len(offsets) >= 4 and max(map(abs, offsets)) <= 0.045, f"{file.name}: {offsets}"
