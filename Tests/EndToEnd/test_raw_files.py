"""Files and folders that `mediabridge frames` and `pcm` write: they hold all that came, or it is an error."""

import contextlib
import fcntl
import json
import signal

import pytest
from raw import Reader, lines, of
from test_frames import eventually

SMALL = ("--format", "png", "--size", "160x90", "--fps", 5)


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size", "--no-audio")
    return server


@contextlib.contextmanager
def held(file):
    """Whoever opens it to write is held up, as by a disk that does not answer; gives what is told of that."""
    told = []
    before = signal.signal(signal.SIGIO, lambda *_: told.append(file))
    file.touch()
    with file.open("rb") as own:
        fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        try:
            yield told
        finally:
            fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            signal.signal(signal.SIGIO, before)


@contextlib.contextmanager
def hanging(room, folder):
    """Images for whose folder the disk does not answer any more, and that are to end."""
    reader = Reader(room, "frames", *SMALL, f"{folder}/")
    eventually(lambda: folder.exists() and any(folder.glob("*.png")))
    with held(folder / f"{len(list(folder.glob('*.png'))) + 10:06}.png.part") as told:
        eventually(lambda: told)
        reader.process.terminate()
        yield reader


def announced(reader):
    """That it is waited for."""
    line = next(line for line in reader.process.stdout if b'"reader_slow"' in line)
    assert "waiting until it has done with what is left, for which it has 30" in json.loads(line)["message"]


def test_a_disk_that_is_away_for_a_while_at_the_end_gets_all(room, disks):
    folder = disks("slow", 50_000) / "shots"
    with hanging(room, folder) as reader:
        # That comes after the two seconds that a reader has.
        announced(reader)
    [finished] = of("finished", map(json.loads, reader.process.stdout))
    assert reader.finish() == 0, reader.said
    assert sorted(image.name for image in folder.iterdir()) == [f"{n:06}.png" for n in range(finished["written"])]


@pytest.mark.long
def test_a_disk_that_stays_away_is_an_error(room, disks):
    with hanging(room, disks("gone", 50_000) / "shots") as reader:
        announced(reader)
        assert reader.finish(60) == 1
        assert "shots/: its disk took nothing for 30" in reader.said and "reader" not in reader.said, reader.said


def test_images_that_the_machine_is_too_slow_for_are_an_error(room, tmp_path):
    folder = tmp_path / "shots"
    reader = Reader(room, "frames", "--format", "png", "--size", "3840x2160", "--duration", "3s", f"{folder}/")
    [finished] = of("finished", map(json.loads, reader.process.stdout))
    assert reader.finish() == 1, reader.said
    assert finished["dropped"] > 0
    lack = f"{folder}/: {finished['dropped']} frames are missing, since this machine was too slow: "
    assert reader.said.count(lack) == 1 and "--size" in reader.said, reader.said
    assert len(list(folder.iterdir())) == finished["written"]


def test_a_file_is_kept_until_audio_comes(server, tmp_path):
    """What is said of a mute is nothing that a file holds."""
    publisher = server.foreign_publisher("--no-video", "--identity", "alice")
    publisher.write("mute")
    publisher.wait_for("mute")
    file, log = tmp_path / "a.wav", tmp_path / "info.jsonl"
    file.write_bytes(b"yesterday's")
    reader = Reader(server, "pcm", "--overwrite", "--info", log, file)
    [track] = eventually(lambda: of("track", lines(log)))
    assert track["muted"]
    assert reader.stop() == 1, "nothing has come"
    assert file.read_bytes() == b"yesterday's"
