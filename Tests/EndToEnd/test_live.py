"""Live servers that we did not write: nginx over RTMP, FFmpeg over SRT and UDP."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import checks
import clip
import numpy as np
import pytest
from failures import after, assert_failed
from live_server import KEY, LiveServer, wait_until
from programs import KEYS, mediabridge

FPS = 25
# Of one's frames the numbers are no other's.
APART = 6000


@pytest.fixture
def live(start, namespace, tmp_path):
    return LiveServer(start, namespace.command, tmp_path / "live")


def assert_live(file, seconds, interval, apart=0.045):
    """What somebody got who tuned in: all of it plays, in order, flash with beep, and keyframes as often as promised."""
    assert checks.codecs(file) == {"video": "h264", "audio": "aac"}
    frames = checks.numbered(file, clip.SIZE)
    numbers = [number for number, _, _ in frames if number is not None]
    assert len(numbers) >= 0.85 * seconds * FPS and numbers == sorted(numbers)
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert offsets and max(map(abs, offsets)) <= apart, f"flash and beep apart: {np.round(offsets, 3)}"
    times = checks.keyframes(file)
    assert times and max(np.diff(times), default=0) <= interval + 0.1, f"keyframes at {times}"


def assert_hidden(recorder, *secrets):
    """Neither said nor in the list of processes."""
    said = json.dumps(recorder.events) + recorder.errors
    assert not [secret for secret in secrets if secret in said], recorder.report("a secret is told")


@pytest.mark.realtime
@pytest.mark.parametrize("codec, address", [("H264", LiveServer.ADDRESS + KEY), ("VP8", f"rtmp={LiveServer.ADDRESS}{KEY}?a=b")])
def test_rtmp(server, live, codec, address):
    server.foreign_publisher("--room", "rtmp", "--codec", codec)
    often = ("--set", "keyframe-interval=1.5") if codec == "H264" else ("--keyframe-interval", "1.5s")
    recorder = server.recorder("rtmp", "alice", address, "--duration", "6s", "--verbose", *often, command="stream")
    recorder.wait_for("recording")
    assert KEY not in Path(f"/proc/{recorder.pid}/cmdline").read_text()
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert told["file"].startswith("rtmp://127.0.0.1:1935/live/{liv...") and "bytes" not in told
    assert_hidden(recorder, KEY)
    wait_until("the recording", lambda: len(live.received) == 1)
    (file,) = live.received
    assert checks.decode_errors(file) == []
    assert {track["kind"] for track in told["tracks"] if track["passthrough"]} == ({"video"} if codec == "H264" else set())
    assert_live(file, 6, 1.5)
    assert checks.durations(file)["video"] == pytest.approx(6, abs=0.4)


def parameter_sets(file):
    """Of each keyframe of an FLV file that brings one along its sequence parameter set, and that of the sequence header
    that holds by then."""
    data, place, held, found = file.read_bytes(), 13, None, []
    while place + 11 <= len(data):
        kind, size = data[place], int.from_bytes(data[place + 1 : place + 4], "big")
        body = data[place + 11 : place + 11 + size]
        place += size + 15
        if kind != 9 or len(body) < 5:
            continue
        if body[1] == 0:
            held = body[13 : 13 + int.from_bytes(body[11:13], "big")]
        elif body[1] == 1 and body[0] >> 4 == 1:
            found += [(unit, held) for unit in units(body[5:]) if unit[0] & 31 == 7]
    return found


def units(frame):
    """Each behind its length of four bytes."""
    found, place = [], 0
    while place + 4 < len(frame):
        size = int.from_bytes(frame[place : place + 4], "big")
        found.append(frame[place + 4 : place + 4 + size])
        place += 4 + size
    return found


@pytest.mark.parametrize("change", ["resize:640x360", "republish:VP8"])
def test_what_goes_on_otherwise_has_a_sequence_header_of_its_own(server, live, change):
    """Servers may go by that alone, as nginx does for HLS, and leave out what frames bring along."""
    publisher = server.foreign_publisher("--room", "header", "--codec", "H264", "--keep-size", "--duration", "60")
    recorder = server.recorder("header", "alice", LiveServer.ADDRESS + KEY)
    after(recorder, 2)
    publisher.write(change)
    publisher.wait_for(change.partition(":")[0])
    after(recorder, recorder.wait_for("progress")["duration"] + 4)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    (file,) = live.received
    sets = parameter_sets(file)
    assert len({own for own, _ in sets}) > 1, "nothing has changed"
    assert [place for place, (own, held) in enumerate(sets) if own != held] == [], f"of {len(sets)} keyframes"
    assert checks.decode_errors(file) == []


@pytest.mark.parametrize("key", ["wrong_0123456789_key", KEY])
def test_a_wrong_key_or_address_fails_at_once(server, live, key):
    server.foreign_publisher("--room", "key", "--codec", "H264")
    address = LiveServer.ADDRESS if key != KEY else "rtmp://127.0.0.1:1936/live/"
    recorder = server.recorder("key", "alice", address + key, "--duration", "60s")
    words = "nothing answers at 127.0.0.1:1936; check the address" if key == KEY else "publish"
    said = assert_failed(recorder, "rtmp://127.0.0.1:193", words, "nothing is sent", within=30)
    assert ".pipeline" not in said or key != KEY
    assert_hidden(recorder, key)
    assert live.received == [], said


def empty_room(server, address, *options):
    """One who is to stream a mixed room, in which nobody is yet."""
    options = ("--composite", "grid", "--size", "320x180", *options)
    return server.recorder("empty", None, address, *options, command="stream")


def test_a_wrong_key_is_told_before_anybody_comes(server, live):
    recorder = empty_room(server, LiveServer.ADDRESS + "wrong_0123456789_key")
    assert_failed(recorder, "rtmp://127.0.0.1:1935", "publish", within=15)
    assert live.received == [], recorder.report("something arrived")


def is_connected(server, port):
    command = server.enter("ss", "-Htn", "state", "established", f"dport = :{port}")
    return bool(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def test_a_server_that_hangs_up_on_an_empty_room_gets_what_comes(server, live):
    """Many do on who sends nothing, after some ten seconds."""
    recorder = empty_room(server, live.address, "--wait", "60s")
    recorder.wait_for("waiting", 20)
    wait_until("the connection", lambda: is_connected(server, 1935))
    # Who is refused is so before that.
    time.sleep(6)
    live.kill()
    wait_until("its end", lambda: not is_connected(server, 1935))
    live.start()
    server.foreign_publisher("--room", "empty", "--codec", "H264")
    after(recorder, 4)
    recorder.stop()
    told = recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    assert told["losses"] == 0 and told["duration"] > 3, told
    wait_until("the recording", lambda: live.received and checks.decode_errors(live.received[-1]) == [])
    assert checks.codecs(live.received[-1]) == {"video": "h264", "audio": "aac"}
    assert checks.durations(live.received[-1])["video"] > 2


@pytest.mark.parametrize(
    "address, words",
    [
        ("srt://127.0.0.1:9", "nothing answers at 127.0.0.1:9; check the address"),
        ("srt://no-such-host.invalid:9", "the name no-such-host.invalid cannot be resolved"),
        ("rtmp://no-such-host.invalid/live/a", "the name no-such-host.invalid cannot be resolved"),
    ],
)
def test_a_server_that_cannot_be_reached_is_named(server, address, words):
    server.foreign_publisher("--room", "away", "--codec", "H264")
    recorder = server.recorder("away", "alice", address, "--duration", "60s", command="stream")
    said = assert_failed(recorder, words, within=30)
    assert ".pipeline" not in said and "are sent" not in said, said
    failed = next(event for event in recorder.events if event["event"] == "failed")
    assert failed.get("duration", 0) == 0, failed


def openssl(*options):
    """A certificate of elliptic curves, which takes no time to make."""
    command = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    subprocess.run([*command, *map(str, options)], check=True, capture_output=True)


class Authority:
    """Who signs certificates for others: one of the same name is another one all the same."""

    def __init__(self, folder, name="Test authority"):
        folder.mkdir()
        self._folder = folder
        self.file, self._key = folder / "authority.pem", folder / "authority.key"
        openssl("-subj", f"/CN={name}", "-keyout", self._key, "-out", self.file)

    def certificate(self, address):
        """A file with a certificate for that address, and its key."""
        file, key = self._folder / "server.pem", self._folder / "server.key"
        options = ("-subj", "/CN=server", "-addext", f"subjectAltName=IP:{address}", "-extensions", "usr_cert")
        openssl("-CA", self.file, "-CAkey", self._key, *options, "-keyout", key, "-out", file)
        file.write_text(file.read_text() + key.read_text())
        return file


@pytest.fixture
def authorities(tmp_path):
    """The one of our live server, and a stranger."""
    return Authority(tmp_path / "authority"), Authority(tmp_path / "stranger")


@pytest.fixture
def secure_live(start, namespace, tmp_path, authorities):
    return LiveServer(start, namespace.command, tmp_path / "live", certificate=authorities[0].certificate("127.0.0.1"))


@pytest.fixture
def trust(namespace):
    """Makes one authority that which this machine trusts, and no other, for whoever looks in this namespace."""
    # ip-netns(8): its files stand in for those of /etc.
    settings = Path(f"/etc/netns/{namespace.name}")
    (settings / "ssl/certs").mkdir(parents=True)
    yield lambda authority: shutil.copy(authority.file, settings / "ssl/certs/ca-certificates.crt")
    shutil.rmtree(settings)


@pytest.mark.realtime
def test_rtmps(server, secure_live, authorities, trust):
    trust(authorities[0])
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    address = f"rtmps://127.0.0.1:1936/live/{KEY}"
    recorder = server.recorder("tls", "alice", address, "--duration", "4s", "--verbose", command="stream")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert told["file"].startswith("rtmps://127.0.0.1:1936/live/{liv...") and told["losses"] == 0, told
    assert_hidden(recorder, KEY)
    wait_until("the recording", lambda: len(secure_live.received) == 1)
    (file,) = secure_live.received
    assert checks.decode_errors(file) == []
    assert_live(file, 4, 4)
    assert checks.durations(file)["video"] == pytest.approx(4, abs=0.4)


@pytest.mark.parametrize("name, trusted", [("127.0.0.1", 1), ("localhost", 0)])
def test_a_certificate_of_a_stranger_or_another_name_is_refused(server, secure_live, authorities, trust, name, trusted):
    trust(authorities[trusted])
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    recorder = server.recorder("tls", "alice", f"rtmps://{name}:1936/live/{KEY}", "--duration", "60s")
    assert_failed(recorder, "certificate", "update-ca-certificates", f"rtmps://{name}:1936/live/{{liv", within=30)
    assert_hidden(recorder, KEY)
    assert secure_live.received == [], recorder.report("something arrived")


# Of authorities, whatever the tests were started with.
NAMES_NOBODY = ("env", "-u", "SSL_CERT_FILE", "-u", "SSL_CERT_DIR")


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_who_else_is_trusted_is_named_as_to_openssl(server, secure_live, authorities, tmp_path, variable):
    folder = tmp_path / "trusted"
    folder.mkdir()
    shutil.copy(authorities[0].file, folder / "own.pem")
    subprocess.run(["openssl", "rehash", folder], check=True, capture_output=True)
    named = folder if variable == "SSL_CERT_DIR" else folder / "own.pem"
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    address = f"rtmps://127.0.0.1:1936/live/{KEY}"
    recorder = server.recorder("tls", "alice", address, "--duration", "2s", prefix=(*NAMES_NOBODY, f"{variable}={named}"))
    assert recorder.finish(40) == 0, recorder.report("failed")
    wait_until("the recording", lambda: len(secure_live.received) == 1)
    assert checks.decode_errors(secure_live.received[0]) == []


def test_a_file_of_authorities_is_trusted_beside_those_of_this_machine(server, secure_live, authorities, trust, tmp_path):
    trust(authorities[0])
    other = Authority(tmp_path / "other", "Another authority")
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    options = (f"rtmps://127.0.0.1:1936/live/{KEY}", "--duration", "2s")
    recorder = server.recorder("tls", "alice", *options, prefix=(*NAMES_NOBODY, f"SSL_CERT_FILE={other.file}"))
    assert recorder.finish(40) == 0, recorder.report("failed")


@pytest.mark.parametrize("content, said", [(None, "No such file or directory"), ("nothing", "no certificate is in it")])
def test_a_file_of_authorities_that_is_of_no_use_is_told(server, secure_live, tmp_path, content, said):
    file = tmp_path / "authorities.pem"
    if content:
        file.write_text(content)
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    recorder = server.recorder(
        *("tls", "alice", f"rtmps://127.0.0.1:1936/live/{KEY}"), prefix=(*NAMES_NOBODY, f"SSL_CERT_FILE={file}")
    )
    assert_failed(recorder, "certificate", f"{file}: {said}", within=30)
    assert_hidden(recorder, KEY)


def test_a_missing_library_for_tls_is_named(server, live, tmp_path):
    server.foreign_publisher("--room", "tls", "--codec", "H264")
    without = ("env", f"GIO_MODULE_DIR={tmp_path}")
    recorder = server.recorder("tls", "alice", f"rtmps://127.0.0.1:1935/live/{KEY}", prefix=without)
    assert_failed(recorder, "TLS", "glib-networking", within=30)


SECRETS = "streamid=publish_by_name&passphrase=a_long_passphrase"


@pytest.mark.parametrize("mode", ["caller", "listener"])
def test_srt(server, tmp_path, mode):
    server.foreign_publisher("--room", "srt", "--codec", "H264")
    file, theirs = tmp_path / "received.ts", "listener" if mode == "caller" else "caller"
    address = f"srt://127.0.0.1:7001?mode={theirs}&passphrase=a_long_passphrase"
    peer = ["ffmpeg", "-v", "error", "-nostdin", "-i", address, "-t", "5", "-c", "copy", str(file)]
    ours = "127.0.0.1:7001?" if mode == "caller" else ":7001?mode=listener&"

    def record():
        return server.recorder("srt", "alice", f"srt://{ours}{SECRETS}", "--duration", "10s")

    recorder = record() if mode == "listener" else None
    if recorder:
        recorder.wait_for("recording", 30)
    with subprocess.Popen(server.enter(*peer), stderr=subprocess.PIPE) as receiver:
        if not recorder:
            wait_until("ffmpeg listens", lambda: listens_over_udp(server, 7001))
            recorder = record()
        receiver.wait(30)
    if mode == "listener":
        recorder.wait_for("finished", 40)
        assert recorder.finish() == 0, recorder.report("failed")
    recorder.stop()
    assert_hidden(recorder, "publish_by_name", "a_long_passphrase")
    assert_live(file, 4, 2)


def listens_over_udp(server, port):
    said = subprocess.run(server.enter("ss", "-Hlun", f"sport = :{port}"), capture_output=True, text=True, check=True)
    return bool(said.stdout.strip())


def test_udp(server, tmp_path):
    server.foreign_publisher("--room", "udp", "--codec", "H264")
    file = tmp_path / "received.ts"
    peer = ["ffmpeg", "-v", "error", "-nostdin", "-i", "udp://127.0.0.1:5004", "-t", "4", "-c", "copy", str(file)]
    with subprocess.Popen(server.enter(*peer), stderr=subprocess.PIPE) as receiver:
        recorder = server.recorder("udp", "alice", "udp://127.0.0.1:5004", "--duration", "10s")
        recorder.wait_for("finished", 40)
        assert recorder.finish() == 0, recorder.report("failed")
        receiver.wait(30)
    assert_live(file, 3, 2)


@pytest.mark.parametrize(
    "address, words",
    [
        ("rtmp://127.0.0.1/live", ["lacks an application or a stream key", "rtmp://HOST/APP/KEY"]),
        ("rtmps://127.0.0.1/live/", ["rtmps://127.0.0.1/live/{...}", "rtmp://HOST/APP/KEY"]),
        ("twitch://", ["'twitch://' lacks a stream key", "write twitch://KEY"]),
        ("rtpm://127.0.0.1/live/secret", ["did you mean rtmp://?", "mux://, twitch://"]),
        ("twich://secret", ["'twich://{...}'", "did you mean twitch://?"]),
        ("twich:/secret", ["'twich:/{...}'", "did you mean twitch://?"]),
        ("rtmp:/127.0.0.1/live/secret", ["'rtmp:/{...}' lacks a slash", "write rtmp://"]),
        ("s3://talks/secret.mp4", ["'s3://talks'", "upload it with --on-complete"]),
        ("https://host/secret.m3u8", ["'https://host'", "upload it with --on-complete"]),
        ("udp://127.0.0.1", ["lacks its port", "udp://HOST:PORT"]),
        ("srt://127.0.0.1", ["lacks its port", "srt://HOST:PORT"]),
        ("foo://u:secret@h/x?key=secret", ["foo://{...}?key={...}", "no output template is called as its scheme", "rtmp://, rtmps://, srt://"]),
    ],
)
def test_an_address_that_lacks_something_is_told(address, words):
    command = mediabridge("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", address)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode != 0 and "secret" not in done.stderr
    assert [word for word in words if word not in done.stderr] == [], done.stderr


def recorded_numbers(files):
    return [number for file in files for number, _, _ in checks.numbered(file, clip.SIZE) if number is not None]


def reaches(recorder, state, location=""):
    """What is told of the destination when it is in that state; of the only one, or of the one that begins so."""
    while (told := recorder.wait_for("destination", 20))["state"] != state or not told["file"].startswith(location):
        pass
    return told


def restart(live, recorder, pause=0):
    """Kills it, and starts it again; what was told of its loss."""
    live.kill()
    lost = reaches(recorder, "reconnecting")
    time.sleep(pause)
    live.start()
    reaches(recorder, "active")
    return lost


@pytest.mark.parametrize("pause", [0.5, 5])
def test_a_server_that_goes_and_comes_back(server, live, pause):
    """Each recording of nginx begins with a keyframe; nothing is lost but what came while nobody was there."""
    server.foreign_publisher("--room", "away", "--codec", "H264", "--duration", "60")
    recorder = server.recorder("away", "alice", LiveServer.ADDRESS + KEY)
    after(recorder, 3)
    assert restart(live, recorder, pause)["losses"] == 1
    back = recorder.wait_for("progress")["duration"]
    after(recorder, back + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    told = next(event for event in recorder.events if event["event"] == "finished")
    assert told["losses"] == 1 and pause < told["away"] < pause + 5, told
    assert_hidden(recorder, KEY)
    first, second = live.received
    # nginx was killed: its first recording has no end.
    numbers = recorded_numbers([first]), recorded_numbers([second])
    gap = (numbers[1][0] - numbers[0][-1]) / FPS
    assert gap < pause + 5, f"{gap} s are missing for a pause of {pause} s"
    assert checks.decode_errors(second) == []
    assert_live(second, 3, 4, apart=0.3)


def test_a_server_comes_back_while_the_camera_is_muted(server, live):
    """Nobody sends a keyframe that it could begin with, and its audio is not to wait for one."""
    publisher = server.foreign_publisher("--room", "black", "--codec", "H264", "--duration", "60")
    recorder = server.recorder("black", "alice", LiveServer.ADDRESS + KEY)
    after(recorder, 2)
    publisher.write("mute-video")
    after(recorder, 4)
    restart(live, recorder)
    after(recorder, recorder.wait_for("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    file = live.received[-1]
    assert checks.decode_errors(file) == [] and checks.codecs(file) == {"video": "h264", "audio": "aac"}
    _, samples = checks.audio(file)
    assert len(samples) > 2 * clip.RATE and np.abs(samples).max() > 0.1, "no beep is heard"


def test_a_server_that_takes_nothing_for_a_while(server, live):
    server.foreign_publisher("--room", "stall", "--codec", "H264", "--duration", "60")
    with live.little_memory():
        recorder = server.recorder("stall", "alice", LiveServer.ADDRESS + KEY, "--reconnect-for", "4s")
        after(recorder, 3)
        live.send(signal.SIGSTOP)
        lost = reaches(recorder, "reconnecting")
        live.send(signal.SIGCONT)
    # rtmp2sink has a limit of its own, which is as long as ours.
    assert any(words in lost["reason"] for words in ("takes nothing", "timed out")), lost
    reaches(recorder, "active")
    after(recorder, recorder.wait_for("progress")["duration"] + 2)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert_live(live.received[-1], 2, 4, apart=0.3)


def test_what_a_server_does_not_take_is_told_of_it_and_not_of_the_machine(server, live):
    """Of the five seconds after which it is lost one fits into the queue."""
    server.foreign_publisher("--room", "narrow", "--codec", "H264", "--duration", "60")
    with live.little_memory():
        recorder = server.recorder("narrow", "alice", live.address, "--set", "queue=25")
        after(recorder, 3)
        live.send(signal.SIGSTOP)
        while "missing" not in (told := recorder.wait_for("destination", 20)):
            pass
        live.send(signal.SIGCONT)
    assert told["state"] == "active" and told["missing"]["goes_on"] and told["missing"]["video"] > 0, told
    after(recorder, recorder.wait_for("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    done = next(event for event in recorder.events if event["event"] == "finished")
    assert done["missing"]["video"] >= told["missing"]["video"] and done["missing"]["since"] > 2, done
    assert not any(event["event"] == "too_slow" for event in recorder.events), "the machine is not"


def test_a_server_that_does_not_come_back(server, live):
    server.foreign_publisher("--room", "gone", "--codec", "H264")
    recorder = server.recorder("gone", "alice", LiveServer.ADDRESS + KEY, "--reconnect-for", "2s")
    after(recorder, 3)
    live.kill()
    assert_failed(recorder, "rtmp://127.0.0.1:1935/live/{liv", "did not come back within 2 s", "are sent", within=20)
    assert_hidden(recorder, KEY)


def test_a_server_that_is_not_to_be_connected_anew(server, live):
    """It ends when it is lost, and not before."""
    server.foreign_publisher("--room", "once", "--codec", "H264")
    recorder = server.recorder("once", "alice", LiveServer.ADDRESS + KEY, "--reconnect-for", "0s")
    after(recorder, 4)
    live.kill()
    assert_failed(recorder, "it was lost, and is not to be connected anew", within=20)


def test_a_recording_that_ends_without_its_server_is_incomplete(server, live):
    server.foreign_publisher("--room", "end", "--codec", "H264")
    recorder = server.recorder("end", "alice", LiveServer.ADDRESS + KEY)
    after(recorder, 3)
    live.kill()
    reaches(recorder, "reconnecting")
    recorder.stop()
    assert_failed(recorder, "was not back when it ended", within=20)


@pytest.mark.realtime
def test_a_room_goes_to_a_file_and_a_live_server(server, live, tmp_path):
    """A mixed room whose live server goes away for a while: the file has no gap, and the stream goes on."""
    server.foreign_publisher("--room", "both", "--identity", "alice")
    server.foreign_publisher("--room", "both", "--identity", "bob", "--codec", "H264", "--no-audio")
    file = tmp_path / "both.mp4"
    options = ("--composite", "screen-share", "--size", "640x720", "--set", "keyframe-interval=1")
    recorder = server.recorder("both", None, LiveServer.ADDRESS + KEY, *options, file)
    after(recorder, 3)
    live.kill()
    reaches(recorder, "reconnecting")
    live.start()
    reaches(recorder, "active", "rtmp")
    after(recorder, recorder.wait_for("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    shown = sorted(pts for pts, _, _ in checks.packets(file)["video"])
    assert max(np.diff(shown)) < 0.1, "a gap in the file"
    _, second = live.received
    assert checks.decode_errors(second) == [] and checks.sizes(second) == {(640, 720)}


@pytest.mark.realtime
def test_a_mixed_room_goes_on_live_whichever_server_starts_again(server, live):
    """The room's, for which the stream is not ended; then the live one, for which the mix goes on."""
    for index, name in enumerate(("alice", "bob")):
        options = ("--identity", name, "--first-number", index * APART, "--width", 320, "--height", 180, "--fps", 15)
        server.foreign_publisher("--room", "mixed", *options, "--keep-size", "--duration", 120)
    options = ("--composite", "grid", "--size", "640x180", "--fps", 15, "--set", "keyframe-interval=1")
    recorder = server.recorder("mixed", None, live.address, *options, command="stream")
    after(recorder, 3)
    server.end(signal.SIGKILL)
    server.program.finish(10)
    watcher = server.start_again().watcher("mixed")
    for _ in range(4):
        watcher.wait_for("track_subscribed", 60)
    watcher.stop()
    recorder.wait_for("reconnected", 60)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    states = [event["state"] for event in recorder.events if event["event"] == "destination"]
    assert "reconnecting" not in states, recorder.report("the live server was lost, too")
    restart(live, recorder)
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    first, second = live.received
    assert checks.decode_errors(second) == []
    # nginx was killed: its first recording has no end.
    shown = sorted(pts for pts, _, _ in checks.packets(first)["video"])
    assert max(np.diff(shown)) < 0.3, "the stream stood still while the room was away"
    for file in (first, second):
        frames = [luma for _, luma in checks.frames(file)]
        for index in (0, 1):
            numbers = [clip.read(luma[:, half]) for luma in frames for half in (slice(0, 320), slice(320, 640))]
            own = [number for number in numbers if number is not None and number // APART == index]
            assert len(own) > 30 and own == sorted(own), f"{file.name}, {index}: {own}"
            assert len(set(own[-30:])) > 10, f"{file.name}: {index} stands still at the end: {own[-30:]}"


@pytest.mark.long
def test_one_server_of_two_goes_again_and_again(server, start, namespace, live, tmp_path):
    """For half a second, for five, and for a minute: the other one and the file have every frame, of one encoder."""
    other, file = LiveServer(start, namespace.command, tmp_path / "other", port=1945), tmp_path / "room.mp4"
    server.foreign_publisher("--room", "thrice", "--bitrate", "500000", "--duration", "200")
    options = ("--composite", "grid", "--size", "640x360", "--reconnect-for", "90s")
    recorder = server.recorder("thrice", None, live.address, *options, other.address, file)
    after(recorder, 4)
    pauses = (0.5, 5, 60)
    for pause in pauses:
        live.kill()
        reaches(recorder, "reconnecting", "rtmp://127.0.0.1:1935")
        time.sleep(pause)
        live.start()
        reaches(recorder, "active", "rtmp://127.0.0.1:1935")
        # Until it counts as back: what is lost sooner goes on with the loss before.
        after(recorder, recorder.wait_for_new("progress")["duration"] + 6)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    told = {event["file"].split("{")[0]: event for event in recorder.events if event["event"] == "finished"}
    away = told["rtmp://127.0.0.1:1935/live/"]
    assert away["losses"] == 3 and sum(pauses) < away["away"] < sum(pauses) + 3 * 5, away
    assert told["rtmp://127.0.0.1:1945/live/"]["losses"] == 0
    (whole,) = other.received
    for steady in (file, whole):
        assert checks.decode_errors(steady) == [] and checks.disorder(steady) == []
        shown = sorted(pts for pts, _, _ in checks.packets(steady)["video"])
        # A busy machine leaves out single frames.
        assert max(np.diff(shown)) < pauses[0], f"a gap in {steady}"
    numbers = recorded_numbers([file])
    assert abs(len(numbers) - len(recorded_numbers([whole]))) < FPS, "one of them lacks frames"
    parts = live.received
    assert len(parts) == 4 and checks.decode_errors(parts[-1]) == []
    # A recording whose server was killed has no end, and what was on its way is lost with it.
    for before, after_it, pause in zip(parts, parts[1:], pauses):
        gap = (recorded_numbers([after_it])[0] - recorded_numbers([before])[-1]) / FPS
        assert gap < pause + 10, f"{gap} s are missing for a pause of {pause} s"
