"""Playlists and their segments, played by FFmpeg and checked against RFC 8216."""

import datetime
import shutil

import checks
import chromium
import clip
import hls
import numpy as np
import pytest
from failures import assert_failed
from programs import KEYS, mediabridge

FPS = 25
SECONDS = 9
DURATION = ("--duration", f"{SECONDS}s")
LIVE = {"playlist": "live", "live-segments": 3, "delete-segments": "true", "segment-duration": 0.5}


def values(**named):
    return [part for name, value in named.items() for part in ("--set", f"{name.replace('_', '-')}={value}")]


def assert_plays(file, playlist):
    """From the first segment to the last as one, with nothing missing in between."""
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert sum(segment.duration for segment in playlist.segments) == pytest.approx(SECONDS, abs=0.5)
    assert checks.durations(file) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.5)
    frames = checks.numbered(file, clip.SIZE)
    shown = [(number, time) for number, time, _ in frames if number is not None]
    numbers = [number for number, _ in shown]
    assert len(numbers) >= 0.9 * len(frames) and numbers == sorted(numbers), numbers
    # Numbers and times advance together, with no segment missing; how often a busy sender skips or stalls is its own affair.
    drift = [number / FPS - time for number, time in shown]
    assert max(drift) - min(drift) < 1, f"frames move by {max(drift) - min(drift):.3f} s against their time"
    times = [time for _, time, _ in frames]
    assert max(np.diff(times)) < 1, f"nothing is shown for {max(np.diff(times)):.3f} s"
    offsets = checks.flash_offsets(frames, FPS, *checks.audio(file))
    assert len(offsets) >= SECONDS - 2 and np.median(np.abs(offsets)) <= 0.045, offsets


def assert_on_demand(file, folder, told, span):
    """All that was recorded, in segments of 2 s, and nothing else in the folder."""
    playlist = hls.read(file)
    hls.assert_valid(playlist, "EVENT")
    hls.assert_segments(playlist, folder)
    assert playlist.is_over and len(playlist.segments) >= SECONDS // 2
    assert_plays(file, playlist)
    files = [segment.path for segment in playlist.segments]
    assert told["segments"] == [str(file) for file in files]
    more = [playlist.initialization] if playlist.initialization else []
    assert told["bytes"] == sum(path.stat().st_size for path in (*files, *more))
    assert told["duration"] == pytest.approx(SECONDS, abs=0.5)
    last = playlist.segments[-1]
    assert span[0] < playlist.segments[0].date and last.date + datetime.timedelta(seconds=last.duration) < span[1]
    assert set(file.parent.iterdir()) == {file, *files, *more}


def assert_live(file, folder, told):
    """The newest segments, and those that somebody may still play."""
    playlist = hls.read(file)
    hls.assert_valid(playlist, None)
    hls.assert_segments(playlist, folder)
    kept, listed = sorted(file.parent.glob("live_*.ts")), len(playlist.segments)
    assert [segment.path for segment in playlist.segments] == kept[-listed:] and len(kept) in (2 * listed, 2 * listed + 1)
    assert 3 <= sum(segment.duration for segment in playlist.segments) < 4, "three target durations, and no more"
    first = int(playlist.tags["#EXT-X-MEDIA-SEQUENCE"])
    assert first >= SECONDS and kept[-1].name == f"live_{first + listed - 1:05}.ts"
    assert told["segments"] == [str(file) for file in kept] and told["duration"] == pytest.approx(SECONDS, abs=0.5)


@pytest.mark.realtime
def test_as_sent_encoded_and_mixed(server, tmp_path):
    server.foreign_publisher("--room", "many", "--identity", "alice", "--codec", "H264")
    server.foreign_publisher("--room", "many", "--identity", "bob", "--codec", "VP8")
    files = {name: tmp_path / name / f"{name}.m3u8" for name in ("alice", "bob", "live")}
    fragmented = tmp_path / "a folder" / "fragments.m3u8"
    running, begun = {}, datetime.datetime.now(datetime.timezone.utc)
    for name in ("alice", "bob"):
        more = (f"hls-fmp4={fragmented}", "--set", "hls-fmp4.filename-suffix=timestamp") if name == "alice" else ()
        running[name] = server.recorder("many", name, files[name], *values(segment_duration=2), *DURATION, *more)
    options = ("--composite", "grid", "--size", "640x360", *values(**LIVE), *DURATION)
    running["live"] = server.recorder("many", None, files["live"], *options)
    told = {}
    for recorder in running.values():
        recorder.wait_for("finished", 60)
        assert recorder.finish() == 0, recorder.report("failed")
        told |= {event["file"]: event for event in recorder.events if event["event"] == "finished"}
    span = begun, datetime.datetime.now(datetime.timezone.utc)
    for file in (files["alice"], files["bob"], fragmented):
        video = next(track for track in told[str(file)]["tracks"] if track["kind"] == "video")
        assert video["passthrough"] == (file != files["bob"])
        assert_on_demand(file, tmp_path, told[str(file)], span)
    assert hls.read(fragmented).initialization.name == "fragments_init.mp4"
    for segment in hls.read(fragmented).segments:
        named = datetime.datetime.strptime(segment.path.stem + "000+0000", "fragments_%Y%m%d%H%M%S%f%z")
        assert abs((named - segment.date).total_seconds()) <= 0.002
    assert_live(files["live"], tmp_path, told[str(files["live"])])


