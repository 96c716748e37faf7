"""`mediabridge publish`, seen by the LiveKit Python SDK, and by a recording."""

import signal
import socket
import subprocess
import time

import av
import checks
import clip
import livekit_server
import numpy as np
import pytest
from failures import assert_failed
from programs import ROOT, mediabridge
from publishing import FPS, assert_in_order, encode, numbers, publish


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return encode(tmp_path_factory.mktemp("publish") / "numbered.mkv")


# These cost several times as much as the others.
COSTLY = [pytest.param(codec, f"video/{codec.upper()}", marks=pytest.mark.realtime) for codec in ("vp9", "av1")]


@pytest.mark.parametrize(("codec", "mime"), [("vp8", "video/VP8"), ("h264", "video/H264"), *COSTLY])
def test_a_file_is_seen_and_heard(server, start, numbered, codec, mime):
    subscriber = server.subscriber("--duration", "16", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, numbered, "--encode", "--codec", codec, room="test")
    publishing = publisher.wait_for("publishing", 20)
    assert [track["source"] for track in publishing["tracks"]] == ["camera", "microphone"]
    assert publishing["tracks"][0]["size"] == "640x360"
    publisher.wait_for("finished", 30)
    assert publisher.finish() == 0, publisher.report("")
    seen = subscriber.next(30, "what was seen")
    assert sorted(seen["tracks"]) == [["alice", "audio/red"], ["alice", mime]]
    assert "640x360" in seen["sizes"]
    # The smallest layer comes first, in which numbers are as large.
    assert_in_order(numbers(seen), 8 * FPS * 0.75)
    assert seen["level"] == pytest.approx(clip.LOUDNESS / np.sqrt(2), rel=0.1)


def test_a_short_file_with_a_sign_in_its_name_is_seen(server, start, tmp_path):
    """It is over before all that goes ahead of it."""
    file = encode(tmp_path / "take=1.mp4", 1, "-c:v", "libx264", "-bf", "0", "-g", "25", "-c:a", "aac")
    subscriber = server.subscriber("--duration", "16", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, file, room="test")
    publisher.wait_for("finished", 30)
    assert publisher.finish() == 0, publisher.report("")
    assert_in_order(numbers(subscriber.next(30, "what was seen")), 0.8 * FPS)


@pytest.mark.realtime
@pytest.mark.parametrize("codec", ["vp8", "h264"])
def test_frames_and_audio_stay_together(server, start, numbered, tmp_path, codec):
    file = tmp_path / "sync.mkv"
    publisher = publish(server, start, numbered, "--encode", "--codec", codec, "--loop", room="sync")
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


# 0xFF8060, by BT.601 in limited range.
ORANGE = (155, 95, 186)
CAMERAS = {
    "full range": ("640x360", "scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p", "mjpeg"),
    "BT.709": ("1280x720", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "rawvideo"),
}


@pytest.mark.parametrize("camera", CAMERAS)
def test_colors_become_those_of_webrtc(server, start, tmp_path, camera):
    size, colors, codec = CAMERAS[camera]
    source, file = tmp_path / "orange.mkv", tmp_path / "seen.mkv"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"color=0xFF8060:s={size}:r=10:d=4", "-vf", f"format=rgb24,{colors}"]
    subprocess.run([*command, "-c:v", codec, source], check=True)
    publisher = publish(server, start, source, "--loop", room="colors")
    publisher.wait_for("publishing", 20)
    recorder = server.recorder("colors", "alice", file, "--duration", "3s")
    recorder.wait_for("finished", 30)
    assert recorder.finish() == 0, recorder.report("failed")
    publisher.send(signal.SIGINT)
    assert publisher.finish() == 0, publisher.report("failed")
    with av.open(str(file)) as container:
        *_, frame = container.decode(video=0)
    samples = frame.to_ndarray(format="yuv420p")
    luma, chroma = samples[: frame.height], samples[frame.height :].reshape(2, -1)
    assert [luma.mean(), *chroma.mean(axis=1)] == pytest.approx(ORANGE, abs=3)


