"""`mediabridge frames`: what a room shows, read by programs that know nothing of it."""

import contextlib
import json
import os
import re
import signal
import socket
import sys
import time

import av
import checks
import clip
import numpy as np
import pytest
from programs import ROOT
from raw import Reader, lines, of

(WIDTH, HEIGHT), FPS = clip.SIZE, 25


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size")
    return server


def luma(data, width=WIDTH, height=HEIGHT):
    """The luma planes of I420 frames."""
    size = width * height * 3 // 2
    assert len(data) % size == 0 and data, "only whole frames"
    return np.frombuffer(data, np.uint8).reshape(-1, size)[:, : width * height].reshape(-1, height, width)


def numbers(planes):
    read = [clip.read(plane) for plane in planes]
    assert None not in read, "every frame can be read"
    return read


def source_luma(number):
    """As the publisher's gray becomes limited range, to within a rounding."""
    return 16 + clip.draw(number, WIDTH, HEIGHT, FPS) * (219 / 255)


def test_i420_on_standard_output_has_every_frame_at_its_time(room, tmp_path):
    log = tmp_path / "info.jsonl"
    planes = luma(Reader(room, "frames", "--duration", "4s", "--info", log).all())
    told = of("frame", lines(log))
    read = numbers(planes)
    assert read == sorted(set(read)) and len(read) > 80, "in order, each once"
    assert [frame["number"] for frame in told] == list(range(len(read)))
    for frame, number in zip(told, read, strict=True):
        assert abs(frame["time"] - (number - read[0]) / FPS) < 0.005
        assert frame["size"] == f"{WIDTH}x{HEIGHT}"
    for before, after, a, b in zip(told, told[1:], read, read[1:]):
        assert (after["rtp"] - before["rtp"]) % 2**32 == pytest.approx((b - a) * 90_000 / FPS, abs=900)
    for plane, number in zip(planes[::10], read[::10]):
        assert np.abs(plane - source_luma(number)).mean() < 8, "close to what was published"


def test_the_name_of_standard_output_is_standard_output(room):
    """All else is told on standard error then, too."""
    options = ("--format", "gray8", "--size", "64x64", "--fps", "10", "--duration", "1s")
    data = Reader(room, "frames", *options, "/dev/stdout").all()
    assert data and len(data) % (64 * 64) == 0, "only whole frames"


@pytest.mark.parametrize("form, channels", [("rgb24", 3), ("bgr24", 3), ("gray8", 1), ("nv12", 0)])
def test_other_formats_are_scaled_with_borders_at_an_even_rate(room, form, channels, tmp_path):
    log = tmp_path / "info.jsonl"
    options = ("--format", form, "--size", "320x240", "--fps", 10, "--duration", "2s", "--info", log)
    data = Reader(room, "frames", *options).all()
    size = 320 * 240 * (channels or 1.5)
    assert len(data) == 20 * size, "two seconds at ten a second"
    frames = np.frombuffer(data, np.uint8).reshape(20, -1)
    times = [frame["time"] for frame in of("frame", lines(log))]
    assert times == pytest.approx([number / 10 for number in range(20)])
    shape = (20, 240, 320, channels) if channels == 3 else (20, 240, 320)
    pixels = frames[:, : 320 * 240 * (channels or 1)].reshape(shape)
    black = 16 if form == "nv12" else 0
    assert np.abs(pixels[:, :28].astype(int) - black).max() <= 3, "black above"
    assert np.abs(pixels[:, -28:].astype(int) - black).max() <= 3, "and below"
    inner = pixels[:, 30:210] if channels != 3 else pixels[:, 30:210, :, 0]
    read = numbers(np.ascontiguousarray(inner))
    assert read == sorted(read) and 40 < read[-1] - read[0] < 56


def test_y4m_is_read_by_ffmpeg(room, tmp_path):
    file = tmp_path / "a.y4m"
    Reader(room, "frames", "--fps", FPS, "--duration", "2s", file).all()
    read = [number for number, _, _ in checks.numbered(file)]
    assert len(read) == 2 * FPS and None not in read and read == sorted(read)
    assert checks.sizes(file) == {(WIDTH, HEIGHT)} and checks.decode_errors(file) == []


def test_what_is_repeated_comes_as_evenly_as_what_is_asked_for(room):
    """Of y4m, which has a rate without --fps: ten times a second, and not a quarter of a second at once."""
    publisher = room.foreign_publisher("--keep-size", "--no-audio", "--identity", "bob")
    reader = Reader(room, "frames", "--participant", "bob", "--format", "y4m", "--size", "160x90")
    frame = len(b"FRAME\n") + 160 * 90 * 3 // 2
    reader.read(10 * frame)
    publisher.write("mute-video")
    publisher.wait_for("mute-video")
    # Until then others may come.
    reader.read(2 * 30 * frame)
    times = [time.monotonic() for _ in range(4 * 30) if reader.read(frame)]
    pauses = sum(after - before > 0.05 for before, after in zip(times, times[1:]))
    assert pauses > 5.5 * (times[-1] - times[0]), times
    assert reader.stop() == 0, reader.said


