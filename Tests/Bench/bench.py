"""Measures mediabridge beside the LiveKit Python SDK and GStreamer alone, in one run, and prints one table.

Whatever is compared runs at the same time on the same stream, so that both meet the same machine. Where one
receiver's requests would help the other (losses), they run one after the other. Fails when a receiver gets too few
frames, and when a figure misses its target.
"""

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import av
import crowd
from latency import Latency
from losses import loss
from measure import Sampler, Window, memory
from network import Namespace
from programs import KEYS, Program, mediabridge, python
from table import Table
from templates import decoder_of

FOLDER = Path(__file__).resolve().parent
FPS = 25
# Seconds in which libwebrtc's estimate of the bandwidth reaches the publisher's bitrate.
SETTLING = 12
CODECS = {"VP8": "vp8", "H264": "h264"}


class Bench:
    def __init__(self, arguments, namespace, folder):
        self.arguments, self.namespace, self.folder = arguments, namespace, folder
        self.server = None
        self.url = None

    @contextmanager
    def running(self, command):
        program = Program(self.namespace.command(*command))
        try:
            yield program
        finally:
            program.stop()

    @contextmanager
    def publisher(self, codec):
        room = f"bench-{codec}"
        command = python(
            "publish_clock.py", "--url", self.url, "--room", room, "--codec", codec, "--fps", FPS, "--keep-size",
            *("--bitrate", 2_500_000, "--duration", 1000),
        )  # fmt: skip
        with self.running(command) as program:
            program.wait_for("published")
            yield room

    def probe(self, room, seconds, *options):
        command = mediabridge("probe", "--url", self.url, *KEYS, "--room", room, "--json")
        return self.running((*command, "--duration", f"{seconds}s", *options))

    def peer(self, room, seconds, *options):
        command = python(FOLDER / "subscriber.py", "--url", self.url, "--room", room, "--duration", seconds)
        return self.running((*command, *options))

    def recorder(self, room, seconds, file):
        command = mediabridge("record", "--url", self.url, *KEYS, "--room", room, "--participant", "alice")
        return self.running((*command, "--wait", "30s", "--duration", f"{seconds}s", "--overwrite", "--json", file))

    def replay(self, file, codec):
        """GStreamer alone, decoding the frames of a recording as fast as they came, and nothing else."""
        pipeline = f"filesrc location={file} ! matroskademux ! {decoder_of(codec)} ! fakesink sync=true"
        return self.running(("gst-launch-1.0", "-q", *pipeline.split()))

    # Figures 1, 2 and 3

    def costs(self, codec, room):
        """Processor time a frame of each way to receive, and memory, once for each repetition."""
        file = self.folder / f"{codec}.mkv"
        seconds = self.arguments.seconds + 4
        with self.recorder(room, seconds + 3, file) as recorder:
            recorder.wait_for("finished", seconds + 30)
            assert recorder.finish() == 0, recorder.report("failed")
        rate = frame_rate(file)
        assert rate > 0.95 * FPS, f"the publisher sends {rate:.1f} frames a second only: the machine is too busy"
        return [self.cost(codec, room, file, rate) for _ in range(self.arguments.repetitions)]

    def cost(self, codec, room, file, rate):
        with ExitStack() as stack:
            programs = {name: stack.enter_context(program) for name, program in self.receivers(room).items()}
            samplers = {name: Sampler(program) for name, program in programs.items()}
            for sampler in samplers.values():
                sampler.wait_for_frames()
            floor = stack.enter_context(self.replay(file, codec))
            time.sleep(2)
            pids = [program.pid for program in (*programs.values(), floor)]
            with Window(floor.pid, pids) as window:
                time.sleep(self.arguments.seconds)
            sizes = {name: memory(program.pid) for name, program in programs.items()}
            for sampler in samplers.values():
                sampler.end()
            enough = 0.9 * FPS * (self.arguments.seconds - 2)
            costs = {name: sampler.per_frame(window, enough) for name, sampler in samplers.items()}
            costs["floor"] = window.used * 1000 / (rate * window.span)
            assert floor.finish(30) == 0, floor.report("failed")
        for name in ("frames", "sound", "peer", "silent peer"):
            size = programs[name].events[-1]["size"]
            assert size == "1280x720", programs[name].report(f"pictures of {size}")
        return {"cpu": costs, "memory": sizes, "others": window.others}

    def receivers(self, room):
        return {
            "frames": self.probe(room, 600),
            "sound": self.probe(room, 600, "--audio"),
            "peer": self.peer(room, 600),
            "silent peer": self.peer(room, 600, "--pictures-only"),
            "record": self.recorder(room, 600, self.folder / "passthrough.mkv"),
        }

    # Figure 4

    def joins(self, room):
        """Milliseconds from `connect` to the first frame, each way in turn."""
        times = {"frames": [], "peer": []}
        for _ in range(self.arguments.joins):
            for name, join in (("frames", self.probe), ("peer", self.peer)):
                with join(room, 1.5) as program:
                    told = program.wait_for("finished")
                    assert told["frames"] > 0, program.report("no frame")
                    # The SDK at times panics while it disconnects, after all was told; that is not measured here.
                    assert program.finish() == 0 or name == "peer", program.report("failed")
                    times[name].append(told["first_frame_ms"])
        return times

    # Figure 5

    def latencies(self, room):
        with self.probe(room, 600, "--clock-code") as ours, self.peer(room, 600, "--clock-code") as peer:
            results = {("frames", 0): ours, ("peer", 0): peer}
            for program in results.values():
                program.wait_for("progress")
            time.sleep(self.arguments.seconds + 2)
            results = {key: Latency.of(program, skip=2) for key, program in results.items()}
        for name, join in (("frames", self.probe), ("peer", self.peer)):
            with join(room, 600, "--clock-code") as program:
                while program.wait_for("progress")["frames"] == 0:
                    pass
                with loss(self.namespace, 5, program):
                    time.sleep(self.arguments.lossy_seconds + 1)
                    results[name, 5] = Latency.of(program, skip=1)
        return results


