"""A room of many cameras: what they cost shown small and at full size, beside the SDK and beside one of them."""

import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import real_clip
from measure import Sampler, Window, memory
from programs import KEYS, ROOT, mediabridge

TRACKS = 25
# As Sources/mediabridge/PublishTestCommand.swift sends them.
FPS = 15
# Seconds until every track is decoded in the layer that was asked for.
SETTLING = 6
SHOWN = ("--size", "320x180")
ONE = ("--participant", "crowd-1")
# Which receivers run together: all at once would be more than two processors can do.
GROUPS = (("small", "small one", "peer", "peer one"), ("full", "full one"))


class Crowd:
    """Of every participant the pictures are encoded once, by the same encoder, so that publishing costs little."""

    ROOM = "bench-crowd"

    def __init__(self, bench):
        self._bench = bench
        # A copy, since root, who may run this, uses no pipeline that belongs to somebody else.
        self._texts = tempfile.TemporaryDirectory()
        capture = Path(self._texts.name, "capture")
        capture.mkdir(mode=0o755)
        shutil.copyfile(ROOT / "Tests/Bench/pipelines/capture/clip.pipeline", capture / "clip.pipeline")

    def publisher(self):
        return self._bench.running(
            mediabridge(
                *("publish-test", "--url", self._bench.url, *KEYS, "--room", self.ROOM, "--identity", "crowd", "--json"),
                *("--clip", "clip", "--pipelines", self._texts.name, "--participants", TRACKS),
                *("--set", f"file={real_clip.file()}"),
            )
        )

    def receiver(self, name):
        one = ONE if name.endswith("one") else ()
        if name.startswith("peer"):
            return self._bench.peer(self.ROOM, 600, "--pictures-only", "--quality", "low", *one)
        return self._bench.probe(self.ROOM, 600, *(SHOWN if name.startswith("small") else ()), *one)

    def costs(self):
        """Processor time and memory of each receiver, once for each repetition."""
        with self.publisher() as publisher:
            publisher.wait_for("publishing", 60)
            return [self.cost() for _ in range(self._bench.arguments.repetitions)]

    def cost(self):
        runs = [self._together(names) for names in GROUPS]
        merge = lambda key: {name: value for run in runs for name, value in run[key].items()}
        return {"cpu": merge("cpu"), "memory": merge("memory"), "others": max(run["others"] for run in runs)}

    def _together(self, names):
        seconds = self._bench.arguments.seconds
        with ExitStack() as stack:
            programs = {name: stack.enter_context(self.receiver(name)) for name in names}
            samplers = {name: Sampler(program) for name, program in programs.items()}
            for sampler in samplers.values():
                sampler.wait_for_frames()
            time.sleep(SETTLING)
            pids = [program.pid for program in programs.values()]
            with Window(pids[0], pids) as window:
                time.sleep(seconds)
            sizes = {name: memory(program.pid) for name, program in programs.items()}
            for sampler in samplers.values():
                sampler.end()
            tracks = {name: 1 if name.endswith("one") else TRACKS for name in names}
            costs = {
                name: sampler.per_frame(window, 0.9 * FPS * tracks[name] * (seconds - 2))
                for name, sampler in samplers.items()
            }
        for name, program in programs.items():
            wanted = "1280x720" if name.startswith("full") else "320x180"
            # Each is the size of whichever track's picture was the newest.
            newest = {event["size"] for event in program.events[-(seconds // 2) :] if event["event"] == "progress"}
            assert newest == {wanted}, program.report(f"pictures of {newest}")
        return {"cpu": costs, "memory": sizes, "others": window.others}


def tabulate(table, runs):
    pairs = lambda a, b: [(run["cpu"][a], run["cpu"][b]) for run in runs]
    label = f"{TRACKS} tracks shown small, CPU ms/frame"
    table.ratio(label, "at full size", pairs("small", "full"), 0.25)
    table.ratio(label, "the SDK", pairs("small", "peer"), 0.6)
    table.ratio(label, "one track", pairs("small", "small one"), 1.0)
    table.ratio(f"{TRACKS} tracks at full size, CPU ms/frame", "one track", pairs("full", "full one"), 1.0)
    for kind, name in (("steady", "steady RSS"), ("share", "Pss")):
        values = {receiver: [run["memory"][receiver][kind] for run in runs] for receiver in runs[0]["memory"]}
        for beside, other in (("at full size", "full"), ("the SDK", "peer"), ("one track", "small one")):
            table.value(f"{TRACKS} tracks shown small, {name}, MB", beside, values["small"], values[other])
