"""What goes wrong is said in one line that helps, with an exit status that is not 0."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import checks
import jwt
import pytest
from failures import assert_failed, said
from programs import KEYS, ROOT, mediabridge


def run(*arguments, timeout=40):
    return subprocess.run(
        [*map(str, mediabridge(*arguments))], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
    )


def assert_one_line(done, *words):
    lines = said(done.stderr)
    assert done.returncode != 0, f"it ended with 0: {done.stdout} {done.stderr}"
    assert len(lines) == 1, f"{len(lines)} lines:\n{done.stderr}"
    for word in words:
        assert word.lower() in lines[0].lower(), f"'{word}' is not in: {lines[0]}"


def record(url, file, *options, keys=KEYS):
    return run("record", "--url", url, *keys, "--room", "r", "--duration", "1s", "--wait", "3s", *options, file)


@pytest.mark.parametrize("url", ["ws://127.0.0.1:9", "ws://no-such-host.invalid:7880"])
def test_server_that_is_not_there(url, tmp_path):
    file = tmp_path / "x.mp4"
    assert_one_line(record(url, file), url.split("//")[1].split(":")[0])
    assert not file.exists()


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "ws://", "ws://127.0.0.1:99999"])
def test_address_that_is_none(url, tmp_path):
    assert_one_line(record(url, tmp_path / "x.mp4"), url.removeprefix("ws://"))


@pytest.mark.parametrize("change", ["{host}", "http://{host}", "ws://{host}/", "WS://{host}"])
def test_address_written_in_other_ways(change, local_server, tmp_path):
    """Those that can be meant only one way work; a scheme is needed, and what one looks like is said."""
    host = local_server.url.removeprefix("ws://")
    done = record(change.format(host=host), tmp_path / "x.mp4", "--participant", "nobody")
    assert_one_line(done, "nobody" if ":/" in change else "ws://")


def test_ipv6_server(start, tmp_path):
    server = start(mediabridge("dev-server", "--host", "::1", "--port", "0", "--json"))
    listening = server.wait_for("listening")
    port = listening["port"]
    assert listening["url"] == f"ws://[::1]:{port}"
    publisher = ("publish-test", "--url", f"ws://[::1]:{port}", *KEYS, "--room", "r", "--identity", "alice", "--json")
    start(mediabridge(*publisher)).wait_for("publishing")
    done = record(f"ws://[::1]:{port}", tmp_path / "x.mkv")
    assert done.returncode == 0, done.stderr
    assert checks.decode_errors(tmp_path / "x.mkv") == []


@pytest.fixture
def web_server(tmp_path):
    """A server that is no LiveKit server."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        yield process.stdout.readline().split("port ")[1].split()[0]
        process.terminate()


def test_a_web_server_that_is_not_livekit(web_server, tmp_path):
    assert_one_line(record(f"ws://127.0.0.1:{web_server}", tmp_path / "x.mp4"), "not a LiveKit server", web_server)


def test_a_path_that_is_not_livekit(local_server, tmp_path):
    assert_one_line(record(f"{local_server.url}/some/where", tmp_path / "x.mp4"), "not a LiveKit server")


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"\x00\x01\x02\x03"])
def test_something_that_is_no_web_server(greeting, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: listener.accept()[0].sendall(greeting), daemon=True).start()
        port = listener.getsockname()[1]
        assert_one_line(record(f"ws://127.0.0.1:{port}", tmp_path / "x.mp4"), f"127.0.0.1:{port}")


@pytest.fixture
def silent_server():
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def test_a_server_that_says_nothing(silent_server, tmp_path):
    begun = time.monotonic()
    url = f"ws://127.0.0.1:{silent_server.getsockname()[1]}"
    assert_one_line(record(url, tmp_path / "x.mp4"), url.removeprefix("ws://"), "did not answer in time")
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("command", ["record", "watch", "frames", "pcm", "probe", "publish-test"])
def test_interrupted_while_connecting(command, silent_server, start, tmp_path):
    url = f"ws://127.0.0.1:{silent_server.getsockname()[1]}"
    file = [tmp_path / ("x.mp4" if command == "record" else "x.raw")] if command in ("record", "frames", "pcm") else []
    program = start(mediabridge(command, "--url", url, *KEYS, "--room", "r", "--json", *file))
    connection, _ = silent_server.accept()
    with connection:
        assert connection.recv(16).startswith(b"GET /rtc")
        program.send(signal.SIGINT)
        assert_failed(program, "stopped while connecting", url, within=5)


def test_tls_against_a_server_without(local_server, tmp_path):
    url = local_server.url.replace("ws://", "wss://")
    assert_one_line(record(url, tmp_path / "x.mp4"), "127.0.0.1", "ws://")


