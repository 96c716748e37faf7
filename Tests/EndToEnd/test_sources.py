"""Camera and screen of one participant: which of them is in the file, and what is said of the other one."""

import checks
import clip
import pytest
from failures import assert_failed


def shown(file):
    """The share of frames that are the camera's, and of those that are the screen's."""
    frames = checks.numbered(file, clip.SIZE)
    plain = [luma.std() < 10 for _, _, luma in frames]
    camera = sum(number is not None and not is_plain for (number, _, _), is_plain in zip(frames, plain))
    screen = sum(is_plain and luma.mean() > 150 for (_, _, luma), is_plain in zip(frames, plain))
    return camera / len(frames), screen / len(frames)


def told(recorder, name):
    return [event for event in recorder.events if event.get("event") == name]


@pytest.mark.parametrize("order", ["first", "last"])
def test_the_camera_goes_before_the_screen(server, tmp_path, order):
    """Whichever was published first, and whichever flows first: three times, for what comes first is a race."""
    files = {room: tmp_path / f"{room}.mkv" for room in ("one", "two", "three")}
    recorders = {room: server.recorder(room, "alice", file, "--duration", "2s") for room, file in files.items()}
    for room, recorder in recorders.items():
        recorder.wait_for("waiting")
        server.foreign_publisher("--room", room, "--identity", "alice", "--screen", order)
    for room, recorder in recorders.items():
        finished = recorder.wait_for("finished", 40)
        assert recorder.finish() == 0, recorder.report("failed")
        camera, screen = shown(files[room])
        assert camera > 0.9 and screen == 0, (camera, screen)
        assert [(left["source"], left["wanted"]) for left in finished["not_recorded"]] == [("screen_share", False)]
        assert "--source screen" in finished["not_recorded"][0]["reason"]
        assert [left["source"] for left in told(recorder, "not_recorded")] == ["screen_share"]


def test_what_is_asked_for_is_recorded(server, tmp_path):
    publisher = server.foreign_publisher("--room", "asked", "--identity", "alice", "--screen", "last")
    sids = next(event for event in publisher.events if event["event"] == "published")["sids"]
    wishes = {
        "source": ("--source", "screen", "--source", "microphone"),
        "track": ("--track", sids["screen"], "--track", sids["audio"]),
    }
    recorders = {}
    for name, wish in wishes.items():
        recorders[name] = server.recorder("asked", None, tmp_path / f"{name}.mkv", "--duration", "2s", *wish)
    for name, recorder in recorders.items():
        finished = recorder.wait_for("finished", 40)
        assert recorder.finish() == 0, recorder.report("failed")
        camera, screen = shown(tmp_path / f"{name}.mkv")
        assert screen > 0.9 and camera == 0, (camera, screen)
        assert set(checks.durations(tmp_path / f"{name}.mkv")) == {"video", "audio"}
        assert [left["sid"] for left in finished["not_recorded"]] == [sids["video"]]


def test_a_screen_that_comes_later_is_said(server, tmp_path):
    publisher = server.foreign_publisher("--room", "later", "--identity", "alice")
    file = tmp_path / "later.webm"
    recorder = server.recorder("later", "alice", file)
    recorder.wait_for("recording")
    publisher.write("screen")
    left = recorder.wait_for("not_recorded")
    assert left["source"] == "screen_share" and left["participant"] == "alice" and not left["wanted"]
    publisher.wait_for("screen")
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert told(recorder, "finished")[0]["not_recorded"][0]["sid"] == left["sid"]


def test_what_was_asked_for_and_never_came_is_an_error(server, tmp_path):
    server.foreign_publisher("--room", "never", "--identity", "alice")
    file = tmp_path / "never.mkv"
    wish = ("--source", "screen", "--source", "microphone")
    recorder = server.recorder("never", "alice", file, "--duration", "1s", *wish)
    assert_failed(recorder, "never.mkv", "screen share of alice", "never published", within=40)
    missing = [left for left in told(recorder, "finished")[0]["not_recorded"] if left["wanted"]]
    assert [left["source"] for left in missing] == ["screen_share"]
    assert checks.decode_errors(file) == []
