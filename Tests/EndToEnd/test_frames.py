"""`mediabridge frames`: what a room shows, read by programs that know nothing of it."""

import clip
import numpy as np
import pytest
from raw import Reader, lines, of

WIDTH, HEIGHT, FPS = 640, 360, 25


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size")
    return server


def luma(data, width=WIDTH, height=HEIGHT):
    """The luma planes of I420 frames."""
    size = width * height * 3 // 2
    assert len(data) % size == 0 and data, "only whole frames"
    return np.frombuffer(data, np.uint8).reshape(-1, size)[:, : width * height].reshape(-1, height, width)


def numbers(planes):
    read = [clip.read(plane) for plane in planes]
    assert None not in read, "every frame can be read"
    return read


def source_luma(number):
    """As the publisher's RGB becomes limited range, to within a rounding."""
    return 16 + clip.draw(number, WIDTH, HEIGHT, FPS)[..., 0] * (219 / 255)


def test_i420_on_standard_output_has_every_frame_at_its_time(room, tmp_path):
    log = tmp_path / "info.jsonl"
    planes = luma(Reader(room, "frames", "--duration", "4s", "--info", log).all())
    told = of("frame", lines(log))
    read = numbers(planes)
    assert read == sorted(set(read)) and len(read) > 80, "in order, each once"
    assert [frame["number"] for frame in told] == list(range(len(read)))
    for frame, number in zip(told, read, strict=True):
        assert abs(frame["time"] - (number - read[0]) / FPS) < 0.04
        assert frame["size"] == f"{WIDTH}x{HEIGHT}"
    for before, after, a, b in zip(told, told[1:], read, read[1:]):
        assert (after["rtp"] - before["rtp"]) % 2**32 == pytest.approx((b - a) * 90_000 / FPS, abs=900)
    for plane, number in zip(planes[::10], read[::10]):
        assert np.abs(plane - source_luma(number)).mean() < 8, "close to what was published"
