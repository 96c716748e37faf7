"""What is transcribed while it is recorded, beside the files and in them, as FFmpeg reads it."""

import html
import json
import re
import subprocess
from urllib.parse import unquote

import checks
import hls
import numpy as np
import pytest
from failures import after, assert_failed
from live_server import wait_until
from raw import Reader
from test_transcriptions import say, transcriber

CUE = re.compile(r"(\d+):(\d\d):(\d\d\.\d{3}) --> (\d+):(\d\d):(\d\d\.\d{3})\n((?:.+\n)+)")


def seconds(hours, minutes, rest):
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def cues(file):
    """(start, end, text) of each, of a file that FFmpeg reads too."""
    text = file.read_text()
    assert text.startswith("WEBVTT\n\n") and text.endswith("\n\n"), text
    found = [(seconds(*cue[:3]), seconds(*cue[3:6]), cue[6].rstrip("\n")) for cue in CUE.findall(text)]
    assert [start for start, _, _ in found] == sorted(start for start, _, _ in found)
    read = subtitles(file)
    assert [(start, end) for start, end, _ in found] == [(start, end) for start, end, _ in read], (text, read)
    return found


def subtitles(file):
    """(start, end, text) of each cue of the subtitles that FFmpeg finds in it."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(file), "-map", "0:s:0", "-f", "webvtt", "-"],
        capture_output=True, text=True, check=True,
    )
    short = re.sub(r"^(\d\d:\d\d\.\d{3}) --> (\d\d:\d\d\.\d{3})$", r"00:\1 --> 00:\2", done.stdout, flags=re.MULTILINE)
    return [(seconds(*cue[:3]), seconds(*cue[3:6]), cue[6].rstrip("\n")) for cue in CUE.findall(short)]


def test_captions_lie_beside_files_and_in_matroska(server, tmp_path):
    server.foreign_publisher("--room", "said", "--identity", "alice", "--codec", "VP8", "--tone")
    agent = transcriber(server, "said")
    files = [tmp_path / name for name in ("a.mp4", "b.mkv", "b.ogg")]
    options = ("--captions", "--manifest", "--duration", "10s")
    recorder = server.recorder("said", "alice", files[0], *options, *files[1:])
    begun = after(recorder, 2)["duration"]
    say(agent, interim=["1", "Hello"])
    ended = after(recorder, 4)["duration"]
    say(agent, final=["1", "Hello, <world> & all.\n\nIt is --> tea."], grow=["2", "How", " are you?"])
    say(agent, older=[["3", "How are you?", 0, 0, True]])
    later = after(recorder, 7)["duration"]
    say(agent, interim=["4", "Not said to the"], plain=["of no track: the agent's"])
    finished = [recorder.wait_for("finished", 60)["captions"] for _ in files]
    assert recorder.finish() == 0, recorder.report("failed")
    captions = [tmp_path / name for name in ("a.vtt", "b.vtt", "b.ogg.vtt")]
    assert sorted(each["files"] for each in finished) == sorted([str(file)] for file in captions)
    assert [each["cues"] for each in finished] == [3, 3, 3]
    first, second, last = cues(captions[0])
    assert first[:2] == pytest.approx((begun, ended), abs=0.7), (first, begun, ended)
    assert first[2] == "<v alice>Hello, &lt;world&gt; &amp; all.\nIt is --&gt; tea."
    assert second[2] == "<v alice>How are you?" and second[1] - second[0] >= 0.99, "once, though it came in both ways"
    assert last[2] == "<v alice>Not said to the" and last[0] == pytest.approx(later, abs=0.7), (last, later)
    assert captions[0].read_text() == captions[1].read_text() == captions[2].read_text()
    # The track has text in which players find no marks.
    track = subtitles(tmp_path / "b.mkv")
    assert [html.unescape(text) for _, _, text in track] == [
        "Hello, <\u200bworld> & all.\nIt is --> tea.", "How are you?", "Not said to the",
    ], track
    for (start, end, _), (begin, finish, _) in zip(track, (first, second, last)):
        assert start == pytest.approx(begin, abs=0.01) and end == pytest.approx(finish, abs=0.01)
    assert checks.decode_errors(tmp_path / "b.mkv") == []
    covered = checks.durations(tmp_path / "b.mkv")
    assert covered["video"] == pytest.approx(10, abs=0.3) and covered["audio"] == pytest.approx(10, abs=0.3)
    told = json.loads((tmp_path / "a.mp4.json").read_text())
    assert sorted(each["captions"] for each in told["destinations"]) == sorted([str(file)] for file in captions)


def test_each_part_has_what_is_said_in_it(server, tmp_path):
    server.foreign_publisher("--room", "parts", "--identity", "alice", "--no-video", "--tone")
    agent = transcriber(server, "parts")
    recorder = server.recorder(
        "parts", "alice", tmp_path / "a.mkv", "--captions", "--part-duration", "6s", "--duration", "11s"
    )
    recorder.wait_for("recording")
    for number in range(2):
        say(agent, final=[f"{number}", f"part {number + 1}"])
        after(recorder, 7)
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    for number, name in enumerate(("a", "a-2")):
        ((start, _, text),) = cues(tmp_path / f"{name}.vtt")
        assert text == f"<v alice>part {number + 1}" and start < 5, (name, start, text)
        ((begin, _, text),) = subtitles(tmp_path / f"{name}.mkv")
        assert text == f"part {number + 1}" and begin == pytest.approx(start, abs=0.01)
    assert not (tmp_path / "a-3.vtt").exists()


def test_a_mixed_room_says_who_it_is(server, tmp_path):
    for name in ("alice", "bob"):
        server.foreign_publisher("--room", "mixed", "--identity", name, "--no-video", "--tone")
    agents = [
        transcriber(server, "mixed", "--identity", f"{name}-agent", "--speaker", name) for name in ("alice", "bob")
    ]
    recorder = server.recorder(
        "mixed", None, tmp_path / "a.mkv", "--composite", "grid", "--audio-only", "--captions", "--duration", "6s"
    )
    after(recorder, 1)
    say(agents[0], interim=["1", "I am"])
    after(recorder, 2)
    say(agents[1], final=["1", "Who are you?"])
    after(recorder, 4)
    say(agents[0], final=["1", "I am Alice."])
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    alice, bob = cues(tmp_path / "a.vtt")
    assert (alice[2], bob[2]) == ("<v alice>I am Alice.", "<v bob>Who are you?")
    assert alice[0] < bob[0] < bob[1] <= alice[1] + 0.1, "who began first stands first"
    assert {text for _, _, text in subtitles(tmp_path / "a.mkv")} == {"alice: I am Alice.", "bob: Who are you?"}


def test_a_kill_leaves_what_was_said(server, tmp_path):
    server.foreign_publisher("--room", "kill", "--identity", "alice", "--no-video", "--tone")
    agent = transcriber(server, "kill")
    recorder = server.recorder("kill", "alice", tmp_path / "a.ogg", "--captions")
    after(recorder, 1)
    assert cues(tmp_path / "a.vtt") == []
    say(agent, final=["1", "Hello"])
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.kill()
    ((_, _, text),) = cues(tmp_path / "a.vtt")
    assert text == "<v alice>Hello"


def test_nothing_that_was_said_is_said(server, tmp_path):
    server.foreign_publisher("--room", "quiet", "--identity", "alice", "--no-video", "--tone")
    recorder = server.recorder("quiet", "alice", tmp_path / "a.mkv", "--captions", "--duration", "2s")
    finished = recorder.wait_for("finished", 30)
    assert recorder.finish() == 0, recorder.report("failed")
    assert finished["captions"] == {"files": [str(tmp_path / "a.vtt")], "cues": 0}
    assert cues(tmp_path / "a.vtt") == []
    assert checks.decode_errors(tmp_path / "a.mkv") == []
    again = server.recorder("quiet", "alice", tmp_path / "a.webm", "--captions", "--duration", "2s")
    assert_failed(again, "a.vtt exists already", "--overwrite")
    live = server.recorder("quiet", "alice", "udp://127.0.0.1:9", "--captions", "--duration", "2s", command="stream")
    assert_failed(live, "no destination is a file")


def renditions(master):
    """The playlists of the video and of the captions that a master playlist names."""
    lines = master.read_text().splitlines()
    assert lines[0] == "#EXTM3U" and any(line.startswith("#EXT-X-STREAM-INF:BANDWIDTH=") for line in lines)
    (media,) = [line for line in lines if line.startswith("#EXT-X-MEDIA:TYPE=SUBTITLES,")]
    (video,) = [line for line in lines if line and not line.startswith("#")]
    return master.parent / unquote(video), master.parent / unquote(re.search(r'URI="([^"]+)"', media)[1])


def codecs(file):
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name", "-of", "csv=p=0", str(file)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def assert_in_step(master, kind):
    """Both renditions are valid, have segments of the same times, and a player finds the same words at the same moments."""
    video, captions = (hls.read(file) for file in renditions(master))
    for playlist in (video, captions):
        hls.assert_valid(playlist, kind)
    for name in ("#EXT-X-PLAYLIST-TYPE", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE"):
        assert captions.tags.get(name) == video.tags.get(name)
    assert captions.is_over == video.is_over
    assert [(each.duration, each.date) for each in captions.segments] == [
        (each.duration, each.date) for each in video.segments
    ]
    # FFmpeg plays the master playlist, and passes over its subtitles, of which it reads each segment.
    assert {"h264,video", "aac,audio"} <= codecs(master)
    assert all(codecs(segment.path) == {"webvtt,subtitle"} for segment in captions.segments)
    return captions


@pytest.mark.parametrize(("output", "origin"), [("hls", 3600 * 90_000), ("hls-fmp4", 0)])
def test_a_playlist_has_captions_beside_it(server, tmp_path, output, origin):
    server.foreign_publisher("--room", output, "--identity", "alice", "--codec", "H264", "--tone")
    agent = transcriber(server, output)
    (tmp_path / "hls").mkdir()
    playlist, done = tmp_path / "hls" / "talk.m3u8", tmp_path / "done"
    done.mkdir()
    recorder = server.recorder(
        *(output, "alice", f"{output}={playlist}", "--captions", "--set", "segment-duration=2"),
        *("--duration", "9s", "--on-complete", f'cp "$1" {done}'),
    )
    after(recorder, 2)
    say(agent, interim=["1", "Hel"])
    after(recorder, 4.5)
    say(agent, final=["1", "Hello"])
    after(recorder, 7)
    say(agent, final=["2", "and & goodbye"])
    finished = recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    master = playlist.with_name("talk_master.m3u8")
    captions = assert_in_step(master, "EVENT")
    assert captions.is_over
    assert finished["captions"] == {"files": [str(playlist.with_name("talk_captions.m3u8")), str(master)], "cues": 2}
    begin, seen = 0, {}
    for segment in captions.segments:
        head, _, rest = segment.path.read_text().partition("\n\n")
        assert head == f"WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:{origin},LOCAL:00:00:00.000"
        for cue in CUE.findall(rest):
            start, end, text = seconds(*cue[:3]), seconds(*cue[3:6]), cue[6].rstrip("\n")
            assert start < begin + segment.duration and end > begin, (cue, begin)
            seen.setdefault(text, (start, end))
        begin += segment.duration
    assert list(seen) == ["<v alice>Hello", "<v alice>and &amp; goodbye"], seen
    # It began 2.5 s before it was final, when its segment was over.
    assert 1.9 < seen["<v alice>Hello"][0] < seen["<v alice>Hello"][1] < seen["<v alice>and &amp; goodbye"][1] < 10, seen
    written = {file.name for file in playlist.parent.iterdir()}
    assert {file.name for file in done.iterdir()} == written, "each file was handed on"
    first = hls.packets(hls.alone(hls.read(playlist), hls.read(playlist).segments[0], tmp_path))[0][0]
    assert first == pytest.approx(origin / 90_000, abs=0.1), "time zero of the cues"


def test_a_live_playlist_drops_old_captions(server, tmp_path):
    server.foreign_publisher("--room", "live", "--identity", "alice", "--codec", "H264")
    agent = transcriber(server, "live")
    values = ("playlist=live", "live-segments=3", "delete-segments=true", "segment-duration=0.5")
    sets = [part for value in values for part in ("--set", value)]
    recorder = server.recorder("live", "alice", tmp_path / "a.m3u8", "--captions", *sets, "--duration", "10s")
    after(recorder, 3)
    say(agent, final=["1", "Hello"])
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    captions = assert_in_step(tmp_path / "a_master.m3u8", None)
    assert 3 <= len(captions.segments) < 10
    kept = sorted(tmp_path.glob("a_captions_*.vtt"))
    assert len(captions.segments) <= len(kept) <= 2 * len(captions.segments) + 1


def above(folder):
    """A layout that leaves room below Alice."""
    layout = folder / "layout.yaml"
    layout.write_text("tiles:\n  - {x: 0, y: 0, width: 1, height: 1/2, participant: alice}\n")
    return layout


def rows(luma):
    """How many lines are written into that room, and how far to the right they go."""
    white = luma[400:] > 180
    written = np.flatnonzero(np.count_nonzero(white, axis=1) > 2)
    lines = np.count_nonzero(np.diff(written, prepend=-10) > 4)
    return lines, int(np.flatnonzero(white.any(axis=0)).max(initial=0))


def runs(seen):
    """(what, first time, last time) of what is seen one after the other."""
    told = []
    for time, what in seen:
        if told and told[-1][0] == what:
            told[-1][2] = time
        else:
            told.append([what, time, time])
    return told


@pytest.mark.realtime
def test_captions_are_burned_into_a_mixed_room(server, tmp_path):
    """Each is in the frames from its moment on, grows in its place, and goes when it has been read."""
    server.foreign_publisher("--room", "burned", "--identity", "alice", "--codec", "VP8", "--tone")
    server.foreign_publisher("--room", "burned", "--identity", "bob", "--no-video", "--tone")
    agents = [
        transcriber(server, "burned", "--identity", f"{name}-agent", "--speaker", name) for name in ("alice", "bob")
    ]
    file = tmp_path / "a.mp4"
    recorder = server.recorder(
        "burned", None, file, "--composite", above(tmp_path), "--burn-captions", "--captions", "--duration", "16s"
    )
    after(recorder, 2)
    say(agents[0], interim=["1", "The clocks were"])
    after(recorder, 5)
    said = "The clocks were striking thirteen today."
    say(agents[0], final=["1", said])
    after(recorder, 10)
    say(agents[0], final=["2", "Who of us has been counting them?"])
    say(agents[1], final=["1", "I have, of course."])
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    first, second, last = cues(tmp_path / "a.vtt")
    assert checks.decode_errors(file) == []
    frames = [(time, rows(luma)) for time, luma in checks.frames(file)]
    # Alice's second stays for 2 s, Bob's for 1 s.
    one, gap, several, none = [each for each in runs((time, min(lines, 1)) for time, (lines, _) in frames)][1:]
    assert (one[0], gap[0], several[0], none[0]) == (1, 0, 1, 0)
    reading = 0.05 * len(said)
    assert one[1] == pytest.approx(first[0], abs=0.15) and one[2] == pytest.approx(first[1] + reading, abs=0.15)
    assert several[1] == pytest.approx(second[0], abs=0.15) and last[0] == pytest.approx(second[0], abs=0.5)
    assert several[2] == pytest.approx(second[1], abs=0.5)
    wide = [(time, right) for time, (_, right) in frames if one[1] <= time <= one[2]]
    grown = [right for time, right in wide if time > first[1] + 0.2]
    short = [right for time, right in wide if time < first[1] - 0.2]
    assert max(short) + 80 < min(grown), "it grows when its words come"
    assert {lines for time, (lines, _) in frames if last[0] + 0.2 < time < last[0] + 0.8} == {2}, "a line for each"


def test_captions_are_burned_into_frames_for_programs(server, tmp_path):
    server.foreign_publisher("--room", "raw", "--identity", "alice", "--codec", "VP8", "--tone")
    agent = transcriber(server, "raw")
    file = tmp_path / "frames.raw"
    reader = Reader(
        server, "frames", "--composite", above(tmp_path), "--size", "1280x720", "--fps", 5, "--format", "gray8",
        "--burn-captions", "--exec", f"cat > {file}", "--duration", "6s", room="raw",
    )
    wait_until("frames", lambda: file.exists() and file.stat().st_size > 5 * 1280 * 720, 30)
    say(agent, final=["1", "Hello to all programs."])
    assert reader.finish() == 0, reader.said
    frames = np.fromfile(file, np.uint8).reshape(-1, 720, 1280)
    assert [lines for lines, _, _ in runs((0, rows(luma)[0]) for luma in frames)] == [0, 1, 0]
