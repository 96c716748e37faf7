"""Standard output and standard error that nobody reads, or reads late, or that are closed: nothing else heeds it."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time

import checks
import pytest
from live_server import wait_until
from programs import KEYS, ROOT, mediabridge

# Runs a command whose standard output is a pipe of some bytes, with some in it, that nobody reads.
UNREAD = """
import fcntl, os, sys
size, held, *command = sys.argv[1:]
read, write = os.pipe()
fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, int(size))
os.write(write, b"-" * int(held))
os.set_inheritable(read, True)
os.dup2(write, 1)
os.execvp(command[0], command)
"""
PAGE = 4096


def unread(size, held):
    return (sys.executable, "-c", UNREAD, size, held)


def test_standard_output_that_nobody_reads_holds_nothing_up(server, tmp_path):
    server.foreign_publisher("--room", "unread", "--identity", "alice", "--codec", "H264")
    file = tmp_path / "unread.mp4"
    recorder = server.recorder("unread", "alice", file, prefix=unread(PAGE, 1500))
    wait_until("a recording", lambda: file.exists() and file.stat().st_size > 20_000, 40)
    # In which it has more to tell than the pipe holds.
    time.sleep(10)
    recorder.send(signal.SIGTERM)
    assert recorder.finish(20) == 0, recorder.report("failed")
    assert checks.length(file) > 9 and checks.decode_errors(file) == []


def test_what_follows_a_recording_is_done_though_nobody_reads_of_it(server, tmp_path):
    """A pipe of the usual size is full of what matters after a while. What was not read is said."""
    server.foreign_publisher("--room", "unread", "--identity", "alice", "--codec", "H264", "--duration", 90)
    done = tmp_path / "done"
    options = ("--part-duration", "1s", "--manifest", "--on-complete", f'echo "$1" >> {done}', "--verbose")
    recorder = server.recorder("unread", "alice", tmp_path / "unread.mp4", *options, prefix=unread(65_536, 60_000))
    wait_until("twenty parts", (tmp_path / "unread-20.mp4").exists, 60)
    recorder.send(signal.SIGINT)
    assert recorder.finish(30) == 0, recorder.report("failed")
    assert (tmp_path / "unread.mp4.json").exists()
    files = [*tmp_path.glob("unread*.mp4"), tmp_path / "unread.mp4.json"]
    assert sorted(done.read_text().split()) == sorted(map(str, files))
    assert "standard output was not read" in recorder.errors, recorder.report("that is not said")


def test_a_development_server_that_nobody_reads_goes_on(start, tmp_path):
    """It tells of each subscriber that wants its video in another size."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start((*unread(PAGE, PAGE), *mediabridge("dev-server", "--port", port, "--json")))

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until("the server", listens, 20)
    access = ("--url", f"ws://127.0.0.1:{port}", *KEYS, "--room", "r", "--json")
    start(mediabridge("publish-test", *access, "--identity", "alice")).wait_for("publishing")
    mixed = ("--composite", "grid", "--size", "320x180", "--duration", "3s")
    for name in ("first.mkv", "second.mkv"):
        recorder = start(mediabridge("record", *access, *mixed, tmp_path / name))
        assert recorder.finish(40) == 0, recorder.report("failed")
        assert checks.decode_errors(tmp_path / name) == []


@pytest.mark.parametrize("flags", [0, os.O_NONBLOCK], ids=["blocking", "non-blocking"])
def test_a_reader_that_comes_late_has_all_that_was_asked_for(flags):
    """As a pager, whose person reads a page at a time, or a program that has made its pipe one that does not wait."""
    command = [*map(str, mediabridge("pipelines", "list"))]
    wanted = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert len(wanted) > PAGE
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, PAGE)
    fcntl.fcntl(write, fcntl.F_SETFL, fcntl.fcntl(write, fcntl.F_GETFL) | flags)
    with subprocess.Popen(command, cwd=ROOT, stdout=write) as process, os.fdopen(read, "rb") as pipe:
        os.close(write)
        # For longer than a recording waits at its end.
        time.sleep(5)
        assert pipe.read() == wanted
        assert process.wait(20) == 0


def test_descriptors_that_are_closed_are_nothing_of_a_recording(server, tmp_path):
    """The next file or socket that is opened would be standard output otherwise."""
    server.own_publisher("closed", "alice", "h264")
    file = tmp_path / "closed.mp4"
    closed = ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
    recorder = server.recorder("closed", "alice", file, "--duration", "3s", "--verbose", prefix=closed)
    assert recorder.finish(40) == 0, "failed"
    assert file.read_bytes()[4:8] == b"ftyp"
    assert checks.decode_errors(file) == [] and checks.length(file) > 2.5


@pytest.mark.parametrize("options", [("--json",), ()], ids=["json", "text"])
def test_watch_ends_with_its_reader(local_server, options):
    """As in `watch --json | head -1`."""
    command = mediabridge("watch", "--url", local_server.url, *KEYS, "--room", "r", *options)
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == 0, process.stderr.read()
