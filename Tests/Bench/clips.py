"""Participants that show a clip: its frames are encoded once and sent by all, so that publishing costs little."""

import shutil
import tempfile
from pathlib import Path

import real_clip
from programs import KEYS, ROOT, mediabridge


class Clips:
    def __init__(self, bench):
        self._bench = bench
        # A copy, since root, who may run this, uses no pipeline that belongs to somebody else.
        self._templates = tempfile.TemporaryDirectory()
        capture = Path(self._templates.name, "capture")
        capture.mkdir(mode=0o755)
        shutil.copyfile(ROOT / "Tests/Bench/pipelines/capture/clip.pipeline", capture / "clip.pipeline")

    def publisher(self, room, identity, participants, *options):
        return self._bench.running(
            mediabridge(
                *("publish-test", "--url", self._bench.url, *KEYS, "--room", room, "--identity", identity, "--json"),
                *("--clip", "clip", "--pipelines", self._templates.name, "--participants", participants, *options),
                *("--set", f"file={real_clip.file()}"),
            )
        )
