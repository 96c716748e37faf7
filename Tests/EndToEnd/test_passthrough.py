"""What `mediabridge publish` sends as its source carries it, as the LiveKit Python SDK receives it."""

import signal
import subprocess
import time

import checks
import clip
import numpy as np
import pytest
from programs import mediabridge
from publishing import FPS, SIZE, assert_in_order, encode, numbers, publish

SECONDS = 6
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "18")
PLAIN = (*H264, "-profile:v", "baseline", "-bf", "0", "-g", "50")
AAC = ("-c:a", "aac", "-b:a", "128k")
OPUS = ("-c:a", "libopus", "-b:a", "96k")
VP8 = ("-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M", "-g", "50")
VP9 = ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M", "-g", "50")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return encode(tmp_path_factory.mktemp("passthrough") / "plain.mp4", SECONDS, *PLAIN, *AAC)


def sent(publishing):
    return {track["source"]: (track["codec"], track["sent"], track.get("reason")) for track in publishing["tracks"]}


def play(server, start, source, *options, stdin=None, seconds=SECONDS):
    """Publishes to the end; how it was sent, and what was seen and heard."""
    subscriber = server.subscriber("--duration", str(seconds + 5), "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, source, *options, room="test", stdin=stdin)
    told = publisher.wait_for("publishing", 20)
    publisher.wait_for("finished", seconds + 10)
    assert publisher.finish() == 0, publisher.report("failed")
    return sent(told), subscriber.next(30, "what was seen")


def assert_all_seen(seen, least=0.6):
    """But for what comes in front of the first keyframe that the server passes on."""
    assert "640x360" in seen["sizes"], seen["sizes"]
    assert_in_order(numbers(seen), SECONDS * FPS * least)


def assert_heard(seen):
    assert seen["level"] == pytest.approx(clip.LOUDNESS / np.sqrt(2), rel=0.15)


AS_IT_IS = {
    "plain.mp4": ((*PLAIN, *AAC), {"camera": ("H264", "as it is", None), "microphone": ("Opus", "encoded", None)}),
    "high.mkv": ((*H264, "-bf", "0", "-g", "50", *OPUS), {"camera": ("H264", "as it is", None), "microphone": ("Opus", "as it is", None)}),
    "vp8.webm": ((*VP8, *OPUS), {"camera": ("VP8", "as it is", None), "microphone": ("Opus", "as it is", None)}),
    "vp9.webm": ((*VP9, *OPUS), {"camera": ("VP9", "as it is", None), "microphone": ("Opus", "as it is", None)}),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_IT_IS)
def test_what_everybody_decodes_goes_as_it_is(server, start, tmp_path, name):
    options, expected = AS_IT_IS[name]
    told, seen = play(server, start, encode(tmp_path / name, SECONDS, *options))
    assert told == expected
    assert_all_seen(seen)
    assert_heard(seen)


SEEN = {
    "b-frames.mp4": ((*H264, "-bf", "3", "-g", "50"), (), "it has B-frames"),
    "colours.mp4": ((*H264, "-bf", "0", "-pix_fmt", "yuv444p"), (), "not everybody decodes its profile high-4:4:4"),
}  # fmt: skip
ENCODED = {
    **SEEN,
    "rare.mp4": ((*H264, "-bf", "0", "-g", "1000", "-sc_threshold", "0"), (), "its keyframes are more than 4 s apart"),
    "bitrate.mp4": (PLAIN, ("--set", "cpu-used=10"), "its cpu-used was set"),
    "asked.mp4": (PLAIN, ("--encode",), None),
    "codec.mp4": (PLAIN, ("--codec", "vp8"), None),
}


@pytest.mark.parametrize("name", ENCODED)
def test_what_cannot_go_as_it_is_is_encoded_and_says_why(server, start, tmp_path, name):
    options, asked, reason = ENCODED[name]
    file = encode(tmp_path / name, SECONDS, *options, "-an")
    if name in SEEN:
        told, seen = play(server, start, file, *asked)
        assert_all_seen(seen)
    else:
        told = sent(publish(server, start, file, *asked).wait_for("publishing", 20))
    assert told == {"camera": ("VP8", "encoded", reason)}


def test_a_file_that_shows_frames_a_second_time_is_encoded(server, start, tmp_path):
    """libvpx sends some ahead of the others, and later a single byte that shows them, which is nothing for a payloader."""
    options = ("-c:v", "libvpx-vp9", "-cpu-used", "5", "-b:v", "2M", "-g", "50", "-auto-alt-ref", "6", "-an")
    for number in ("1", "2"):
        file = encode(tmp_path / "hidden.webm", SECONDS, *options, "-pass", number, "-passlogfile", tmp_path / "pass")
    probe = ("ffprobe", "-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", file)
    assert "1" in subprocess.run(probe, capture_output=True, text=True, check=True).stdout.split()
    told, seen = play(server, start, file)
    assert told == {"camera": ("VP8", "encoded", "it shows frames a second time")}
    assert_all_seen(seen)


PIPED = {
    "h264": ((*PLAIN, "-an", "-f", "h264"), {"camera": ("H264", "as it is", None)}),
    "ogg": (("-vn", *OPUS, "-f", "ogg"), {"microphone": ("Opus", "as it is", None)}),
}


@pytest.mark.parametrize("name", PIPED)
def test_standard_input_goes_as_it_is(server, start, tmp_path, name):
    options, expected = PIPED[name]
    told, seen = play(server, start, "-", stdin=encode(tmp_path / name, SECONDS, *options))
    assert told == expected
    if "camera" in told:
        assert_all_seen(seen)
    else:
        assert_heard(seen)


def test_raw_media_on_standard_input_is_what_is_said_of_it(server, start, tmp_path):
    frames = tmp_path / "frames"
    # LiveKit's server begins with the smallest layer, which has 15 frames a second, for a second.
    frames.write_bytes(b"".join(clip.i420(clip.draw(number, *SIZE, FPS)) for number in range(6 * FPS)))
    size = ("--set", f"width={SIZE[0]}", "--set", f"height={SIZE[1]}", "--set", f"framerate={FPS}/1")
    seen = play(server, start, "stdin-video", *size, stdin=frames)[1]
    assert_in_order(numbers(seen), 2 * FPS)
    pcm = tmp_path / "pcm"
    pcm.write_bytes(clip.audio(0, 4 * clip.RATE).tobytes())
    assert_heard(play(server, start, "stdin-audio", stdin=pcm)[1])


def test_b_frames_that_come_late_are_encoded_from_the_next_keyframe_on(server, start, tmp_path):
    """Of standard input nothing can be known before."""
    parts = [encode(tmp_path / f"{count}.h264", 4, *H264, "-bf", str(count), "-g", "25", "-an", "-f", "h264") for count in (0, 3)]
    whole = tmp_path / "whole.h264"
    whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    subscriber = server.subscriber("--duration", "14", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, "-", room="test", stdin=whole)
    assert sent(publisher.wait_for("publishing", 20)) == {"camera": ("H264", "as it is", None)}
    changed = publisher.wait_for("way_changed", 10)
    assert (changed["sent"], changed["reason"]) == ("encoded", "it has B-frames")
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0
    seen = subscriber.next(30, "what was seen")
    assert [mime for _, mime in seen["tracks"]] == ["video/H264"]
    got = numbers(seen)
    again = [index for index, step in enumerate(np.diff(got)) if step < -FPS]
    assert again, got
    # Behind the keyframe at which encoding begins all are seen, in order.
    rest = [number for number in got[again[-1] + 1 :] if number >= 3 * FPS]
    assert len(rest) >= 0.6 * FPS and rest == sorted(rest), got


def test_who_comes_later_sees_a_picture_with_the_next_keyframe(server, start, plain):
    publisher = publish(server, start, plain, "--loop", room="test")
    assert sent(publisher.wait_for("publishing", 20))["camera"][1] == "as it is"
    for pause in (0, 0.7):
        time.sleep(pause)
        subscriber = server.subscriber("--duration", "10", "--until", "5", "640x360")
        subscriber.wait_for("connected")
        begun = time.monotonic()
        seen = subscriber.next(15, "what was seen")
        # A keyframe each 2 s.
        assert seen["wanted"] >= 5 and time.monotonic() - begun < 5, seen
    publisher.send(signal.SIGINT)
    assert publisher.finish(20) == 0


def test_a_file_as_it_is_begins_at_the_keyframe_before_its_place(server, start, plain):
    publisher = publish(server, start, plain, "--seek", "4.4s", "--loop", room="test")
    assert sent(publisher.wait_for("publishing", 20))["camera"][1] == "as it is"
    subscriber = server.subscriber("--duration", "12", "--until", "110", "640x360")
    subscriber.wait_for("connected")
    got = numbers(subscriber.next(20, "what was seen"))
    assert 100 <= min(got) and (np.diff(got) < 0).sum() >= 1, got
    publisher.send(signal.SIGINT)
    assert publisher.finish(20) == 0


@pytest.mark.realtime
def test_frames_as_they_are_stay_with_audio_that_is_encoded(server, start, plain, tmp_path):
    file = tmp_path / "sync.mkv"
    publisher = publish(server, start, plain, "--loop", room="sync")
    assert [way for _, way, _ in sent(publisher.wait_for("publishing", 20)).values()] == ["as it is", "encoded"]
    recorder = server.recorder("sync", "alice", file, "--duration", "12s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    publisher.send(signal.SIGINT)
    assert publisher.finish(20) == 0
    frames = list(checks.numbered(file))
    assert len(frames) > 10 * FPS
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert np.percentile(np.abs(offsets), 95) <= 0.040, f"flash and beep apart: {np.round(offsets, 3)}"


def test_devices_are_listed_and_none_is_no_failure(tmp_path):
    command = [*map(str, mediabridge("publish", "--list-devices"))]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PULSE_SERVER": "unix:/nowhere"}
    nothing = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True, env=environment)
    assert "no camera" in nothing.stdout + nothing.stderr, nothing
    shown = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, timeout=20, check=True, env=environment | {"DISPLAY": ":7"}
    )
    assert '"screen=:7"' in shown.stdout, shown
