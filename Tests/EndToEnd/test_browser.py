"""`mediabridge publish`, seen in a web page: Chromium's own WebRTC receives it."""

import time

import clip
import numpy as np
import pytest
from programs import python
from publishing import FPS, SIZE, encode, numbers, publish

SMALL = (320, 180)


class Browser:
    """A page, and what each participant showed and let hear in it."""

    def __init__(self, server, start, room):
        self._program = start(server.enter(*python("subscribe_browser.py", "--url", server.url, "--room", room)))
        self.frames, self.peaks, self.counts = {}, {}, {}

    def ask_for(self, quality):
        """That layer of all videos."""
        self._program.write(f"quality {quality}")

    def watch(self, identities, count, size, seconds=30):
        """Until each has shown so many frames in a row of that size."""
        run = dict.fromkeys(identities, 0)
        # The page tells of what it counts, too, when nothing is shown any more.
        deadline = time.monotonic() + seconds
        while min(run.values()) < count:
            assert time.monotonic() < deadline, f"no {count} frames of {size} within {seconds} s: {run}"
            event = self._program.next(seconds, f"{count} frames of {size}: {run}")
            assert event["event"] != "error", event
            who = event["identity"]
            if event["event"] == "frame":
                self.frames.setdefault(who, []).append(event)
                run[who] = run[who] + 1 if (event["width"], event["height"]) == size else 0
            elif event["event"] == "peak":
                self.peaks.setdefault(who, []).append(event["peak"])
            else:
                self.counts.setdefault(who, {})[event["codec"]] = event


def assert_shown(frames):
    """In order, as they were drawn, and with no hole; a busy browser leaves out one now and then, or is at the next one
    already when the page looks at it."""
    seen = {"numbers": [frame["number"] for frame in frames], "widths": [frame["width"] for frame in frames]}
    got = numbers(seen)
    assert len(got) >= 0.98 * len(frames), f"unreadable: {seen['numbers']}"
    steps = np.diff(got)
    assert (steps >= 0).all() and (steps == 0).mean() < 0.05, f"not in order: {got}"
    assert (steps <= 3).mean() > 0.95 and steps.max() < FPS, f"frames are missing: {got}"
    # The first frames of another layer have few bits.
    settled = [frame for earlier, frame in zip(frames, frames[FPS // 2 :]) if earlier["width"] == frame["width"]]
    off = [frame["off"] for frame in settled if "off" in frame]
    assert len(off) >= 4 and max(off) < 12, f"not the frames of these numbers: {off}"
    assert max(frame.get("off", 0) for frame in frames) < 20, "not the frames of these numbers, behind a change of the layer"


@pytest.mark.realtime
def test_a_page_shows_what_is_published(server, start, tmp_path):
    """VP8 and H.264 at once, the layer that the page asks for, and sound."""
    numbered = encode(tmp_path / "numbered.mkv", 20)
    codecs = {"alice": "vp8", "bob": "h264"}
    publishers = [
        publish(server, start, numbered, "--encode", "--codec", codec, room="page", identity=who)
        for who, codec in codecs.items()
    ]
    for publisher in publishers:
        publisher.wait_for("publishing", 20)
    browser = Browser(server, start, "page")
    for quality, size in (("HIGH", SIZE), ("LOW", SMALL), ("HIGH", SIZE)):
        browser.ask_for(quality)
        browser.watch(codecs, 2 * FPS, size)
    for who, codec in codecs.items():
        assert_shown(browser.frames[who])
        counts = browser.counts[who]
        assert f"video/{codec.upper()}" in counts and len(counts) == 2
        assert all(count["packetsLost"] == 0 for count in counts.values()), counts
        # A beep each second, and silence between.
        peaks = browser.peaks[who]
        assert max(peaks) == pytest.approx(clip.LOUDNESS / 2**15, rel=0.1) and np.median(peaks) < 0.01, peaks
