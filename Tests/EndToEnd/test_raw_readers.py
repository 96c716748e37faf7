"""Readers of `mediabridge frames` and `pcm` that leave, hang, stand still or have odd names: nobody else notices."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import types
import urllib.request

import numpy as np
import pytest
from programs import KEYS, ROOT, mediabridge, python
from raw import Reader, lines, of
from test_frames import FPS, HEIGHT, WIDTH, eventually, luma, numbers

SMALL = ("--format", "gray8", "--size", "160x90", "--fps", 5)


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size", "--no-audio")
    return server


def told(reader):
    """What it tells where standard output carries no media, once it has ended well."""
    assert reader.stop() == 0, reader.said
    return [json.loads(line) for line in reader.process.stdout]


def test_whoever_leaves_a_command_for_all_silences_nobody(room, tmp_path):
    bob = room.foreign_publisher("--keep-size", "--no-audio", "--identity", "bob")
    everybody = f"exec {sys.executable} {ROOT}/Examples/Python/everybody.py >> {tmp_path}/told"
    reader = Reader(room, "frames", "--each", "--framed", *SMALL, "--exec", everybody)

    def of_one(name):
        return [line for line in lines(tmp_path / "told") if line["participant"] == name]

    eventually(lambda: of_one("alice") and of_one("bob"))
    bob.write("leave")
    bob.wait_for("leave")
    seen = len(of_one("alice"))
    eventually(lambda: len(of_one("alice")) > seen + 15)
    counts = {event["written"] for event in of("finished", told(reader))}
    assert counts == {len(of_one("alice")), len(of_one("bob"))}, "each has counts of its own"


def test_a_command_that_hangs_holds_up_nobody_else(room, tmp_path):
    """Bob's, when bob leaves: it has half a minute to end, while what happens to alice is told at once."""
    bob = room.foreign_publisher("--keep-size", "--no-audio", "--identity", "bob")
    alice = room.foreign_publisher("--keep-size", "--no-audio", "--identity", "carol")
    hang = f"trap '' TERM; echo $$ > {tmp_path}/pid; cat > /dev/null; sleep 1000"
    command = f'[ "$MEDIABRIDGE_IDENTITY" = bob ] || exec cat > /dev/null; {hang}'
    log = tmp_path / "info.jsonl"
    reader = Reader(room, "frames", "--each", *SMALL, "--info", log, "--exec", command)
    eventually(lambda: {frame["track"] for frame in of("frame", lines(log))} == {1, 2, 3})
    bob.write("leave")
    bob.wait_for("leave")
    alice.write("mute-video")
    eventually(lambda: of("muted", lines(log)), 4)
    hanging = (tmp_path / "pid").read_text().strip()
    assert os.path.exists(f"/proc/{hanging}"), "and it hangs"
    reader.process.terminate()
    assert reader.finish(60) == 0, reader.said
    events = [json.loads(line) for line in reader.process.stdout]
    assert len(of("finished", events)) == 3
    waits = [event["message"] for event in of("reader_slow", events) if "waiting until" in event["message"]]
    assert len(waits) == 1 and "for bob: waiting until it has done with what is left" in waits[0]
    assert [event for event in of("command", events) if "for bob: the command ended with" in event["message"]]


def test_a_command_that_is_at_work_at_the_end_gets_all(server, tmp_path):
    """As one that recognises speech: it reads nothing while it thinks, for longer than others are waited for."""
    server.foreign_publisher("--no-video", "--tone")
    command = f"head -c 9600 > {tmp_path}/begin; sleep 12; cat > {tmp_path}/rest; sleep 3; touch {tmp_path}/done"
    reader = Reader(server, "pcm", "--duration", "3s", "--exec", command)
    events = [json.loads(line) for line in reader.process.stdout]
    assert reader.finish() == 0, reader.said
    sizes = [(tmp_path / name).stat().st_size for name in ("begin", "rest", "done")]
    assert sizes == [9600, 3 * 48_000 * 2 - 9600, 0]
    assert "waiting until it has done with what is left" in of("reader_slow", events)[0]["message"]


def test_whoever_returns_has_another_command(room, tmp_path):
    """Theirs had ended by itself, and nobody else was there."""
    carol = room.foreign_publisher("--keep-size", "--no-audio", "--room", "other", "--identity", "carol")
    command = f'echo "$MEDIABRIDGE_NAME" >> {tmp_path}/begun; head -c 50000 > /dev/null'
    reader = Reader(room, "frames", "--each", *SMALL, "--exec", command, room="other")

    def begun():
        return (tmp_path / "begun").read_text().split() if (tmp_path / "begun").exists() else []

    eventually(begun)
    gone = []
    while not gone:
        gone = of("reader_gone", [json.loads(reader.process.stdout.readline())])
    assert "for carol: the reader has closed its end" in gone[0]["message"]
    carol.write("leave")
    carol.wait_for("leave")
    room.foreign_publisher("--keep-size", "--no-audio", "--room", "other", "--identity", "carol")
    eventually(lambda: begun() == ["carol", "carol"])
    assert len(of("finished", told(reader))) == 2


