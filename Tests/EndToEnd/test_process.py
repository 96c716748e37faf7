"""`mediabridge publish --process`: what becomes of frames on their way, seen by the LiveKit Python SDK."""

import struct
import subprocess
import zlib

import numpy as np
import pytest
from failures import assert_failed
from programs import mediabridge
from publishing import publish

SIZE = "640x360"


@pytest.fixture(scope="module")
def black(tmp_path_factory):
    file = tmp_path_factory.mktemp("process") / "black.mp4"
    command = ["ffmpeg", "-y", "-v", "error", "-f", "lavfi", "-i", f"color=black:size={SIZE}:rate=25", "-t", "20"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", str(file)], check=True)
    return file


def square(file, side):
    """A white PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * side) * side)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return file


def seen(server, start, source, *options, size=SIZE):
    """What came of 20 frames of that size."""
    publisher = publish(server, start, source, *options, room="test")
    told = publisher.wait_for("publishing", 30)
    subscriber = server.subscriber("--duration", "15", "--until", "20", size, "--boxes")
    subscriber.wait_for("connected")
    result = subscriber.next(30, "what was seen")
    assert result["wanted"] >= 20, result
    publisher.kill()
    return told, result


def test_frames_are_cropped_and_have_a_logo(server, start, tmp_path, black):
    logo = square(tmp_path / "white.png", 30)
    values = ("crop.left=40", "right=40", "bottom=40", f"logo.location={logo}", "x=-20", "y=50", "logo-width=60")
    options = [word for value in values for word in ("--set", value)]
    told, result = seen(server, start, black, "--process", "crop,logo", *options, size="560x320")
    assert told["tracks"][0]["size"] == "560x320" and told["process"] == ["crop", "logo"]
    # 60 wide, 20 from the right, 50 from the top; at the edges VP8 errs by a pixel or two.
    assert result["boxes"][-1] == pytest.approx([480, 50, 539, 79], abs=2), result["boxes"]


def test_a_text_is_written_over_frames(server, start, black):
    options = ("--set", "text=R&D < 3", "--set", "halign=right", "--set", "valign=bottom")
    left, top, right, bottom = seen(server, start, black, "--process", "text", *options)[1]["boxes"][-1]
    assert 400 < left < right < 640 and 280 < top < bottom < 360


def test_blurred_frames_have_no_detail(server, start):
    checkers = ("--set", "pattern=checkers-8", "--set", "width=640", "--set", "height=360")
    sharp = seen(server, start, "pattern", *checkers)[1]["details"]
    blurred = seen(server, start, "pattern", *checkers, "--process", "blur")[1]["details"]
    assert np.median(blurred) < np.median(sharp) / 5, (blurred, sharp)


def test_a_frame_that_cannot_be_processed_ends_it(server, start):
    publisher = publish(server, start, "pattern", "--process", "crop", "--set", "left=2000", room="test")
    assert_failed(publisher, "crop.pipeline", within=30)


def test_audio_alone_is_not_processed(server, start):
    assert_failed(publish(server, start, "tone", "--process", "blur", room="test"), "--process blur", "no video")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--process", "blurr"), ("--process blurr", "did you mean 'blur'")),
        (("--process", "placeholder"), ("--process placeholder", "blur, crop")),
        (("--process", "logo"), ("--process logo", "location")),
        (("--process", "logo", "--set", "location=/none.png"), ("--process logo", "image")),
        (("--process", "crop", "--set", "crop.left=ten"), ("--process crop", "'ten'", "left")),
        (("--process", "text", "--set", "txet.text=a"), ("txet.text", "did you mean 'text'")),
        (("--process", "crop", "--set", "lfet=1"), ("lfet", "did you mean 'left'")),
    ],
)
def test_mistakes_are_told(options, words):
    command = mediabridge("publish", "--dev", "--room", "r", "pattern", *options)
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0 and all(word in done.stderr for word in words), done.stderr


def test_finding_faces_says_nothing_of_itself(server, start, black):
    """Frames without faces come through, and OpenCV writes nothing to standard error."""
    publisher = publish(server, start, black, "--process", "faces-blurred", "--duration", "2s", room="test")
    publisher.wait_for("finished", 30)
    assert publisher.finish() == 0, publisher.report("")
    assert "ERROR" not in publisher.errors, publisher.errors
