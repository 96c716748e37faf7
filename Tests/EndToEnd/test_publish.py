"""`mediabridge publish`, seen by the LiveKit Python SDK, and by a recording."""

import signal
import socket
import subprocess

import checks
import clip
import livekit_server
import numpy as np
import pytest
from failures import assert_failed
from programs import KEYS, mediabridge

FPS = 25
SIZE = (640, 360)


def encode(file, seconds=8, *options):
    """The numbered clip with its beeps in a file; `options` are of ffmpeg, for the output."""
    pcm = file.with_suffix(".pcm")
    pcm.write_bytes(clip.audio(0, seconds * clip.RATE).tobytes())
    command = ["ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{SIZE[0]}x{SIZE[1]}"]
    command += ["-r", str(FPS), "-i", "-", "-f", "s16le", "-ar", str(clip.RATE), "-ac", "2", "-i", str(pcm)]
    frames = b"".join(clip.i420(clip.draw(number, *SIZE, FPS)) for number in range(seconds * FPS))
    default = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-g", "25", "-c:a", "flac")
    subprocess.run([*command, *(options or default), str(file)], input=frames, check=True)
    return file


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return encode(tmp_path_factory.mktemp("publish") / "numbered.mkv")


def publish(server, start, *arguments, room="r", identity="alice"):
    return start(
        server.enter(
            *mediabridge("publish", "--url", server.url, *KEYS, "--room", room, "--identity", identity, "--json"),
            *map(str, arguments),
        )
    )


def numbers(seen):
    return [number for number in seen["numbers"] if number is not None]


def assert_in_order(got, least):
    assert len(got) >= least, f"{len(got)} frames with a number: {got}"
    steps = np.diff(got)
    assert (steps > 0).all(), f"not in order: {got}"
    assert (steps == 1).mean() > 0.9, f"frames are missing: {got}"


@pytest.mark.parametrize(("codec", "mime"), [("vp8", "video/VP8"), ("h264", "video/H264"), ("vp9", "video/VP9")])
def test_a_file_is_seen_and_heard(server, start, numbered, codec, mime):
    subscriber = server.subscriber("--duration", "16")
    subscriber.wait_for("connected")
    publisher = publish(server, start, numbered, "--codec", codec, room="test")
    publishing = publisher.wait_for("publishing", 20)
    assert [track["source"] for track in publishing["tracks"]] == ["camera", "microphone"]
    assert publishing["tracks"][0]["size"] == "640x360"
    publisher.wait_for("finished", 30)
    assert publisher.finish() == 0, publisher.report("")
    seen = subscriber.next(30, "what was seen")
    assert sorted(seen["tracks"]) == [["alice", "audio/opus"], ["alice", mime]]
    assert "640x360" in seen["sizes"]
    # The smallest layer comes first, in which numbers are as large.
    assert_in_order(numbers(seen), 8 * FPS * 0.75)
    assert seen["level"] == pytest.approx(clip.LOUDNESS / np.sqrt(2), rel=0.1)


@pytest.mark.realtime
@pytest.mark.parametrize("codec", ["vp8", "h264"])
def test_frames_and_audio_stay_together(server, start, numbered, tmp_path, codec):
    file = tmp_path / "sync.mkv"
    publisher = publish(server, start, numbered, "--codec", codec, "--loop", room="sync")
    publisher.wait_for("publishing", 20)
    recorder = server.recorder("sync", "alice", file, "--duration", "12s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    publisher.send(signal.SIGINT)
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0
    frames = list(checks.numbered(file))
    assert len(frames) > 11 * FPS * 0.9
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert np.percentile(np.abs(offsets), 95) <= 0.040, f"flash and beep apart: {np.round(offsets, 3)}"


def test_everything_is_published_again_after_the_server_came_back(local_server, start, numbered):
    publisher = publish(local_server, start, numbered, "--loop", room="test")
    publisher.wait_for("publishing", 20)
    publisher.wait_for("progress", 10)
    local_server.end(signal.SIGKILL)
    again = local_server.start_again()
    subscriber = again.subscriber("--duration", "30", "--until", "50", "640x360")
    seen = subscriber.next(60, "connected") and subscriber.next(60, "what was seen")
    assert sorted(seen["tracks"]) == [["alice", "audio/opus"], ["alice", "video/VP8"]]
    assert seen["wanted"] >= 50 and seen["level"] > 0, seen
    publisher.send(signal.SIGINT)
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0


def test_a_live_source_that_went_away_is_shown_again(server, start, numbered):
    port = livekit_server.free_port(socket.SOCK_DGRAM)

    def send():
        """To whoever calls."""
        place = f"srt://127.0.0.1:{port}?mode=listener"
        ways = ("-re", "-stream_loop", "-1", "-i", str(numbered), "-c:v", "copy", "-c:a", "aac", "-f", "mpegts", place)
        return start(server.enter("ffmpeg", "-v", "error", *ways))

    sender = send()
    publisher = publish(server, start, f"srt://127.0.0.1:{port}?mode=caller", room="test")
    publisher.wait_for("publishing", 30)
    sender.stop()
    publisher.wait_for("source_lost", 20)
    send()
    publisher.wait_for("source_restored", 30)
    seen = server.subscriber("--duration", "20", "--until", "50", "640x360")
    seen = seen.next(30, "connected") and seen.next(30, "what was seen")
    assert seen["wanted"] >= 50 and seen["level"] > 0, seen


def test_a_live_source_that_stays_away_is_said(server, start):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    assert_failed(publish(server, start, f"srt://127.0.0.1:{port}?mode=caller"), f"srt://127.0.0.1:{port}", within=30)


def test_what_cannot_be_published_says_why(server, start, tmp_path):
    nothing = tmp_path / "nothing.mp4"
    nothing.write_bytes(b"\0" * 2000)
    assert_failed(publish(server, start, nothing), "nothing.mp4", within=30)
    assert_failed(publish(server, start, "pattern", "--set", "width=many"), "'many' is no value for `width`", within=30)
    assert_failed(publish(server, start, "/dev/video77"), "/dev/video77: cannot be opened", within=30)


def test_a_token_that_may_not_publish_is_told(server, start):
    options = ("--dev", "--room", "r", "--identity", "carol", "--no-publish")
    token = subprocess.run(mediabridge("token", "create", *options), capture_output=True, text=True, check=True)
    publisher = start(
        server.enter(*mediabridge("publish", "pattern", "--url", server.url, "--json", "--token", token.stdout.strip()))
    )
    assert_failed(publisher, "canPublish", within=20)
