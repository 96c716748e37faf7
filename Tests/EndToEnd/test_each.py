"""One command that gives each participant, or each track, files of its own."""

import json
import signal
import time

import checks
import pytest
from failures import after
from live_server import LiveServer
from programs import KEYS, mediabridge

SIZE = (320, 180)
SMALL = ("--width", 320, "--height", 180, "--fps", 15)


def test_each_participant_has_a_file(server, tmp_path):
    """Bob leaves and comes back, and has two; carol comes late; each plays whole and holds its own."""
    server.foreign_publisher("--room", "each", "--identity", "alice", "--codec", "VP8", "--duration", 60, *SMALL)
    bob = server.foreign_publisher("--room", "each", "--identity", "bob", "--no-video")
    recorder = server.recorder("each", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant")
    recorder.wait_for("recording", 40)
    recorder.wait_for("recording", 40)
    # Who is killed is missed by a server only after a while.
    bob.write("leave")
    left = completed(recorder)
    assert left["file"].endswith("bob.mkv") and left["state"] == "complete"
    while (told := recorder.wait_for("progress", 10))["over"] != 1:
        pass
    assert [one["file"] for one in told["destinations"]] == [str(tmp_path / "alice.mkv")]
    assert told["bytes"] >= left["bytes"] + told["destinations"][0]["bytes"]
    for name in ("bob", "carol"):
        server.foreign_publisher("--room", "each", "--identity", name, "--no-video")
        assert recorder.wait_for("recording", 40)["participant"] == name
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["alice.mkv", "bob-2.mkv", "bob.mkv", "carol.mkv"]
    for file in tmp_path.iterdir():
        assert checks.decode_errors(file) == []
        assert checks.durations(file)["audio"] > 1.5, file
    numbers = [number for number, _, _ in checks.numbered(tmp_path / "alice.mkv", SIZE) if number is not None]
    assert len(numbers) > 60 and numbers == sorted(numbers)


def test_who_comes_back_takes_the_place_of_no_part(server, tmp_path):
    bob = server.foreign_publisher("--room", "parts", "--identity", "bob", "--no-video")
    options = ("--each", "participant", "--part-duration", "2s", "--overwrite")
    recorder = server.recorder("parts", None, tmp_path / "{publisher_identity}.mkv", *options)
    recorder.wait_for("recording", 40)
    after(recorder, 5)
    bob.write("leave")
    completed(recorder)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before) > 1, before.keys()
    server.foreign_publisher("--room", "parts", "--identity", "bob", "--no-video")
    recorder.wait_for("recording", 40)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 1)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert all(file.read_bytes() == content for file, content in before.items())
    later = set(tmp_path.iterdir()) - set(before)
    assert later and all(checks.decode_errors(file) == [] for file in later)


def completed(recorder):
    while True:
        event = recorder.wait_for("destination", 20)
        if event["state"] == "complete":
            return event


