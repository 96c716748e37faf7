"""The variants of templates that ship, and drawings of what runs."""

import checks
import pytest
from raw import Reader


@pytest.mark.parametrize("variant", ["h264-openh264", "h264-low-latency", "h264-archive"])
def test_a_variant_encodes_what_was_sent(server, tmp_path, variant):
    server.foreign_publisher("--room", variant, "--codec", "VP8")
    file = tmp_path / "out.mp4"
    recorder = server.recorder(
        variant, "alice", file, "--duration", "4s", "--encode", variant, "--set", "width=640", "--set", "height=360")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.codecs(file) == {"video": "h264", "audio": "aac"}
    assert checks.durations(file)["video"] == pytest.approx(4, abs=0.3)
    assert checks.decode_errors(file) == []


def test_a_playlist_of_short_segments(server, tmp_path):
    server.foreign_publisher("--room", "short", "--codec", "H264")
    playlist = tmp_path / "live.m3u8"
    recorder = server.recorder("short", "alice", f"hls-low-latency={playlist}", "--duration", "6s")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    text = playlist.read_text()
    lengths = [float(line.split(":")[1].split(",")[0]) for line in text.splitlines() if line.startswith("#EXTINF")]
    assert len(lengths) >= 3 and max(lengths) < 2.5, text
    assert "#EXT-X-PLAYLIST-TYPE" not in text


def test_what_runs_is_drawn(server, tmp_path):
    """At its start and before its end, when its links have formats; a destination with a key without properties."""
    server.foreign_publisher("--room", "dot", "--codec", "VP8")
    drawings = tmp_path / "drawings"
    recorder = server.recorder(
        "dot", "alice", tmp_path / "out.mp4", "rtmp://127.0.0.1:9/live/hidden-key", "--duration", "4s",
        "--reconnect-for", "1s", "--dot", drawings)
    assert recorder.finish(60) == 1, "nobody listens there"
    drawn = {file.name: file.read_text() for file in drawings.iterdir()}
    for name in ["output-mp4", "encode-h264", "receive-vp8"]:
        for moment in ["start", "end"]:
            assert any(name in file and file.endswith(f"-{moment}.dot") for file in drawn), sorted(drawn)
    assert all(text.startswith("digraph pipeline {") for text in drawn.values())
    encoder = next(text for name, text in drawn.items() if "encode-h264-end" in name)
    assert "GstX264Enc" in encoder and "video/x-h264" in encoder and "speed-preset" in encoder
    assert any("output-rtmp-error" in name for name in drawn), sorted(drawn)
    assert all("hidden" not in text for text in drawn.values())


def test_what_makes_frames_is_drawn(server, tmp_path):
    server.foreign_publisher("--room", "test", "--no-audio")
    Reader(server, "frames", "--duration", "1s", "--dot", tmp_path).all()
    assert any("receive-vp8" in file.name for file in tmp_path.iterdir())
    (tmp_path / "file").touch()
    reader = Reader(server, "frames", "--duration", "1s", "--dot", tmp_path / "file")
    assert reader.finish() == 64 and f"--dot {tmp_path / 'file'}: " in reader.said


def test_what_fails_is_drawn(server, tmp_path):
    server.foreign_publisher("--room", "broken", "--codec", "VP8")
    texts = tmp_path / "texts"
    (texts / "output").mkdir(parents=True)
    (texts / "output/bad.pipeline").write_text(
        '# Fails soon.\nappsrc name=video caps="video/x-vp8" ! identity error-after=10 ! filesink location=${location}\n')
    recorder = server.recorder(
        "broken", "alice", f"bad={tmp_path / 'out'}", "--duration", "9s", "--pipelines", texts, "--dot", tmp_path / "dot")
    assert recorder.finish(60) != 0
    failed = [file for file in (tmp_path / "dot").iterdir() if file.name.endswith("output-bad-error.dot")]
    assert len(failed) == 1 and "GstIdentity" in failed[0].read_text()
