"""The participant leaves before the recording ends: what becomes of the file, and what is said."""

import checks
import pytest
from failures import after


def told(recorder, name):
    return [event for event in recorder.events if event.get("event") == name]


def test_a_file_is_as_long_as_was_asked_for(server, tmp_path):
    publisher = server.foreign_publisher("--room", "gone")
    file = tmp_path / "gone.mkv"
    recorder = server.recorder("gone", "alice", file, "--duration", "6s")
    after(recorder, 1)
    publisher.write("leave")
    finished = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert [event["participant"] for event in told(recorder, "participant_left")] == ["alice"]
    assert finished["ended"] == "duration"
    assert checks.durations(file) == pytest.approx({"video": 6, "audio": 6}, abs=0.3)
    assert finished["duration"] == pytest.approx(6, abs=0.3)


@pytest.mark.parametrize("action", ["unpublish", "leave"])
def test_a_recording_of_a_track_ends_with_it(server, tmp_path, action):
    publisher = server.foreign_publisher("--room", "track")
    sid = next(event for event in publisher.events if event["event"] == "published")["sids"]["video"]
    file = tmp_path / "track.mkv"
    recorder = server.recorder("track", None, file, "--track", sid)
    there = after(recorder, 1)["duration"]
    publisher.write(action)
    publisher.wait_for(action)
    finished = recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    assert finished["ended"] == "tracks_ended"
    assert checks.decode_errors(file) == [] and checks.codecs(file) == {"video": "vp8"}
    assert checks.durations(file)["video"] < there + 1.5


@pytest.mark.parametrize(
    "option, reason", [("--until-left", "participant_left"), ("--until-empty", "room_empty")]
)
def test_a_recording_that_ends_by_itself(server, tmp_path, option, reason):
    publisher = server.foreign_publisher("--room", "end")
    server.foreign_publisher("--room", "end", "--identity", "agent", "--agent", "--no-video")
    file = tmp_path / "end.mp4"
    recorder = server.recorder("end", "alice", file, option)
    there = after(recorder, 1)["duration"]
    publisher.write("leave")
    publisher.wait_for("leave")
    finished = recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    assert finished["ended"] == reason
    assert checks.decode_errors(file) == []
    # It ends where she left, not where it was taken for good, seconds later.
    covered = checks.durations(file)
    assert max(covered.values()) < there + 1.5, covered
    assert finished["duration"] == pytest.approx(max(covered.values()), abs=0.3)
