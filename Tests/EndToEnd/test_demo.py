"""What `make demo` runs."""

import subprocess

import checks
import pytest
from programs import ROOT, mediabridge


def test_demo(tmp_path):
    file = tmp_path / "demo.mp4"
    command = [*mediabridge("demo", "--output"), file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert checks.codecs(file)["video"] == "h264" and set(checks.codecs(file)) == {"video", "audio"}
    assert checks.durations(file) == pytest.approx({"video": 10, "audio": 10}, abs=0.3)
    assert checks.decode_errors(file) == []
    assert checks.disorder(file) == []
    for word in ("H264", str(file), "lost", "00:00:"):
        assert word in done.stdout, f"'{word}' is not in what it said:\n{done.stdout}"
    first, samples = checks.sound(file)
    assert checks.level(samples) > 0.01
    assert checks.frequency(samples) == pytest.approx(440, abs=5), "it recorded somebody else"
    changed = [luma for _, luma in checks.pictures(file)]
    assert (changed[0] != changed[-1]).mean() > 0.001, "the picture does not move"