def test_one_that_cannot_be_written_fails_alone(server, tmp_path):
    (tmp_path / "bob.mkv").write_text("yesterday's")
    for name in ("alice", "bob"):
        server.foreign_publisher("--room", "alone", "--identity", name, "--no-video")
    recorder = server.recorder(
        *("alone", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant", "--duration", "3s")
    )
    assert recorder.finish(40) == 1
    assert "bob.mkv exists already" in recorder.errors, recorder.report("says something else")
    assert (tmp_path / "bob.mkv").read_text() == "yesterday's"
    assert checks.durations(tmp_path / "alice.mkv")["audio"] > 2.5


def test_who_cannot_be_recorded_keeps_nobody_out(server, tmp_path):
    """Alice, who is alone at first and encrypted, ends nothing; and she has a file once she comes back in the clear."""
    publish = ("--room", "hidden", "--no-video", "--duration", 60, "--identity")
    alice = server.foreign_publisher(*publish, "alice", "--encrypted")
    options = ("--each", "participant", "--wait", "60s")
    recorder = server.recorder("hidden", None, tmp_path / "{publisher_identity}.mkv", *options)
    while (told := recorder.wait_for("destination", 20))["state"] != "failed":
        pass
    assert told["code"] == "encrypted" and told["file"] == str(tmp_path / "alice.mkv")
    alice.write("leave")
    for name in ("bob", "alice"):
        server.foreign_publisher(*publish, name)
        assert recorder.wait_for("recording", 40)["participant"] == name
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish() == 1, recorder.report("all is there")
    assert "alice was not recorded at first" in recorder.errors, recorder.report("says something else")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["alice.mkv", "bob.mkv"]
    assert all(checks.decode_errors(file) == [] for file in tmp_path.iterdir())


def test_each_file_is_told_with_what_is_missing_in_it(server, tmp_path):
    server.foreign_publisher("--room", "own", "--codec", "VP8", "--screen", "last", "--duration", 60, *SMALL)
    server.foreign_publisher("--room", "own", "--identity", "bob", "--no-video")
    recorder = server.recorder("own", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant")
    for _ in range(2):
        recorder.wait_for("recording", 40)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    finished = [event for event in recorder.events if event["event"] == "finished"]
    missing = {event["file"]: [one["source"] for one in event["not_recorded"]] for event in finished}
    assert missing == {str(tmp_path / "alice.mkv"): ["screen_share"], str(tmp_path / "bob.mkv"): []}


def test_what_becomes_of_the_file_of_who_leaves_is_said(server, start, tmp_path):
    bob = server.foreign_publisher("--room", "words", "--identity", "bob", "--no-video")
    file = tmp_path / "{publisher_identity}.mkv"
    command = mediabridge("record", "--url", server.url, *KEYS, "--room", "words", "--each", "participant", file)
    recorder = start(server.enter(*command))
    said = ""
    for words in ("Recording bob", "bob left"):
        if words == "bob left":
            bob.write("leave")
        while not said.startswith(words):
            said = recorder.wait_for("text", 40)["text"]
    assert said == "bob left. What is written of them ends unless bob is back at once."
    while "bob.mkv is complete" not in recorder.wait_for("text", 20)["text"]:
        pass


def test_the_manifest_of_who_has_left_is_there_at_once(server, tmp_path):
    """It is not lost with a process that is killed. Who speaks has begun before there was a recorder."""
    bob = server.foreign_publisher("--room", "days", "--identity", "bob", "--no-video", "--tone")
    server.foreign_publisher("--room", "days", "--identity", "alice", "--no-video", "--tone", "--duration", 60)
    watcher = server.watcher("days")
    while len(watcher.wait_for("active_speakers_changed")["speakers"]) < 2:
        pass
    recorder = server.recorder(
        "days", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant", "--manifest"
    )
    for _ in range(2):
        recorder.wait_for("recording", 40)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    bob.write("leave")
    manifest = tmp_path / "bob.mkv.json"
    while recorder.wait_for("file_complete", 20)["file"] != str(manifest):
        pass
    recorder.kill()
    told = json.loads(manifest.read_text())
    assert told["publisher_identity"] == "bob" and [one["state"] for one in told["destinations"]] == ["complete"]
    assert {turn["identity"] for turn in told["speakers"]} == {"bob"}, told["speakers"]
    assert not (tmp_path / "alice.mkv.json").exists()


@pytest.mark.realtime
def test_who_sends_something_within_the_wait_is_recorded(server, tmp_path):
    """Though it is not known yet whether a camera comes, too, when the wait is over."""
    server.foreign_publisher("--room", "soon", "--identity", "bob", "--no-video", "--duration", 60)
    name = tmp_path / "{publisher_identity}.mkv"
    recorder = server.recorder("soon", None, name, "--each", "participant", "--wait", "2s", "--duration", "1s")
    assert recorder.finish(40) == 0, recorder.report("failed")
    assert checks.decode_errors(tmp_path / "bob.mkv") == []


def test_each_track_has_a_file(server, tmp_path):
    """Also the screen that is shared later, and ends."""
    name = tmp_path / "{publisher_identity}-{track_source}-{track_id}.mkv"
    recorder = server.recorder("tracks", None, name, "--each", "track", "--until-empty")
    # The room is empty for longer than whoever leaves may be away.
    recorder.wait_for("waiting", 20)
    time.sleep(3)
    alice = server.foreign_publisher("--room", "tracks", "--identity", "alice", "--codec", "VP8", *SMALL)
    for _ in range(2):
        recorder.wait_for("recording", 40)
    after(recorder, 2)
    alice.stop()
    assert recorder.finish(30) == 0, recorder.report("failed")
    files = {file.name.split("-")[1]: file for file in tmp_path.iterdir()}
    assert set(files) == {"camera", "microphone"}
    assert checks.codecs(files["camera"]) == {"video": "vp8"} and checks.codecs(files["microphone"]) == {"audio": "opus"}
    assert all(checks.decode_errors(file) == [] for file in files.values())


def test_each_participant_is_streamed_to_an_address_of_its_own(server, start, namespace, tmp_path):
    """And into a playlist. What alice calls herself is one word of the address; bob, who comes back, has the same one."""
    live = LiveServer(start, namespace.command, tmp_path / "live", by="room=secret_room")
    publish = ("--room", "stage", "--codec", "H264", "--duration", 60, *SMALL)
    server.foreign_publisher(*publish, "--identity", "alice/../x?name=mallory")
    bob = server.foreign_publisher(*publish, "--identity", "bob")
    address = LiveServer.ADDRESS + "{publisher_identity}?room=secret_room"
    playlist = tmp_path / "hls/{publisher_identity}/live.m3u8"
    recorder = server.recorder("stage", None, address, "--each", "participant", playlist, command="stream")
    for _ in range(2):
        recorder.wait_for("recording", 40)
    after(recorder, 2)
    bob.stop()
    while completed(recorder)["file"].endswith(".m3u8"):
        pass
    server.foreign_publisher(*publish, "--identity", "bob")
    assert recorder.wait_for("recording", 40)["participant"] == "bob"
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert "secret_room" not in json.dumps(recorder.events) + recorder.errors
    names = [file.name.rsplit("-", 1)[0] for file in live.received]
    assert sorted(names) == ["alice_.._x_name_mallory", "bob", "bob"], names
    for file in live.received:
        assert checks.decode_errors(file) == [] and checks.codecs(file) == {"video": "h264", "audio": "aac"}
        numbers = [number for number, _, _ in checks.numbered(file, SIZE) if number is not None]
        assert len(numbers) > 20 and numbers == sorted(numbers), file
    lists = sorted(str(file.relative_to(tmp_path / "hls")) for file in tmp_path.glob("hls/*/*.m3u8"))
    assert lists == ["alice_.._x?name=mallory/live.m3u8", "bob/live-2.m3u8", "bob/live.m3u8"]


def test_what_is_live_is_not_paused(server, start, namespace, tmp_path):
    """Nor does that hold anybody up who comes afterwards."""
    live = LiveServer(start, namespace.command, tmp_path / "live", by="room=secret_room")
    options = ("--room", "stage", "--codec", "H264", "--duration", 60, *SMALL)
    server.foreign_publisher(*options, "--identity", "alice")
    address = LiveServer.ADDRESS + "{publisher_identity}?room=secret_room"
    recorder = server.recorder("stage", None, address, "--each", "participant", "--control", "-", command="stream")
    recorder.wait_for("recording", 40)
    recorder.write(json.dumps({"command": "pause"}))
    answer = recorder.wait_for("control")
    assert not answer["done"] and "is live and cannot be paused" in answer["message"]
    assert not recorder.wait_for_new("progress")["paused"]
    server.foreign_publisher(*options, "--identity", "bob")
    assert recorder.wait_for("recording", 40)["participant"] == "bob"
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert sorted(file.name.split("-")[0] for file in live.received) == ["alice", "bob"]
    assert min(checks.length(file) for file in live.received) > 2


def test_who_sends_nothing_is_missing(server, tmp_path):
    """Whoever is not muted, and of whom nothing comes, is a recording that failed."""
    server.foreign_publisher("--room", "still", "--identity", "alice", "--no-video")
    bob = server.foreign_publisher("--room", "still", "--identity", "bob", "--no-audio", *SMALL)
    # It is announced once something has come.
    time.sleep(2)
    bob.send(signal.SIGSTOP)
    recorder = server.recorder("still", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant")
    recorder.wait_for("recording", 40)
    after(recorder, 12)
    recorder.stop()
    assert recorder.finish() == 1, recorder.report("all is there")
    assert "nothing of bob has come" in recorder.errors
    bob.send(signal.SIGCONT)
    assert [file.name for file in tmp_path.iterdir()] == ["alice.mkv"]


def test_a_live_server_that_refuses_one_refuses_nobody_else(server, start, namespace, tmp_path):
    live = LiveServer(start, namespace.command, tmp_path / "live", by="name=alice")
    for name in ("alice", "bob"):
        server.foreign_publisher("--room", "stage", "--codec", "H264", "--identity", name, "--duration", 60, *SMALL)
    address = LiveServer.ADDRESS + "{publisher_identity}"
    recorder = server.recorder("stage", None, address, "--each", "participant", "--duration", "4s", command="stream")
    assert recorder.finish(60) == 1
    assert "publish" in recorder.errors, recorder.report("says something else")
    told = [event["participant"] for event in recorder.events if event["event"] == "recording"]
    assert sorted(told) == ["alice", "bob"], "it is tried again and again"
    (file,) = live.received
    assert file.name.startswith("alice-") and checks.decode_errors(file) == []


def test_two_who_would_have_one_address_do_not_share_it(server, start, namespace, tmp_path):
    live = LiveServer(start, namespace.command, tmp_path / "live", by="name=a_b")
    address = LiveServer.ADDRESS + "{publisher_identity}"
    options = ("--room", "stage", "--codec", "H264", "--duration", 60, *SMALL)
    server.foreign_publisher(*options, "--identity", "a b")
    recorder = server.recorder("stage", None, address, "--each", "participant", command="stream")
    recorder.wait_for("recording", 40)
    server.foreign_publisher(*options, "--identity", "a_b")
    while recorder.wait_for("destination", 20)["state"] != "failed":
        pass
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish(30) == 1
    assert "a_b and a b are both 'a_b' in an address" in recorder.errors, recorder.report("says something else")
    (file,) = live.received
    numbers = [number for number, _, _ in checks.numbered(file, SIZE) if number is not None]
    assert checks.decode_errors(file) == [] and numbers == sorted(numbers)


@pytest.mark.parametrize(
    "options, name, said",
    [
        (("--each", "participant"), "a.mkv", "put {publisher_identity} into its name"),
        (("--each", "track"), "{publisher_identity}.mkv", "put {track_id} into its name"),
        (("--each", "participant"), "rtmp://h/live/key", "put {publisher_identity} into its path or its query"),
        (("--each", "track"), "srt://h:1?streamid={room_name}", "put {track_id} into its path or its query"),
        (("--each", "participant"), "udp://239.1.2.3:5000", "for which UDP has no names: give files, or"),
        ((), "udp://239.1.2.3:5000/{room_name}", "takes host and port alone"),
        (("--each", "participant"), "rtmp://{publisher_identity}/live/key", "would choose the server"),
        (("--each", "participant"), "window=", "a place of its own"),
        (("--each", "room"), "a.mkv", "give participant or track"),
        (
            ("--each", "participant", "--set", "live-playlist=now.m3u8"), "{publisher_identity}.m3u8",
            "put {publisher_identity} into the folder",
        ),
        (("--each", "participant", "--composite", "grid"), "{publisher_identity}.mkv", "exclude each other"),
    ],
)
def test_mistakes_are_named(local_server, tmp_path, options, name, said):
    place = name if "://" in name or name.endswith("=") else tmp_path / name
    recorder = local_server.recorder("wrong", None, place, *options)
    assert recorder.finish(20) != 0
    assert said in recorder.errors + str(recorder.events), recorder.report("says something else")
