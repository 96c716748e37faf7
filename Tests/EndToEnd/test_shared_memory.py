"""`mediabridge frames shm:PATH`: frames that GStreamer's `shmsrc` reads, which is not ours."""

import json
import os
import signal
import socket
import subprocess
import types

import numpy as np
import pytest
from raw import Reader, lines, of
from test_frames import HEIGHT, WIDTH, eventually, luma, numbers, source_luma


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size")
    return server


class Shared:
    """The command, with the socket and the caps beside it."""

    def __init__(self, room, folder, *options):
        self.socket = folder / "a b.sock"
        self.caps = folder / "a b.sock.caps"
        self.reader = Reader(room, "frames", *options, f"shm:{self.socket}")
        eventually(lambda: self.caps.exists() and areas(self.reader.process.pid))

    def read(self, file, *more, count=10_000):
        """GStreamer, which writes what it reads into a file."""
        source = ("shmsrc", f"socket-path={self.socket}", f"num-buffers={count}", "is-live=true")
        sink = (*more, "filesink", f"location={file}", "buffer-mode=unbuffered")
        command = ("gst-launch-1.0", "-q", *source, "!", self.caps.read_text().strip(), "!", *sink)
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self, event="finished"):
        assert self.reader.stop() == 0, self.reader.said
        assert not self.socket.exists() and not self.caps.exists() and areas(self.reader.process.pid) == []
        # Standard output has no media here.
        return of(event, [json.loads(line) for line in self.reader.process.stdout])[0]


def areas(process):
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"mediabridge-{process}-")]


def size_of(file):
    return file.stat().st_size if file.exists() else 0


FRAME = WIDTH * HEIGHT * 3 // 2


def test_gstreamer_reads_what_is_shown(room, tmp_path):
    shared = Shared(room, tmp_path, "--info", tmp_path / "info.jsonl")
    assert shared.caps.read_text() == (
        f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=0/1,colorimetry=bt601\n"
    )
    assert shared.read(tmp_path / "out", count=50).wait(30) == 0
    planes = luma((tmp_path / "out").read_bytes())
    read = numbers(planes)
    assert read == sorted(set(read)) and len(read) == 50
    for plane, number in zip(planes[::10], read[::10]):
        assert np.abs(plane - source_luma(number)).mean() < 8, "close to what was published"
    shared.stop()
    told = of("frame", lines(tmp_path / "info.jsonl"))
    assert len(told) > 50 and all("rtp" in frame for frame in told)


@pytest.mark.parametrize("form, width", [("i420", 150), ("rgb24", 141), ("gray8", 149), ("nv12", 150)])
def test_rows_lie_where_gstreamer_looks_for_them(room, form, width, tmp_path):
    shared = Shared(room, tmp_path, "--format", form, "--size", f"{width}x91", "--fps", 20)
    # Gray rows have padding, too, unless they are a multiple of four bytes.
    more = ("videoconvert", "!", "video/x-raw,format=GRAY8", "!", "videobox", f"right={width % 4}", "!")
    assert shared.read(tmp_path / "out", *more, count=10).wait(30) == 0
    frames = np.frombuffer((tmp_path / "out").read_bytes(), np.uint8).reshape(10, 91, -1)
    # The picture lies in the middle, between borders.
    top = next(row for row in range(91) if frames[0, row].max() > 60)
    read = numbers(np.pad(frames, ((0, 0), (0, 0), (0, width % 4)))[:, top:])
    assert read == sorted(read) and read[-1] - read[0] >= 8
    shared.stop()


def test_a_reader_that_stops_or_dies_stalls_nobody(room, tmp_path):
    shared = Shared(room, tmp_path, "--info", tmp_path / "info.jsonl")
    stopped, good = shared.read(tmp_path / "stopped"), shared.read(tmp_path / "good")
    files = (tmp_path / "stopped", tmp_path / "good")
    eventually(lambda: all(size_of(file) > 5 * FRAME for file in files))
    stopped.send_signal(signal.SIGSTOP)
    begin = size_of(files[1])
    eventually(lambda: size_of(files[1]) > begin + 60 * FRAME)
    dropped = eventually(lambda: of("dropped", lines(tmp_path / "info.jsonl")))
    assert {frame["reader"] for frame in dropped} == {1} or {frame["reader"] for frame in dropped} == {2}
    assert len(areas(shared.reader.process.pid)) == 1
    before = size_of(files[0])
    stopped.send_signal(signal.SIGCONT)
    eventually(lambda: size_of(files[0]) > before + 20 * FRAME)
    stopped.kill()
    begin = size_of(files[1])
    eventually(lambda: size_of(files[1]) > begin + 10 * FRAME)
    assert shared.stop()["dropped"] > 30
    good.wait(10)
    stopped.wait(10)
    for file in files:
        whole = file.read_bytes()
        read = numbers(luma(whole[: len(whole) // FRAME * FRAME]))
        assert read == sorted(set(read)), "in order, each once"
    read = numbers(luma((tmp_path / "good").read_bytes()))
    assert len(read) > 0.9 * (read[-1] - read[0]), "who reads on has all"


def test_a_ninth_reader_is_turned_away_with_a_word(room, tmp_path):
    shared = Shared(room, tmp_path)

    def connect():
        reader = socket.socket(socket.AF_UNIX)
        reader.settimeout(20)
        reader.connect(str(shared.socket))
        return reader

    readers = [connect() for _ in range(8)]
    ninth = connect()
    assert ninth.recv(1) == b"", "what is closed is at its end"
    readers.pop().close()
    assert connect().recv(1), "there is a place again"
    assert "a reader was turned away, since 8 read already" in shared.stop("reader")["message"]


def cramped(room, path, size):
    """The command where `/dev/shm` has so many kB, as in containers, and a reader that takes and gives nothing."""
    mount = f'mount -t tmpfs -o size={size}k tmpfs /dev/shm && exec "$@"'

    def enter(*arguments):
        return room.enter("unshare", "--mount", "sh", "-c", mount, "sh", *arguments)

    reader = Reader(types.SimpleNamespace(url=room.url, enter=enter), "frames", f"shm:{path}")
    eventually(path.exists)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    return reader, connection


def test_a_machine_without_room_for_a_frame_is_an_error(room, tmp_path):
    reader, connection = cramped(room, tmp_path / "a.sock", FRAME // 1024 - 8)
    with connection:
        assert reader.finish() == 1
    assert "/dev/shm has no room for a frame" in reader.said and "--shm-size" in reader.said
    events = [json.loads(line) for line in reader.process.stdout]
    assert not of("reader", events), "no reader is to blame"


def test_a_machine_with_room_for_one_frame_is_said(room, tmp_path):
    reader, connection = cramped(room, tmp_path / "a.sock", FRAME // 1024 + 8)
    with connection:
        said = []
        while not said:
            said = of("reader", [json.loads(reader.process.stdout.readline())])
        assert "/dev/shm has no room for more frames" in said[0]["message"]
        assert reader.stop() == 0, reader.said
    events = [json.loads(line) for line in reader.process.stdout]
    assert not of("reader", events), "once"
    assert of("finished", events)[0]["dropped"] > 0


def test_memory_of_a_program_that_was_killed_is_taken_away(room, tmp_path):
    first = Shared(room, tmp_path)
    first.reader.process.kill()
    killed = first.reader.process.pid
    first.reader.process.wait()
    assert areas(killed)
    second = Shared(room, tmp_path)
    assert second.read(tmp_path / "out", count=5).wait(30) == 0
    assert areas(killed) == []
    second.stop()
