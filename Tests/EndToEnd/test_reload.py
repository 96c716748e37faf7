"""Texts of pipeline templates that are edited while an output runs: what is right takes over, and what is wrong is told."""

import json
from pathlib import Path

import checks
import clip
import hls
import numpy as np
import pytest
from failures import after
from live_server import LiveServer
from programs import ROOT
from raw import Reader, lines, of

SIZE = (320, 180)
SMALL = ("--width", 320, "--height", 180, "--fps", 15)
ENCODE, RTMP, HLS, FILE = "encode/h264", "output/rtmp", "output/hls", "output/mkv"
# Of a text, what is broken in it by which edit, and words of what is said.
BROKEN = [
    (HLS, ("mpegtsmux name=mux", "mpegtsmoox name=mux"), "mpegtsmoox"),
    (RTMP, ("streamable=true", "streamable=true speed=9"), "speed"),
    (ENCODE, ('caps="video/x-raw"', 'caps="video/x-raw'), "quote"),
    (HLS, ("name=mux alignment", "name=${mux alignment"), '"}"'),
    (RTMP, ("! mux.video", "! mox.video"), "mox"),
    (ENCODE, ("name=frames", "name=frame"), "frames or pcm"),
    (HLS, ("alignment=0", "alignment=all"), "alignment"),
    (RTMP, ("! rtmp2sink", "! rtmp2snk"), "rtmp2snk"),
    (ENCODE, ("encoder bitrate", "encoder bit-rate"), "bit-rate"),
    (HLS, ("sync=false", "snyc=false"), "snyc"),
]
# What is right, with how many destinations it is of.
RIGHT = [
    (ENCODE, "${bitrate:-", [700, 500, 600, 400], 2),
    (RTMP, "${chunk:-", [1000, 2000, 3000], 1),
    (HLS, "${queue:-", [900, 800, 700], 1),
]


class Texts:
    """A user's folder of texts, which came with the program at first."""

    def __init__(self, folder):
        self.folder = folder
        self.now = {}
        for name in (ENCODE, RTMP, HLS, FILE):
            self.add(name)

    def add(self, name):
        self.now[name] = (ROOT / f"pipelines/{name}.pipeline").read_text()
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(self.now[name])

    def path(self, name):
        return Path(self.folder / f"{name}.pipeline")

    def write(self, name, text):
        """As editors do it."""
        fresh = self.path(name).with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self.path(name))

    def set(self, name, default, value):
        """Another default of a variable."""
        first, *others = self.now[name].split(default)
        self.now[name] = "".join([first, *(f"{default}{value}{rest[rest.index('}'):]}" for rest in others)])
        self.write(name, self.now[name])

    def break_(self, name, old, new):
        assert old in self.now[name], (name, old)
        self.write(name, self.now[name].replace(old, new, 1))


@pytest.fixture
def texts(tmp_path):
    return Texts(tmp_path / "texts")


@pytest.fixture
def live(start, namespace, tmp_path):
    return LiveServer(start, namespace.command, tmp_path / "live")


def assert_taken(recorder, texts, edit):
    name, default, value, count = edit
    texts.set(name, default, value)
    assert_reloaded(recorder, name, count)


def assert_reloaded(recorder, name, count=1):
    told = [recorder.wait_for("reloaded", 20) for _ in range(count)]
    assert [one["templates"] for one in told] == [[name]] * count, recorder.report(f"{name} is not taken over")
    # One encoder begins for all of them.
    assert len({one["start"] for one in told}) == 1, told
    after(recorder, told[0]["start"] + 1)
    return told[0]["start"]


def assert_refused(recorder, texts, broken, count):
    name, (old, new), words = broken
    texts.break_(name, old, new)
    told = recorder.wait_for("reload_refused", 20)
    place, _, what = told["message"].partition(": ")
    assert place.rpartition(":")[0] == str(texts.path(name)) and place.rpartition(":")[2].isdigit(), told
    assert words in told["message"] and len(told["destinations"]) == count, told
    texts.write(name, texts.now[name])


def assert_goes_on(files):
    """Each decodes, and the frames of all go on without one that is missing or comes twice."""
    numbers = []
    for file in files:
        assert checks.decode_errors(file) == [], file
        numbers += [number for number, _, _ in checks.numbered(file, SIZE) if number is not None]
    steps = [b - a for a, b in zip(numbers, numbers[1:])]
    # A publisher on a busy machine leaves out single frames.
    assert min(steps) >= 1 and max(steps) <= 5, f"{[file.name for file in files]}: {steps}"


