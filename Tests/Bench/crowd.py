"""A room of many cameras: what they cost shown small and at full size, beside the SDK and beside one of them."""

import time
from contextlib import ExitStack

from clips import Clips
from measure import Sampler, Window, memory

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
    ROOM = "bench-crowd"

    def __init__(self, bench):
        self._bench = bench
        self._clips = Clips(bench)

    def receiver(self, name):
        one = ONE if name.endswith("one") else ()
        if name.startswith("peer"):
            return self._bench.peer(self.ROOM, 600, "--video-only", "--quality", "low", *one)
        return self._bench.probe(self.ROOM, 600, *(SHOWN if name.startswith("small") else ()), *one)

    def costs(self):
        """Processor time and memory of each receiver, once for each repetition."""
        with self._clips.publisher(self.ROOM, "crowd", TRACKS) as publisher:
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
            # Each is the size of whichever track's frame was the newest.
            newest = {event["size"] for event in program.events[-(seconds // 2) :] if event["event"] == "progress"}
            assert newest == {wanted}, program.report(f"frames of {newest}")
        return {"cpu": costs, "memory": sizes, "others": window.others}


def tabulate(table, runs):
    pairs = lambda a, b: [(run["cpu"][a], run["cpu"][b]) for run in runs]
    label = f"{TRACKS} tracks shown small, CPU ms/frame"
    table.ratio(label, "at full size", pairs("small", "full"), 0.25)
    table.ratio(label, "the SDK", pairs("small", "peer"), 0.6)
    table.ratio(label, "one track", pairs("small", "small one"), 1.0)
    table.ratio(f"{TRACKS} tracks at full size, CPU ms/frame", "one track", pairs("full", "full one"), 1.0)
    figures = (("steady", "steady RSS, MB", 120), ("share", "Pss, MB", None), ("threads", "threads", 65))
    for kind, name, wanted in figures:
        values = {receiver: [run["memory"][receiver][kind] for run in runs] for receiver in runs[0]["memory"]}
        for beside, other in (("at full size", "full"), ("the SDK", "peer"), ("one track", "small one")):
            judged = wanted if other == "full" else None
            table.value(f"{TRACKS} tracks shown small, {name}", beside, values["small"], values[other], judged)
