"""A playlist as RFC 8216 has it, read and checked without any program of ours."""

import datetime
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import checks
import pytest


@dataclass
class Segment:
    path: Path
    duration: float
    date: datetime.datetime


@dataclass
class Playlist:
    """`initialization` goes in front of each segment; None where they need nothing."""

    tags: dict = field(default_factory=dict)
    segments: list = field(default_factory=list)
    initialization: Path | None = None
    is_over: bool = False


def read(file):
    lines = file.read_text().splitlines()
    assert lines[0] == "#EXTM3U", lines[:3]
    playlist, duration, date = Playlist(), None, None
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name == "#EXT-X-ENDLIST":
            playlist.is_over = True
        elif name == "#EXTINF":
            duration = float(value.rstrip(","))
        elif name == "#EXT-X-PROGRAM-DATE-TIME":
            date = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        elif name == "#EXT-X-MAP":
            playlist.initialization = file.parent / unquote(value.removeprefix('URI="').removesuffix('"'))
        elif line.startswith("#"):
            playlist.tags[name] = value
        else:
            playlist.segments.append(Segment(file.parent / unquote(line), duration, date))
            duration = date = None
    return playlist


def alone(playlist, segment, folder):
    """A file of that segment alone, with what goes in front of each."""
    if playlist.initialization is None:
        return segment.path
    file = folder / f"alone-{segment.path.name}.mp4"
    file.write_bytes(playlist.initialization.read_bytes() + segment.path.read_bytes())
    return file


def packets(file):
    """(seconds, whether it is a keyframe) of the video's packets."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags"]
    done = subprocess.run([*command, "-of", "csv=p=0", str(file)], capture_output=True, text=True, check=True)
    rows = [line.split(",") for line in done.stdout.split()]
    return [(float(row[0]), row[1].startswith("K")) for row in rows]


def assert_valid(playlist, kind):
    """What holds for every playlist (RFC 8216, 4.3)."""
    assert playlist.tags.get("#EXT-X-PLAYLIST-TYPE") == kind
    target = int(playlist.tags["#EXT-X-TARGETDURATION"])
    durations = [segment.duration for segment in playlist.segments]
    assert durations and all(0 < duration and round(duration) <= target for duration in durations), durations
    for before, after in zip(playlist.segments, playlist.segments[1:]):
        assert (after.date - before.date).total_seconds() == pytest.approx(before.duration, abs=0.002)


def assert_segments(playlist, folder):
    """Each begins with a keyframe, decodes alone, and is as long as the playlist says; but for one at most behind a segment
    that was ended without, since a sender on a busy machine sent none in time."""
    target = int(playlist.tags["#EXT-X-TARGETDURATION"])
    begins, without = [], []
    for before, segment in zip([None, *playlist.segments], playlist.segments):
        file = alone(playlist, segment, folder)
        begin, is_keyframe = packets(file)[0]
        begins.append(begin)
        if not is_keyframe and before and before.duration > target:
            without.append(segment)
            continue
        assert is_keyframe and checks.decode_errors(file) == [], segment
    assert len(without) <= 1, without
    for segment, begin, end in zip(playlist.segments, begins, begins[1:]):
        assert segment.duration == pytest.approx(end - begin, abs=0.002), segment
