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
import capturing
import composite
import crowd
import frames
import mixing
import passthrough
import publish_costs
import tracks
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
PARTS = ("costs", "joins", "latency", "crowd", "tracks", "composite", "mixing", "frames", "publishing", "passthrough", "capturing")
# Ratios: beside the SDK without audio and with it, beside GStreamer alone, and recorded beside the SDK.
WANTED = {"vp8": (0.59, 0.66, 1.10, 0.15), "h264": (0.70, 0.77, 1.12, 0.25)}
# Beside the SDK, for the audio of one frame, which is two packets: 0.40 ms where that took 0.45, as machines differ.
WANTED_AUDIO = 0.89
MEMORY = {"peak": "peak RSS, MB", "steady": "steady RSS, MB", "share": "Pss, MB", "threads": "threads"}


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
    def publisher(self, codec, fps=FPS):
        room = f"bench-{codec}-{fps}"
        command = python(
            "publish_clock.py", "--url", self.url, "--room", room, "--codec", codec, "--fps", fps, "--keep-size",
            *("--bitrate", 2_500_000, "--duration", 1000),
        )  # fmt: skip
        with self.running(command) as program:
            program.wait_for("published")
            yield room

    def probe(self, room, seconds, *options, audio=False):
        command = mediabridge("probe", "--url", self.url, *KEYS, "--room", room, "--json")
        left_out = () if audio else ("--no-audio",)
        return self.running((*command, "--duration", f"{seconds}s", *left_out, *options))

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
            programs = {name: stack.enter_context(program) for name, program in self.receivers(room, codec).items()}
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
        for name in ("video", "av", "peer video", "peer av"):
            size = programs[name].events[-1]["size"]
            assert size == "1280x720", programs[name].report(f"frames of {size}")
        return {"cpu": costs, "memory": sizes, "others": window.others}

    def receivers(self, room, codec):
        """`video` is without audio, `av` with it."""
        files = {"mkv": self.folder / "passthrough.mkv"}
        # Audio becomes AAC there, and frames stay as they are.
        if codec == "h264":
            files["mp4"] = self.folder / "passthrough.mp4"
        return {
            "video": self.probe(room, 600),
            "av": self.probe(room, 600, audio=True),
            "peer video": self.peer(room, 600, "--video-only"),
            "peer av": self.peer(room, 600),
            **{kind: self.recorder(room, 600, file) for kind, file in files.items()},
        }

    # Figure 4

    def joins(self, room):
        """Milliseconds from `connect` to the first frame, each way in turn."""
        joins = {
            "video": lambda: self.probe(room, 1.5),
            "peer video": lambda: self.peer(room, 1.5, "--video-only"),
            # Subscribed by the server as it joins, which saves asking for each track.
            "peer av": lambda: self.peer(room, 1.5),
        }
        times = {name: [] for name in joins}
        for _ in range(self.arguments.joins):
            for name, join in joins.items():
                with join() as program:
                    told = program.wait_for("finished")
                    assert told["frames"] > 0, program.report("no frame")
                    # The SDK at times panics while it disconnects, after all was told; that is not measured here.
                    assert program.finish() == 0 or name != "video", program.report("failed")
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
    """What was measured, by part."""
    results, parts = {"costs": {}}, set(arguments.only)
    with Namespace() as namespace, tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, namespace, Path(folder))
        with bench.running(mediabridge("dev-server", "--port", "0", "--json")) as server:
            bench.server = server
            bench.url = server.wait_for("listening")["url"]
            for codec, name in CODECS.items():
                measure_clip(bench, codec, name, results, parts if codec == "VP8" else parts & {"costs"})
            if "frames" in parts:
                say(f"frames for other programs, {arguments.repetitions} times")
                results["frames"] = frames.Frames(bench).measure()
            if "crowd" in parts:
                say(f"{crowd.TRACKS} tracks shown: processor time and memory, {arguments.repetitions} times")
                results["crowd"] = crowd.Crowd(bench).costs()
            if "tracks" in parts:
                say(f"{', '.join(map(str, arguments.tracks))} tracks recorded, {arguments.repetitions} times each")
                results["tracks"], results["end"] = tracks.Tracks(bench).costs()
            if "composite" in parts:
                say(f"{', '.join(map(str, arguments.participants))} mixed, {arguments.repetitions} times each")
                results["composite"] = composite.Composite(bench).costs()
            if "passthrough" in parts:
                say(f"a file published as it is and encoded, {arguments.repetitions} times")
                results["passthrough"] = passthrough.Passing(bench).measure()
            if "mixing" in parts:
                say(f"{mixing.PARTICIPANTS} mixed: beginning, a second destination, delay, {arguments.repetitions} times")
                results["mixing"] = mixing.Mixing(bench).costs()
            if "capturing" in parts:
                say(f"latency of a program's own frames, {arguments.repetitions} times each")
                results["capturing"] = capturing.Capturing(bench).measure()
            if "publishing" in parts:
                say(f"published in three layers with audio, {arguments.repetitions} times each")
                results["publishing"] = publish_costs.Publishing(bench).costs()
    return results