@pytest.mark.parametrize("form, suffix", [("png", "png"), ("jpeg", "jpg")])
def test_a_folder_has_numbered_images(room, form, suffix, tmp_path):
    folder = tmp_path / "images"
    Reader(room, "frames", "--format", form, "--fps", 5, "--duration", "1s", f"{folder}/").all()
    files = sorted(file.name for file in folder.iterdir())
    assert files == [f"{number:06}.{suffix}" for number in range(5)]
    read = [clip.read(gray(folder / file)) for file in files]
    assert None not in read and read == sorted(read)


def test_a_muted_camera_leaves_no_gap_among_images_at_a_rate(server, tmp_path):
    publisher = server.foreign_publisher("--keep-size", "--no-audio")
    folder = tmp_path / "images"
    reader = Reader(server, "frames", "--format", "png", "--fps", 5, f"{folder}/")
    eventually(lambda: folder.exists() and len(list(folder.glob("*.png"))) > 1)
    publisher.write("mute-video")
    publisher.wait_for("mute-video")
    before = len(list(folder.glob("*.png")))
    eventually(lambda: len(list(folder.glob("*.png"))) > before + 8)
    assert reader.stop() == 0, reader.said


def test_images_of_another_run_are_kept_or_all_replaced(room, tmp_path):
    """Also where the first of them is gone."""
    old = {"000007.png", "1000000.png", "000008.png.part"}
    others = {"12345.png", "000001.jpg", "cover.png"}
    for name in old | others:
        (tmp_path / name).write_bytes(b"old")
    options = ("--format", "png", "--fps", 5, "--duration", "1s", f"{tmp_path}/")
    refused = Reader(room, "frames", *options)
    assert refused.finish() == 1 and "holds images already" in refused.said
    assert {file.name for file in tmp_path.iterdir() if file.read_bytes() == b"old"} == old | others
    Reader(room, "frames", "--overwrite", *options).all()
    assert {file.name for file in tmp_path.iterdir()} == {f"{number:06}.png" for number in range(5)} | others


def gray(file):
    with av.open(str(file)) as container:
        return next(container.decode(video=0)).to_ndarray(format="gray")