def assert_playlist(file, changes):
    text = file.read_text()
    assert text.count("#EXT-X-DISCONTINUITY\n") == changes and text.count("#EXT-X-ENDLIST") == 1, text
    playlist = hls.read(file)
    assert playlist.is_over and all(segment.path.exists() for segment in playlist.segments)
    assert_goes_on([file])


def record(server, texts, folder, live, *more):
    server.foreign_publisher("--room", "texts", "--codec", "VP8", "--duration", 300, *SMALL)
    options = ("--pipelines", texts.folder, "--set", "hls.segment-duration=1")
    recorder = server.recorder("texts", "alice", live.address, *options, *more, folder / "a.m3u8")
    after(recorder, 2)
    return recorder


def end(recorder):
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    return {event["file"].split("{")[0]: event for event in recorder.events if event["event"] == "finished"}


# No frame is missing only while encoder and live server keep up.
@pytest.mark.realtime
def test_texts_that_change_take_over(server, live, texts, tmp_path):
    """A server, a playlist and a file: one encoder anew for the first two, another part of the file, and a mistake."""
    recorder = record(server, texts, tmp_path, live, tmp_path / "b.mkv", "--manifest")
    assert_taken(recorder, texts, (ENCODE, "${bitrate:-", 700, 2))
    assert_refused(recorder, texts, BROKEN[0], 1)
    # What an encoder says only when frames come is no reason to lose the one that runs.
    assert_refused(recorder, texts, (ENCODE, ("profile=main", "profile=high-4:4:4"), "stream error"), 2)
    texts.set(FILE, "${queue:-", 900)
    assert recorder.wait_for("reloaded", 20)["part"] == str(tmp_path / "b-2.mkv")
    # The same pipeline with other remarks is no other one; neither is one that is broken and mended at once.
    texts.write(RTMP, "# Mine.\n" + texts.now[RTMP])
    assert_taken(recorder, texts, (HLS, "${queue:-", 900, 1))
    told = end(recorder)
    assert [one["templates"] for one in told[str(tmp_path / "b.mkv")]["reloads"]] == [[FILE]]
    assert len(live.received) == 2 and told["rtmp://127.0.0.1:1935/live/"]["losses"] == 0
    assert_goes_on(live.received)
    assert_goes_on([tmp_path / "b.mkv", tmp_path / "b-2.mkv"])
    assert_playlist(tmp_path / "a.m3u8", 2)
    manifest = json.loads((tmp_path / "a.m3u8.json").read_text())
    assert sorted(name for one in manifest["reloads"] for name in one["templates"]) == [ENCODE, ENCODE, HLS, FILE]


def test_what_a_text_declares_takes_over(server, texts, tmp_path):
    """Seconds of a segment, which no element is told."""
    server.foreign_publisher("--room", "texts", "--codec", "H264", "--duration", 300, *SMALL)
    file = tmp_path / "a.m3u8"
    recorder = server.recorder("texts", "alice", file, "--pipelines", texts.folder)
    after(recorder, 5)
    texts.set(HLS, "${segment-duration:-", 1)
    start = assert_reloaded(recorder, HLS)
    after(recorder, start + 5)
    end(recorder)
    playlist = hls.read(file)
    lengths = [segment.duration for segment in playlist.segments]
    # A keyframe that somebody else asks for ends one sooner.
    assert playlist.is_over and max(lengths[:3]) > 1.8 and len(lengths) >= 6, lengths
    assert all(length < 1.2 for length in lengths[-4:]), lengths
    assert checks.decode_errors(file) == []


# What an encoder makes darker, which is seen in every frame but flashes.
DARKER = ("add-borders=true n-threads=1", "add-borders=true n-threads=1 ! videobalance brightness=-0.15")
TRANSPORT = {
    "udp": [("! udpsink", "! udpsnk", "udpsnk"), ("alignment=7", "alignment=all", "alignment")],
    "srt": [("! srtsink", "! srtsnk", "srtsnk"), ("wait-for-connection=false", "wait-for=false", "wait-for")],
}


def stream_texts(server, texts, address):
    server.foreign_publisher("--room", "texts", "--codec", "VP8", "--duration", 300, *SMALL)
    texts.add(f"output/{address.partition(':')[0]}")
    recorder = server.recorder("texts", "alice", address, "--pipelines", texts.folder, command="stream")
    after(recorder, 2)
    return recorder