def test_segments_of_a_mixed_room_are_as_long_as_asked(server, tmp_path):
    """Of 30 frames a second, whatever its encoder would do."""
    server.own_publisher("lengths", "alice", "vp8")
    lists = {length: tmp_path / f"{length}" / "a.m3u8" for length in (2, 3)}
    recorders = [
        server.recorder(
            "lengths", None, file, "--composite", "grid", "--size", "320x180", "--duration", "7s",
            "--set", f"segment-duration={length}",
        )
        for length, file in lists.items()
    ]
    for recorder, (length, file) in zip(recorders, lists.items()):
        recorder.wait_for("finished", 60)
        assert recorder.finish() == 0, recorder.report("failed")
        told = [segment.duration for segment in hls.read(file).segments]
        assert told[:-1] == pytest.approx([length] * (len(told) - 1), abs=0.05) and len(told) == -(-7 // length), told


def test_a_page_plays_fragments(server, tmp_path):
    """Chromium, through Media Source Extensions: one stretch without a hole, and at each second the frame of that time."""
    server.foreign_publisher("--room", "page", "--codec", "H264")
    file = tmp_path / "page.m3u8"
    recorder = server.recorder("page", "alice", f"hls-fmp4={file}", *values(segment_duration=1), "--duration", "5s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    said, frames = chromium.play(file)
    assert "error" not in said, said
    ((begin, end),) = said["buffered"]
    assert begin < 0.05 and end == pytest.approx(5, abs=0.3) and said["duration"] == pytest.approx(end, abs=0.1)
    assert said["played"] > 1 and said["audio"] > 10_000, said
    numbers = [clip.read(frames[time]) for time in sorted(frames)]
    assert len(numbers) >= 4 and np.diff(numbers) == pytest.approx(FPS, abs=3), numbers


def wait_for_segments(recorder, count):
    """Until so many are complete."""
    while recorder.wait_for("progress")["destinations"][0].get("segment_count", 0) < count:
        pass


def test_audio_alone_and_what_ends_early(local_server, tmp_path, disks):
    local_server.own_publisher("one", "alice", "h264")
    second = values(segment_duration=1)
    voice, killed, lost = (tmp_path / name / "a.m3u8" for name in ("voice", "killed", "lost"))
    full = disks("full", 300) / "a.m3u8"
    audio = ("--audio-only", *second, *values(live_playlist="live.m3u8", live_segments=3), "--duration", "4s")
    hearing = local_server.recorder("one", "alice", voice, *audio)
    filling, dying, losing = (local_server.recorder("one", "alice", file, *second) for file in (full, killed, lost))
    wait_for_segments(dying, 2)
    dying.kill()
    playlist = hls.read(killed)
    assert not playlist.is_over and len(playlist.segments) >= 2
    hls.assert_segments(playlist, tmp_path)
    wait_for_segments(losing, 1)
    shutil.rmtree(lost.parent)
    assert_failed(losing, str(lost), "was removed")
    assert_failed(filling, str(full), "disk is full", "the first 00:00:0", within=60)
    playlist = hls.read(full)
    assert playlist.is_over and checks.decode_errors(full) == []
    assert set(full.parent.iterdir()) == {full, *(segment.path for segment in playlist.segments)}
    hearing.wait_for("finished")
    assert hearing.finish() == 0, hearing.report("failed")
    playlist, live = hls.read(voice), hls.read(voice.with_name("live.m3u8"))
    hls.assert_valid(playlist, "EVENT")
    hls.assert_valid(live, None)
    assert len(live.segments) >= 3 and playlist.segments[-len(live.segments) :] == live.segments and live.is_over
    assert checks.durations(voice) == pytest.approx({"audio": 4}, abs=0.3) and checks.decode_errors(voice) == []
    for segment in playlist.segments:
        assert checks.decode_errors(segment.path) == [] and checks.durations(segment.path)["audio"] > 0.9 * segment.duration


@pytest.mark.parametrize(
    "setting, reason",
    [("segment-duration=x", "give seconds"), ("delete-segments=true", "set playlist=live too")],
)
def test_what_cannot_be_is_said_at_once(start, tmp_path, setting, reason):
    command = ("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", "--json", "--set", setting)
    program = start(mediabridge(*command, tmp_path / "x.m3u8"))
    assert_failed(program, "", reason)
    assert list(tmp_path.iterdir()) == []
