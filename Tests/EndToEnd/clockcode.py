"""When a frame was taken, burned into it; Sources/mediabridge/ClockCode.swift reads the same.

Two rows of forty black or white blocks at the top, whose size goes with the width: 48 bits microseconds of
CLOCK_MONOTONIC, 16 bits number, 16 bits check, each the lowest bit first.
"""

import time

import numpy as np

COLUMNS = 40
BITS = 80
BLACK, WHITE = 16, 235


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def burn(luma, number, microseconds):
    code = (microseconds & (2**48 - 1)) | (number & 0xFFFF) << 48
    code |= _check(code) << 64
    bits = np.array([(code >> bit) & 1 for bit in range(BITS)], dtype=bool).reshape(-1, COLUMNS)
    side = luma.shape[1] // COLUMNS
    blocks = np.where(bits, WHITE, BLACK).astype(np.uint8).repeat(side, axis=0).repeat(side, axis=1)
    luma[: blocks.shape[0], : blocks.shape[1]] = blocks


def read(luma):
    """(number, microseconds), or None when there is no code or it has suffered too much."""
    side = luma.shape[1] // COLUMNS
    rows = BITS // COLUMNS
    if side < 4 or luma.shape[0] < rows * side:
        return None
    blocks = luma[: rows * side, : COLUMNS * side].reshape(rows, side, COLUMNS, side)
    margin = side // 4
    bits = blocks[:, margin : side - margin, :, margin : side - margin].mean(axis=(1, 3)) > 125
    code = sum(1 << index for index, bit in enumerate(bits.flat) if bit)
    value = code & (2**64 - 1)
    return (value >> 48, value & (2**48 - 1)) if _check(value) == code >> 64 else None


def _check(code):
    """Inverted, so that a black frame is not a code."""
    return ~(code ^ code >> 16 ^ code >> 32 ^ code >> 48) & 0xFFFF