@pytest.mark.parametrize("ends", [False, True])
def test_whoever_is_back_as_their_leaving_is_told_is_heard_on(local_server, start, tmp_path, ends):
    """As where a page is loaded anew: one update names another stay, with its tracks. What has ended begins anew."""
    local_server.own_publisher("test", "alice", "vp8")
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    through = types.SimpleNamespace(url=f"ws://{at}", enter=local_server.enter)
    log = tmp_path / "info.jsonl"
    command = f"echo begun >> {tmp_path}/begun; {'head -c 50000' if ends else 'cat'} > /dev/null"
    reader = Reader(through, "frames", "--each", *SMALL, "--info", log, "--exec", command)

    def tell_proxy(what):
        assert urllib.request.urlopen(f"http://{at}/{what}", timeout=20).status == 200

    def sids():
        return [line["sid"] for line in of("track", lines(log))]

    def begun():
        return len((tmp_path / "begun").read_text().split())

    if ends:
        while not of("reader_gone", [json.loads(reader.process.stdout.readline())]):
            pass
    eventually(lambda: of("frame", lines(log)))
    first = sids()[0]
    tell_proxy("hold")
    local_server.own_publisher("test", "alice", "vp8")
    tell_proxy("release")
    eventually(lambda: sids()[-1] != first)
    seen = len(of("frame", lines(log)))
    eventually(lambda: begun() == 2 if ends else len(of("frame", lines(log))) > seen + 5)
    assert reader.stop() == 0, reader.said
    assert begun() == (2 if ends else 1)


def test_an_identity_leads_nowhere_else(room, tmp_path):
    folder = tmp_path / "a/b"
    folder.mkdir(parents=True)
    room.foreign_publisher("--keep-size", "--no-audio", "--identity", "../../eve")
    command = f'cd {folder} && cat > "$MEDIABRIDGE_NAME.raw"'
    Reader(room, "frames", "--each", *SMALL, "--duration", "1s", "--exec", command).all()
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert files == [folder / "______eve.raw", folder / "alice.raw"]
    assert all(file.stat().st_size >= 4 * 160 * 90 for file in files)