def test_values_of_one_encoder_are_for_it_alone(server, start, numbered):
    publisher = publish(server, start, numbered, "--encode", "--set", "cpu-used=12", "--set", "audio-bitrate=64", "--duration", "1s")
    publisher.wait_for("publishing", 20)
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0, publisher.report("failed")


def test_values_are_for_the_sources_that_have_them(server, start):
    """A tone has no size."""
    size = ("--set", "width=640", "--set", "pattern.height=360")
    publisher = publish(server, start, "pattern", "tone", *size, "--duration", "1s")
    assert publisher.wait_for("publishing", 20)["tracks"][0]["size"] == "640x360"
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0, publisher.report("failed")


def test_silence_is_hardly_sent(server, start):
    """Of a voice, which a tone stands for here, pauses are left out; a microphone's are without being asked."""
    publishers = [
        publish(server, start, "tone", "--set", "wave=silence", "--set", f"dtx={dtx}", "--duration", "6s", room="silence", identity=dtx)
        for dtx in ("true", "false")
    ]
    packets = []
    for publisher in publishers:
        publisher.wait_for("finished", 30)
        assert publisher.finish() == 0, publisher.report("")
        packets.append([event for event in publisher.events if event["event"] == "progress"][-1]["packets"])
    # It begins with some that are no longer than a syllable.
    assert packets[0] < 50 and packets[1] > 200, packets


def test_everything_is_published_again_after_the_server_came_back(local_server, start, numbered):
    publisher = publish(local_server, start, numbered, "--encode", "--loop", room="test")
    publisher.wait_for("publishing", 20)
    publisher.wait_for("progress", 10)
    local_server.end(signal.SIGKILL)
    again = local_server.start_again()
    subscriber = again.subscriber("--duration", "30", "--until", "50", "640x360")
    seen = subscriber.next(60, "connected") and subscriber.next(60, "what was seen")
    assert sorted(seen["tracks"]) == [["alice", "audio/red"], ["alice", "video/VP8"]]
    assert seen["wanted"] >= 50 and seen["level"] > 0, seen
    publisher.send(signal.SIGINT)
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0
    sent = [event["bytes"] for event in publisher.events if event["event"] == "progress"]
    assert sent == sorted(sent), "what was sent before does not count"
    assert {"reconnecting", "reconnected"} <= {event["event"] for event in publisher.events}


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
    # For longer than it takes to see that nothing comes.
    time.sleep(12)
    send()
    publisher.wait_for("source_restored", 30)
    seen = server.subscriber("--duration", "20", "--until", "50", "640x360")
    seen = seen.next(30, "connected") and seen.next(30, "what was seen")
    assert seen["wanted"] >= 50 and seen["level"] > 0, seen
    assert sum(event["event"] == "source_lost" for event in publisher.events + publisher.drain()) == 1, "again and again"


def test_a_source_that_is_away_holds_up_no_other(server, start, numbered):
    ports = [livekit_server.free_port(socket.SOCK_DGRAM) for _ in range(2)]
    places = [f"srt://127.0.0.1:{port}?mode=caller" for port in ports]

    def send(port):
        ways = ("-re", "-stream_loop", "-1", "-i", numbered, "-c:v", "copy", "-c:a", "aac", "-f", "mpegts")
        return start(server.enter("ffmpeg", "-v", "error", *ways, f"srt://127.0.0.1:{port}?mode=listener"))

    senders = [send(port) for port in ports]
    publisher = publish(server, start, *places, "--reconnect-for", "60s")
    publisher.wait_for("publishing", 30)
    for sender, place in zip(senders, places):
        sender.stop()
        assert publisher.wait_for("source_lost", 20)["source"] == place
    send(ports[1])
    assert publisher.wait_for("source_restored", 20)["source"] == places[1]


