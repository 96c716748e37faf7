"""Synthetic pictures whose frame number can be read back, and sound that flashes with them."""

import numpy as np

BITS = 16
RATE = 48_000
TONE = 1_000


def draw(number, width, height, fps):
    """An RGBA picture: a moving gradient, the number as a row of blocks on top, white in the first 100 ms of a second."""
    x = np.arange(width, dtype=np.uint32)[None, :]
    y = np.arange(height, dtype=np.uint32)[:, None]
    luma = ((x + y + 4 * number) // 4 % 160 + 40).astype(np.uint8)
    if is_flash(number, fps):
        luma[:] = 255
    size = width // (BITS + 2)
    bits = [1, *((number >> bit) & 1 for bit in range(BITS)), parity(number)]
    for index, bit in enumerate(bits):
        luma[: size, index * size : (index + 1) * size] = 235 if bit else 16
    picture = np.empty((height, width, 4), dtype=np.uint8)
    picture[..., :3] = luma[..., None]
    picture[..., 3] = 255
    return picture


def is_flash(number, fps):
    return number % fps < max(1, fps // 10)


def parity(number):
    return bin(number & (2**BITS - 1)).count("1") & 1 ^ 1


def read(luma):
    """The number of a picture, or None when it cannot be read."""
    size = luma.shape[1] // (BITS + 2)
    inner = size // 4
    bits = [
        luma[inner : size - inner, index * size + inner : (index + 1) * size - inner].mean() > 125
        for index in range(BITS + 2)
    ]
    number = sum(1 << index for index, bit in enumerate(bits[1:-1]) if bit)
    return number if bits[0] and bits[-1] == bool(parity(number)) else None


def sound(first, count):
    """`count` stereo samples from sample `first` on: 1 kHz in the first 100 ms of each second, else silence."""
    index = np.arange(first, first + count)
    wave = np.sin(2 * np.pi * TONE * index / RATE) * 12_000 * (index % RATE < RATE // 10)
    return np.repeat(wave.astype(np.int16), 2)
