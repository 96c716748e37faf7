"""`mediabridge probe` says what it received, and what was missing when that is nothing."""

import re
import shutil
import signal
import subprocess

import real_clip
from failures import assert_failed
from programs import KEYS, ROOT, mediabridge


def said(server, command, *options):
    """What a command says to people in the room."""
    arguments = server.enter(*mediabridge(command, "--url", server.url, *KEYS, "--room", "r", *options))
    done = subprocess.run([*map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_publish_test_publishes_is_measured(local_server):
    for codec in ("vp8", "vp9", "h264"):
        publisher = local_server.own_publisher("r", f"{codec}-sender", codec)
        told = [(track["source"], track["codec"], track["size"]) for track in publisher.events[-1]["tracks"]]
        assert told == [("camera", codec, "320x180"), ("microphone", "opus", "")]
    shown = said(local_server, "probe", "--duration", "4s")
    counts = []
    for codec in ("vp8", "vp9", "h264"):
        lost = r"[\d.]+ % lost"
        sender = f"{codec}-sender"
        video = re.search(rf"^{sender}  camera {codec.upper()} 320x180  (\d+) frames  ([\d.]+) fps  {lost}$", shown, re.M)
        assert video and int(video[1]) > 10 and 5 < float(video[2]) < 60, shown
        audio = re.search(rf"^{sender}  microphone OPUS  ([\d.]+) s of audio  {lost}$", shown, re.M)
        assert audio and float(audio[1]) > 0.5, shown
        counts.append(int(video[1]))
    assert f"\n{sum(counts)} frames, the first after " in shown


def test_a_clip_is_seen_and_heard(local_server, start, tmp_path):
    """Of several participants, as benchmarks publish it."""
    (tmp_path / "capture").mkdir()
    for name in ("clip", "clip-audio"):
        shutil.copyfile(ROOT / f"Tests/Bench/pipelines/capture/{name}.pipeline", tmp_path / f"capture/{name}.pipeline")
    clip = ("--clip", "clip", "--clip-audio", "clip-audio", "--participants", 2, "--set", f"file={real_clip.file()}")
    command = mediabridge("publish-test", "--url", local_server.url, *KEYS, "--room", "r", "--identity", "clip", "--json")
    publisher = start(local_server.enter(*command, "--pipelines", tmp_path, *clip))
    told = [(track["source"], track["codec"], track["size"]) for track in publisher.wait_for("publishing", 60)["tracks"]]
    assert told == [("camera", "h264", "1280x720"), ("microphone", "opus", "")]
    shown = said(local_server, "probe", "--duration", "4s")
    for sender in ("clip-1", "clip-2"):
        assert re.search(rf"^{sender}  camera H264 1280x720  \d+ frames", shown, re.M), shown
        audio = re.search(rf"^{sender}  microphone OPUS  ([\d.]+) s of audio", shown, re.M)
        assert audio and 2 < float(audio[1]) < 5, shown


def test_publish_test_says_what_it_publishes(local_server):
    assert said(local_server, "publish-test", "--duration", "1s", "--set", "width=320", "--set", "height=180") == (
        "Publishing camera VP8 320x180, microphone Opus (Ctrl-C ends)\n"
    )


def test_publish_test_says_that_its_server_is_gone(local_server):
    publisher = local_server.own_publisher("r", "alice", "vp8")
    local_server.program.kill()
    assert_failed(publisher, "connection")


def probe(server, *options):
    return server.probe("r", "--duration", "1s", *options)


def test_nobody_to_probe(local_server):
    assert_failed(probe(local_server), "nothing was received", "nobody else is in room r")
    assert_failed(probe(local_server, "--participant", "bob"), "participant bob is not in room r")


def test_those_who_are_probed_have_names_or_patterns(local_server):
    for name in ("guest-1", "bob", "host"):
        local_server.own_publisher("r", name, "vp8")
    shown = said(local_server, "probe", "--duration", "2s", "--participant", "guest-*", "--participant", "bob")
    assert "guest-1  camera" in shown and "bob  camera" in shown and "host" not in shown, shown
    mistyped = probe(local_server, "--participant", "hots")
    assert_failed(mistyped, "participant hots is not in room r", "did you mean host?", "check the name")
    unlike = probe(local_server, "--participant", "al*")
    assert_failed(unlike, "nobody like al* is in room r (bob, guest-1 and host are there); check the name")


def test_audio_alone_is_measured(server):
    """Without a word of frames; in the codec that comes, whatever it is published in."""
    server.foreign_publisher("--room", "r", "--no-video")
    assert "1 participant in room r\n" in said(server, "watch", "--duration", "1s")
    shown = said(server, "probe", "--duration", "2s")
    assert re.fullmatch(r"\S+  microphone OPUS  [\d.]+ s of audio  [\d.]+ % lost\n", shown), shown
    nothing = ("nothing was received", "nobody in room r publishes video", "without --no-audio")
    assert_failed(probe(server, "--no-audio"), *nothing)


def test_nobody_leaves_when_watch_ends(server):
    server.foreign_publisher("--room", "r")
    shown = said(server, "watch", "--json", "--duration", "2s")
    assert "track_published" in shown and "track_unpublished" not in shown and "disconnect" not in shown, shown


def test_nothing_comes_of_a_track(local_server):
    """Of a publisher that stands still."""
    publisher = local_server.own_publisher("r", "alice", "vp8")
    watcher = local_server.watcher("r")
    while watcher.wait_for("track_subscribed")["source"] != "camera":
        pass
    publisher.send(signal.SIGSTOP)
    program = probe(local_server)
    assert_failed(program, "nothing was received", "nothing came of", "camera of alice")
    publisher.send(signal.SIGCONT)
    assert [track.get("frames", 0) for track in program.events[-2]["tracks"]] == [0, 0]
