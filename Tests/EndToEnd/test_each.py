"""One command that gives each participant, or each track, files of its own."""

import time

import checks
import pytest
from failures import after

SIZE = (320, 180)
SMALL = ("--width", 320, "--height", 180, "--fps", 15)


def test_each_participant_has_a_file(server, tmp_path):
    """Bob leaves and comes back, and has two; carol comes late; each plays whole and holds its own."""
    server.foreign_publisher("--room", "each", "--identity", "alice", "--codec", "VP8", "--duration", 60, *SMALL)
    bob = server.foreign_publisher("--room", "each", "--identity", "bob", "--no-video")
    recorder = server.recorder("each", None, tmp_path / "{publisher_identity}.mkv", "--each", "participant")
    recorder.wait_for("recording", 40)
    recorder.wait_for("recording", 40)
    bob.stop()
    left = completed(recorder)
    assert left["file"].endswith("bob.mkv") and left["state"] == "complete"
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


@pytest.mark.parametrize(
    "options, name, said",
    [
        (("--each", "participant"), "a.mkv", "put {publisher_identity} into its name"),
        (("--each", "track"), "{publisher_identity}.mkv", "put {track_id} into its name"),
        (("--each", "room"), "a.mkv", "give participant or track"),
        (("--each", "participant", "--composite", "grid"), "{publisher_identity}.mkv", "exclude each other"),
    ],
)
def test_mistakes_are_named(local_server, tmp_path, options, name, said):
    recorder = local_server.recorder("wrong", None, tmp_path / name, *options)
    assert recorder.finish(20) != 0
    assert said in recorder.errors + str(recorder.events), recorder.report("says something else")
