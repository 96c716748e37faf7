"""Files that go on in another one when they are long or large enough."""

import signal

import checks
import clip
import hls
import pytest
from failures import after

FPS = 25


def parts(folder, name):
    """The files of a destination in their order."""
    stem, _, ending = name.rpartition(".")
    found = [folder / name]
    while (folder / f"{stem}-{len(found) + 1}.{ending}").exists():
        found.append(folder / f"{stem}-{len(found) + 1}.{ending}")
    return found


def test_parts_hold_all_that_was_sent(server, tmp_path):
    """As it was sent and encoded: each part plays by itself in sync, and together they have every frame once."""
    server.foreign_publisher("--room", "parts", "--codec", "VP8")
    (tmp_path / "done").mkdir()
    recorder = server.recorder(
        *("parts", "alice", tmp_path / "a.mkv", tmp_path / "b.mp4", tmp_path / "c.ogg", "--duration", "8s"),
        *("--part-duration", "2.5s", "--on-complete", f'cp "$1" {tmp_path}/done'),
    )
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    for name in ("a.mkv", "b.mp4"):
        numbers = []
        files = parts(tmp_path, name)
        assert len(files) in (3, 4), files
        for file in files:
            assert checks.decode_errors(file) == [] and checks.disorder(file) == []
            frames = checks.numbered(file, clip.SIZE)
            assert frames[0][1] == pytest.approx(0, abs=0.05), "a part begins at zero"
            numbers += [number for number, _, _ in frames if number is not None]
            if file == files[-1]:
                continue
            assert 2.45 < checks.durations(file)["video"] < 3.2, file
            offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
            assert max(map(abs, offsets)) <= 0.045, (file, offsets)
        assert len(numbers) >= 0.95 * 8 * FPS and numbers == sorted(set(numbers)), f"{name}: {numbers}"
        gaps = [b - a for a, b in zip(numbers, numbers[1:])]
        assert max(gaps) <= 2, f"{name}: frames are missing between parts: {numbers}"
    every = [file for name in ("a.mkv", "b.mp4", "c.ogg") for file in parts(tmp_path, name)]
    assert len(parts(tmp_path, "c.ogg")) >= 3
    for file in every:
        assert (tmp_path / "done" / file.name).read_bytes() == file.read_bytes(), "the command had the whole file"
    told = [event["file"] for event in recorder.events if event["event"] == "completed_command"]
    assert sorted(told) == sorted(map(str, every))


def test_a_part_that_is_shorter_than_its_audio_plays(server, tmp_path):
    """Of the last one there is a frame or some: 20 ms make the difference."""
    server.own_publisher("tails", "alice", "vp8")
    lengths = [f"{2 + step / 100:.2f}s" for step in (6, 8, 9, 10, 12)]
    options = [(tmp_path / f"{length}.mp4", "--duration", length, "--part-duration", "1s") for length in lengths]
    recorders = [server.recorder("tails", "alice", *each) for each in options]
    for recorder, (file, *_) in zip(recorders, options):
        recorder.wait_for("finished", 60)
        assert recorder.finish() == 0, recorder.report("failed")
        files = parts(tmp_path, file.name)
        assert len(files) in (2, 3), files
        for part in files:
            assert checks.decode_errors(part) == [] and set(checks.durations(part)) == {"video", "audio"}, part