def frame_rate(file):
    with av.open(str(file)) as container:
        times = [float(packet.pts * packet.time_base) for packet in container.demux(video=0) if packet.pts is not None]
    return (len(times) - 1) / (max(times) - min(times))


def measure(arguments):
    costs, joins, latencies, crowds = {}, None, None, []
    with Namespace() as namespace, tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, namespace, Path(folder))
        with bench.running(mediabridge("dev-server", "--port", "0", "--json")) as server:
            bench.url = server.wait_for("listening")["url"]
            for codec, name in CODECS.items() if arguments.only != "crowd" else ():
                with bench.publisher(codec) as room:
                    say(f"{codec}: until the publisher sends at its full rate")
                    time.sleep(SETTLING)
                    if codec == "VP8":
                        say(f"{codec}: first frame, {arguments.joins} joins each")
                        joins = bench.joins(room)
                        say(f"{codec}: latency, without and with loss")
                        latencies = bench.latencies(room)
                    say(f"{codec}: processor time and memory, {arguments.repetitions} times")
                    costs[name] = bench.costs(name, room)
            if arguments.only != "clip":
                say(f"{crowd.TRACKS} tracks: processor time and memory, {arguments.repetitions} times")
                crowds = crowd.Crowd(bench).costs()
    return costs, joins, latencies, crowds


def tabulate(costs, joins, latencies, crowds):
    table = Table()
    if costs:
        tabulate_clip(table, costs, joins, latencies)
    if crowds:
        crowd.tabulate(table, crowds)
    return table


def tabulate_clip(table, costs, joins, latencies):
    pairs = lambda runs, a, b: [(run["cpu"][a], run["cpu"][b]) for run in runs]
    for codec, runs in costs.items():
        label = {"vp8": "VP8", "h264": "H.264"}[codec]
        table.ratio(f"{label} decoded, CPU ms/frame", "the SDK", pairs(runs, "frames", "peer"), 0.65)
        table.ratio(f"{label} decoded, CPU ms/frame", "the SDK without sound", pairs(runs, "frames", "silent peer"))
        table.ratio(f"{label} decoded, CPU ms/frame", "GStreamer alone", pairs(runs, "frames", "floor"), 1.25)
        table.ratio(f"{label} with sound, CPU ms/frame", "the SDK", pairs(runs, "sound", "peer"))
        table.ratio(f"{label} recorded, CPU ms/frame", "the SDK", pairs(runs, "record", "peer"), 0.35)
    runs = [run for runs in costs.values() for run in runs]
    for kind, label in (("peak", "peak RSS"), ("steady", "steady RSS"), ("share", "Pss")):
        values = [[run["memory"][name][kind] for run in runs] for name in ("record", "peer")]
        table.value(f"recorder, {label}, MB", "the SDK", *values, wanted=60 if kind != "share" else None)
    table.value("first frame after connect, ms", "the SDK", joins["frames"], joins["peer"], wanted=250)
    for lost in (0, 5):
        for label, of in Latency.COLUMNS.items():
            values = [[of(latencies[name, lost])] for name in ("frames", "peer")]
            table.value(f"{label}, {lost} % lost", "the SDK", *values)


def say(text):
    print(f"… {text}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="of each repetition")
    parser.add_argument("--lossy-seconds", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--joins", type=int, default=10)
    parser.add_argument("--only", choices=["clip", "crowd"], help="a clip of one participant, or a room of many")
    arguments = parser.parse_args()
    begun = time.monotonic()
    try:
        costs, joins, latencies, crowds = measure(arguments)
    except AssertionError as error:
        sys.exit(f"bench: {error}")
    table = tabulate(costs, joins, latencies, crowds)
    print(table)
    others = [run["others"] for runs in (*costs.values(), crowds) for run in runs]
    print(
        f"\n{time.monotonic() - begun:.0f} s; {os.cpu_count()} processors, of which all else (server, publisher and what"
        f" this machine does besides) took {min(others):.0%} to {max(others):.0%}; load {os.getloadavg()[0]:.1f}"
    )
    if table.missed:
        sys.exit(f"bench: {len(table.missed)} figures miss their target: {'; '.join(table.missed)}")


if __name__ == "__main__":
    main()
