"""Outputs of a user's own: a text in a folder is all it takes, for a file of another kind and for what is no file."""

import json
import socket
import subprocess

import checks
import clip
import numpy as np
import pytest
from programs import KEYS, mediabridge

FPS = 25

FLAC = """# FLAC file.
appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! audiorate tolerance=5000000 ! audioconvert ! flacenc ! filesink location=${location} buffer-mode=unbuffered
"""

MPEG_TS = """# MPEG-TS over UDP.
mpegtsmux name=mux alignment=7 ! udpsink host=${host} port=${port} sync=false
appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au" ! mux.
appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw" ! mux.
"""


@pytest.fixture
def texts(tmp_path):
    """A folder of texts that somebody has written."""
    folder = tmp_path / "texts"
    (folder / "output").mkdir(parents=True)
    (folder / "output/flac.pipeline").write_text(FLAC)
    (folder / "output/ts.pipeline").write_text(MPEG_TS)
    return folder


@pytest.mark.parametrize("name", ["voice.flac", "flac=voice"])
def test_flac(server, tmp_path, texts, name):
    """By the name of the text or by the file's: a file of audio alone, without an error that there is no video."""
    server.foreign_publisher("--room", "flac", "--codec", "H264")
    file = tmp_path / name.rpartition("=")[2]
    destination = f"{name.rpartition('=')[0]}={file}".removeprefix("=")
    recorder = server.recorder("flac", "alice", destination, "--duration", "4s", "--pipelines", texts)
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.codecs(file) == {"audio": "flac"}
    assert checks.durations(file)["audio"] == pytest.approx(4, abs=0.3)
    assert checks.decode_errors(file) == []
    heard = checks.beeps(*checks.audio(file))
    assert len(heard) >= 3 and np.diff(heard) == pytest.approx(1, abs=0.03), f"beeps at {np.round(heard, 3)}"
    assert [track["passthrough"] for track in told["tracks"]] == [False] and told["bytes"] == file.stat().st_size
    assert [(track["kind"], track["wanted"]) for track in told["not_recorded"]] == [("video", False)]
    assert "output/flac takes no video; a file such as .mkv" in told["not_recorded"][0]["reason"]


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


WHY = {"H264": "parsed: output/ts takes H264", "VP8": "encoded by encode/h264: output/ts takes H264, and this is VP8"}


@pytest.mark.parametrize("codec", WHY)
def test_mpeg_ts_over_udp(server, tmp_path, texts, codec):
    server.foreign_publisher("--room", "ts", "--codec", codec)
    port, received = free_port(), tmp_path / "received.ts"
    listen = ["ffmpeg", "-v", "error", "-nostdin", "-i", f"udp://127.0.0.1:{port}?timeout=20000000", "-t", "4", "-c", "copy"]
    with subprocess.Popen(server.enter(*listen, str(received))) as receiver:
        address = f"ts=udp://127.0.0.1:{port}"
        recorder = server.recorder("ts", "alice", address, "--duration", "12s", "--pipelines", texts, "--verbose")
        recorder.wait_for_error(WHY[codec])
        told = recorder.wait_for("finished", 60)
        assert recorder.finish() == 0, recorder.report("failed")
        receiver.wait(30)
    assert "bytes" not in told and told["file"] == f"udp://127.0.0.1:{port}"
    assert not [event for event in recorder.events if event["event"] == "progress" and "bytes" in event]
    assert checks.codecs(received) == {"video": "h264", "audio": "aac"}
    frames = checks.numbered(received, clip.SIZE)
    read = [number for number, _, _ in frames if number is not None]
    assert len(read) > 2 * FPS and read == sorted(read)
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(received))
    assert max(map(abs, offsets)) <= 0.045, f"flash and beep apart: {np.round(offsets, 3)}"


def test_the_text_says_what_it_is_fed(texts):
    command = [str(part) for part in mediabridge("pipelines", "show", "output/ts", "--pipelines", texts)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    assert "# VP9 is encoded by encode/h264: output/ts takes H264, and this is VP9\n" in said
    assert "# OPUS is encoded by encode/aac: output/ts takes AAC, and this is OPUS\n" in said


def test_a_dry_run_says_what_would_be_fed(texts, tmp_path):
    options = ("--dev", "--room", "r", "--pipelines", texts, "--dry-run", "--json", "--set", "mp4.width=640")
    command = [str(part) for part in mediabridge("record", *options, f"mp4={tmp_path}/x")]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout)
    assert "H264 is encoded by encode/h264: only an encode template has width" in said["feeds"]
    assert not (tmp_path / "x").exists()


def test_a_camera_is_not_asked_of_a_text_without_video(texts, tmp_path):
    command = mediabridge("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", "--pipelines", texts, "--json")
    asked = [str(part) for part in (*command, "--source", "camera", tmp_path / "x.flac")]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode != 0 and "output/flac takes no video" in json.loads(done.stdout)["message"], done.stderr