def test_certificate_that_nobody_vouches_for(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", key]
    subprocess.run([*make, "-out", certificate, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-key", key, "-cert", certificate, "-www"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        while "ACCEPT" not in server.stdout.readline():
            assert server.poll() is None
        done = record(f"wss://127.0.0.1:{port}", tmp_path / "x.mp4")
        server.terminate()
    assert_one_line(done, "certificate", "not trusted", "127.0.0.1")


def token(*options):
    return run("token", "create", "--dev", "--identity", "recorder", *options).stdout.strip()


def test_expired_token(local_server, tmp_path):
    # LiveKit's server takes one for a minute longer.
    claims = jwt.decode(token("--room", "r"), options={"verify_signature": False})
    expired = jwt.encode(claims | {"nbf": time.time() - 600, "exp": time.time() - 120}, "secret")
    done = run("record", "--url", local_server.url, "--token", expired, "--duration", "1s", tmp_path / "x.mp4")
    assert_one_line(done, "token", "expired")


def test_token_for_another_room(local_server, tmp_path):
    other = token("--room", "other")
    done = run("record", "--url", local_server.url, "--token", other, "--room", "r", tmp_path / "x.mp4")
    assert done.returncode != 0
    assert "the token is for room 'other'" in done.stderr.splitlines()[0], done.stderr


def test_a_token_of_the_environment_gives_way_to_keys(local_server, tmp_path, monkeypatch):
    monkeypatch.setenv("LIVEKIT_TOKEN", token("--room", "other"))
    assert_one_line(record(local_server.url, tmp_path / "x.mp4", "--wait", "1s"), "nobody publishes in this room")


@pytest.mark.parametrize(("option", "words"), [("--room", "is for room 'other'"), ("--identity", "is for identity 'recorder'")])
def test_a_token_of_the_environment_is_named_where_it_does_not_fit(option, words, tmp_path, monkeypatch):
    monkeypatch.setenv("LIVEKIT_TOKEN", token("--room", "other"))
    done = run("record", "--url", "ws://127.0.0.1:9", option, "mine", tmp_path / "x.mp4")
    assert done.returncode != 0
    line = done.stderr.splitlines()[0]
    assert f"{option} mine: the token of LIVEKIT_TOKEN {words}" in line and "unset LIVEKIT_TOKEN" in line, done.stderr


def without_access(monkeypatch):
    for name in ("LIVEKIT_URL", "LIVEKIT_TOKEN", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
        monkeypatch.delenv(name, raising=False)


def first_line(command, *options):
    """What a command says that has no server."""
    done = run(command, "--url", "ws://127.0.0.1:9", *options)
    assert done.returncode != 0, done.stdout
    return done.stderr.splitlines()[0]


def minted(**claims):
    return jwt.encode({"video": {"room": "r"}, **claims}, "secret")


def test_an_identity_may_be_that_of_the_token(tmp_path, monkeypatch):
    without_access(monkeypatch)
    file = tmp_path / "x.mp4"
    for mine in (minted(sub="bot"), minted(), minted(sub="")):
        assert "127.0.0.1:9" in first_line("record", "--token", mine, "--identity", "bot", "--room", "r", file)
    line = first_line("record", "--token", minted(sub="bot"), "--identity", "me", file)
    assert "--identity me: the token is for identity 'bot'; leave out --identity, or use another token" in line
    line = first_line("record", "--token", minted(sub="bot"), "--participant", "bot", file)
    assert "--participant bot and the token of 'bot' exclude each other" in line


def test_a_token_of_the_environment_gives_way_to_its_keys_where_it_does_not_fit(tmp_path, monkeypatch):
    without_access(monkeypatch)
    monkeypatch.setenv("LIVEKIT_TOKEN", minted(sub="bot"))
    command = ("record", "--identity", "me", "--room", "r", tmp_path / "x.mp4")
    assert "unset LIVEKIT_TOKEN" in first_line(*command)
    monkeypatch.setenv("LIVEKIT_API_KEY", "devkey")
    assert "unset LIVEKIT_TOKEN" in first_line(*command)
    monkeypatch.setenv("LIVEKIT_API_SECRET", "secret")
    assert "127.0.0.1:9" in first_line(*command)


def test_one_participant_may_be_named_wherever_several_may(tmp_path, monkeypatch):
    """And who joins may be anybody else, whatever all of them are called."""
    without_access(monkeypatch)
    access = (*KEYS, "--room", "r", "--identity", "me", "--participant")
    assert "127.0.0.1:9" in first_line("pcm", *access, "bob", "--mix", tmp_path / "a.raw")
    assert "127.0.0.1:9" in first_line("pcm", *access, "*", "--mix", tmp_path / "b.raw")
    assert "127.0.0.1:9" in first_line("frames", *access, "bob", "--each", tmp_path / "{publisher_identity}.raw")
    each = ("--each", "participant", tmp_path / "{publisher_identity}.mkv")
    assert "127.0.0.1:9" in first_line("record", *access, "bob", *each)


def test_two_may_be_named_where_both_are_taken(tmp_path, monkeypatch):
    """Or where a pattern says that any of several will do."""
    without_access(monkeypatch)
    access = (*KEYS, "--room", "r", "--participant", "alice", "--participant")
    each = ("--each", "participant", tmp_path / "{publisher_identity}.mkv")
    assert "127.0.0.1:9" in first_line("record", *access, "bob", *each)
    assert "127.0.0.1:9" in first_line("record", *access, "bob", "--composite", "grid", tmp_path / "a.mp4")
    assert "127.0.0.1:9" in first_line("record", *access, "guest-*", tmp_path / "b.mp4")
    assert "127.0.0.1:9" in first_line("pcm", *access, "bob", "--mix", tmp_path / "a.raw")
    assert "127.0.0.1:9" in first_line("frames", *access, "bob", "--each", "--framed", tmp_path / "b.raw")


def test_what_joins_no_room_needs_no_access(monkeypatch):
    without_access(monkeypatch)
    for command in ("record a.mp4", "stream rtmp://host/app/key", "record --composite grid a.mkv"):
        done = run(*command.split(), "--dry-run")
        assert done.returncode == 0 and " is " in done.stdout, done.stderr
    assert "no server" in run("record", "a.mp4").stderr


def test_frames_have_no_options_of_audio():
    for command in ("record", "frames"):
        text = run(command, "--help").stdout
        assert "--speaker-hold" in text
        for option in ("--audio-mixing", "--audio-tracks"):
            assert (option in text) == (command == "record"), f"{option} of {command}"


def help_of(command):
    return " ".join(run(command, "--help").stdout.split())


def test_a_server_that_is_away_for_minutes_is_waited_for():
    assert "fifty, as without it, go on for 5 minutes at least, ten for 45 s" in help_of("record")


def test_the_help_of_a_command_speaks_of_what_it_has():
    for command in ("record", "stream"):
        assert "NAME.name=value is for the destination NAME alone" in help_of(command)
    for command in ("publish", "publish-test", "probe", "view", "frames", "pcm"):
        text = help_of(command)
        assert "--set <name=value>" in text and "the destination NAME" not in text, command
        assert ("NAME.name=value" in text) == (command == "publish"), command
    for command in ("frames", "pcm"):
        text = help_of(command)
        assert "A single track; of record and stream it ends the recording" in text, command
        assert "of video camera or screen, of audio microphone or screen-audio" in text, command
    assert "of record --captions writes it" in help_of("frames")


def test_token_that_may_not_subscribe(local_server, tmp_path):
    deaf = token("--room", "r", "--no-subscribe")
    begun = time.monotonic()
    done = run("record", "--url", local_server.url, "--token", deaf, tmp_path / "x.mp4")
    assert_one_line(done, "canSubscribe")
    assert time.monotonic() - begun < 5


def test_existing_recording_is_kept(local_server, tmp_path):
    file = tmp_path / "x.mkv"
    file.write_text("yesterday")
    assert_one_line(record(local_server.url, file), "x.mkv", "exists", "--overwrite")
    assert file.read_text() == "yesterday"
    local_server.own_publisher("r", "alice", "vp8")
    done = record(local_server.url, file, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert checks.decode_errors(file) == []


def test_wrong_secret(local_server, tmp_path):
    keys = ("--api-key", "devkey", "--api-secret", "wrong")
    assert_one_line(record(local_server.url, tmp_path / "x.mp4", keys=keys), "token")


def test_unknown_key(local_server, tmp_path):
    keys = ("--api-key", "nobody", "--api-secret", "secret")
    assert_one_line(record(local_server.url, tmp_path / "x.mp4", keys=keys), "key")


def test_broken_token(local_server, tmp_path):
    done = run("record", "--url", local_server.url, "--token", "a.b.c", "--duration", "1s", tmp_path / "x.mp4")
    assert_one_line(done, "token")


def test_participant_that_does_not_come(local_server, tmp_path):
    file = tmp_path / "x.mp4"
    assert_one_line(record(local_server.url, file, "--participant", "nobody"), "nobody", "check the name")
    assert not file.exists()


def test_a_room_without_anybody(local_server, tmp_path):
    done = record(local_server.url, tmp_path / "x.mp4", "--wait", "1s")
    assert_one_line(done, "a participant", "nobody publishes in this room")
    assert "check the name" not in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--participant", "alcie"), ["participant alcie", "did you mean alice?"]),
        (("--participant", "somebody-else"), ["alice is there", "check the name"]),
        (("--participant", "guest-*"), ["a participant like guest-*", "alice is there", "check the name"]),
        (("--track-name", "cam-*"), ["with the track called cam-*", "the camera '", "of alice"]),
        (("--source", "screen"), ["with the screen share", "there is only the camera of alice"]),
        (("--participant", "alice", "--source", "screen"), ["alice to publish the screen share", "only the camera of alice"]),
        (("--track", "TR_none"), ["track TR_none", "of alice", "check the SID"]),
    ],
)
def test_what_is_there_instead_is_said(local_server, tmp_path, options, words):
    local_server.own_publisher("r", "alice", "vp8")
    done = record(local_server.url, tmp_path / "x.mkv", *options)
    assert_one_line(done, *words)
    assert "nobody publishes" not in done.stderr


def test_a_mistyped_name_is_noticed_while_waiting(local_server, tmp_path):
    local_server.own_publisher("r", "alice", "vp8")
    recorder = local_server.recorder("r", "alcie", tmp_path / "x.mkv")
    assert recorder.wait_for("waiting")["for"] == "participant alcie"
    assert recorder.wait_for("waiting", 10)["for"] == "participant alcie (alice is there: did you mean alice?)"


@pytest.mark.parametrize("name", ["x.avi", "x"])
def test_file_that_cannot_be(name, local_server, tmp_path):
    assert_one_line(record(local_server.url, tmp_path / name), name)


def test_file_in_a_read_only_place():
    """Even root cannot write there, so that only making the file tells, which is tried before connecting."""
    assert_one_line(record("ws://127.0.0.1:9", "/proc/x.mp4"), "/proc/x.mp4", "no file can be written here")
    assert_one_line(record("ws://127.0.0.1:9", "/proc/no/x.mp4"), "the folder /proc/no cannot be made")


def test_disk_that_is_full(local_server, tmp_path):
    """/dev/full refuses every byte; through a link it has a name that ends in a known format."""
    file = tmp_path / "full.mkv"
    file.symlink_to("/dev/full")
    local_server.own_publisher("r", "alice", "vp8")
    done = run("record", "--url", local_server.url, *KEYS, "--room", "r", "--duration", "3s", "--wait", "10s", file)
    assert_one_line(done, "full.mkv", "disk is full")


def test_unknown_template():
    assert_one_line(run("pipelines", "show", "no-such-pipeline"), "no-such-pipeline")


def test_port_that_is_taken(local_server):
    assert_one_line(run("dev-server", "--port", local_server.port), "listen")


@pytest.mark.parametrize("duration", ["tomorrow", "-3s", "0s", ""])
def test_duration_that_is_none(duration, tmp_path):
    done = run("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", f"--duration={duration}", tmp_path / "x.mp4")
    assert done.returncode != 0 and "duration" in done.stderr


def test_every_shipped_pipeline_can_be_built():
    done = run("pipelines", "check")
    assert done.returncode == 0, done.stderr
    assert "output/mp4" in done.stdout


def test_a_broken_pipeline_names_its_file_and_line(tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output/mkv.pipeline").write_text("# broken\nappsrc name=video\n! nosuchelement ! fakesink\n")
    done = run("pipelines", "check", "--pipelines", tmp_path)
    assert done.returncode != 0
    assert "mkv.pipeline:3" in done.stderr and "nosuchelement" in done.stderr, done.stderr


FILE = "no-such-folder/x.mp4"
NOWHERE = ("--url", "ws://127.0.0.1:9")
MISTAKES = [
    (["recrod"], ["recrod", "record"]),
    (["zzz"], ["zzz", "watch"]),
    (["frames", "--dev", "--room", "r", "--format", "rgb"], ["rgb", "--format"]),
    (["frames", "--dev", "--room", "r", "--source", "microphone"], ["microphone", "takes video alone"]),
    (["frames", "--dev", "--room", "r", "--fps", "0"], ["--fps 0", "1 to 120"]),
    (["frames", "--dev", "--room", "r", "--fps", "200"], ["--fps 200", "1 to 120"]),
    (["frames", "--dev", "--room", "r", "--fps", "0.2"], ["'0.2'", "--fps", "1 to 120", "--set capture-interval=10"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--fps", "200"], ["--fps 200", "1 to 120"]),
    (["frames", "--dev", "--room", "r", "x.mp4"], ["'x.mp4' would hold raw frames: use 'record', or name it x.raw"]),
    (["frames", "--dev", "--room", "r", "--format", "y4m", "x.mkv"], ["'x.mkv' would hold y4m frames: use 'record'"]),
    (["frames", "--dev", "--room", "r", "--format", "rgb24", "a/x.y4m"], ["rgb24 frames: leave out --format", "a/x.raw"]),
    (["frames", "--dev", "--room", "r", "x.wav"], ["'x.wav' would hold raw frames: use 'pcm'"]),
    (["frames", "--dev", "--room", "r", "x.png"], ["'x.png' would hold one image", "end the name with /", "png 'x/'"]),
    (["frames", "--dev", "--room", "r", "x.JPG"], ["'x.JPG' would hold one image", "--format jpeg 'x/'"]),
    (["frames", "--dev", "--room", "r", "--format", "jpeg", "shots"], ["'shots' would hold one image", "jpeg 'shots/'"]),
    (["pcm", "--dev", "--room", "r", "x.mp3"], ["'x.mp3' would hold raw samples: use 'record', or name it x.raw"]),
    (["pcm", "--dev", "--room", "r", "--each", "{publisher_identity}.opus"], ["raw samples: use 'record'"]),
    (["pcm", "--dev", "--room", "r", "--format", "s16le", "y.wav"], ["'y.wav' would hold s16le samples", "leave out --format"]),
    (["pcm", "--dev", "--room", "r", "--framed", "y.wav"], ["'y.wav' would hold framed samples: leave out --framed"]),
    (["pcm", "--dev", "--room", "r", "y.y4m"], ["'y.y4m' would hold raw samples: use 'frames'"]),
    (["pcm", "--dev", "--room", "r", "/proc/x.raw"], ["/proc/x.raw: no file can be written here", "another folder"]),
    (["frames", "--dev", "--room", "r", "--each", "a.raw"], ["{publisher_identity}", "--framed"]),
    (["frames", "--dev", "--room", "r", "--each", "--track", "TR"], ["--each", "leave out --track"]),
    (["frames", "--dev", "--room", "r", "--exec", "cat", "a.raw"], ["--exec", "a.raw"]),
    (["frames", "--dev", "--room", "r", "--duration", "0s", "a.raw"], ["--duration", "no time"]),
    (["pcm", "--dev", "--room", "r", "--info", "same.raw", "./same.raw"], ["--info same.raw", "another file"]),
    (["frames", "--dev", "--room", "r", "--info", "77"], ["descriptor 77", "is not open"]),
    (["frames", "--dev", "--room", "r", "/tmp"], ["/tmp is a folder", "--format png"]),
    (["frames", "--dev", "--room", "r", "/proc/no/file"], ["/proc/no/file: the folder /proc/no cannot be made"]),
    (["frames", "--dev", "--room", "r", "--info", "/proc/no/a.jsonl"], ["the folder /proc/no cannot be made"]),
    (["frames", "--dev", "--room", "r", "unix:/" + 120 * "x"], ["107 bytes"]),
    (["frames", "--dev", "--room", "r", "unix:"], ["'unix:' lacks the path of its socket: write unix:PATH"]),
    (["frames", "--dev", "--room", "r", "shm:"], ["'shm:' lacks the path of its socket: write shm:PATH"]),
    (["frames", "--dev", "--room", "r", "--format", "rgb24", "shots/"], ["shots/ is a folder", "--format png"]),
    (["pcm", "--dev", "--room", "r", "/tmp"], ["/tmp is a folder", "name a file in it"]),
    (["pcm", "--dev", "--room", "r", "ws://h:99999/x"], ["ws://h:99999/x: port 99999 does not exist"]),
    (["frames", "--dev", "--room", "r", "--format", "png", "shm:a"], ["shared memory", "not png", "--format i420"]),
    (["frames", "--dev", "--room", "r", "--each", "shm:a"], ["{publisher_identity}"]),
    (["frames", "--dev", "--room", "r", "--each", "--framed", "shm:a"], ["--framed", "shared memory"]),
    (["frames", "--dev", "--room", "r", "shm:/proc/no/a"], ["/proc/no/a: the folder /proc/no cannot be made"]),
    (["pcm", "--dev", "--room", "r", "--mix", "{track_id}.wav"], ["{track_id}", "of one participant", "leave it out"]),
    (["pcm", "--dev", "--room", "r", "--mix", "{publisher_identity}.wav"], ["{publisher_identity}", "leave it out"]),
    (["pcm", "--dev", "--room", "r", "--each", "--framed", "{track_source}.bin"], ["{track_source}", "all who are there"]),
    (["pcm", "--dev", "--room", "r", "{room_nam}.wav"], ["{room_nam}.wav", "did you mean {room_name}"]),
    (["pcm", "--dev", "--room", "r", "unix:{utc"], ["{utc", "a { without its }"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "{room_id}.raw"], ["{room_id}", "before the room is joined"]),
    (["pcm", "--dev", "--room", "r", "shm:a"], ["shm:a", "is for frames", "unix:PATH"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--each", "--framed"], ["--composite", "--each"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--track-name", "a"], ["--composite has all tracks"]),
    (["frames", "--dev", "--room", "r", "--track-name", "a", "--track", "TR"], ["--track-name", "--track"]),
    (["frames", "--dev", "--room", "r", "--composite", "participant"], ["--participant IDENTITY"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--track", "TR"], ["leave out --source, --track"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--size", "641x360", "a.raw"], ["even numbers"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--audio-mixing", "default"], ["frames have no audio"]),
    (["frames", "--dev", "--room", "r", "--composite", "grid", "--set", "dealy=1"], ["'delay'"]),
    (["frames", "--dev", "--room", "r", "--exec", " "], ["--exec is empty"]),
    (["frames", "--dev", "--room", "r", "rtmp://server/live/KEY"], ["rtmp://server", "mediabridge stream"]),
    (["pcm", "--dev", "--room", "r", "http://server/a"], ["http://server", "ws://"]),
    (["pcm", "--dev", "--room", "r", "ws://"], ["no server", "ws://server/path"]),
    (["frames", "--dev", "--room", "r", "--reply", "data"], ["--reply", "give --exec"]),
    (["frames", "--dev", "--room", "r", "--exec", "cat", "--reply", "label"], ["label", "--reply", "'frames --composite LAYOUT'"]),
    (["pcm", "--dev", "--room", "r", "--exec", "cat", "--reply", "label"], ["--reply label", "mixed room"]),
    (["frames", "--dev", "--room", "r", "--label-topic", "t"], ["--label-topic", "give --composite"]),
    (["record", "--dev", "--room", "r", "--label-topic", "t", "a.mp4"], ["--label-topic", "give --composite"]),
    (["record", "--dev", "--room", "r", "--composite", "grid", "--label-topic", "", "a.mp4"], ["--label-topic is empty"]),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--audio-only", "--label-topic", "t", "a.mp3"],
        ["--label-topic and --audio-only", "labels are shown on video"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--label-topic", "t", "/tmp/l.mp3"],
        ["--label-topic is for video, and /tmp/l.mp3 has none"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--names", "a.mp3", "b.ogg"],
        ["--names is for video, and a.mp3 and b.ogg have none"],
    ),
    (["record", "--dev", "--room", "r", "--composite", "grid", "--fps", "5", "a.mp3"], ["--fps is for video, and a.mp3"]),
    (["record", "--dev", "--room", "r", "--composite", "grid", "--gap", "8", "a.wav"], ["--gap is for video, and a.wav"]),
    (["record", "--dev", "--room", "r", "out.mov"], ["did you mean .mp4?"]),
    (["record", "--dev", "--room", "r", "out.m4a"], ["did you mean .mp4 with --audio-only?"]),
    (["record", "--dev", "--room", "r", "mkv://x"], ["no scheme mkv://", "there are rtmp://", "srt://", "mkv=FILE"]),
    (["stream", "--dev", "--room", "r", "hls://h:1/a"], ["no scheme hls://", "there are rtmp://", "hls=FILE"]),
    (
        ["record", "--dev", "--room", "r", "--composite", "speaker", "--speaker-hold", "2s", "a.mp3"],
        ["--speaker-hold is for video, and a.mp3 has none"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "speaker", "--speaker-hold", "2s", "--audio-only", "a.mp4"],
        ["--audio-only and --speaker-hold exclude each other: it is for video"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--burn-captions", "a.mp3"],
        ["--burn-captions is for video, and a.mp3 has none"],
    ),
    (["record", "--dev", "--room", "r", "--size", "640x360", "x.mp3"], ["--size is for video, and x.mp3 has none"]),
    (["record", "--dev", "--room", "r", "--video-only", "--audio-only", "a.mkv"], ["nothing would be left"]),
    (["record", "--dev", "--room", "r", "--video-only", "--source", "camera", "a.mkv"], ["--video-only and --source"]),
    (["record", "--dev", "--room", "r", "--video-only", "--track", "TR", "a.mkv"], ["--video-only and --track"]),
    (
        ["record", "--dev", "--room", "r", "--video-only", "--audio-bitrate", "64", "a.mkv"],
        ["--video-only and --audio-bitrate exclude each other: it is for audio"],
    ),
    (["record", "--dev", "--room", "r", "--video-only", "a.mp3"], ["output/mp3 takes no video"]),
    (
        ["record", "--dev", "--room", "r", "--participant", "alice", "--participant", "bob", FILE],
        ["--participant alice and --participant bob: one alone", "--each participant", "--composite grid"],
    ),
    (
        ["stream", "--dev", "--room", "r", "--participant", "a", "--participant", "b", "srt://h:1"],
        ["--participant a and --participant b: one alone"],
    ),
    (
        ["frames", "--dev", "--room", "r", "--participant", "a", "--participant", "b"],
        ["one alone would be taken; --each", "--composite grid"],
    ),
    (["pcm", "--dev", "--room", "r", "--participant", "a", "--participant", "b"], ["one alone", "--each", "--mix"]),
    (["stream", "--dev", "--room", "r", "--burn-captions", "srt://h:1"], ["--burn-captions", "give --composite"]),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--audio-only", "--burn-captions", "a.mp3"],
        ["--burn-captions and --audio-only", "drawn into video"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--audio-only", "--names", "a.mp3"],
        ["--audio-only and --names", "it is for video"],
    ),
    (
        ["record", "--dev", "--room", "r", "--composite", "grid", "--audio-only", "--gap", "8", "a.mp3"],
        ["--audio-only and --gap", "it is for video"],
    ),
    (["frames", "--dev", "--room", "r", "--names"], ["--names", "give --composite"]),
    (["pcm", "--dev", "--room", "r", "--source", "camera"], ["camera", "takes audio alone"]),
    (["pcm", "--dev", "--room", "r", "--channels", "0"], ["--channels 0", "1 to 8"]),
    (["pcm", "--dev", "--room", "r", "--rate", "7"], ["--rate 7", "8000"]),
    (["pcm", "--dev", "--room", "r", "--rate", "16k"], ["'16k'", "--rate", "samples a second", "such as 16000"]),
    (["pcm", "--dev", "--room", "r", "--channels", "two"], ["'two'", "--channels", "a whole number"]),
    (["record", "--dev", "--room", "r", "--composite", "grid", "--gap", "8px", FILE], ["'8px'", "a whole number"]),
    (["record", "--dev", "--room", "r", "--width", "1280px", FILE], ["'1280px'", "--width", "a whole number"]),
    (["record", "--dev", "--room", "r", "--reconnect-attempts", "many", FILE], ["'many'", "a whole number"]),
    (["dev-server", "--port", "http"], ["'http'", "--port", "a whole number"]),
    (["pcm", "--dev", "--room", "r", "--mix", "--each", "--exec", "cat"], ["--mix", "--each"]),
    (["pcm", "--dev", "--room", "r", "--mix", "--track", "TR"], ["--mix", "leave out --track"]),
    (["pcm", "--dev", "--room", "r", "--format", "wav", "--framed"], ["--framed", "s16le"]),
    (["token", "creat", "--dev"], ["creat", "create"]),
    (["pipelines", "chek"], ["chek", "check"]),
    (["help", "recod"], ["recod", "record"]),
    (["record", FILE], ["no server", "--url"]),
    (["record", "--dev", FILE], ["no room", "--room"]),
    (["record", "--url", "ws://127.0.0.1:9", "--room", "r", FILE], ["no access", "--token", "LIVEKIT_API_SECRET"]),
    (
        ["record", "--url", "ws://127.0.0.1:9", "--room", "r", "--api-key", "k", FILE],
        ["without its secret: give --api-secret", "set LIVEKIT_API_SECRET"],
    ),
    (
        ["record", "--url", "ws://127.0.0.1:9", "--room", "r", "--api-secret", "s", FILE],
        ["without its key: give --api-key", "set LIVEKIT_API_KEY"],
    ),
    (["record", "--dev", "--room", "r", "--api-key", "", FILE], ["--api-key is empty"]),
    (["record", "--dev", "--room", "r", "--participant", "", FILE], ["--participant is empty"]),
    (["record", "--dev", "--room", "r", "--track", "", FILE], ["--track is empty"]),
    (["pcm", "--dev", "--room", "r", "--track-name", ""], ["--track-name is empty"]),
    (["probe", "--dev", "--room", "r", "--participant", ""], ["--participant is empty"]),
    (
        ["record", "--dev", "--room", "r", "--identity", "alice", "--participant", "alice", FILE],
        ["--participant alice and --identity alice exclude each other", "leave out --identity"],
    ),
    (
        ["stream", "--dev", "--room", "r", "--identity", "alice", "--participant", "alice", "srt://h:1"],
        ["--participant alice and --identity alice exclude each other"],
    ),
    (["frames", "--dev", "--room", "r", "--identity", "a", "--participant", "a"], ["--participant a and --identity a exclude"]),
    (["view", "--dev", "--room", "r", "--identity", "a", "--participant", "a"], ["--participant a and --identity a exclude"]),
    (["record", "--dev", "--room", "r", "--duration", "-5s", FILE], ["--duration -5s", "no negative value"]),
    (["record", "--dev", "--room", "r", "--reconnect-attempts", "-1", FILE], ["--reconnect-attempts -1", "no negative value"]),
    (["record", "--dev", "--room", "r", "--video-bitrate", "0", "x.mp4"], ["'0'", "--video-bitrate", "1 to 100000"]),
    (["record", "--dev", "--room", "r", "--video-bitrate", "3000000", "x.mp4"], ["3000000", "3000 is 3 Mbit/s"]),
    (["record", "--dev", "--room", "r", "--video-bitrate", "3M", "x.mp4"], ["3M", "a whole number of kbit/s", "3000"]),
    (["record", "--dev", "--room", "r", "--audio-bitrate", "1", "x.mp4"], ["--audio-bitrate", "6 to 510"]),
    (["publish", "pattern", "--dev", "--room", "r", "--audio-bitrate", "1000"], ["--audio-bitrate", "6 to 510"]),
    (["record", "--dev", "--room", "r", "--audio-tracks", "participant", FILE], ["--audio-tracks", "give --composite"]),
    (["record", "--dev", "--room", "", FILE], ["--room is empty"]),
    (["record", "--dev", "--room", "r", "--identity", "", FILE], ["--identity is empty"]),
    (["record", "--dev", "--room", "r"], ["<destination>"]),
    (["record", "--dev", "--room", "r", FILE, "b.avi"], ["b.avi", ".mp4"]),
    (["record", "--dev", "--room", "r", "--output", "mkv", FILE, "b.mp4"], ["--output", "NAME=LOCATION"]),
    (["record", "--dev", "--room", "r", "--set", "b.mp4.widht=640", FILE, "b.mp4"], ["b.mp4: ", "widht", "'width'"]),
    (["record", "--dev", "--room", "r", "--set", "c.mp4.width=640", FILE, "b.mp4"], ["'c.mp4'", "did you mean"]),
    (["record", "--dev", "--room", "r", "--set", "widht=640", FILE, "b.mkv"], ["output/mp4", "output/mkv", "'width'"]),
    (["record", "--dev", "--room", "r", "b.mkv", "./b.mkv"], ["b.mkv and ./b.mkv are the same", "another name"]),
    (["record", "--dev", "--room", "r", "--dry-run", "b.mkv", "mkv=./b.mkv"], ["are the same", "another name"]),
    (["record", "--dev", "--room", "r", "--dry-run", "mkv="], ["'mkv=' lacks a file: write mkv=FILE"]),
    (["record", "--dev", "--room", "r", "-"], ["'-': standard output carries what is told", "named pipe", "'pcm'"]),
    (["record", "--dev", "--room", "r", "mkv=/dev/stdout"], ["'/dev/stdout': standard output carries what is told"]),
    (["record", "--dev", "--room", "r", "--dry-run", "rtmp://h:abc/live/k"], ["'rtmp://h:abc/", "port abc does not"]),
    (["record", "--dev", "--room", "r", "--dry-run", "udp://h:99999"], ["'udp://h:99999': port 99999 does not exist"]),
    (["record", "--dev", "--room", "r", "--dry-run", "srt://h:1?mode=lstener"], ["no mode 'lstener'", "listener?"]),
    (["record", "--dev", "--room", "r", "--dry-run", "srt://h:1?passphrase=SHORT"], ["={...}': the passphrase is too"]),
    (["record", "--dev", "--room", "r", "--particpant", "x", FILE], ["--participant"]),
    (["record", "--dev", "--room", "r", "--participant", "a", "--track", "b", FILE], ["exclude"]),
    (["record", "--dev", "--room", "r", "--source", "camera", "--track", "b", FILE], ["exclude"]),
    (["record", "--dev", "--room", "r", "--source", "window", FILE], ["window", "screen"]),
    (["record", "--dev", "--room", "r", "--source", "camera", "--source", "screen", FILE], ["both video", "another"]),
    (["record", "--dev", "--room", "r", "--until-left", "--until-empty", FILE], ["exclude"]),
    (["record", "--dev", "--room", "r", "--duration", "abc", FILE], ["abc", "1h30m"]),
    (["record", "--dev", "--room", "r", "--set", "x", FILE], ["--set x", "name=value"]),
    (["record", "--dev", "--room", "r", "--set", "latancy=1", FILE], ["latancy", "latency"]),
    (["record", "--dev", "--room", "r", "--set", "widht=640", FILE], ["widht", "width", "pipelines show output/mp4"]),
    (["record", "--dev", "--room", "r", "--set", "cpu-used=4", FILE], ["cpu-used", "output/mp4", "encode/h264"]),
    (["record", "--dev", "--room", "r", "--audio-only", "--set", "width=640", FILE], ["width", "output/mp4"]),
    (["record", "--dev", "--room", "r", "--set", "width=640", "x.avi"], ["x.avi", ".mp4"]),
    (["record", "--dev", "--room", "r", "--set", "location=y.mp4", "x.mp4"], ["location", "the file"]),
    (["record", "--dev", "--room", "r", "--set", "width=abc", "x.mp4"], ["abc", "width", "encode/h264.pipeline:"]),
    (["record", "--dev", "--room", "r", "--set", "preset=nonsense", "x.mkv"], ["nonsense", "encode/h264.pipeline:"]),
    (["record", "--dev", "--room", "r", "--set", "bitrate=-5", "x.mp4"], ["-5", "bitrate", "out of range"]),
    (["record", "--dev", "--room", "r", "--set", "bitrate=abc", "x.webm"], ["abc", "bitrate", "encode/vp8.pipeline:"]),
    (["record", "--dev", "--room", "r", "--preset", "4k", "x.mp4"], ["720p30, 720p60"]),
    (["record", "--dev", "--room", "r", "--ice-server", "turn.example.org", FILE], ["turn.example.org", "turns:HOST:PORT"]),
    (["watch", "--dev", "--room", "r", "--ice-username", "u"], ["--ice-username", "give --ice-server, too"]),
    (["record", "--dev", "--room", "r", "--video-bitrate", "500", "x.mp3"], ["--video-bitrate is for video, and x.mp3"]),
    (["record", "--dev", "--room", "r", "--size", "640x360", "--width", "640", "x.mp4"], ["--size", "--width", "exclude"]),
    (["record", "--dev", "--room", "r", "--keyframe-interval", "0", "x.mp4"], ["keyframe", "0.1 to 3600"]),
    (["record", "--dev", "--room", "r", "--control", "lines", "x.mp4"], ["--control", "standard input"]),
    (["stream", "--dev", "--room", "r", "x.mp4"], ["live server", "'record'"]),
    (["stream", "--dev", "--room", "r", "srt://127.0.0.1"], ["'srt://127.0.0.1' lacks its port: write srt://HOST:PORT"]),
    (["stream", "--dev", "--room", "r", "udp://127.0.0.1:"], ["lacks its port: write udp://HOST:PORT"]),
    (
        ["record", "--dev", "--room", "r", "--each", "track", "{publisher_identity}-{track_source}.mkv"],
        ["the same for several tracks of one source", "put {track_id}"],
    ),
    (["record", "--dev", "--room", "r", "--set", "latency=abc", "x.mp4"], ["abc", "latency", "receive/"]),
    (["record", "--dev", "--room", "r", "--set", "mp5.width=640", "x.mp4"], ["no destination 'mp5'", "did you mean 'mp4'"]),
    (["record", "--dev", "--room", "r", "--set", "mp4.widht=640", "x.mp4"], ["widht", "width"]),
    (["record", "--dev", "--room", "r", "x.avi"], ["x.avi", ".mkv", ".opus", ".jpeg", "NAME=x.avi", "such as hls-fmp4", "window="]),
    (["record", "--dev", "--room", "r", "x.mpv"], ["x.mpv", "did you mean .mp4?"]),
    (["record", "--dev", "--room", "r", "hls-fmp4=w/m.mp4"], ["w/m.mp4", "playlist", "write w/m.m3u8"]),
    (["record", "--dev", "--room", "r", "mp4x=x.mkv"], ["mp4x", "did you mean mp4"]),
    (["record", "--dev", "--room", "r", "--output", "mkv", "mp4=x.mkv"], ["--output", "mp4=", "exclude"]),
    (["record", "--dev", "--room", "r", "rist://127.0.0.1:5"], ["rist://127.0.0.1:5", "NAME=rist"]),
    (["record", "--dev", "--room", "r", "--encode", "h265", "x.mp4"], ["h265", "did you mean h264"]),
    (["record", "--dev", "--room", "r", "--encode", "vp8", "x.mp4"], ["encode/vp8", "makes VP8", "takes H264"]),
    (["record", "--dev", "--room", "r", "--encode", "vp8", "--encode", "h264", "x.mkv"], ["encode/vp8", "both for video"]),
    (["probe", "--dev", "--room", "r", "--set", "mp4.latency=3"], ["no destinations"]),
    (["probe", "--dev", "--room", "r", "--set", "bitrate=3"], ["bitrate", "receive/vp8"]),
    (["view", "--dev", "--room", "r", "--set", "titel=x"], ["titel", "title"]),
    (["publish", "pattern", "tone", "--dev", "--room", "r", "--set", "colour=1"], ["colour", "capture/pattern, capture/tone"]),
    (["publish", "pattern", "--dev", "--room", "r", "--set", "pattern.widht=1"], ["pattern: no variable 'widht'", "'width'"]),
    (["publish", "pattern", "--dev", "--room", "r", "--set", "patern.width=1"], ["no template 'patern'", "mean 'pattern'"]),
    (["publish-test", "--dev", "--room", "r", "--set", "wdith=3"], ["wdith", "width"]),
    (["publish-test", "--dev", "--room", "r", "--set", "width=abc"], ["abc", "width", "pattern.pipeline:"]),
    (["publish-test", "--dev", "--room", "r", "--bitrate", "1000000"], ["--bitrate", "--clip"]),
    (["publish-test", "--dev", "--room", "r", "--clip-audio", "clip"], ["--clip-audio", "--clip"]),
    (["publish-test", *NOWHERE, "--token", "a.b.c", "--clip", "clip", "--participants", "3"], ["is for one identity"]),
    (["publish-test", "--dev", "--room", "r", "--clip", "clip", "--participants", "1001"], ["1001", "1 to 1000"]),
    (["publish-test", "--dev", "--room", "r", "--clip", "clip", "--bitrate", "1"], ["--bitrate", "1000"]),
    (["publish-test", "--dev", "--room", "r", "--clip", "clip", "--fps", "0"], ["--fps", "120"]),
    (["watch", "--dev", "--room", "r", "--set", "latency=3"], ["--set"]),
    (["record", "--dev", "--room", "r", "--pipelines", "/no/such", FILE], ["/no/such"]),
    (["watch", "--dev"], ["no room"]),
    (["watch", "--dev", "--room"], ["--room"]),
    (["probe", "--room", "r"], ["no server"]),
    (["probe", "--dev", "--room", "r", "x"], ["unexpected", "x"]),
    (["demo", "--output", "x.avi"], ["x.avi", ".mp4"]),
    (["demo", "--duration", "x"], ["--duration", "30s"]),
    (["demo", "--duration", "0"], ["--duration", "no time"]),
    (["probe", "--dev", "--room", "r", "--each", "1s"], ["--each", "--quality low,high"]),
    (["publish", "/tmp", "--dev", "--room", "r"], ["/tmp: a folder is no source"]),
    (["publish", "foo://camera/x", "--dev", "--room", "r"], ["'foo://…'", "rtsp://"]),
    (["publish", "rstp://camera/x", "--dev", "--room", "r"], ["'rstp://…'", "did you mean rtsp://?"]),
    (["publish", "rtsp://", "--dev", "--room", "r"], ["names no server", "rtsp://HOST/PATH"]),
    (["publish-frames", "no-such-file", "--dev", "--room", "r"], ["no-such-file: no such file"]),
    (["publish-test", "--dev", "--room", "r", "--fps", "15"], ["--fps is for --clip"]),
    (["publish", "pattern", "--dev", "--room", "r", "--backup-codec-policy", "simulcast"], ["is for --backup-codec"]),
    (
        ["publish", "pattern", "--dev", "--room", "r", "--backup-codec-policy", "both"],
        ["--backup-codec-policy", "prefer-regression, simulcast, regression"],
    ),
    (["pipelines", "graph", "output/mp4", "--set", "mp4.location=x"], ["--set mp4.location=x", "write name=value"]),
    (["demo", "--pipelines", "/no/such"], ["/no/such"]),
    (["dev-server", "--port", "99999"], ["65535"]),
    (["dev-server", "--host", "203.0.113.9", "--port", "0"], ["no such address"]),
    (["dev-server", "--host", "no.such.host.invalid"], ["cannot be resolved"]),
    (["dev-server", "--api-secret", ""], ["empty"]),
    (["token", "create", "--room", "r", "--identity", "i"], ["no key", "--dev"]),
    (["token", "create", "--room", "r", "--identity", "i", "--api-key", "k"], ["its secret", "LIVEKIT_API_SECRET"]),
    (["token", "create", "--dev", "--identity", "i"], ["--room"]),
    (["token", "create", "--dev", "--room", "", "--identity", "i"], ["--room is empty"]),
    (["token", "create", "--dev", "--room", "r", "--identity", "i", "--valid-for", "0s"], ["expired"]),
    (["pipelines", "show", "mp5"], ["mp5", "mp4"]),
    (["pipelines", "show", "/etc/passwd"], ["/etc/passwd"]),
    (["pipelines", "list", "--pipelines", "/no/such"], ["/no/such"]),
    (["pipelines", "graph", "output/mkv", "--output", "no-such-folder/x.svg"], ["mediabridge: no-such-folder/x.svg: no such"]),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES])
def test_a_command_with_a_mistake(arguments, words, monkeypatch):
    """The first line says what is wrong; the usage that may follow is that of the command which was meant."""
    without_access(monkeypatch)
    done = run(*arguments, timeout=20)
    assert done.returncode != 0, done.stdout
    lines = done.stderr.splitlines()
    for word in words:
        assert word.lower() in lines[0].lower(), done.stderr
    for line in lines[1:]:
        if line.startswith("Usage:"):
            assert line.startswith(f"Usage: mediabridge {arguments[0]}"), done.stderr
            assert len(line) < 120, done.stderr


def cannot_join(command, *options):
    return run(command, *NOWHERE, *KEYS, "--room", "r", *options, timeout=20)


# What the library finds, before anything is joined.
REFUSED = [
    "record a.mov",
    "record mkv://x",
    "record foo=a.mkv",
    "record --encode nosuch a.mkv",
    "record --width 641 a.mp4",
    "record --size 65x65 a.mp4",
    "record --composite grid --gap 7 a.mp4",
    "record --composite grid --fps 200 a.mp4",
    "record --set width=abc a.mp4",
    "record --source camera --source screen a.mkv",
    "record {foo}.mkv",
    "record --each participant a.mkv",
    "record --part-duration 0 a.mkv",
    "record --captions udp://127.0.0.1:5999",
    "record --dry-run a.mov",
    "frames --info 77 a.raw",
    "publish pattern --set width=abc",
    "publish tone --process blur",
    "watch --url nonsense",
]


@pytest.mark.parametrize("command", REFUSED)
def test_a_mistake_of_the_command_line_has_a_status_of_its_own(command):
    """A supervisor that begins a command again after any other status would do so for ever."""
    done = cannot_join(*command.split())
    assert done.returncode == 64, done.stderr
    assert "127.0.0.1:9" not in done.stderr, "it tried to join"


def test_what_cannot_be_published_is_found_before_joining(tmp_path):
    """A file that is no media, and an own encode template that cannot be read."""
    text = tmp_path / "notes.txt"
    text.write_text("This is no film.\n" * 100)
    (tmp_path / "encode").mkdir()
    (tmp_path / "encode/vp8.pipeline").write_text('appsrc name=frames caps="video/x-raw ! vp8enc\n')
    cases = ((text, "no media that GStreamer knows"), ("pattern", "vp8.pipeline"))
    for source, words in cases:
        done = cannot_join("publish", "--pipelines", tmp_path, source)
        assert done.returncode == 64 and words in done.stderr, done.stderr
        assert "127.0.0.1:9" not in done.stderr, "it tried to join"
    # Nothing of it is needed.
    assert cannot_join("publish", "--pipelines", tmp_path, "tone").returncode == 1


def test_what_the_network_or_the_machine_lacks_is_no_mistake_of_the_command_line(tmp_path):
    assert cannot_join("record", tmp_path / "a.mkv").returncode == 1
    assert cannot_join("record", "/proc/a.mkv").returncode == 1
    assert run("pipelines", "show", "output/nosuch").returncode == run("pipelines", "show", "foo/x").returncode == 64


def test_an_element_that_is_missing_is_no_mistake_of_the_command_line(tmp_path):
    """Also where values are set beside it."""
    (tmp_path / "encode").mkdir()
    text = (ROOT / "pipelines/encode/h264.pipeline").read_text()
    (tmp_path / "encode/h264.pipeline").write_text(text.replace("x264enc", "nosuchelement"))
    for values in ((), ("--set", "preset=faster")):
        options = ("--json", "--pipelines", tmp_path, "--encode", "h264", *values)
        done = cannot_join("record", *options, tmp_path / "a.mp4")
        (event,) = [json.loads(line) for line in done.stdout.splitlines()]
        assert (done.returncode, event["code"]) == (1, "missingElement"), done.stderr
        assert "'nosuchelement' is missing" in event["message"]


def test_a_broken_template_is_told_as_such_also_where_values_are_set(tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output/broken.pipeline").write_text('appsrc name=audio caps="audio/x-opus ! fakesink\n')
    for values in ((), ("--set", "queue=5")):
        done = cannot_join("record", "--json", "--pipelines", tmp_path, *values, f"broken={tmp_path / 'a'}")
        (event,) = [json.loads(line) for line in done.stdout.splitlines()]
        assert (done.returncode, event["code"]) == (64, "template"), done.stderr


def test_an_address_whose_plug_in_is_missing_names_the_plug_in(local_server, tmp_path):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    for plugin in Path("/usr/lib").glob("*/gstreamer-1.0/*.so"):
        if plugin.name != "libgstsrt.so":
            (plugins / plugin.name).symlink_to(plugin)
    without = ("env", f"GST_REGISTRY={tmp_path / 'registry'}", f"GST_PLUGIN_SYSTEM_PATH_1_0={plugins}")
    command = mediabridge("publish", "--url", local_server.url, *KEYS, "--room", "r", "srt://127.0.0.1:9")
    arguments = [*without, *map(str, command)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert "'srtsrc' is missing" in done.stderr and "gstreamer1.0-plugins-bad" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "recrod --json",
        "record --json --dev --duration abc a.mkv",
        "record --json --dev --room r --set hls.segment-duration=abc a.m3u8",
    ],
)
def test_a_mistake_of_the_command_line_is_told_to_machines_too(arguments):
    done = run(*arguments.split(), timeout=20)
    (event,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 64 and event["event"] == "failed" and event["code"] == "invalidParameter", done.stdout
    assert event["message"] in done.stderr.splitlines()[0]


def test_a_pipe_of_frames_gets_no_mistake():
    done = run("frames", "--dev", "--room", "r", "--json", "--fps", "200", timeout=20)
    assert done.returncode == 64 and done.stdout == "" and "--fps 200" in done.stderr


@pytest.mark.parametrize("command", [("token", "create", "--dev", "--room", "r", "--identity", "i"), ("run", "--schema")])
def test_what_is_printed_and_cannot_be_written_is_a_failure(command):
    with open("/dev/full", "w") as full:
        arguments = [*map(str, mediabridge(*command))]
        done = subprocess.run(arguments, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=20, check=False)
    assert done.returncode == 1
    assert "standard output: No space left" in done.stderr.splitlines()[0]


def test_the_demo_replaces_no_file_of_somebody_else(tmp_path):
    file = tmp_path / "holiday.mp4"
    file.write_text("yesterday")
    assert_one_line(run("demo", "--output", file), "holiday.mp4", "exists", "--overwrite")
    assert file.read_text() == "yesterday"


def test_a_dry_run_of_a_mixed_room_tells_what_is_mixed():
    done = run("record", "--dev", "--room", "r", "--composite", "grid", "--dry-run", "x.mkv")
    single = run("record", "--dev", "--room", "r", "--dry-run", "x.mkv")
    assert done.returncode == 0 and single.returncode == 0, done.stderr
    assert "as sent" in single.stdout and "as sent" not in done.stdout, done.stdout
    assert "and what is mixed is raw" in done.stdout and "not known yet" not in done.stdout, done.stdout


ROOM = ("--dev", "--room", "r")
SECRETS = [
    ["pcm", *ROOM, "--exec", "cat", "wss://u:hunter2@host/x?token=hunter2"],
    ["pcm", *ROOM, "--mix", "wss://u:hunter2@host/{track_id}?token=hunter2"],
    ["pcm", *ROOM, "wss://u:hunter2@host/{nonsense}?token=hunter2"],
    ["frames", *ROOM, "http://u:hunter2@host/x?token=hunter2"],
    ["publish", *ROOM, "foo://u:hunter2@host/x?token=hunter2"],
    ["rtmp://host/app/hunter2hunter2"],
    ["mkv=rtmp://host/app/hunter2hunter2"],
]


@pytest.mark.parametrize("arguments", SECRETS, ids=[" ".join(arguments) for arguments in SECRETS])
def test_a_refusal_tells_no_secrets(arguments):
    done = run(*arguments, timeout=20)
    assert done.returncode != 0 and done.stderr
    assert "hunter2" not in done.stdout + done.stderr


FILES = [
    ("--max-size", "2000000000"),
    ("--part-size", "1073741824"),
    ("--on-complete", 'up "${1}"'),
    ("--on-complete", 'up "$*"'),
    ("--on-complete", 'for file; do up "$file"; done'),
    ("--preset", "PORTRAIT_H264_720P_30"),
    ("--ice-server", "turns:turn.example.org:443", "--ice-username", "u", "--ice-credential", "c", "--relay-only"),
    # On a terminal it is of use, where a server may be added.
    ("--reconnect-for", "1m"),
]


@pytest.mark.parametrize("options", FILES, ids=" ".join)
def test_a_command_without_a_mistake(options, monkeypatch):
    without_access(monkeypatch)
    done = run("record", "--dev", "--room", "r", *options, "--dry-run", "x.mp4", timeout=20)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("control", [(), ("--control", "-")], ids=["of the command", "where one may be added"])
def test_what_is_for_files_alone_is_said_to_change_nothing(control):
    options = ("--json", *control, "--manifest", "--on-complete", 'up "$1"')
    done = run("stream", *NOWHERE, *KEYS, "--room", "r", *options, "udp://127.0.0.1:9")
    assert done.returncode == 1 and "nothing answers at 127.0.0.1:9" in done.stderr, done.stderr
    assert '"variables":["manifest"]' in done.stdout and '"variables":["on-complete"]' in done.stdout


def test_what_is_for_live_servers_alone_is_said_to_change_nothing(tmp_path):
    done = run("record", *NOWHERE, *KEYS, "--room", "r", "--json", "--reconnect-for", "5s", tmp_path / "x.mp4")
    assert done.returncode == 1, done.stderr
    assert '"variables":["reconnect-for"]' in done.stdout


def without_server(*options):
    return run("pcm", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", "--json", *options)


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_descriptor_of_information_is_left_open_for_errors(number, tmp_path):
    done = without_server("--info", number, tmp_path / "x.wav")
    assert done.returncode == 1
    assert '"event":"failed"' in done.stdout, "standard output is closed"
    assert "127.0.0.1:9" in done.stderr, "standard error is closed"


def test_what_is_to_be_replaced_stays_until_something_comes(tmp_path):
    old, new = tmp_path / "old.wav", tmp_path / "new.wav"
    old.write_text("yesterday")
    for file in (old, new):
        assert without_server("--overwrite", file).returncode == 1
    assert old.read_text() == "yesterday" and not new.exists()


def test_no_folder_is_left_that_nothing_came_to(tmp_path):
    assert without_server("--info", tmp_path / "a/b/info.jsonl", tmp_path / "c/d/x.wav").returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_does_not_end_the_recording(local_server, tmp_path):
    """As in `record --json | head -1`."""
    local_server.own_publisher("r", "alice", "h264")
    file = tmp_path / "x.mp4"
    command = mediabridge("record", "--url", local_server.url, *KEYS, "--room", "r", "--duration", "3s", "--json", file)
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0, process.stderr.read()
    assert checks.decode_errors(file) == []
    assert checks.durations(file)["video"] > 2.5
