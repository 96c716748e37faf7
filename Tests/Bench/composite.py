"""A room of simulcast cameras and microphones mixed into one 720p30 of H.264 and AAC, and GStreamer alone doing as much of
the same."""

import io
import subprocess
import time

import av
import real_clip
from clips import Clips
from measure import Window, recorded
from programs import KEYS, mediabridge

COUNTS = (1, 4, 9, 25)
FPS = 30
SIZE = (1280, 720)
ENCODER = {"preset": "veryfast", "bitrate": 3000}
# Shares of one core where GStreamer alone took 0.63 of it for nine, hence beside that, as machines differ.
WANTED = {4: 0.45 / 0.63, 9: 0.75 / 0.63}
# Beside GStreamer alone for as many, and megabytes.
WANTED_RATIO = {9: 1.15}
WANTED_MEMORY = {9: 200}
# Seconds until every tile is decoded in the layer that was asked for.
SETTLING = 5
# Columns of the grid, and the height of the layer that a server sends for such a tile.
GRIDS = {1: (1, 720), 4: (2, 360), 9: (3, 360), 25: (5, 180)}
# Of the layers, kbit/s, as Sources/mediabridge/PublishTestCommand.swift sends them.
BITRATES = {180: 160, 360: 450, 720: 1700}


class Composite:
    ROOM = "bench-composite"

    def __init__(self, bench):
        self._bench = bench
        self._clips = Clips(bench)

    def costs(self):
        """By the number of participants, once for each repetition."""
        return {
            count: [self._cost(count) for _ in range(self._bench.arguments.repetitions)]
            for count in self._bench.arguments.participants
        }

    def _cost(self, count):
        """One after the other, in the same room: two that mix nine would take each other's time."""
        layer = self._layer(GRIDS[count][1])
        with self._clips.publisher(self.ROOM, "tile", count, "--fps", FPS, audio=True) as publisher:
            publisher.wait_for("publishing", 60)
            return {**self._ours(), "alone": self._alone(layer, count)}

    def _ours(self):
        with self._recorder() as recorder:
            sampler, window, size = recorded(recorder, SETTLING, self._bench.arguments.seconds)
        rate = sampler.rate(window)
        assert rate > 0.95 * FPS, recorder.report(f"{rate:.1f} frames a second")
        return {"core": window.used / window.span, "memory": size, "others": window.others}

    def _alone(self, layer, count):
        """What it takes for the frames of a second. A slow machine makes fewer of them in a second: of what it reads from
        files it leaves out nothing."""
        file = self._bench.folder / "alone.mp4"
        with self._bench.running(alone_command(layer, count, file)) as floor:
            time.sleep(2)
            with Window(floor.pid, [floor.pid]) as window:
                begun = file.stat().st_size
                time.sleep(self._bench.arguments.seconds)
                ended = file.stat().st_size
        written = file.read_bytes()
        frames = frames_in(written[:ended]) - frames_in(written[:begun])
        assert frames > 0.5 * FPS * self._bench.arguments.seconds, floor.report("is too slow: the machine is too busy")
        return window.used / frames * FPS

    def _recorder(self):
        values = [text for name, value in ENCODER.items() for text in ("--set", f"{name}={value}")]
        file = self._bench.folder / "composite.mp4"
        command = ("record", "--url", self._bench.url, *KEYS, "--room", self.ROOM, "--composite", "grid", "--json")
        return self._bench.running(mediabridge(*command, *values, "--fps", FPS, "--overwrite", file))

    def _layer(self, height):
        """A minute of the clip in the size of a layer and with audio, as its publishers send it."""
        file = self._bench.folder / f"layer-{height}.mkv"
        if not file.exists():
            command = ["ffmpeg", "-v", "error", "-stream_loop", "-1", "-i", real_clip.file(), "-t", "60"]
            command += ["-vf", f"scale={height * 16 // 9}:{height},fps={FPS}", "-c:v", "libx264", "-preset", "veryfast"]
            command += ["-tune", "zerolatency", "-profile:v", "baseline", "-g", str(FPS)]
            command += ["-b:v", f"{BITRATES[height]}k", "-c:a", "libopus", "-b:a", "48k", "-ac", "1", str(file)]
            subprocess.run(command, check=True)
        return file


def alone_command(layer, count, file):
    """The compositor scales every tile for every frame that is mixed."""
    columns = GRIDS[count][0]
    width, height = SIZE[0] // columns, SIZE[1] // columns
    places, sources = [], []
    audio = "audioconvert ! audioresample ! queue ! a."
    for index in range(count):
        place = {"xpos": index % columns * width, "ypos": index // columns * height, "width": width, "height": height}
        places += [f"sink_{index}::{name}={value}" for name, value in place.items()]
        sources.append(f"filesrc location={layer} ! matroskademux name=d{index}")
        sources.append(f"d{index}. ! avdec_h264 max-threads=1 ! queue ! m.sink_{index} d{index}. ! opusdec ! {audio}")
    mixed = f"video/x-raw,format=I420,width={SIZE[0]},height={SIZE[1]},framerate={FPS}/1"
    encoder = f"x264enc bitrate={ENCODER['bitrate']} speed-preset={ENCODER['preset']} tune=zerolatency key-int-max=50"
    description = [
        f"compositor name=m background=black {' '.join(places)} ! {mixed} ! {encoder} ! clocksync ! mux.",
        f"mp4mux name=mux fragment-duration=100 ! filesink location={file}", *sources,
        "audiomixer name=a ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! avenc_aac ! queue ! mux.",
    ]  # fmt: skip
    return ("gst-launch-1.0", "-q", *" ".join(description).split())


def frames_in(written):
    with av.open(io.BytesIO(written)) as container:
        return sum(packet.pts is not None for packet in container.demux(video=0))


def tabulate(table, runs):
    for count, each in runs.items():
        label = f"{count} mixed into 720p30"
        pairs = [(run["core"], run["alone"]) for run in each]
        table.ratio(f"{label}, share of a core", "GStreamer alone", pairs, WANTED_RATIO.get(count))
        if 9 in runs:
            nine = [(run["core"], other["alone"]) for run, other in zip(each, runs[9])]
            table.ratio(f"{label}, share of a core", "GStreamer alone with nine", nine, WANTED.get(count))
        sizes = [run["memory"]["steady"] for run in each]
        table.value(f"{label}, steady RSS, MB", "itself", sizes, sizes, WANTED_MEMORY.get(count))