def test_turned_frames_are_upright_in_one_size(server):
    server.foreign_publisher("--keep-size", "--turns", 0, 90, 180)
    planes = luma(Reader(server, "frames", "--size", f"{WIDTH}x{HEIGHT}", "--duration", "3.5s").all())
    upright = planes[[clip.read(plane) is not None for plane in planes]]
    assert len(upright) > 30
    pillars = [plane for plane in planes if plane[:, : WIDTH * 5 // 16].max() < 24]
    assert pillars, "a frame that stands has borders at its sides"


def test_what_happens_around_frames_is_told(server, tmp_path):
    """Who speaks, and which size is sent."""
    server.foreign_publisher("--keep-size", "--turns", 0, 90, "--tone")
    log = tmp_path / "info.jsonl"
    Reader(server, "frames", "--duration", "4s", "--info", log).all()
    told = lines(log)
    assert {"participant": "alice", "speaking": True, "event": "speaking"} in of("speaking", told), told[:20]
    sizes = [event["size"] for event in of("size", told)]
    assert {f"{WIDTH}x{HEIGHT}", f"{HEIGHT}x{WIDTH}"} <= set(sizes), sizes


def test_a_track_that_was_named_goes_on_in_another_session(server):
    """It has another SID in a server that starts again."""
    server.foreign_publisher("--duration", "60")
    watcher = server.watcher("test")
    while (track := watcher.wait_for("track_subscribed"))["source"] != "camera":
        pass
    reader = Reader(server, "frames", "--track", track["sid"])
    size = WIDTH * HEIGHT * 3 // 2
    assert len(reader.read(size * FPS)) == size * FPS
    server.program.send(signal.SIGKILL)
    server.program.finish(10)
    server.start_again()
    eventually(lambda: of("reconnected", reader.events), timeout=40)
    assert len(reader.read(size * FPS * 6)) == size * FPS * 6
    reader.stop()


def test_the_wall_clock_of_capture_is_told_once_a_report_has_come(room, tmp_path):
    log = tmp_path / "info.jsonl"
    Reader(room, "frames", "--duration", "5s", "--format", "gray8", "--info", log).all()
    told = [frame["captured"] for frame in of("frame", lines(log)) if "captured" in frame]
    assert told and abs(told[-1] - time.time()) < 10
    assert max(b - a for a, b in zip(told, told[1:])) < 1 and told == sorted(told)


def test_a_named_pipe_waits_for_its_reader(room, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = Reader(room, "frames", "--duration", "4s", pipe)
    with open(pipe, "rb") as end:
        read = numbers(luma(end.read()))
    assert reader.finish() == 0 and read == sorted(set(read)) and len(read) > 40


def test_a_reader_that_stops_loses_old_frames_and_holds_nobody_up(room, tmp_path):
    log = tmp_path / "info.jsonl"
    reader = Reader(room, "frames", "--format", "rgb24", "--info", log)
    size = WIDTH * HEIGHT * 3
    reader.read(5 * size)
    other = Reader(room, "frames", "--duration", "3s")
    assert len(luma(other.all())) > 60, "another reader has all"
    [slow] = of("reader_slow", reader.events)
    assert "standard output: the reader is too slow" in slow["message"], "while it is"
    frames = np.frombuffer(reader.read(40 * size), np.uint8).reshape(-1, HEIGHT, WIDTH, 3)[..., 0]
    read = numbers(np.ascontiguousarray(frames))
    assert read == sorted(set(read)), "in order"
    assert max(b - a for a, b in zip(read, read[1:])) > 50, "what had waited for long is left out"
    assert reader.stop() == 0, reader.said
    assert len(of("dropped", lines(log))) > 30
    assert of("finished", reader.events)[0]["dropped"] > 30


def memory(process):
    """Resident, in MB."""
    with open(f"/proc/{process.pid}/status") as said:
        return int(re.search(r"VmRSS:\s+(\d+)", said.read())[1]) / 1024


def test_readers_that_stand_still_die_or_never_come_cost_nothing(room, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    never, standing = Reader(room, "frames", pipe), Reader(room, "frames", "--format", "rgb24")
    standing.read(5 * WIDTH * HEIGHT * 3)
    killed = Reader(room, "frames", "--exec", "head -c 3000000 > /dev/null; kill -9 $$")
    good = Reader(room, "frames", "--duration", "12s")
    frame = WIDTH * HEIGHT * 3 // 2
    good.read(4 * FPS * frame)
    # All that may wait does by now.
    before = [memory(reader.process) for reader in (never, standing)]
    read = numbers(luma(good.all()))
    after = [memory(reader.process) for reader in (never, standing)]
    assert len(read) > 0.9 * (read[-1] - read[0]) and len(read) > 6 * FPS, "who reads on has all"
    assert all(new - old < 10 for old, new in zip(before, after)), (before, after)
    assert killed.finish() == 1 and "the command died 6 times, the last time with" in killed.said
    assert standing.stop() == 0 and of("finished", standing.events)[0]["dropped"] > 30
    assert never.stop() == 1 and f"{pipe}: nobody has read any of it" in never.said, never.said


def test_a_reader_that_closes_its_end_ends_it(room):
    reader = Reader(room, "frames")
    reader.read(1000)
    reader.process.stdout.close()
    assert reader.finish() == 0
    assert "the reader has closed its end" in of("reader_gone", reader.events)[0]["message"]


def test_a_reader_that_closes_its_end_too_early_is_a_failure(room):
    reader = Reader(room, "frames", "--duration", "20s")
    reader.read(1000)
    reader.process.stdout.close()
    assert reader.finish() == 1
    assert "standard output: the reader has closed its end" in reader.said


@pytest.mark.parametrize("options", [("--participant", "nobody"), ("--composite", "grid", "--size", "160x90")])
def test_a_reader_that_goes_before_anything_comes_ends_it(server, options):
    reader = Reader(server, "frames", *options)
    reader.process.stdout.close()
    assert reader.finish(15) == 0, reader.said
    assert of("reader_gone", reader.events)


@pytest.mark.parametrize("each", [(), ("--each",)])
def test_a_command_that_fails_with_what_it_got_is_a_failure(room, each):
    reader = Reader(room, "frames", *each, "--duration", "1s", "--exec", "cat > /dev/null; exit 3")
    assert reader.finish() == 1, reader.said
    assert "exit 3'" in reader.said and "the command ended with 3" in reader.said
    events = [json.loads(line) for line in reader.process.stdout]
    assert not of("reader_gone", events), "it was there to the end"
    failed = [(event["state"], "the command ended with 3" in event["message"]) for event in of("destination", events)]
    assert failed == [("failed", True)] * len(each)


def test_nobody_to_see_is_said(server):
    reader = Reader(server, "frames", "--participant", "nobody", "--wait", "1s")
    assert reader.finish() == 1
    assert "waited in vain for the video of nobody; raise --wait" in reader.said


def test_a_command_for_each_participant_knows_whose_frames_it_gets(room, tmp_path):
    room.foreign_publisher("--keep-size", "--identity", "bob")
    command = f'cat > {tmp_path}/"$MEDIABRIDGE_IDENTITY.$MEDIABRIDGE_FORMAT"'
    Reader(room, "frames", "--each", "--duration", "2s", "--exec", command).all()
    for name in ("alice", "bob"):
        read = numbers(luma((tmp_path / f"{name}.i420").read_bytes()))
        assert read == sorted(set(read)) and len(read) > 30


def test_a_command_that_dies_is_begun_anew_with_a_limit(room, tmp_path):
    command = f"echo x >> {tmp_path}/begun; head -c 1000000 > /dev/null; exit 3"
    reader = Reader(room, "frames", "--exec", command)
    assert reader.finish() == 1
    assert "the command died 6 times, the last time with 3" in reader.said
    assert (tmp_path / "begun").read_text().count("x") == 6


def test_a_command_is_ended_with_all_that_it_has_begun(room, tmp_path):
    """One that forks and hangs, and reads nothing."""
    command = f"trap '' TERM; sleep 1000 & echo $! > {tmp_path}/pid; wait; sleep 1000"
    reader = Reader(room, "frames", "--exec", command)
    child = eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    reader.process.terminate()
    assert reader.finish(60) == 1, reader.said
    assert "what waited at the end was not taken within 30" in reader.said
    eventually(lambda: not os.path.exists(f"/proc/{child}") or "\nState:\tZ" in open(f"/proc/{child}/status").read())


def test_readers_of_a_socket_come_and_go(room, tmp_path):
    path = tmp_path / "frames.sock"
    reader = Reader(room, "frames", f"unix:{path}")
    eventually(path.exists)
    for _ in range(2):
        with socket.socket(socket.AF_UNIX) as connection, contextlib.ExitStack() as stack:
            connection.connect(str(path))
            stream = stack.enter_context(connection.makefile("rb"))
            read = numbers(luma(stream.read(10 * WIDTH * HEIGHT * 3 // 2)))
            assert read == sorted(set(read))
    assert reader.stop() == 0, reader.said
    assert not path.exists()


def test_several_participants_share_a_command(room, tmp_path):
    """Which dies once, and is told anew whose streams there are."""
    room.foreign_publisher("--keep-size", "--identity", "bob", "--first-number", 5000)
    options = ("--each", "--framed", "--format", "gray8", "--size", "160x90", "--fps", 5, "--duration", "2s")
    dying = f"test -e {tmp_path}/died || {{ touch {tmp_path}/died; head -c 20000 > /dev/null; exit 1; }}"
    command = f"{dying}; exec {sys.executable} {ROOT}/Examples/Python/everybody.py >> {tmp_path}/told"
    # No frames go there.
    events = map(json.loads, Reader(room, "frames", *options, "--exec", command).all().splitlines())
    assert [event["size"] for event in of("finished", events)] == ["160x90"] * 2
    told = lines(tmp_path / "told")
    for name in ("alice", "bob"):
        mine = [line for line in told if line["participant"] == name]
        # At an even rate; what waits for half a second on a busy machine is left out.
        places = [line["time"] * 5 for line in mine]
        assert places == pytest.approx(np.round(places), abs=0.01) and places == sorted(set(places))
        assert len(places) >= 5 and max(places) < 10.01, places
        assert {line["size"] for line in mine} == {"160x90"}


def test_the_mixed_room_has_a_tile_for_each(room, tmp_path):
    """Two beside each other, whose numbers are a thousand and more apart."""
    room.foreign_publisher("--keep-size", "--identity", "bob", "--first-number", 5000, "--no-audio")
    log = tmp_path / "info.jsonl"
    options = ("--composite", "grid", "--size", "640x180", "--fps", 20, "--duration", "4s", "--info", log)
    planes = luma(Reader(room, "frames", *options, "--set", "delay=200000000").all(), 640, 180)
    assert len(planes) == 80, "four seconds at twenty a second"
    assert [frame["time"] for frame in of("frame", lines(log))] == pytest.approx([number / 20 for number in range(80)])
    for side, first in ((planes[-40:, :, :320], 0), (planes[-40:, :, 320:], 5000)):
        read = numbers(np.ascontiguousarray(side))
        assert read == sorted(read) and first <= read[0] < first + 5000
        assert read[-1] - read[0] > 30, "in motion"


def eventually(found, timeout=20):
    deadline = time.monotonic() + timeout
    while not (result := found()):
        assert time.monotonic() < deadline, f"not within {timeout} s"
        time.sleep(0.02)
    return result
