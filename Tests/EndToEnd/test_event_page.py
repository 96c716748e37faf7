"""The page of the events of `--json` has them all."""

import re

from programs import ROOT

PAGE = ROOT / "Sources/MediaBridge/MediaBridge.docc/JSONEvents.md"
NAME = r'\(\s*(?:is[A-Z][a-z]+ \? )?"([a-z_]+)"(?: : "([a-z_]+)")?'
# Named by a variable.
COUNTED = {"frames", "samples"}


def told():
    """What the program's sources tell."""
    for file in (ROOT / "Sources/mediabridge").rglob("*.swift"):
        # The events of a room are a table of tuples.
        pattern = rf"{NAME}," if file.name == "RoomEvents.swift" else rf"\b(?:event|tell|said){NAME}"
        for names in re.findall(pattern, file.read_text()):
            yield from filter(None, names)


def described():
    """What stands in the first column of a table, and in the only sentence about an event."""
    text = PAGE.read_text()
    for cell in re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE):
        yield from re.findall(r"`([a-z_]+)`", cell)
    yield from re.findall(r"says `([a-z_]+)` alone", text)


def test_every_event_is_on_the_page():
    assert len(set(told())) > 100
    assert set(told()) | COUNTED == set(described())