@pytest.mark.realtime
def test_parts_of_a_mixed_room(server, tmp_path):
    """Each part of a composite plays by itself, and together they have every second that was sent."""
    server.foreign_publisher("--room", "mixed")
    files = [tmp_path / "a.mp4", tmp_path / "b.mkv"]
    options = ("--composite", "grid", "--duration", "6s", "--part-duration", "2s")
    recorder = server.recorder("mixed", None, *files, *options)
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    for first in files:
        numbers = []
        found = parts(tmp_path, first.name)
        assert len(found) == 3, found
        for file in found:
            assert checks.decode_errors(file) == [] and checks.disorder(file) == []
            frames = checks.numbered(file, clip.SIZE)
            assert frames[0][1] == pytest.approx(0, abs=0.05), "a part begins at zero"
            assert checks.durations(file)["audio"] == pytest.approx(checks.durations(file)["video"], abs=0.2)
            numbers += [number for number, _, _ in frames if number is not None]
        seconds = sorted({number // FPS for number in numbers})
        assert numbers == sorted(numbers) and numbers[-1] - numbers[0] >= 5.5 * FPS
        assert seconds == list(range(seconds[0], seconds[-1] + 1)), f"{first.name}: {numbers}"
        assert max(b - a for a, b in zip(numbers, numbers[1:])) <= FPS / 2, f"{first.name}: {numbers}"


def test_images_and_live_playlists_are_not_cut(server, tmp_path):
    """Whoever looks at the newest image, or plays what is live, knows one name of it."""
    server.foreign_publisher("--room", "names", "--codec", "H264")
    file, image, live = tmp_path / "a.mp4", tmp_path / "shots/image.jpg", tmp_path / "web/live.m3u8"
    options = ("--duration", "8s", "--part-duration", "2s", "--set", "images.capture-interval=0.5")
    recorder = server.recorder("names", "alice", file, image, f"hls-low-latency={live}", *options)
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    assert len(parts(tmp_path, file.name)) >= 3
    images = sorted(image.parent.glob("image_*"))
    assert set(image.parent.iterdir()) == {image, *images} and len(images) > 8, "more than those of the first part"
    assert image.read_bytes() == images[-1].read_bytes()
    playlist = hls.read(live)
    hls.assert_valid(playlist, None)
    assert set(live.parent.iterdir()) == {live, *live.parent.glob("live_*.ts")}
    last = int(playlist.tags["#EXT-X-MEDIA-SEQUENCE"]) + len(playlist.segments)
    assert playlist.is_over and last >= 4, "more than those of the first part"


def test_parts_by_size_and_of_a_muted_camera(server, tmp_path):
    """Black has no keyframe that anybody could be asked for, and no size that would end a part: the time does."""
    publisher = server.foreign_publisher("--room", "sizes", "--codec", "VP8")
    recorder = server.recorder(
        *("sizes", "alice", tmp_path / "a.mkv", "--duration", "11s", "--part-size", "300k", "--part-duration", "3s")
    )
    after(recorder, 5)
    publisher.write("mute-video")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    files = parts(tmp_path, "a.mkv")
    assert len(files) >= 4
    for file in files:
        assert checks.decode_errors(file) == []
        assert file.stat().st_size < 400_000
    complete = [event["file"] for event in recorder.events if event["event"] == "file_complete"]
    assert complete == list(map(str, files)), "each is told once, as it is complete"
    lengths = [checks.length(file) for file in files]
    assert sum(lengths) == pytest.approx(11, abs=0.4) and max(lengths) < 3.6, lengths


def test_it_ends_before_the_files_are_too_large(server, tmp_path):
    server.foreign_publisher("--room", "full", "--codec", "VP8")
    files = [tmp_path / "a.mkv", tmp_path / "b.mp4"]
    recorder = server.recorder("full", "alice", *files, "--max-size", "1M", "--duration", "60s")
    finished = recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    assert finished["ended"] == "size"
    assert 500_000 < sum(file.stat().st_size for file in files) < 1_100_000
    for file in files:
        assert checks.decode_errors(file) == []


def test_segments_are_handed_on_in_order(server, tmp_path):
    """What goes in front, then each segment, and the playlist at last: whoever has the list has all that it names."""
    server.foreign_publisher("--room", "segments", "--codec", "H264")
    (tmp_path / "done").mkdir()
    recorder = server.recorder(
        *("segments", "alice", f"hls-fmp4={tmp_path}/web/a.m3u8", "--duration", "4s", "--set", "segment-duration=1"),
        *("--on-complete", f'cp "$1" {tmp_path}/done && basename "$1" >> {tmp_path}/order'),
    )
    assert recorder.finish(60) == 0, recorder.report("failed")
    order = (tmp_path / "order").read_text().split()
    segments = [f"a_{number:05}.m4s" for number in range(len(order) - 2)]
    assert order == ["a_init.mp4", *segments, "a.m3u8"] and len(segments) >= 3
    assert checks.decode_errors(tmp_path / "done/a.m3u8") == []


def test_a_command_has_the_signals_of_a_shell(server, tmp_path):
    """We ignore some, and a command would have to handle each failed write instead; what is blocked ends nobody."""
    server.foreign_publisher("--room", "signals", "--codec", "VP8", "--no-video")
    command = f'grep -E "Sig(Ign|Blk)" /proc/self/status > {tmp_path}/"$(basename "$1").signals"'
    options = ("--duration", "1s", "--on-complete", command)
    # These tests may run below nohup, which has SIGHUP ignored.
    recorder = server.recorder("signals", "alice", tmp_path / "a.ogg", *options, prefix=("env", "--default-signal=HUP"))
    assert recorder.finish(40) == 0, recorder.report("failed")
    said = dict(line.split(":") for line in (tmp_path / "a.ogg.signals").read_text().splitlines())
    assert int(said["SigBlk"], 16) == 0
    shells = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    assert not [number for number in shells if int(said["SigIgn"], 16) >> (number - 1) & 1]


def test_what_a_command_is_still_to_do_is_told(server, tmp_path):
    server.foreign_publisher("--room", "slow", "--codec", "VP8", "--no-video")
    options = ("--duration", "1s", "--on-complete", 'sleep 3; test -s "$1"')
    recorder = server.recorder("slow", "alice", tmp_path / "a.ogg", *options)
    assert recorder.finish(40) == 0, recorder.report("failed")
    [told] = [event for event in recorder.events if event["event"] == "completion_waiting"]
    assert (told["file"], told["left"]) == (str(tmp_path / "a.ogg"), 1)


def test_a_command_that_fails_is_told(server, tmp_path):
    server.foreign_publisher("--room", "command", "--codec", "VP8", "--no-video")
    recorder = server.recorder(
        *("command", "alice", tmp_path / "a.ogg", "--duration", "1s", "--on-complete", 'test -s "$1" && exit 3')
    )
    assert recorder.finish(40) == 1
    assert "ended with 3; the file is complete" in recorder.errors + str(recorder.events)
    assert checks.decode_errors(tmp_path / "a.ogg") == []


@pytest.mark.parametrize(
    "options, said",
    [
        (("--on-complete", "upload.sh"), "does not name the file"),
        (("--on-complete", "for file in *; do upload.sh; done"), "does not name the file"),
        (("--part-size", "5 apples"), "write a size such as 500M or 2G"),
        (("--part-size", "5k"), "at least 100 kB"),
        (("--part-duration", "0.1s"), "too short"),
        (("--max-size", "5k"), "at least 100k"),
    ],
)
def test_mistakes_are_named(local_server, tmp_path, options, said):
    recorder = local_server.recorder("wrong", None, tmp_path / "wrong.mp4", *options)
    assert recorder.finish(20) != 0
    assert said in recorder.errors + str(recorder.events), recorder.report("says something else")
