"""The programs of `Examples/Python` do what their first lines say."""

import json
import re
import sys

import checks
import numpy as np
import pytest
from programs import ROOT
from publish_object import SIDE, SPEED
from publish_speech import PERIOD, STEP, WORDS
from raw import Reader, lines, of
from test_frames import eventually

EXAMPLES = ROOT / "Examples/Python"


def told(server, file, command, example, *options):
    """What an example prints of what a command gives it."""
    feed = f"{sys.executable} {EXAMPLES}/{example} > {file}"
    Reader(server, command, "--exec", feed, *options).all()
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("module", ["numpy", "cv2", "pocketsphinx"])
def test_what_an_example_needs_is_named(module):
    package = {"cv2": "python3-opencv"}.get(module, f"python3-{module}")
    texts = [file.read_text() for file in EXAMPLES.glob("*.py")]
    using = [text for text in texts if re.search(rf"^(import|from) {module}\b", text, re.MULTILINE)]
    assert using and package in (ROOT / "README.md").read_text()
    for text in using:
        described = text.split('"""')[1]
        # OpenCV brings NumPy along.
        assert package in described or "python3-opencv" in described, described


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


def test_a_moving_object_has_a_box_by_opencv(server, tmp_path):
    """The same square, at half the size."""
    server.foreign_publisher("--no-audio", script="publish_object.py")
    options = ("--format", "bgr24", "--size", "320x180", "--fps", 10, "--duration", "5s")
    boxes = told(server, tmp_path / "told", "frames", "moving_boxes.py 320x180 10", *options)
    # Where it was before counts as moving for some frames, so that boxes may be larger than the square.
    found = [box for box in boxes if abs(box["height"] - SIDE / 2) < 6 and abs(box["y"] + box["height"] / 2 - 90) < 6]
    assert len(found) > 20 and len(found) > 0.8 * len(boxes), boxes
    right = [(box["time"], box["x"] + box["width"]) for box in found]
    speeds = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(right, right[1:]) if b[0] > a[0]]
    assert np.median(speeds) == pytest.approx(SPEED / 2, rel=0.2), speeds


def test_motion_begins_and_ends(server, tmp_path):
    publisher = server.foreign_publisher("--no-audio")
    file = tmp_path / "told"
    feed = f"{sys.executable} {EXAMPLES}/motion.py 160x90 10 > {file}"
    reader = Reader(server, "frames", "--format", "gray8", "--size", "160x90", "--fps", 10, "--exec", feed)
    eventually(lambda: len(lines(file)) == 1)
    # The camera gives no frames.
    publisher.write("hold:3")
    eventually(lambda: len(lines(file)) >= 3)
    assert reader.stop() == 0, reader.said
    events = lines(file)
    assert [event["event"] for event in events[:3]] == ["motion", "still", "motion"]
    assert 1 <= events[2]["time"] - events[1]["time"] < 3
    left, top, right, bottom = events[0]["box"]
    assert 0 <= left < right < 160 and 0 <= top < bottom < 90


def test_what_is_said_is_written_down_with_the_times_of_words(server, tmp_path):
    """By Debian's pocketsphinx, which Debian's Python has."""
    server.foreign_publisher("--no-video", script="publish_speech.py")
    file = tmp_path / "told"
    feed = f"/usr/bin/python3 {EXAMPLES}/recognise.py one two three four five six > {file}"
    Reader(server, "pcm", "--rate", 16_000, "--duration", f"{2 * PERIOD + 2}s", "--exec", feed).all(90)
    words = [word for stretch in lines(file) for word in stretch["words"]]
    # It may begin in the middle of a word.
    begin = next(index for index, word in enumerate(words) if word["word"] == WORDS[0] and word["start"] > 1)
    sentence = words[begin : begin + len(WORDS)]
    assert [word["word"] for word in sentence] == list(WORDS), words
    for before, after in zip(sentence, sentence[1:]):
        assert after["start"] - before["start"] == pytest.approx(STEP, abs=0.1), words


def test_ffmpeg_reads_y4m_on_its_standard_input(server, tmp_path):
    """All that was made; of a reader that is late, as on a busy machine, it is said how much was dropped."""
    server.foreign_publisher("--no-audio", "--keep-size", "--width", 320, "--height", 180)
    file = tmp_path / "room.mkv"
    feed = f"ffmpeg -v error -i - -c:v libx264 -preset ultrafast {file}"
    reader = Reader(server, "frames", "--format", "y4m", "--fps", 25, "--duration", "2s", "--exec", feed)
    told = [json.loads(line) for line in reader.all().splitlines()]
    read = [number for number, _, _ in checks.numbered(file)]
    [finished] = of("finished", told)
    assert 50 - finished["dropped"] <= len(read) <= 50, reader.said
    assert len(read) > 10 and None not in read and read == sorted(read)


def test_the_loudness_of_beeps(server, tmp_path):
    server.foreign_publisher("--no-video")
    levels = told(server, tmp_path / "told", "pcm", "loudness.py 16000", "--rate", 16_000, "--duration", "4s")
    assert [level["time"] for level in levels] == pytest.approx([number / 10 for number in range(40)])
    loud = [level["time"] for level in levels if level["decibels"] is not None and level["decibels"] > -20]
    silent = [level for level in levels if level["decibels"] is None or level["decibels"] < -50]
    assert 3 <= len(loud) <= 10 and len(silent) > 25
