"""A disk that fills up leaves a file that plays, as long as the recorder says it is."""

import json
import wave

import checks
import pytest
from failures import assert_failed
from raw import Reader, of

# What is recorded into what, as sent and encoded in the last case, with the sizes of disks in kB: a few seconds, which
# end at different places of their fragments and clusters. WebM is written as Matroska is.
CASES = [("h264", "mkv", [152, 187, 221]), ("vp8", "webm", [187]), ("h264", "mp4", [152, 187, 221]), ("vp8", "mp4", [187])]


def assert_kept(recorder, file, *words):
    """It plays to the end without an error, and its length and size are those that were told."""
    line = assert_failed(recorder, file.name, *words, "the first 00:00:", within=90)
    told = next(event for event in recorder.events if event["event"] == "failed")
    # Of a publisher that is slow to begin the video comes later than the audio.
    ends = {kind: end for kind, (_, end) in checks.spans(file).items()}
    assert told["bytes"] == file.stat().st_size, line
    assert told["duration"] == pytest.approx(max(ends.values()), abs=0.1), f"{line}: {ends}"
    said = float(line.split("the first 00:00:")[1].split()[0])
    assert told["duration"] - 0.101 < said <= told["duration"] + 0.001, f"{line}: {told['duration']}"
    assert min(ends.values()) > 1, f"{line}: {ends}"
    assert max(ends.values()) - min(ends.values()) < 1.2, f"{line}: {ends}"
    assert checks.decode_errors(file) == [], line
    assert checks.disorder(file) == [], line


def test_disk_that_fills_up(local_server, disks):
    for codec in ("h264", "vp8"):
        local_server.own_publisher(codec, "alice", codec)
    running = []
    for codec, container, sizes in CASES:
        for size in sizes:
            file = disks(f"{codec}-{container}-{size}", size) / f"full-{codec}-{size}.{container}"
            running.append((local_server.recorder(codec, "alice", file), file))
    for recorder, file in running:
        assert_kept(recorder, file, "disk is full")


def test_file_that_may_not_grow(local_server, tmp_path):
    """As with `ulimit -f`; of all that a system may say it is the one that ends a program which does not expect it."""
    local_server.own_publisher("limit", "alice", "h264")
    running = []
    for container in ("mp4", "mkv"):
        file = tmp_path / f"limited.{container}"
        recorder = local_server.recorder("limit", "alice", file, prefix=("prlimit", "--fsize=180000"))
        running.append((recorder, file))
    for recorder, file in running:
        assert_kept(recorder, file, "cannot be written", "File too large")


def test_what_programs_are_handed_is_counted_as_far_as_it_is_there(server, disks):
    """Images and samples alike."""
    server.foreign_publisher("--keep-size", "--tone")
    folder, file = disks("images", 400) / "shots", disks("audio", 100) / "a.wav"
    images = Reader(server, "frames", "--format", "png", f"{folder}/")
    samples = Reader(server, "pcm", "--format", "wav", file)
    assert images.finish(60) == 1 and samples.finish(60) == 1
    written = [of("finished", map(json.loads, reader.process.stdout))[0]["written"] for reader in (images, samples)]
    names = sorted(image.name for image in folder.iterdir())
    assert names == [f"{number:06}.png" for number in range(written[0])] and names
    assert all(b"IEND" in (folder / name).read_bytes()[-8:] for name in names), "each is whole"
    assert f"{folder}/{written[0]:06}.png: the disk is full" in images.said, images.said
    with wave.open(str(file)) as read:
        assert read.getnframes() == written[1] > 0
    assert file.stat().st_size == 44 + 2 * written[1], "what found no room is cut"
    assert f"{file}: the disk is full" in samples.said, samples.said
