"""A file that somebody else writes, moves or removes while it is recorded: said, and never an exit status of 0."""

import checks
import pytest
from failures import after, assert_failed
from programs import KEYS, mediabridge


def test_a_second_recorder_on_one_file_is_refused(local_server, start, tmp_path):
    local_server.own_publisher("r", "alice", "vp8")
    file = tmp_path / "x.mkv"
    first = local_server.recorder("r", "alice", file)
    after(first, 1)
    # No server is there: it is refused before it connects, and before it truncates anything.
    keys = ("--url", "ws://127.0.0.1:9", *KEYS, "--room", "r")
    second = start(mediabridge("record", *keys, "--json", "--overwrite", file))
    assert_failed(second, "x.mkv", "another recording")
    first.stop()
    assert first.finish() == 0, first.report("failed")
    assert checks.decode_errors(file) == []
    assert min(checks.durations(file).values()) > 1


def test_a_second_recorder_that_waits_is_refused_too(local_server, tmp_path):
    file = tmp_path / "x.mkv"
    first = local_server.recorder("r", "alice", file)
    first.wait_for("waiting")
    assert_failed(local_server.recorder("r", "alice", file), "x.mkv", "another recording")
    first.stop()
    assert_failed(first, "stopped while waiting")
    assert not file.exists()


@pytest.mark.parametrize("replacement", [None, "another"])
def test_a_file_that_goes_away(local_server, tmp_path, replacement):
    local_server.own_publisher("r", "alice", "h264")
    file = tmp_path / "x.mp4"
    recorder = local_server.recorder("r", "alice", file)
    after(recorder, 1)
    file.rename(tmp_path / "moved.mp4")
    if replacement:
        file.write_text(replacement)
    assert_failed(recorder, "x.mp4", "replaced" if replacement else "removed or renamed", within=10)
    assert not [event for event in recorder.events if event["event"] == "finished"]
    assert not replacement or file.read_text() == replacement
    assert checks.decode_errors(tmp_path / "moved.mp4") == []


def test_a_template_that_writes_elsewhere(local_server, tmp_path):
    local_server.own_publisher("r", "alice", "vp8")
    (tmp_path / "output").mkdir()
    (tmp_path / "output/mkv.pipeline").write_text(
        "# elsewhere\nmatroskamux name=mux ! filesink location=" + str(tmp_path / "elsewhere.mkv") + "\n"
        'appsrc name=video caps="video/x-vp8" ! mux.video_0\nappsrc name=audio caps="audio/x-opus" ! mux.audio_0\n'
    )
    file = tmp_path / "x.mkv"
    recorder = local_server.recorder("r", "alice", file, "--duration", "1s", "--pipelines", tmp_path)
    assert_failed(recorder, "x.mkv", "output/mkv", "writes elsewhere")
    assert not file.exists() and (tmp_path / "elsewhere.mkv").exists()
