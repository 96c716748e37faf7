"""Synthetic frames whose frame number can be read back, and audio that flashes with them."""

import functools

import numpy as np

# What publishers send unless they are told otherwise: encoders share the machine with what is tested.
SIZE = (320, 180)
BITS = 16
RATE = 48_000
TONE = 1_000
# Of 32,768.
LOUDNESS = 12_000


def draw(number, width, height, fps):
    """A gray frame: a moving chequerboard, the number as blocks on top, white in the first 100 ms of a second."""
    if is_flash(number, fps):
        luma = np.full((height, width), 255, dtype=np.uint8)
    else:
        luma = chequerboard(number % PERIOD, width, height).copy()
    burn(luma, number)
    return luma


# Of the chequerboard, in frames: two fields downwards, by 2 rows a frame.
PERIOD = 24


@functools.cache
def chequerboard(number, width, height):
    """Moves by a quarter of a field a frame, so that a frame taken for its neighbour is seen to differ. Its darkness
    grows from corner to corner, again and again: no field is like the next."""
    columns = ((np.arange(width) + 6 * number) // 24).astype(np.uint8)[None, :]
    rows = ((np.arange(height) + 2 * number) // 24).astype(np.uint8)[:, None]
    diagonal = np.arange(width, dtype=np.uint32)[None, :] + np.arange(height, dtype=np.uint32)[:, None]
    return ((columns + rows) & 1) * np.uint8(60) + (diagonal // 8 % 80 + 50).astype(np.uint8)


def screen(width, height):
    """A gray frame that no frame of the clip is alike: plain and bright, without a number."""
    return np.full((height, width), 200, dtype=np.uint8)


# Video is sent with black at 16 and white at 235.
_SENT = (16 + np.arange(256) * 219 / 255).round().astype(np.uint8).tobytes()


def i420(luma):
    """A gray frame as it is sent; publishers share the machine with what is tested, and this costs least."""
    height, width = luma.shape
    return luma.tobytes().translate(_SENT) + b"\x80" * (2 * ((width + 1) // 2) * ((height + 1) // 2))


def burn(luma, number):
    """Writes the number as blocks on top of the frame."""
    edges = blocks(luma.shape[1])
    bits = [1, *((number >> bit) & 1 for bit in range(BITS)), parity(number)]
    for index, bit in enumerate(bits):
        luma[: edges[1], edges[index] : edges[index + 1]] = 235 if bit else 16


def is_flash(number, fps):
    return number % fps < max(1, fps // 10)


def blocks(width):
    """Where the blocks begin and end, the same share of the width in every size."""
    return [round(index * width / (BITS + 2)) for index in range(BITS + 3)]


def parity(number):
    return bin(number & (2**BITS - 1)).count("1") & 1 ^ 1


def read(luma):
    """The number of a frame, or None when it cannot be read."""
    edges = blocks(luma.shape[1])
    inner = edges[1] // 4
    bits = [
        luma[inner : edges[1] - inner, edges[index] + inner : edges[index + 1] - inner].mean() > 125
        for index in range(BITS + 2)
    ]
    number = sum(1 << index for index, bit in enumerate(bits[1:-1]) if bit)
    # A frame that is white all over has none.
    return number if bits[0] and bits[-1] == bool(parity(number)) and not all(bits) else None


def tone(first, count):
    """`count` stereo samples from sample `first` on: 1 kHz without a pause."""
    wave = np.sin(2 * np.pi * TONE * np.arange(first, first + count) / RATE) * LOUDNESS
    return np.repeat(wave.astype(np.int16), 2)


def audio(first, count, frequency=TONE):
    """`count` stereo samples from sample `first` on: a beep in the first 100 ms of each second, else silence."""
    index = np.arange(first, first + count)
    wave = np.sin(2 * np.pi * frequency * index / RATE) * LOUDNESS * (index % RATE < RATE // 10)
    return np.repeat(wave.astype(np.int16), 2)


def chirp(count=RATE // 4):
    """From 300 to 3000 Hz: no other place in it looks alike."""
    time = np.arange(count) / RATE
    return np.sin(2 * np.pi * (300 * time + 2700 * time**2 * RATE / count / 2)) * LOUDNESS


def chirps(first, count):
    """`count` stereo samples from sample `first` on: a chirp at the beginning of each second, then 1 kHz."""
    index = np.arange(first, first + count)
    place = index % RATE
    quiet = np.sin(2 * np.pi * TONE * index / RATE) * LOUDNESS / 8
    wave = np.where(place < RATE // 4, chirp()[np.minimum(place, RATE // 4 - 1)], quiet)
    return np.repeat(wave.astype(np.int16), 2)
