"""What `mediabridge publish` takes, from real sources: files of all kinds, servers, screens, microphones."""

import contextlib
import functools
import re
import signal
import socket
import subprocess
import time

import clip
import livekit_server
import numpy as np
import pytest
from desktop import X11, Desktop
from failures import assert_failed
from live_server import LiveServer
from programs import FOLDER, ROOT, mediabridge
from publishing import FPS, assert_in_order, encode, numbers, publish

H264 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-g", "25")
AAC = ("-c:a", "aac", "-b:a", "128k")
SECONDS = 4


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """As live servers send it: no B-frames, a keyframe each second."""
    return encode(tmp_path_factory.mktemp("sources") / "numbered.mp4", 8, *H264, "-bf", "0", *AAC)


def seen_by(subscriber, within=30):
    return subscriber.next(within, "what was seen")


def play(server, start, source, *options, least=0.7, size="640x360", seconds=SECONDS):
    """Publishes a file to its end; what the LiveKit Python SDK saw and heard of it."""
    subscriber = server.subscriber("--duration", str(seconds + 5), "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, source, *options, room="test")
    told = publisher.wait_for("publishing", 20)
    publisher.wait_for("finished", seconds + 10)
    assert publisher.finish() == 0, publisher.report("failed")
    seen = seen_by(subscriber)
    kinds = [track["source"] for track in told["tracks"]]
    if "camera" in kinds:
        assert size in seen["sizes"], f"{seen['sizes']}, told {told}"
        # LiveKit's server may begin with the smallest layer, which has 15 frames a second.
        largest = [pair for pair in zip(seen["numbers"], seen["widths"]) if pair[1] == max(seen["widths"])]
        assert_in_order([number for number, _ in largest if number is not None], seconds * FPS * least)
    if "microphone" in kinds:
        assert seen["level"] == pytest.approx(clip.LOUDNESS / np.sqrt(2), rel=0.15)
    return kinds, seen


BOTH = ["camera", "microphone"]
FILES = {
    "b-frames.mp4": (BOTH, (*H264, "-bf", "3", *AAC)),
    "vp9.webm": (BOTH, ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M", "-c:a", "libopus")),
    "video.mp4": (["camera"], (*H264, "-an")),
    "audio.mp3": (["microphone"], ("-vn", "-c:a", "libmp3lame", "-ac", "1", "-ar", "44100")),
    "hevc.mkv": (BOTH, ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-c:a", "ac3")),
    "mpeg2.ts": (BOTH, ("-c:v", "mpeg2video", "-q:v", "3", "-c:a", "mp2")),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_many_kinds_are_published_and_end(server, start, tmp_path, name):
    expected, options = FILES[name]
    kinds, _ = play(server, start, encode(tmp_path / name, SECONDS, *options))
    assert kinds == expected


@pytest.mark.parametrize(("options", "size"), [(["--encode"], "640x360"), ([], "641x361")])
def test_an_odd_size_is_seen_in_pairs_of_pixels_or_as_it_is(server, start, tmp_path, options, size):
    file = encode(tmp_path / "odd.webm", SECONDS, "-c:v", "libvpx", "-deadline", "realtime", "-an", size=(641, 361))
    play(server, start, file, *options, size=size)


def test_a_file_taken_askew_is_seen_upright(server, start, tmp_path):
    """As telephones store it: frames lie on their side, and the file says so."""
    flat = encode(tmp_path / "flat.mp4", SECONDS, *H264, "-vf", "transpose=2", *AAC, size=(360, 640))
    file = tmp_path / "askew.mp4"
    turned = ("-c", "copy", "-metadata:s:v", "rotate=270")
    subprocess.run(["ffmpeg", "-v", "error", "-i", flat, *turned, file], check=True)
    play(server, start, file, size="360x640")


def test_an_uneven_frame_rate_is_kept(server, start, tmp_path):
    """Every third frame only, from the second second on."""
    chosen = [number for number in range(SECONDS * FPS) if number < FPS or number % 3 == 0]
    few = ("-vf", f"select='lt(n,{FPS})+not(mod(n,3))'", "-vsync", "vfr")
    file = encode(tmp_path / "uneven.mkv", SECONDS, *H264, *few, "-c:a", "flac")
    subscriber = server.subscriber("--duration", "9", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, file, room="test")
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0
    got = numbers(seen_by(subscriber))
    assert set(got) <= set(chosen) and got == sorted(got) and len(got) > 0.7 * len(chosen), got


def test_a_file_that_is_cut_off_is_published_as_far_as_it_goes(server, start, tmp_path):
    file = encode(tmp_path / "whole.mp4", SECONDS, *H264, *AAC, "-movflags", "+faststart")
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 4])
    play(server, start, cut, least=0.45)
    # Its index is at the end, and so is gone.
    headless = encode(tmp_path / "headless.mp4", SECONDS, *H264, *AAC)
    headless.write_bytes(headless.read_bytes()[: headless.stat().st_size // 2])
    assert_failed(publish(server, start, headless), "headless.mp4", "no playable streams", within=20)


def test_a_file_from_a_place_in_it(server, start, numbered):
    seen = play(server, start, numbered, "--encode", "--seek", "4.4s", seconds=3.6)[1]
    # Until somebody is subscribed nothing is seen.
    assert 110 <= min(numbers(seen)) <= 120, numbers(seen)
    assert_failed(publish(server, start, numbered, "--seek", "1m"), "numbered.mp4", "8.0", "60.0", within=20)


def test_a_looped_file_begins_at_its_place_again(server, start, numbered):
    publisher = publish(server, start, numbered, "--seek", "6s", "--loop", room="test")
    publisher.wait_for("publishing", 20)
    seen = server.subscriber("--duration", "15", "--until", "110", "640x360")
    got = numbers(seen.next(20, "connected") and seen_by(seen))
    assert min(got) >= 150 and (np.diff(got) < 0).sum() >= 1, got


# What comes of a pipe goes on while the tracks are announced.
PIPED = {
    "matroska": (BOTH, (*H264, *AAC, "-f", "matroska")),
    "wav": (["microphone"], ("-vn", "-f", "wav")),
    "y4m": (["camera"], ("-an", "-f", "yuv4mpegpipe")),
    "h264": (["camera"], ("-an", *H264, "-bf", "0", "-f", "h264")),
}


@pytest.mark.parametrize("name", PIPED)
def test_standard_input_is_published(server, start, tmp_path, name):
    expected, options = PIPED[name]
    file = encode(tmp_path / name, 6, *options)
    subscriber = server.subscriber("--duration", "11", "--until-left")
    subscriber.wait_for("connected")
    publisher = publish(server, start, "-", room="test", stdin=file)
    told = publisher.wait_for("publishing", 20)
    assert [track["source"] for track in told["tracks"]] == expected
    publisher.wait_for("finished", 20)
    assert publisher.finish() == 0, publisher.report("failed")
    seen = seen_by(subscriber)
    if "camera" in expected:
        assert_in_order(numbers(seen), 4 * FPS)
        assert max(numbers(seen)) > 5.8 * FPS
    if "microphone" in expected:
        assert seen["level"] == pytest.approx(clip.LOUDNESS / np.sqrt(2), rel=0.15)


def test_standard_input_that_is_nothing_is_told(server, start, tmp_path):
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("hello\n")
    assert_failed(publish(server, start, "-", stdin=nonsense), "-: it is no media that GStreamer knows", within=20)
    assert_failed(publish(server, start, "-", stdin="/dev/null"), "-:", within=20)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-", "-"), ("standard input", "once")),
        (("-", "--loop"), ("--loop", "standard input")),
        (("-", "--seek", "2s"), ("--seek", "-")),
        (("pattern", "--seek", "2s"), ("--seek", "pattern")),
        (("rtsp://127.0.0.1:1/x", "--seek", "1m"), ("--seek", "rtsp://127.0.0.1:1")),
        (("pattern", "--loop"), ("--loop", "pattern")),
        (("x.mp4", "--seek", "soon"), ("soon", "30s")),
    ],
)
def test_what_does_not_go_together_is_told(options, words):
    command = mediabridge("publish", "--dev", "--room", "r", *options)
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0 and all(word in done.stderr for word in words), done.stderr


@contextlib.contextmanager
def web_server(namespace, start, folder):
    """An address of HTTP below which the files of a folder are."""
    port = livekit_server.free_port(socket.SOCK_STREAM)
    program = start(namespace.command("python3", "-u", "-m", "http.server", "-b", "127.0.0.1", "-d", folder, port))
    program.wait_for("text")
    yield f"http://127.0.0.1:{port}"


def test_files_of_a_web_server_end(server, start, namespace, tmp_path):
    encode(tmp_path / "clip.mp4", SECONDS, *H264, *AAC)
    with web_server(namespace, start, tmp_path) as address:
        assert play(server, start, f"{address}/clip.mp4")[0] == BOTH
        assert_failed(publish(server, start, f"{address}/none.mp4"), "none.mp4", "not found", within=20)


def test_a_playlist_of_hls_ends(server, start, namespace, tmp_path):
    playlist = encode(tmp_path / "list.m3u8", 6, *H264, *AAC, "-f", "hls", "-hls_time", "2", "-hls_list_size", "0")
    with web_server(namespace, start, tmp_path) as address:
        assert play(server, start, f"{address}/{playlist.name}", seconds=6)[0] == BOTH


def ffmpeg(server, start, numbered, *ways):
    """Sends the clip again and again, at its pace."""
    return start(server.enter("ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", numbered, "-c", "copy", *ways))


def assert_seen_again(server, start, publisher, send, stop):
    """Frames and audio are there before and after what sends them was ended and begun again."""
    publisher.wait_for("publishing", 30)
    stop()
    publisher.wait_for("source_lost", 20)
    subscriber = server.subscriber("--duration", "25", "--until", "25", "640x360")
    subscriber.wait_for("connected")
    send()
    publisher.wait_for("source_restored", 30)
    seen = seen_by(subscriber)
    assert seen["wanted"] >= 25 and seen["level"] > 0, seen


def test_a_live_hls_playlist_is_followed(server, start, namespace, tmp_path, numbered):
    ways = ("-f", "hls", "-hls_time", "1", "-hls_list_size", "4", "-hls_flags", "delete_segments")
    ffmpeg(server, start, numbered, *ways, tmp_path / "live.m3u8")
    wait_for(tmp_path / "live2.ts")
    with web_server(namespace, start, tmp_path) as address:
        publisher = publish(server, start, f"{address}/live.m3u8", room="test")
        publisher.wait_for("publishing", 20)
        seen = server.subscriber("--duration", "15", "--until", "100", "640x360")
        seen = seen.next(20, "connected") and seen_by(seen)
        assert seen["wanted"] >= 100 and seen["level"] > 0, seen


def wait_for(file, seconds=15):
    deadline = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < deadline, f"no {file.name}"
        time.sleep(0.05)


def test_rtmp_from_a_server(server, start, namespace, tmp_path, numbered):
    live = LiveServer(start, namespace.command, tmp_path / "live")
    begin = functools.partial(ffmpeg, server, start, numbered, "-f", "flv", live.address)
    sender = begin()
    publisher = publish(server, start, live.address, room="test")
    assert_seen_again(server, start, publisher, begin, sender.kill)


def rtsp_server(server, start, port, *options):
    program = start(server.enter("/usr/bin/python3", FOLDER / "rtsp_server.py", port, *options))
    program.wait_for("listening")
    return program


def test_rtsp_from_a_server(server, start):
    port = livekit_server.free_port(socket.SOCK_STREAM)
    serve = functools.partial(rtsp_server, server, start, port)
    source = serve()
    publisher = publish(server, start, f"rtsp://127.0.0.1:{port}/live", room="test")
    assert_seen_again(server, start, publisher, serve, source.kill)


@pytest.mark.parametrize(("scheme", "options"), [("rtsp", ("--set", "protocols=udp")), ("rtspu", ())])
def test_rtsp_from_a_server_that_has_udp_alone(server, start, scheme, options):
    """What is set of the element that reads gets to it."""
    port = livekit_server.free_port(socket.SOCK_STREAM)
    rtsp_server(server, start, port, "udp")
    publisher = publish(server, start, f"{scheme}://127.0.0.1:{port}/live", *options, room="test")
    told = publisher.wait_for("publishing", 20)
    assert [track["source"] for track in told["tracks"]] == BOTH, told
    seen = server.subscriber("--duration", "15", "--until", "25", "640x360")
    seen = seen.next(20, "connected") and seen_by(seen)
    assert seen["wanted"] >= 25 and seen["level"] > 0, seen


def test_srt_from_whoever_calls(server, start, numbered):
    """As OBS sends it: we listen."""
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    place = f"srt://127.0.0.1:{port}?mode=caller"
    begin = functools.partial(ffmpeg, server, start, numbered, "-f", "mpegts", place)
    publisher = publish(server, start, f"srt://:{port}?mode=listener", room="test")
    publisher.wait_for("waiting", 10)
    sender = begin()
    assert_seen_again(server, start, publisher, begin, sender.kill)


def test_who_waits_for_a_caller_can_be_ended(server, start):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(server, start, "tone", f"srt://:{port}?mode=listener")
    # Where it is called.
    places = publisher.wait_for("waiting", 10)["call"]
    assert places and all(re.fullmatch(rf"srt://[0-9.]+:{port}", place) for place in places), places
    publisher.send(signal.SIGINT)
    assert publisher.finish(10) == 0, publisher.report("failed")
    publisher = publish(server, start, f"srt://127.0.0.1:{port}?mode=listener", "--duration", "1s")
    assert publisher.wait_for("waiting", 10)["call"] == [f"srt://127.0.0.1:{port}"]
    assert_failed(publisher, f"srt://127.0.0.1:{port}", "neither video nor audio", within=10)


@pytest.mark.parametrize("place", ["rtsp://u:hunter2@127.0.0.1:1/x?token=hunter2", "rtmp://127.0.0.1:1/app/hunter2hunter2"])
def test_secrets_of_an_address_are_told_to_nobody(server, start, place):
    publisher = publish(server, start, place)
    assert_failed(publisher, "127.0.0.1:1", within=30)
    assert "hunter2" not in f"{publisher.events}{publisher.errors}"


@pytest.mark.parametrize(
    "place, words",
    [
        ("http://127.0.0.1:1/x.mp4", "nothing answers at 127.0.0.1:1, or it has hung up"),
        ("rtsp://127.0.0.1:1/x", "nothing answers at 127.0.0.1:1"),
        ("srt://127.0.0.1:1", "nothing answers at 127.0.0.1:1"),
        ("rtmp://127.0.0.1:1/app/key", "nothing answers at 127.0.0.1:1"),
    ],
)
def test_a_source_that_cannot_be_reached_is_named(server, start, place, words):
    said = assert_failed(publish(server, start, place), words, within=30)
    assert ".pipeline" not in said, said


def test_a_passphrase_is_not_told_while_somebody_is_waited_for(server, start):
    port = livekit_server.free_port(socket.SOCK_DGRAM)
    publisher = publish(server, start, f"srt://:{port}?mode=listener&passphrase=hunter2hunter2", "--duration", "1s")
    assert publisher.wait_for("waiting", 10)["source"] == f"srt://:{port}?mode=listener&passphrase={{...}}"
    assert_failed(publisher, f"srt://:{port}", within=10)
    assert "hunter2" not in f"{publisher.events}{publisher.errors}"


def test_a_screen_is_seen_as_it_is(server, start):
    with Desktop() as desktop:
        start(desktop.command(*X11, "wander")).wait_for("shown")
        size = f"{desktop.WIDTH}x{desktop.HEIGHT}"
        options = ("--set", "pointer=false", "--set", "framerate=20/1")
        publisher = publish(server, start, f"screen={desktop.environment['DISPLAY']}", *options, room="test")
        told = publisher.wait_for("publishing", 20)
        assert [track["source"] for track in told["tracks"]] == ["screen_share"], told
        seen = server.subscriber("--duration", "15", "--until", "60", size, "--boxes")
        seen = seen.next(20, "connected") and seen_by(seen)
        assert_window_moves(seen["boxes"])
        desktop.end()
        assert "display" in publisher.wait_for("source_lost", 15)["message"].lower()


def assert_window_moves(boxes):
    """It is 80 pixels wide, at (x, 100 + x/2) with x by steps of 20."""
    assert boxes and None not in boxes, boxes
    for left, top, right, bottom in boxes:
        assert abs(top - (100 + left / 2)) <= 3 and abs(right - left - 79) <= 3 and abs(bottom - top - 79) <= 3, boxes
    steps = np.diff([left for left, *_ in boxes])
    assert (steps > -3).mean() > 0.9 and (steps > 10).sum() > 15, boxes


def test_one_window_of_a_screen(server, start):
    with Desktop() as desktop:
        window = start(desktop.command(*X11, "wander")).wait_for("shown")["window"]
        publisher = publish(
            server, start, f"screen={desktop.environment['DISPLAY']}", "--set", f"window={window}", room="test"
        )
        assert publisher.wait_for("publishing", 20)["tracks"][0]["size"] == "80x80"
        seen = server.subscriber("--duration", "10", "--until", "20", "80x80", "--boxes")
        seen = seen.next(20, "connected") and seen_by(seen)
        assert seen["wanted"] >= 20 and seen["boxes"][-1] == [0, 0, 79, 79], seen


def test_a_display_that_does_not_exist_is_told(server, start):
    assert_failed(publish(server, start, "screen=:987"), "screen=:987", "display", within=20)


def test_a_camera_of_v4l2_is_a_template_like_this(server, start, tmp_path):
    """No kernel of a test has v4l2loopback or another camera: its template with a test source in the place of v4l2src."""
    folder = tmp_path / "pipelines" / "capture"
    folder.mkdir(parents=True)
    text = (ROOT / "pipelines/capture/camera.pipeline").read_text()
    source = "v4l2src device=${device:-/dev/video0} do-timestamp=true\n!"
    assert source in text
    (folder / "camera.pipeline").write_text(text.replace(source, "videotestsrc name=${device:-x} is-live=true ! jpegenc !"))
    options = ("--pipelines", folder.parent, "--set", "width=640", "--set", "height=360")
    publisher = publish(server, start, "/dev/video3", *options, room="test")
    told = publisher.wait_for("publishing", 20)["tracks"]
    assert [(track["source"], track["size"]) for track in told] == [("camera", "640x360")]
    seen = server.subscriber("--duration", "10", "--until", "25", "640x360")
    seen = seen.next(20, "connected") and seen_by(seen)
    assert seen["wanted"] >= 25, seen
