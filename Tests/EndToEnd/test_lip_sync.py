"""Frames and audio that were captured together, over minutes, in which clocks could drift apart."""

import checks
import numpy as np
import pytest

pytestmark = pytest.mark.long

FPS = 25
SIZE = (640, 360)
SECONDS = 150


def test_frames_and_audio_stay_together(server, tmp_path):
    """As sent in Matroska, and with the run-in of AAC in MP4: both files of one camera at once."""
    server.foreign_publisher("--room", "sync", "--codec", "H264", "--duration", SECONDS + 60)
    files = [tmp_path / "sync.mkv", tmp_path / "sync.mp4"]
    recorders = [server.recorder("sync", "alice", file, "--duration", f"{SECONDS}s") for file in files]
    for recorder in recorders:
        recorder.wait_for("finished", SECONDS + 60)
        assert recorder.finish() == 0, recorder.report("failed")
    for file in files:
        assert checks.durations(file) == pytest.approx({"video": SECONDS, "audio": SECONDS}, abs=0.3)
        offsets = checks.flash_offsets(checks.numbered(file, SIZE), FPS, *checks.audio(file))
        assert len(offsets) > 0.9 * SECONDS, f"{file.name}: {len(offsets)} flashes"
        assert max(map(abs, offsets)) <= 0.045, f"{file.name}: {[round(offset, 3) for offset in offsets]}"
        third = len(offsets) // 3
        drift = np.median(offsets[-third:]) - np.median(offsets[:third])
        assert abs(drift) <= 0.010, f"{file.name}: flash and beep move apart by {drift:.3f} s"
