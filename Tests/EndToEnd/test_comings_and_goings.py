"""Ten minutes of a room in which people come and go: one recording, and no more memory at the end than at the beginning."""

import json
import re
from pathlib import Path

import checks
import numpy as np
import pytest

pytestmark = [pytest.mark.long, pytest.mark.minutes]

SECONDS = 600
STAY = 8
LAYOUTS = ["speaker", "grid", "single-speaker", "grid", "screen-share", "speaker", "grid"]


def resident(program):
    """MB of memory that the program has."""
    said = Path(f"/proc/{program.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", said)[1]) / 1024


def follow(recorder):
    """Lays the room out anew every 9 s until the recording ends; (seconds, MB) on the way, and how often it was."""
    held, changes = [], 0
    while (event := recorder.next(60))["event"] != "finished":
        if event["event"] != "progress":
            continue
        held.append((event["duration"], resident(recorder)))
        if event["duration"] > 9 * (changes + 1):
            recorder.write(json.dumps({"command": "layout", "layout": LAYOUTS[changes % len(LAYOUTS)]}))
            changes += 1
    return held, changes


def test_ten_minutes_of_comings_and_goings(server, tmp_path):
    server.foreign_publisher(
        *("--room", "busy", "--duration", SECONDS + 60, "--width", 320, "--height", 180, "--bitrate", 400_000)
    )
    guests = server.foreign_publisher(
        *("--room", "busy", "--guests", SECONDS, "--stay", STAY, "--bitrate", 400_000), script="guests.py"
    )
    file = tmp_path / "busy.mp4"
    options = ("--composite", "grid", "--size", "640x360", "--placeholders", "--names", "--control", "-")
    recorder = server.recorder("busy", None, file, *options, "--duration", f"{SECONDS}s")
    held, changes = follow(recorder)
    assert recorder.finish() == 0, recorder.report("failed")
    refused = [event for event in recorder.events if event["event"] == "control" and not event["done"]]
    assert changes >= 30 and not refused, refused
    guests.stop()
    guests.finish()
    assert sum(event["event"] == "left" for event in guests.events) >= 30, guests.report("few came")

    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.durations(file) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.3)
    shown = sorted(pts for pts, _, _ in checks.packets(file)["video"])
    steps = np.diff(shown)
    # A busy machine leaves out single frames.
    assert np.percentile(steps, 99.9) <= 0.1 and max(steps) < 0.4, np.sort(steps)[-20:]
    heard = checks.beeps(*checks.audio(file))
    assert len(heard) >= SECONDS - 2 and np.diff(heard) == pytest.approx(1, abs=0.03), np.round(heard, 3)
    early, late = (np.median([size for time, size in held if begin <= time < end]) for begin, end in ((120, 240), (480, 600)))
    print(f"{early:.0f} MB in the third and fourth minute, {late:.0f} MB in the last two")
    assert late < early + 10, [(round(time), round(size)) for time, size in held[::20]]
