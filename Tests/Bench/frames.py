"""Frames for other programs: what `frames` costs beside `probe`, which decodes alone, and when they are there."""

import contextlib
import os
import subprocess
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from clips import Clips
from latency import Latency
from measure import Window, cpu_seconds, machine_seconds
from programs import KEYS, mediabridge, python

FPS = 30
SIZE = (1280, 720)
# The usual job of a vision model.
CROWD = {"participants": 10, "size": "320x180", "fps": 5}
SETTLING = 4
WANTED = {"pipe": 1.3, "shared": 1.1, "crowd": 0.15}


class Frames:
    ROOM = "bench-vision"

    def __init__(self, bench):
        self._bench = bench
        self._clips = Clips(bench)

    def _frames(self, room, *options):
        return mediabridge("frames", "--url", self._bench.url, *KEYS, "--room", room, "--json", "--duration", "600s", *options)

    @contextlib.contextmanager
    def _piped(self, command):
        """The command, with somebody who reads its standard output."""
        words = " ".join(f"'{word}'" for word in command)
        with self._bench.running(("bash", "-c", f"exec {words} > >(cat > /dev/null)")) as program:
            yield program

    @contextlib.contextmanager
    def _shared(self, room, folder):
        path = folder / "shared"
        with self._bench.running(self._frames(room, "--format", "i420", f"shm:{path}")) as program:
            caps = folder / "shared.caps"
            while not caps.exists():
                assert program._process.poll() is None, program.report("ended")
                time.sleep(0.1)
            pipeline = f"shmsrc socket-path={path} is-live=true do-timestamp=true ! {caps.read_text().strip()} ! fakesink"
            with self._bench.running(("gst-launch-1.0", "-q", *pipeline.split())):
                yield program

    def measure(self):
        with self._bench.publisher("VP8", FPS) as room:
            time.sleep(SETTLING)
            return self.costs(room), self.crowd(), self.latencies(room)

    def costs(self, room):
        """Milliseconds of processor time for each frame, once for each repetition, all at once."""
        runs = []
        for _ in range(self._bench.arguments.repetitions):
            with ExitStack() as stack:
                programs = {
                    "probe": stack.enter_context(self._bench.probe(room, 600)),
                    "pipe": stack.enter_context(self._piped(self._frames(room, "--format", "i420"))),
                    "shared": stack.enter_context(self._shared(room, self._bench.folder)),
                }
                time.sleep(SETTLING)
                runs.append(self._window({name: program.pid for name, program in programs.items()}))
        return runs

    def _window(self, pids):
        read = lambda: {name: cpu_seconds(pid) for name, pid in pids.items()}
        before, machine, start = read(), machine_seconds(), time.monotonic()
        time.sleep(self._bench.arguments.seconds)
        after, span = read(), time.monotonic() - start
        used = {name: after[name] - before[name] for name in pids}
        others = (machine_seconds() - machine - sum(used.values())) / span / os.cpu_count()
        return {"cpu": {name: 1000 * value / FPS / span for name, value in used.items()}, "span": span, "others": others}

    def crowd(self):
        """Share of a processor that ten participants cost at the usual size and rate of a vision model."""
        runs = []
        with self._clips.publisher(self.ROOM, "person", CROWD["participants"]) as publisher:
            publisher.wait_for("publishing", 60)
            command = self._frames(
                self.ROOM, "--each", "--framed", "--format", "i420", "--size", CROWD["size"], "--fps", CROWD["fps"]
            )
            self._bench.server.drain()
            with self._piped(command) as program:
                time.sleep(2 * SETTLING)
                asked = self._asked()
                for _ in range(self._bench.arguments.repetitions):
                    with Window(program.pid, [program.pid]) as window:
                        time.sleep(self._bench.arguments.seconds)
                    runs.append({"share": window.used / window.span, "others": window.others, "asked": asked})
        return runs

    def _asked(self):
        """What the server was asked to send of each track, and of how many."""
        last = {
            sid: (event["size"], event["fps"])
            for event in self._bench.server.drain() if event["event"] == "asked" and event["wanted"]
            for sid in event["tracks"]
        }  # fmt: skip
        return ", ".join(f"{n} tracks at {size}, {fps} a second" for (size, fps), n in Counter(last.values()).items())

    def latencies(self, room):
        """Until the first byte of a frame is read, beside the SDK's `VideoStream`."""
        fifo = self._bench.folder / "frames.fifo"
        subprocess.run(["mkfifo", fifo], check=True)
        reader = python(Path(__file__).resolve().parent / "frame_reader.py", fifo, *SIZE)
        with self._bench.running(reader) as ours, self._bench.running(self._frames(room, "--format", "i420", "--overwrite", fifo)):
            with self._bench.peer(room, 600, "--clock-code", "--video-only") as peer:
                peer.wait_for("progress")
                time.sleep(self._bench.arguments.seconds + 2)
                return {"frames": Latency.of(ours, skip=2), "peer": Latency.of(peer, skip=2)}


def tabulate(table, costs, crowd, latencies):
    for name, label in (("pipe", "frames to a pipe"), ("shared", "frames in shared memory")):
        pairs = [(run["cpu"][name], run["cpu"]["probe"]) for run in costs]
        table.ratio(f"{label}, CPU ms/frame", "probe", pairs, WANTED[name])
    label = "{participants} participants at {size}, {fps} a second, share of a core".format(**CROWD)
    shares = [run["share"] for run in crowd]
    table.value(label, f"(asked of the server: {crowd[0]['asked']})", shares, shares, WANTED["crowd"])
    for label in ("latency p50, ms", "latency p95, ms"):
        ours, theirs = ([Latency.COLUMNS[label](latencies[name])] for name in ("frames", "peer"))
        table.medians(f"first byte of a frame in a pipe, {label}", "the SDK's VideoStream", ours, theirs, 1.0)
