"""A clip of a foreign client, through the development server, into a file that holds what was sent."""

import re
import signal
import subprocess
import time

import checks
import clip
import numpy as np
import pytest
from failures import after, assert_failed
from programs import KEYS, mediabridge

FPS = 25
SECONDS = 6
STORED = {"VP8": "vp8", "VP9": "vp9", "H264": "h264", "AV1": "av1"}


def stored_codecs(codec, container):
    """What the file must hold: only MP4 may change what was sent."""
    if container == "mp4":
        return {"video": "h264", "audio": {"aac", "opus"}}
    if container == "webm" and codec == "H264":
        return {"video": "vp8", "audio": {"opus"}}
    return {"video": STORED[codec], "audio": {"opus"}}


def assert_content(file, fps=FPS, sharpness=0.85, size=clip.SIZE):
    frames = checks.numbered(file, size)
    numbers = [number for number, _, _ in frames if number is not None]
    assert len(numbers) >= 0.97 * len(frames), f"only {len(numbers)} of {len(frames)} frames can be read"
    assert all(a < b for a, b in zip(numbers, numbers[1:])), f"frames out of order: {numbers}"
    span = numbers[-1] - numbers[0] + 1
    assert len(numbers) >= 0.9 * span, f"{span - len(numbers)} of {span} frames are missing"
    # A frame is shown when it was taken: numbers and times advance together. The first ones may be placed by their
    # arrival, before a sender report tells better.
    drift = [(number - numbers[0]) / fps - (time - frames[0][1]) for number, time, _ in frames if number is not None]
    assert max(drift) - min(drift) < 0.1, f"frames move by {max(drift) - min(drift):.3f} s against their time"
    assert np.mean(checks.similarities(frames, fps)) >= sharpness
    first, samples = checks.audio(file)
    assert checks.level(samples) > 0.02
    assert checks.frequency(samples) == pytest.approx(clip.TONE, abs=20)
    offsets = checks.flash_offsets(frames, fps, first, samples)
    assert len(offsets) >= SECONDS - 2
    assert max(map(abs, offsets)) <= 0.040, f"flash and beep apart: {[round(float(offset), 3) for offset in offsets]}"


