"""What every failed recording has to look like to the person in front of it."""

import re

import checks


def said(errors):
    """The lines of standard error that a person reads: without log lines."""
    return [line for line in errors.splitlines() if line.strip() and not re.match(r"\d\d:\d\d:\d\d\.", line)]


def assert_failed(recorder, *words, within=20):
    """It ends by itself, not with 0, and says in one line what happened."""
    assert recorder.finish(within) != 0, recorder.report("it ended with 0")
    lines = said(recorder.errors)
    assert len(lines) == 1, recorder.report(f"{len(lines)} lines")
    for word in words:
        assert word.lower() in lines[0].lower(), recorder.report(f"'{word}' is not in the error")
    told = [event for event in recorder.events if event.get("event") == "failed"]
    assert len(told) == 1, recorder.report("machines are not told")
    return lines[0]


def assert_plays(file, seconds):
    """The file is whole and holds at least `seconds` of video and audio, but for the last few of them."""
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []
    covered = checks.durations(file)
    assert set(covered) == {"video", "audio"} and min(covered.values()) > seconds - 0.1, covered


def after(recorder, seconds):
    """Waits until so much is recorded; its last word on how much."""
    while (told := recorder.wait_for("progress"))["duration"] < seconds:
        pass
    return told


def chosen_pairs(program):
    """The candidate pairs that a program with --verbose says it chose."""
    return re.findall(r'candidate pair chosen.*pair="([^"]*)"', program.errors)


