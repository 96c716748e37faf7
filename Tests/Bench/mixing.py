"""What a composite costs besides mixing: its beginning, a second destination, and the time that frames spend in it."""

import os
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from clips import Clips
from live_server import LiveServer
from measure import Window
from programs import KEYS, Program, mediabridge, python

FOLDER = Path(__file__).resolve().parent
ROOM = "bench-mixing"
PARTICIPANTS = 4
COLUMNS = 2
FPS = 30
SIZE = (1280, 720)
# Seconds, ratio, milliseconds.
WANTED_START, WANTED_SECOND, WANTED_DELAY = 1.0, 1.05, 400
SETTLING = 5
# Seconds until libwebrtc sends its full size.
PUBLISHING = 12

# What the encoder made, decoded again and sent on at once, which counts as time spent.
DECODED = """# Frames behind the encoder, on a socket.
appsrc name=video max-buffers=100 max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! avdec_h264 max-threads=1 ! videoconvert ! video/x-raw,format=I420 ! tcpclientsink host=${host} port=${port} sync=false
"""


class Mixing:
    def __init__(self, bench):
        self._bench = bench
        self._clips = Clips(bench)

    def costs(self):
        repetitions = range(self._bench.arguments.repetitions)
        with self._clips.publisher(ROOM, "tile", PARTICIPANTS, "--fps", FPS, audio=True) as publisher:
            publisher.wait_for("publishing", 60)
            starts = [self._start() for _ in range(self._bench.arguments.joins)]
            seconds = [self._second() for _ in repetitions]
        return {"starts": starts, "seconds": seconds, "delays": self._delays(), "played": self._played()}

    def _recorder(self, *options, room=ROOM):
        command = ("record", "--url", self._bench.url, *KEYS, "--room", room, "--composite", "grid", "--json")
        return self._bench.running(mediabridge(*command, "--fps", FPS, "--overwrite", *options))

    def _start(self):
        """Seconds from the start of the process to the first byte in the file."""
        file = self._bench.folder / "start.mp4"
        file.unlink(missing_ok=True)
        begun = time.monotonic()
        with self._recorder(file) as recorder:
            while not (file.exists() and file.stat().st_size):
                assert time.monotonic() < begun + 20, recorder.report("writes nothing")
                time.sleep(0.005)
            return time.monotonic() - begun

    def _second(self):
        """Processor time of one that writes one file, and of one beside it that writes two."""
        files = [self._bench.folder / name for name in ("one.mp4", "first.mp4", "second.mp4")]
        with self._recorder(files[0]) as one, self._recorder(*files[1:]) as two:
            for recorder in (one, two):
                while recorder.wait_for("progress")["frames"] == 0:
                    pass
            time.sleep(SETTLING)
            with Window(one.pid, [one.pid, two.pid]) as alone, Window(two.pid, [one.pid, two.pid]) as both:
                time.sleep(self._bench.arguments.seconds)
        return both.used / both.span, alone.used / alone.span

    @contextmanager
    def _room(self):
        """One participant whose frames tell when they were captured, among others."""
        with self._bench.publisher("VP8") as room:
            with self._clips.publisher(room, "tile", PARTICIPANTS - 1, "--fps", FPS, audio=True) as others:
                others.wait_for("publishing", 60)
                time.sleep(PUBLISHING)
                yield room

    def _delays(self):
        """Milliseconds from a frame's capture to the same frame behind the encoder, each mixed frame's once."""
        folder = self._bench.folder / "mixing"
        (folder / "output").mkdir(parents=True, exist_ok=True)
        (folder / "output/decoded.pipeline").write_text(DECODED)
        os.chmod(folder, 0o755)
        with self._room() as room, self._reader("--size", *SIZE) as reader:
            address = f"decoded=decoded://127.0.0.1:{reader.wait_for('listening')['port']}"
            with self._recorder(address, "--pipelines", folder, room=room) as recorder:
                recorder.wait_for("progress", 40)
                return self._read(reader)

    def _played(self):
        """The same to the frame in a player of what nginx sends on over RTMP."""
        live = LiveServer(Program, self._bench.namespace.command, self._bench.folder / "live")
        try:
            with self._room() as room:
                with self._recorder(live.address, room=room) as recorder:
                    # Whoever comes before the first keyframe is passed on finds audio alone.
                    for _ in range(3):
                        recorder.wait_for("progress", 40)
                    with self._reader("--play", live.address) as reader:
                        return self._read(reader)
        finally:
            live.kill()

    def _reader(self, *options):
        seconds = ("--columns", COLUMNS, "--skip", SETTLING, "--seconds", self._bench.arguments.seconds)
        return self._bench.running(python(FOLDER / "delays.py", *options, *seconds))

    def _read(self, reader):
        delays = reader.wait_for("delays", SETTLING + self._bench.arguments.seconds + 30)["milliseconds"]
        assert len(delays) > 100, reader.report(f"only {len(delays)} frames could be read")
        return delays


def tabulate(table, runs):
    label = f"{PARTICIPANTS} mixed into 720p30"
    table.value(f"{label}, start to first byte, s", "itself", runs["starts"], runs["starts"], WANTED_START)
    table.ratio(f"{label} into two files, processor time", "one file", runs["seconds"], WANTED_SECOND)
    for label, delays, wanted in (
        (f"capture to encoded, {PARTICIPANTS} mixed", runs["delays"], WANTED_DELAY),
        (f"capture to a player of RTMP, {PARTICIPANTS} mixed", runs["played"], None),
    ):
        for share in (50, 95):
            delay = [float(np.percentile(delays, share))]
            table.value(f"{label}, p{share}, ms", "itself", delay, delay, wanted if share == 95 else None)
