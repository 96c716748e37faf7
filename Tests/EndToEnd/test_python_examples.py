"""The programs of `Examples/Python` do what their first lines say."""

import json
import sys

import pytest
from programs import ROOT
from raw import Reader

EXAMPLES = ROOT / "Examples/Python"


def told(server, file, command, example, *options):
    """What an example prints of what a command gives it."""
    feed = f"{sys.executable} {EXAMPLES}/{example} > {file}"
    Reader(server, command, "--exec", feed, *options).all()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_moving_object_is_found(server, tmp_path):
    """The ball of `publish-test`, which sweeps over the frame."""
    server.own_publisher("test", "alice", "vp8")
    options = ("--format", "rgb24", "--size", "320x180", "--fps", 10, "--duration", "4s")
    places = told(server, tmp_path / "told", "frames", "moving_object.py 320x180 10", *options)
    assert len(places) > 20
    ways = [max(place[axis] for place in places) - min(place[axis] for place in places) for axis in "xy"]
    assert max(ways) > 30, places


def test_the_loudness_of_beeps(server, tmp_path):
    server.foreign_publisher("--no-video")
    levels = told(server, tmp_path / "told", "pcm", "loudness.py 16000", "--rate", 16_000, "--duration", "4s")
    assert [level["time"] for level in levels] == pytest.approx([number / 10 for number in range(40)])
    loud = [level["time"] for level in levels if level["decibels"] is not None and level["decibels"] > -20]
    silent = [level for level in levels if level["decibels"] is None or level["decibels"] < -50]
    assert 3 <= len(loud) <= 10 and len(silent) > 25