def measure_clip(bench, codec, name, results, parts):
    """One participant with a real clip."""
    if not parts & {"costs", "joins", "latency"}:
        return
    with bench.publisher(codec) as room:
        say(f"{codec}: until the publisher sends at its full rate")
        time.sleep(SETTLING)
        if "joins" in parts:
            say(f"{codec}: first frame, {bench.arguments.joins} joins each")
            results["joins"] = bench.joins(room)
        if "latency" in parts:
            say(f"{codec}: latency, without and with loss")
            results["latency"] = bench.latencies(room)
        if "costs" in parts:
            say(f"{codec}: processor time and memory, {bench.arguments.repetitions} times")
            results["costs"][name] = bench.costs(name, room)


def tabulate(results):
    table = Table()
    for name, runs in results["costs"].items():
        tabulate_costs(table, {"vp8": "VP8", "h264": "H.264"}[name], runs, WANTED[name])
    if results["costs"]:
        tabulate_memory(table, results["costs"])
    if joins := results.get("joins"):
        for beside, name in (("the SDK, without audio too", "peer video"), ("the SDK", "peer av")):
            table.medians("first frame after connect, ms", beside, joins["video"], joins[name], 1.0)
    if latencies := results.get("latency"):
        for lost in (0, 5):
            for label, of in Latency.COLUMNS.items():
                values = [[of(latencies[name, lost])] for name in ("frames", "peer")]
                table.value(f"{label}, {lost} % lost", "the SDK", *values)
    if runs := results.get("crowd"):
        crowd.tabulate(table, runs)
    if runs := results.get("tracks"):
        tracks.tabulate(table, runs)
    if runs := results.get("composite"):
        composite.tabulate(table, runs)
    if runs := results.get("mixing"):
        mixing.tabulate(table, runs)
    if runs := results.get("publishing"):
        publish_costs.tabulate(table, runs)
    if runs := results.get("capturing"):
        capturing.tabulate(table, runs)
    if runs := results.get("passthrough"):
        passthrough.tabulate(table, runs)
    if runs := results.get("frames"):
        frames.tabulate(table, *runs)
    return table


def tabulate_costs(table, label, runs, wanted):
    pairs = lambda a, b: [(run["cpu"][a], run["cpu"][b]) for run in runs]
    audio = lambda with_audio, without: [run["cpu"][with_audio] - run["cpu"][without] for run in runs]
    silent, whole, floor, recorded = wanted
    decoded = f"{label} decoded, CPU ms/frame"
    table.ratio(decoded, "the SDK, without audio too", pairs("video", "peer video"), silent)
    table.ratio(decoded, "GStreamer alone", pairs("video", "floor"), floor)
    table.ratio(f"{label} decoded with audio, CPU ms/frame", "the SDK", pairs("av", "peer av"), whole)
    audios = list(zip(audio("av", "video"), audio("peer av", "peer video")))
    table.ratio(f"audio beside {label}, CPU ms/frame", "the SDK", audios, WANTED_AUDIO)
    table.ratio(f"{label} recorded as sent, CPU ms/frame", "the SDK", pairs("mkv", "peer av"), recorded)


def tabulate_memory(table, costs):
    figures = {
        "one track decoded": ("video", "peer video", 75),
        "recorded into MKV": ("mkv", "peer av", 60),
        "H.264 recorded into MP4": ("mp4", "peer av", 70),
    }
    for label, (ours, theirs, wanted) in figures.items():
        runs = [run["memory"] for runs in costs.values() for run in runs if ours in run["memory"]]
        for kind, name in MEMORY.items() if runs else ():
            values = [[run[receiver][kind] for run in runs] for receiver in (ours, theirs)]
            table.value(f"{label}, {name}", "the SDK", *values, wanted=wanted if "RSS" in name else None)


def say(text):
    print(f"… {text}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="of each repetition")
    parser.add_argument("--lossy-seconds", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--joins", type=int, default=10, help="how often a first frame or byte is waited for")
    parser.add_argument("--tracks", type=int, nargs="+", default=tracks.COUNTS, help="how many are recorded at once")
    parser.add_argument(
        "--participants", type=int, nargs="+", choices=composite.COUNTS, default=composite.COUNTS, help="how many are mixed"
    )
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="some of what is measured")
    arguments = parser.parse_args()
    # Few people name their authorities; who does has some megabytes of them in memory.
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        os.environ.pop(name, None)
    begun = time.monotonic()
    try:
        results = measure(arguments)
    except AssertionError as error:
        sys.exit(f"bench: {error}")
    table = tabulate(results)
    print(table)
    lists = [
        *(runs for part in ("costs", "tracks", "composite") for runs in results.get(part, {}).values()),
        results.get("crowd", []), results.get("passthrough", []), *results.get("frames", ())[:2],
    ]  # fmt: skip
    lists += [run.values() for runs in results.get("publishing", {}).values() for run in runs]
    others = [run["others"] for runs in lists for run in runs] or [0]
    print(
        f"\n{time.monotonic() - begun:.0f} s; {os.cpu_count()} processors, of which all else (server, publisher and what"
        f" this machine does besides) took {min(others):.0%} to {max(others):.0%}; load {os.getloadavg()[0]:.1f}"
    )
    if end := results.get("end"):
        sys.exit(f"bench: {end}")
    if table.missed:
        sys.exit(f"bench: {len(table.missed)} figures miss their target: {'; '.join(table.missed)}")


if __name__ == "__main__":
    main()
