"""Participants that show a clip: it is encoded once and sent by all, so that publishing costs little."""

import shutil
import tempfile
from pathlib import Path

import real_clip
from programs import KEYS, ROOT, mediabridge

TEMPLATES = ("clip", "clip-audio")


class Clips:
    def __init__(self, bench):
        self._bench = bench
        # A copy, since root, who may run this, uses no pipeline that belongs to somebody else.
        self._templates = tempfile.TemporaryDirectory()
        capture = Path(self._templates.name, "capture")
        capture.mkdir(mode=0o755)
        for name in TEMPLATES:
            shutil.copyfile(ROOT / f"Tests/Bench/pipelines/capture/{name}.pipeline", capture / f"{name}.pipeline")

    def publisher(self, room, identity, participants, *options, audio=False):
        """`audio` is what the microphones hear."""
        options += ("--clip-audio", "clip-audio") if audio else ()
        return self._bench.running(
            mediabridge(
                *("publish-test", "--url", self._bench.url, *KEYS, "--room", room, "--identity", identity, "--json"),
                *("--clip", "clip", "--pipelines", self._templates.name, "--participants", participants, *options),
                *("--set", f"file={real_clip.file()}"),
            )
        )