def assert_whole(file, seconds=SECONDS):
    covered = checks.durations(file)
    assert covered == pytest.approx({"video": seconds, "audio": seconds}, abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []


@pytest.mark.realtime
# VP9 goes the ways of VP8.
@pytest.mark.parametrize(
    "codec, container",
    [(codec, container) for codec in ("VP8", "H264") for container in ("mkv", "webm", "mp4")] + [("VP9", "mkv"), ("AV1", "mkv"), ("AV1", "mp4")],
)
def test_record(server, tmp_path, codec, container):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", codec)
    file = tmp_path / f"{codec}.{container}"
    recorder = server.recorder("one", "alice", file, "--duration", f"{SECONDS}s")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(file)
    expected = stored_codecs(codec, container)
    found = checks.codecs(file)
    assert found["video"] == expected["video"] and found["audio"] in expected["audio"]
    if codec in ("VP8", "H264"):
        assert checks.colors(file) == {"smpte170m"}, "as WebRTC has them, which players do not guess of larger frames"
    assert told["bytes"] == file.stat().st_size
    assert told["duration"] == pytest.approx(SECONDS, abs=0.3)
    assert sorted(track["kind"] for track in told["tracks"]) == ["audio", "video"]
    assert checks.length(file) == pytest.approx(told["duration"], abs=0.1)
    if expected["video"] != STORED[codec]:
        # What is encoded has keyframes that are known, every two seconds.
        assert SECONDS / 2 - 2.1 < checks.shown_after_seeking(file, SECONDS / 2) <= SECONDS / 2
    assert_content(file)


@pytest.mark.realtime
def test_layers_in_one_stream_become_whole_frames(server, tmp_path):
    """Browsers send VP9 so: a frame of each size at each moment, the larger ones made of the smaller. No file holds that."""
    size = (640, 360)
    layers = ("--codec", "VP9", "--layers", "L2T3_KEY", "--keep-size", "--width", size[0], "--height", size[1])
    server.foreign_publisher("--room", "layers", "--identity", "alice", *layers)
    file = tmp_path / "layers.mkv"
    recorder = server.recorder("layers", "alice", file, "--duration", f"{SECONDS}s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_whole(file)
    assert checks.sizes(file) == {size}
    assert_content(file, size=size)


def test_waits_for_the_participant(server, tmp_path):
    file = tmp_path / "late.mkv"
    recorder = server.recorder("late", "alice", file, "--duration", "3s")
    recorder.wait_for("waiting")
    server.foreign_publisher("--room", "late", "--identity", "alice")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0
    assert_whole(file, 3)


@pytest.mark.parametrize("codec, container", [("VP8", "mkv"), ("H264", "mkv"), ("H264", "mp4")])
def test_a_track_that_ends_leaves_no_other_frame(server, tmp_path, codec, container):
    """A server ends a track with tiny frames, and the same one may go on in the next track."""
    publisher = server.foreign_publisher("--room", "end", "--identity", "alice", "--codec", codec)
    file = tmp_path / f"ended.{container}"
    recorder = server.recorder("end", "alice", file, "--duration", "7s")
    after(recorder, 2)
    publisher.write(f"republish:{codec}")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.sizes(file) == {clip.SIZE}
    assert min(checks.durations(file).values()) >= 6


@pytest.mark.parametrize("number, times", [(signal.SIGTERM, 1), (signal.SIGTERM, 10), (signal.SIGHUP, 1)])
def test_termination_completes_the_file(server, tmp_path, number, times):
    """`timeout` sends a signal to the process, and one to its group."""
    server.foreign_publisher("--room", "stop", "--identity", "alice", "--codec", "H264")
    file = tmp_path / "stopped.mp4"
    # These tests may run below nohup, which has SIGHUP ignored.
    recorder = server.recorder("stop", "alice", file, prefix=("env", "--default-signal=HUP"))
    after(recorder, 3)
    for _ in range(times):
        recorder.send(number)
        time.sleep(0.02)
    assert recorder.finish() == 0, recorder.report("failed")
    assert min(checks.durations(file).values()) > 2.5
    assert checks.decode_errors(file) == []


def test_foreign_subscriber_gets_what_we_publish(server):
    server.own_publisher("ours", "alice", "h264")
    server.own_publisher("ours", "bob", "vp8")
    subscriber = server.subscriber("--room", "ours", "--duration", "5")
    assert subscriber.finish(30) == 0, subscriber.report("failed")
    seen = subscriber.events[-1]
    tracks = sorted((identity, kind.lower()) for identity, kind in seen["tracks"])
    assert tracks == [
        ("alice", "audio/opus"), ("alice", "video/h264"), ("bob", "audio/opus"), ("bob", "video/vp8"),
    ], subscriber.report("tracks are missing")
    assert seen["frames"] > 2 * 3 * FPS, subscriber.report("few frames")
    assert seen["level"] > 100, subscriber.report("no audio")


@pytest.mark.realtime
def test_foreign_subscriber_hears_messages_mute_and_a_new_track(server):
    server.own_publisher("news", "ours", "h264")
    subscriber = server.subscriber("--room", "news", "--duration", "12")
    subscriber.wait_for("connected")
    actions = ("--actions", "message:hello there", "mute", "unmute", "republish:H264")
    acting = server.foreign_publisher("--room", "news", "--identity", "bob", "--codec", "VP8", *actions)
    acting.wait_for("republish")
    assert subscriber.finish(30) == 0, subscriber.report("failed")
    seen = subscriber.events[-1]
    assert seen["messages"] == [["bob", "chat", "hello there"]], subscriber.report("messages")
    assert seen["mutes"] == [["bob", True, True], ["bob", True, False]], subscriber.report("mutes")
    tracks = [kind.lower() for identity, kind in seen["tracks"] if identity == "bob" and kind.startswith("video")]
    assert tracks == ["video/vp8", "video/h264"], subscriber.report("the new track is missing")


@pytest.mark.realtime
def test_a_track_that_is_published_anew_is_received_again(server):
    """In the same section of the description, from another source and in another codec."""
    publisher = server.foreign_publisher("--room", "again", "--identity", "alice", "--codec", "VP8")
    watcher = server.watcher("again")

    def wait_until(what, holds):
        for _ in range(20):
            tracks = [track for person in watcher.wait_for("room")["participants"] for track in person["tracks"]]
            if tracks and holds({track["kind"]: track for track in tracks}):
                return
        raise AssertionError(watcher.report(f"{what} is not seen"))

    def flows(track, codec):
        return track.get("codec") == codec and track["subscribed"] and track.get("fps", 0) > 0.6 * FPS

    wait_until("VP8", lambda tracks: flows(tracks.get("video", {}), "video/VP8"))
    publisher.write("mute")
    wait_until("mute", lambda tracks: tracks["audio"]["muted"])
    publisher.write("republish:H264")
    wait_until("H264", lambda tracks: flows(tracks.get("video", {}), "video/H264"))
    publisher.write("unmute")
    wait_until("unmute", lambda tracks: not tracks["audio"]["muted"])


def test_foreign_clients_meet_in_the_development_server(server):
    layered = ("--codec", "VP8", "--simulcast", "--width", "1280", "--height", "720")
    server.foreign_publisher("--room", "theirs", "--identity", "alice", *layered)
    # How many frames a second three encoders make is the machine's business; that the largest go on coming is ours.
    subscriber = server.subscriber("--room", "theirs", "--duration", "30", "--until", str(3 * FPS), "1280x720")
    assert subscriber.finish(60) == 0, subscriber.report("failed")
    seen = subscriber.events[-1]
    assert seen["wanted"] >= 3 * FPS and seen["level"] > 100, subscriber.report("nothing arrived, or lower layers only")
    read = [number for number in seen["numbers"] if number is not None]
    assert len(read) > 0.9 * len(seen["numbers"])


@pytest.mark.parametrize(
    "container, options, size, codec",
    [
        ("mp4", ["--set", "width=640"], (640, 360), "h264"),
        ("mkv", ["--width", "320", "--set", "mkv.height=240", "--height", "16", "--set", "bitrate=500"], (320, 240), "h264"),
        ("webm", ["--preset", "720p30", "--width", "320", "--video-bitrate", "500"], (320, 180), "vp8"),
    ],
)
def test_what_a_person_sets_wins(server, tmp_path, container, options, size, codec):
    """Over the size of the camera, and over storing what is sent."""
    camera = ("--codec", "VP8", "--width", "1280", "--height", "720")
    server.foreign_publisher("--room", "set", "--identity", "alice", *camera)
    file = tmp_path / f"set.{container}"
    recorder = server.recorder("set", "alice", file, "--duration", "2s", *options)
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.sizes(file) == {size} and checks.codecs(file)["video"] == codec
    told = [event["variables"] for event in recorder.events if event["event"] == "encoded_anew"]
    # VP8 goes into an MP4 in no other way.
    forced = {"mkv": [["bitrate", "height", "width"]], "webm": [["audio-bitrate"], ["bitrate", "width"]]}
    assert sorted(told) == forced.get(container, [])
    if container == "webm":
        assert 20e3 < 8 * file.stat().st_size / 2 < 1e6, "500 and 128 kbit/s"


def test_an_encode_text_that_is_asked_for(server, tmp_path):
    server.foreign_publisher("--room", "ask", "--identity", "alice", "--codec", "VP8")
    file = tmp_path / "asked.mkv"
    recorder = server.recorder("ask", "alice", file, "--duration", "2s", "--encode", "vp9", "--encode", "aac")
    assert_failed(recorder, "encode/aac", "makes AAC", "output/mkv takes OPUS")
    recorder = server.recorder("ask", "alice", file, "--duration", "2s", "--encode", "vp9")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.codecs(file) == {"video": "vp9", "audio": "opus"} and checks.decode_errors(file) == []
    assert {track["kind"]: track["passthrough"] for track in told["tracks"]} == {"video": False, "audio": True}


def said(server, room, *arguments, command="record"):
    """What a person is told of a short recording of that room."""
    words = mediabridge(command, "--url", server.url, *KEYS, "--room", room, "--duration", "2s", "--wait", "20s", *arguments)
    done = subprocess.run([*map(str, server.enter(*words))], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_said_of_a_file_is_what_it_holds(server, tmp_path):
    server.foreign_publisher("--room", "said", "--codec", "VP8")
    file = tmp_path / "a.mp4"
    told = said(server, "said", file)
    made = re.search(r"^Recorded .*a\.mp4: .*video H\.264 (\d+x\d+) \(from VP8 \d+x\d+\), audio AAC \(from Opus\)", told, re.M)
    assert made and checks.sizes(file) == {tuple(map(int, made[1].split("x")))}, told
    assert "video VP8" in (told := said(server, "said", tmp_path / "a.mkv")) and "(as sent)" in told
    told = said(server, "said", "udp://127.0.0.1:5009", command="stream")
    assert "Streaming alice: " in told and "Streamed udp://127.0.0.1:5009: " in told and "Record" not in told


def test_black_that_stands_in_is_said(server, tmp_path):
    server.foreign_publisher("--room", "voice", "--no-video")
    told = said(server, "voice", tmp_path / "a.mp4")
    assert re.search(r"Recorded .*video H\.264 \d+x\d+ \(black: no video has come\), audio AAC \(from Opus\)", told), told