def test_a_live_source_that_always_goes_again_is_given_up(server, start, numbered):
    place = f"srt://127.0.0.1:{livekit_server.free_port(socket.SOCK_DGRAM)}"
    send = f"ffmpeg -v error -re -i {numbered} -t 3 -c:v copy -c:a aac -f mpegts '{place}?mode=listener'"
    # Whoever ends the shell ends the one that waits for a caller.
    start(server.enter("sh", "-c", f"trap 'kill $!; exit' TERM; while :; do {send} & wait; done"))
    publisher = publish(server, start, f"{place}?mode=caller", "--reconnect-for", "8s")
    publisher.wait_for("publishing", 30)
    assert_failed(publisher, "comes back and goes away again", within=60)


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


def test_what_cannot_be_encoded_is_told(local_server, start, tmp_path):
    """Again and again; to capture it anew would not help."""
    folder = tmp_path / "encode"
    folder.mkdir()
    text = (ROOT / "pipelines/encode/vp8.pipeline").read_text()
    assert "! videoflip" in text
    (folder / "vp8.pipeline").write_text(text.replace("! videoflip", "! identity error-after=20 ! videoflip"))
    options = ("--pipelines", tmp_path, "--set", "pattern.width=320", "--set", "pattern.height=180")
    publisher = publish(local_server, start, "pattern", *options)
    publisher.wait_for("publishing", 20)
    assert_failed(publisher, "camera is not sent", within=40)
    assert not any(event["event"] == "source_lost" for event in publisher.events), publisher.report("captured anew")


def test_what_cannot_be_decoded_is_told(server, start, numbered, tmp_path):
    """Again and again; to capture it anew would not help."""
    folder = tmp_path / "decode"
    folder.mkdir()
    text = (ROOT / "pipelines/decode/video.pipeline").read_text()
    assert "! decodebin" in text
    (folder / "video.pipeline").write_text(text.replace("! decodebin", "! identity error-after=20 ! decodebin"))
    place = f"srt://127.0.0.1:{livekit_server.free_port(socket.SOCK_DGRAM)}"
    coded = ("-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "25", "-c:a", "aac", "-f", "mpegts")
    ways = ("-re", "-stream_loop", "-1", "-i", numbered, *coded, f"{place}?mode=listener")
    start(server.enter("ffmpeg", "-v", "error", *ways))
    publisher = publish(server, start, f"{place}?mode=caller", "--pipelines", tmp_path)
    publisher.wait_for("publishing", 30)
    assert_failed(publisher, "camera is not sent", within=60)
    assert not any(event["event"] == "source_lost" for event in publisher.events), publisher.report("captured anew")


def test_a_file_does_not_wait_for_a_caller(server, start, numbered):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    subscriber = server.subscriber("--duration", "30", "--until", "50", "640x360")
    subscriber.wait_for("connected")
    publisher = publish(server, start, f"srt://:{port}?mode=listener", numbered, room="test")
    tracks = publisher.wait_for("publishing", 20)["tracks"]
    assert [track["source"] for track in tracks] == ["camera", "microphone"]
    publisher.wait_for("waiting", 10)
    seen = subscriber.next(40, "what was seen")
    assert seen["wanted"] >= 50, seen
    assert_in_order(numbers(seen), 40)


def test_a_file_begins_again_while_a_caller_is_waited_for(server, start, tmp_path):
    file = encode(tmp_path / "short.mp4", 2, "-c:v", "libx264", "-bf", "0", "-g", "25", "-c:a", "aac")
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(server, start, file, f"srt://:{port}?mode=listener", "--loop")
    publisher.wait_for("waiting", 20)

    def sent(after):
        while (told := publisher.wait_for("progress", 10))["seconds"] < after:
            pass
        return told["bytes"]

    # Without a second time there is nothing more of it by then.
    assert sent(4) < sent(6)


def test_time_is_over_though_nobody_has_called(server, start):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(server, start, "tone", f"srt://:{port}?mode=listener", "--duration", "3s")
    assert publisher.wait_for("finished", 20)["seconds"] >= 3
    assert_failed(publisher, f"srt://:{port}", "nobody has called")
