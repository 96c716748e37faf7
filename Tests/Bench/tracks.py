"""Many tracks of 720p25, recorded as they are sent by one process: what a frame costs as they become more."""

import shutil

from clips import Clips
from measure import recorded
from programs import KEYS, mediabridge

COUNTS = (1, 10, 50, 100)
FPS = 25
BITRATE = 1_500_000
# Seconds until all pipelines have begun and the processors are warm.
SETTLING = 3


class Tracks:
    ROOM = "bench-tracks"

    def __init__(self, bench):
        self._bench = bench
        self._clips = Clips(bench)

    def costs(self):
        """By the number of tracks, once for each repetition, and why it went no further."""
        runs = {}
        for count in self._bench.arguments.tracks:
            try:
                runs[count] = [self._cost(count) for _ in range(self._bench.arguments.repetitions)]
            except AssertionError as error:
                return runs, f"{count} tracks: {error}"
        return runs, None

    def _cost(self, count):
        folder = self._bench.folder / "tracks"
        folder.mkdir()
        options = ("--fps", FPS, "--bitrate", BITRATE)
        try:
            with self._clips.publisher(self.ROOM, "camera", count, *options) as publisher:
                publisher.wait_for("publishing", 60)
                return self._record(count, folder)
        finally:
            shutil.rmtree(folder)

    def _record(self, count, folder):
        command = ("record", "--url", self._bench.url, *KEYS, "--room", self.ROOM, "--json", "--each", "participant")
        command = mediabridge(*command, "--source", "camera", folder / "{publisher_identity}.mkv")
        with self._bench.running(command) as recorder:
            sampler, window, size = recorded(recorder, SETTLING, self._bench.arguments.seconds)
        told = [event for event in recorder.events if event["event"] == "finished"]
        assert len(told) == count, recorder.report(f"{len(told)} recordings and not {count}")
        total = lambda key: sum(track[key] for event in told for track in event["tracks"])
        frames, cost = sampler.rate(window), sampler.per_frame(window, 0)
        return {
            "cpu": cost, "rate": 100 * frames / (FPS * count), "dropped": total("dropped"), "lost": total("lost"),
            "memory": size, "others": window.others,
        }  # fmt: skip


def tabulate(table, runs):
    figures = {
        "CPU ms/frame": (lambda run: run["cpu"], {100: 0.35}),
        "frames that came, %": (lambda run: run["rate"], {}),
        "frames dropped": (lambda run: run["dropped"], dict.fromkeys(runs, 0)),
        "packets lost": (lambda run: run["lost"], {}),
        "threads": (lambda run: run["memory"]["threads"], {}),
        "steady RSS, MB": (lambda run: run["memory"]["steady"], {}),
    }
    fewest = min(runs)
    for count in runs:
        label = f"{count} track{'s' if count > 1 else ''} recorded as sent"
        for name, (figure, wanted) in figures.items():
            ours, theirs = ([figure(run) for run in runs[number]] for number in (count, fewest))
            table.value(f"{label}, {name}", f"{fewest} of them", ours, theirs, wanted.get(count))