def edit_all(recorder, texts, scheme):
    """The encoder's text, and the output's, with mistakes between."""
    name, (first, second) = f"output/{scheme}", TRANSPORT[scheme]
    assert_refused(recorder, texts, (name, first[:2], first[2]), 1)
    texts.now[ENCODE] = texts.now[ENCODE].replace(*DARKER)
    assert DARKER[1] in texts.now[ENCODE]
    texts.write(ENCODE, texts.now[ENCODE])
    assert_reloaded(recorder, ENCODE)
    assert_refused(recorder, texts, (name, second[:2], second[2]), 1)
    assert_taken(recorder, texts, (name, "${queue:-", 200, 1))


def assert_darkens(file):
    """Once, and for good."""
    shown = checks.numbered(file, SIZE, anew=True)
    levels = [luma.mean() for number, _, luma in shown if number is not None and number % 15 > 2]
    before, afterwards = sum(levels[:10]) / 10, sum(levels[-10:]) / 10
    assert before - afterwards > 20, levels
    dark = [level < (before + afterwards) / 2 for level in levels]
    assert dark == sorted(dark), levels


def test_texts_of_a_udp_stream_take_over(server, start, texts, tmp_path):
    """One receiver has all of it: no frame is missing."""
    file = tmp_path / "received.ts"
    peer = ("ffmpeg", "-v", "error", "-nostdin", "-i", "udp://127.0.0.1:5004?timeout=5000000", "-c", "copy", file)
    receiver = start(server.enter(*peer))
    recorder = stream_texts(server, texts, "udp://127.0.0.1:5004")
    edit_all(recorder, texts, "udp")
    end(recorder)
    # Once nothing has come for 5 s.
    receiver.finish(20)
    assert_goes_on([file])
    assert_darkens(file)


@pytest.mark.parametrize("mode", ["caller", "listener"])
def test_texts_of_an_srt_stream_take_over(server, start, texts, tmp_path, mode):
    """It is connected anew for them, to a receiver that is there again at once and writes on into the same file."""
    file, theirs = tmp_path / "received.ts", "listener" if mode == "caller" else "caller"
    uri = f"srt://127.0.0.1:7001?mode={theirs}"
    source = ("srtsrc", f"uri={uri}", *(("keep-listening=true",) if mode == "caller" else ()))
    receiver = start(server.enter("gst-launch-1.0", "-q", *source, "!", "filesink", "buffer-mode=2", f"location={file}"))
    recorder = stream_texts(server, texts, "srt://127.0.0.1:7001" if mode == "caller" else "srt://:7001?mode=listener")
    edit_all(recorder, texts, "srt")
    told = end(recorder)["srt://127.0.0.1:7001" if mode == "caller" else "srt://:7001?mode=listener"]
    assert told["losses"] == 0 and [one["templates"] for one in told["reloads"]] == [[ENCODE], ["output/srt"]], told
    receiver.stop()
    assert_darkens(file)
    numbers = [number for number, _, _ in checks.numbered(file, SIZE, anew=True) if number is not None]
    steps = [b - a for a, b in zip(numbers, numbers[1:])]
    # Who calls again is there a moment later, and begins with the next keyframe.
    assert min(steps) >= 1 and max(steps) <= (5 if mode == "caller" else 45), steps


def test_a_text_that_a_server_refuses_is_given_up(server, live, texts, tmp_path):
    """What nothing but the server can say: the text before is tried again at once."""
    recorder = record(server, texts, tmp_path, live)
    texts.break_(RTMP, "location=${location}", 'location="${location}x"')
    told = recorder.wait_for("reload_refused", 20)
    assert f"{texts.path(RTMP)}:" in told["message"] and "publish" in told["message"], told
    after(recorder, recorder.wait_for_new("progress")["duration"] + 1)
    told = end(recorder)["rtmp://127.0.0.1:1935/live/"]
    assert told["losses"] == 1 and told["away"] < 5 and told["reloads"] == [], told
    assert len(live.received) == 2 and [checks.decode_errors(file) for file in live.received] == [[], []]


DECODED = ("! appsink name=frames", "! identity ! appsink name=frames")


def test_a_receive_template_takes_over(server, live, texts, tmp_path):
    """What is made of a track goes on as it is."""
    name = "receive/vp8"
    texts.add(name)
    recorder = record(server, texts, tmp_path, live)
    assert_refused(recorder, texts, (name, ("rtpvp8depay", "rtpvp8depax"), "rtpvp8depax"), 2)
    texts.write(name, texts.now[name].replace(*DECODED))
    assert_reloaded(recorder, name, 2)
    told = end(recorder)
    assert [event["losses"] for event in told.values() if "losses" in event] == [0]
    assert len(live.received) == 1
    assert_goes_on(live.received)
    assert_playlist(tmp_path / "a.m3u8", 0)


