"""The programs of `Examples/Python` do what their first lines say."""

import json
import sys

import numpy as np
import pytest
from programs import ROOT
from publish_object import SPEED
from raw import Reader

EXAMPLES = ROOT / "Examples/Python"


def told(server, file, command, example, *options):
    """What an example prints of what a command gives it."""
    feed = f"{sys.executable} {EXAMPLES}/{example} > {file}"
    Reader(server, command, "--exec", feed, *options).all()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_moving_object_is_found(server, tmp_path):
    """A square that moves to the right as fast as `publish_object.py` says, seen at half the size."""
    server.foreign_publisher("--no-audio", script="publish_object.py")
    options = ("--format", "rgb24", "--size", "320x180", "--fps", 10, "--duration", "4s")
    places = told(server, tmp_path / "told", "frames", "moving_object.py 320x180 10", *options)
    assert len(places) > 20
    assert all(abs(place["y"] - 90) < 10 for place in places), places
    speeds = [(b["x"] - a["x"]) / (b["time"] - a["time"]) for a, b in zip(places, places[1:])]
    # Once in three seconds it begins again at the left.
    assert np.median(speeds) == pytest.approx(SPEED / 2, rel=0.2), speeds


def test_the_loudness_of_beeps(server, tmp_path):
    server.foreign_publisher("--no-video")
    levels = told(server, tmp_path / "told", "pcm", "loudness.py 16000", "--rate", 16_000, "--duration", "4s")
    assert [level["time"] for level in levels] == pytest.approx([number / 10 for number in range(40)])
    loud = [level["time"] for level in levels if level["decibels"] is not None and level["decibels"] > -20]
    silent = [level for level in levels if level["decibels"] is None or level["decibels"] < -50]
    assert 3 <= len(loud) <= 10 and len(silent) > 25