@pytest.mark.parametrize(
    "destination, options",
    [
        ("{}/a/x.raw", ()),
        ("{}/a/x.raw", ("--composite", "grid")),
        ("{}/a/x/", ("--format", "png")),
        ("unix:{}/a/x", ()),
        ("shm:{}/a/x", ()),
    ],
)
def test_nothing_is_left_of_one_that_is_stopped_while_it_connects(start, tmp_path, destination, options):
    """To a server that says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.getsockname()[1]}"
        access = ("--url", url, *KEYS, "--room", "r", "--info", tmp_path / "b/info.jsonl")
        program = start(mediabridge("frames", *access, *options, destination.format(tmp_path)))
        connection, _ = server.accept()
        with connection:
            assert connection.recv(16).startswith(b"GET /rtc")
            assert (tmp_path / "a").exists() and (tmp_path / "b").exists()
            program.send(signal.SIGINT)
            assert program.finish(10) == 1
    assert list(tmp_path.iterdir()) == [], program.report("something is left")


@pytest.mark.parametrize("action", ["leave", "mute-video"])
def test_the_time_is_over_without_frames_too(server, action):
    publisher = server.foreign_publisher("--keep-size", "--no-audio")
    reader = Reader(server, "frames", "--format", "gray8", "--duration", "4s")
    assert len(reader.read(5 * WIDTH * HEIGHT)) == 5 * WIDTH * HEIGHT
    publisher.write(action)
    assert len(reader.all(20)) < 4 * FPS * WIDTH * HEIGHT


def test_lines_that_cannot_be_written_are_a_failure(room):
    reader = Reader(room, "frames", *SMALL, "--duration", "1s", "--info", "/dev/full")
    assert len(reader.read(1 << 30)) == 5 * 160 * 90, "the media goes on"
    assert reader.finish() == 1
    assert "--info: /dev/full: the disk is full;" in reader.said and "lines are missing" in reader.said
    assert len(of("info_failed", reader.events)) == 1


def test_a_socket_reader_that_stands_still_holds_nobody_up(room, tmp_path):
    path, log = tmp_path / "frames.sock", tmp_path / "info.jsonl"
    reader = Reader(room, "frames", "--info", log, f"unix:{path}")
    eventually(path.exists)
    frame = WIDTH * HEIGHT * 3 // 2
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2)]
        streams = []
        for end in ends:
            end.connect(str(path))
            streams.append(stack.enter_context(end.makefile("rb")))
        standing, good = streams
        standing.read(frame)
        read = numbers(luma(good.read(50 * frame)))
        assert read == sorted(set(read)) and len(read) > 0.9 * (read[-1] - read[0]), "who reads on has all"
        dropped = eventually(lambda: of("dropped", lines(log)))
        assert len({event["reader"] for event in dropped}) == 1, "one of both"
        [slow] = {event["reader"] for event in dropped}
        good.close()
        ends[1].close()
        late = numbers(luma(standing.read(30 * frame)))
        assert late == sorted(set(late)), "in order"
        assert max(b - a for a, b in zip(late, late[1:])) > 10, "what had waited for long is left out"
    events = told(reader)
    assert f"unix:{path}: reader {slow}: the reader is too slow" in of("reader_slow", events)[0]["message"]
    assert len(of("reader_slow", events)) == 1, "once"
    assert of("finished", events)[0]["dropped"] == len(of("dropped", lines(log)))


def test_a_socket_without_a_descriptor_for_its_readers_waits_for_one(local_server, tmp_path):
    """They are taken once there are some, and nothing is done all the time until then."""
    path = tmp_path / "frames.sock"
    reader = Reader(local_server, "frames", f"unix:{path}")
    pid = reader.process.pid
    next(line for line in reader.process.stdout if b'"state":"connected"' in line)

    def descriptors():
        return {int(name) for name in os.listdir(f"/proc/{pid}/fd")}

    def is_settled():
        before = descriptors()
        time.sleep(1)
        return descriptors() == before

    def seconds():
        times = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    eventually(is_settled)
    before = descriptors()
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(before) + 1, hard))
    with contextlib.ExitStack() as stack:
        # More than there are numbers left below that.
        count = max(before) + 1 - len(before) + 5
        for _ in range(count):
            stack.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        begun = seconds()
        time.sleep(2)
        assert seconds() - begun < 1, "it spins"
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
        eventually(lambda: len(descriptors()) >= len(before) + count)
    reader.stop()


def test_one_of_each_that_cannot_be_written_fails_alone(server, tmp_path):
    for name in ("bob", "alice"):
        server.foreign_publisher("--no-video", "--identity", name, "--tone")
    (tmp_path / "alice.raw").write_bytes(b"yesterday's")
    reader = Reader(server, "pcm", "--each", "--duration", "2s", tmp_path / "{publisher_identity}.raw")
    events = [json.loads(line) for line in reader.process.stdout]
    assert reader.finish() == 1, reader.said
    [refused] = of("destination", events)
    assert (refused["state"], refused["participant"]) == ("failed", "alice") and "alice.raw" in refused["message"]
    assert (tmp_path / "bob.raw").stat().st_size == 2 * 2 * 48_000
    # That is the end of the command.
    assert len(of("failed", events)) == 1 and events.index(refused) < events.index(of("failed", events)[0])


def test_a_name_under_which_nothing_could_be_written_is_free_again(server, tmp_path):
    """The disk was full when she came first."""
    file = tmp_path / "alice.raw"
    file.symlink_to("/dev/full")
    alice = server.foreign_publisher("--no-video", "--identity", "alice", "--tone")
    reader = Reader(server, "pcm", "--each", tmp_path / "{publisher_identity}.raw")
    full = []
    while not full:
        full = of("destination", [json.loads(reader.process.stdout.readline())])
    assert (full[0]["state"], full[0]["file"]) == ("failed", str(file))
    file.unlink()
    alice.write("leave")
    alice.wait_for("leave")
    server.foreign_publisher("--no-video", "--identity", "alice", "--tone")
    eventually(lambda: file.exists() and file.stat().st_size > 0, 20)
    assert reader.stop() == 1, reader.said
    assert os.listdir(tmp_path) == ["alice.raw"]


def test_what_lies_where_the_caps_go_is_kept(tmp_path):
    caps = tmp_path / "a.sock.caps"
    caps.write_text("precious")
    command = [*map(str, mediabridge("frames", "--dev", *KEYS, "--room", "r", f"shm:{tmp_path}/a.sock"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1 and f"{caps}, which holds something else" in done.stderr and "--overwrite" in done.stderr
    assert caps.read_text() == "precious" and os.listdir(tmp_path) == ["a.sock.caps"]


@pytest.mark.long
def test_audio_that_waits_for_more_than_a_minute_is_counted_in_samples(server):
    server.foreign_publisher("--no-video", "--tone", "--duration", 120)
    reader = Reader(server, "pcm", "--duration", "75s")
    reader.read(1000)
    eventually(lambda: of("reader_slow", reader.events), 100)
    # It is told with the first piece.
    time.sleep(0.5)
    samples = np.frombuffer(reader.read(1 << 30), "<i2")
    assert reader.finish() == 0
    [finished] = of("finished", reader.events)
    assert finished["written"] + finished["dropped"] == len(samples) + 500 == 75 * 48_000
    assert 1000 < finished["dropped"] < 20 * 48_000
    silent = np.convolve(samples == 0, np.ones(48, int), "valid") == 48
    assert silent.sum() >= finished["dropped"] - 48, "silence stands for it"