def test_a_receive_template_of_frames_takes_over(server, texts, tmp_path):
    name = "receive/vp8"
    texts.add(name)
    server.foreign_publisher("--keep-size", *SMALL)
    log = tmp_path / "info.jsonl"
    frames = Reader(server, "frames", "--pipelines", texts.folder, "--format", "gray8", "--info", log)
    size = SIZE[0] * SIZE[1]
    read = [frames.read(size) for _ in range(20)]
    texts.write(name, texts.now[name].replace(*DECODED))
    while len(of("frame", lines(log))) < 300 and not of("reloaded", frames.events):
        read.append(frames.read(size))
    read += [frames.read(size) for _ in range(20)]
    frames.stop()
    assert [event["templates"] for event in of("reloaded", frames.events)] == [[name]], frames.said
    numbers = [clip.read(np.frombuffer(frame, np.uint8).reshape(SIZE[::-1])) for frame in read]
    assert {b - a for a, b in zip(numbers, numbers[1:])} <= {1, 2}, numbers


@pytest.mark.long
def test_twenty_edits_of_which_half_are_broken(server, live, texts, tmp_path):
    recorder = record(server, texts, tmp_path, live)
    right = [(name, default, value, count) for name, default, values, count in RIGHT for value in values]
    for edit, broken in zip(right, BROKEN, strict=True):
        assert_taken(recorder, texts, edit)
        assert_refused(recorder, texts, broken, 2 if broken[0] == ENCODE else 1)
    told = end(recorder)
    assert told["rtmp://127.0.0.1:1935/live/"]["losses"] == 0
    assert len(live.received) == 1 + 4 + 3
    assert_goes_on(live.received)
    assert_playlist(tmp_path / "a.m3u8", 4 + 3)


# Who mixes has to keep up with two mixes for a moment.
@pytest.mark.realtime
def test_texts_of_a_mixed_room_take_over(server, texts, tmp_path):
    """The room is seen on the left; what is right of it shows which text mixes. Files go on, and nothing is missing."""
    mix, tile, voice = "mix/video", "tile/video", "tile/audio"
    for name in (mix, tile, voice):
        texts.add(name)
    layout = tmp_path / "left.yaml"
    layout.write_text("tiles:\n  - {x: 0, y: 0, width: 0.5, height: 1}\n")
    server.foreign_publisher("--room", "mixed", "--codec", "VP8", "--duration", 300, *SMALL)
    file = tmp_path / "mixed.mkv"
    options = ("--composite", layout, "--size", "640x180", "--fps", 15, "--pipelines", texts.folder)
    recorder = server.recorder("mixed", None, file, *options)
    after(recorder, 2)

    texts.now[mix] = texts.now[mix].replace("background=black", "background=white")
    texts.write(mix, texts.now[mix])
    whitened = assert_reloaded(recorder, mix)
    assert_refused(recorder, texts, (mix, ("compositor name", "compositer name"), "compositer"), 1)
    assert_refused(recorder, texts, (tile, ("add-borders=false", "add-borders=maybe"), "add-borders"), 1)
    assert_taken(recorder, texts, (tile, "${tile-queue:-", 20, 1))
    assert_taken(recorder, texts, (voice, "${tile-queue:-", 90, 1))
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    assert max(b - a for (a, _), (b, _) in zip(frames, frames[1:])) < 0.2
    right = [(time, float(luma[:, 480:].mean())) for time, luma in frames]
    white = next(time for time, level in right if level > 200)
    assert abs(white - whitened) < 1.5 and all((level > 200) == (time >= white) for time, level in right), right
    numbers = [clip.read(luma[:, :320]) for _, luma in frames]
    steps = [b - a for a, b in zip(numbers[5:], numbers[6:])]
    assert min(steps) >= 0 and max(steps) <= 5, steps
    seen = [(number, time, luma[:, :320]) for number, (time, luma) in zip(numbers, frames)]
    fresh = [frame for before, frame in zip([(None,), *seen], seen) if frame[0] != before[0]]
    offsets = checks.flash_offsets(fresh, 15, *checks.audio(file))
    assert max(map(abs, offsets)) <= 0.08, offsets
