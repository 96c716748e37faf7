"""What `mediabridge publish` of a file costs as it is, beside encoding it into one layer of the same codec."""

import subprocess
import time
from contextlib import ExitStack

from measure import Window
from programs import KEYS, mediabridge

WANTED = 0.15
FPS = 25
SECONDS = 30


class Passing:
    def __init__(self, bench):
        self.bench = bench
        self.file = bench.folder / "passthrough.mp4"
        source = ("-f", "lavfi", "-i", f"testsrc2=s=1280x720:r={FPS}:d={SECONDS}")
        options = ("-c:v", "libx264", "-preset", "veryfast", "-b:v", "1700k", "-bf", "0", "-g", str(2 * FPS))
        subprocess.run(["ffmpeg", "-y", "-v", "error", *source, *options, self.file], check=True)

    def publisher(self, room, *options):
        command = mediabridge("publish", "--url", self.bench.url, *KEYS, "--room", room, "--identity", "alice", "--json")
        return self.bench.running((*command, self.file, "--loop", *options))

    def measure(self):
        """Processor seconds of both, at the same time, in each repetition; somebody receives each."""
        return [self.once() for _ in range(self.bench.arguments.repetitions)]

    def once(self):
        ways = {"as it is": (), "encoded": ("--encode", "--codec", "h264", "--single-layer")}
        with ExitStack() as stack:
            programs = {}
            for way, options in ways.items():
                room = f"passthrough-{way.replace(' ', '-')}"
                programs[way] = stack.enter_context(self.publisher(room, *options))
                told = programs[way].wait_for("publishing", 20)["tracks"][0]
                assert told["sent"] == way, told
                stack.enter_context(self.bench.probe(room, self.bench.arguments.seconds + 10))
            time.sleep(3)
            pids = [program.pid for program in programs.values()]
            windows = {way: stack.enter_context(Window(program.pid, pids)) for way, program in programs.items()}
            time.sleep(self.bench.arguments.seconds)
        used = {way: window.used / window.span for way, window in windows.items()}
        return {**used, "others": windows["encoded"].others}


def tabulate(table, runs):
    pairs = [(run["as it is"], run["encoded"]) for run in runs]
    table.ratio("a 720p25 file of H.264 published as it is, CPU s/s", "encoded into one layer", pairs, WANTED)
