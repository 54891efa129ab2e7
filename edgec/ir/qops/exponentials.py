"""Exponentials of distances between logits, and what a row of them is divided by.

`QAttention` defines both; the softmax by octaves shares them.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX, round_half_up
from edgec.ir.qops.arithmetic import bit_length, half_step, rshr32, within32
from edgec.ir.shapes import need

DISTANCE_BITS = 11
"""Fraction bits of a distance in octaves."""
DISTANCE_SHIFT = 15
"""Right shift of a logit's distance times its multiplier."""
_SEGMENT_BITS = 6
_SEGMENTS = 1 << (DISTANCE_BITS - _SEGMENT_BITS)
_MOST_OCTAVES = 27
"""Largest right shift of an exponential."""


def exp_table() -> Array:
    """``round(32767 * 2**(-i/32))`` for i = 0..32; int64 [33]."""
    return round_half_up(INT16_MAX * 2.0 ** (-np.arange(_SEGMENTS + 1) / _SEGMENTS))


def exponentials(logits: Array, valid: Array, multiplier: int, limit: int, bits: int) -> Array:
    """E of `QAttention`.

    Args:
        logits: int64 [..., M].
        valid: bool [..., M]: the keys that take part.
        multiplier: distance_multiplier of the head.
        limit: distance_limit of the head.
        bits: exp_bits.

    Returns:
        int64 [..., M]; 0 for the keys that take no part.
    """
    table = exp_table()
    highest = np.where(valid, logits, np.iinfo(np.int64).min).max(axis=-1, keepdims=True)
    distance = np.where(valid, np.minimum(within32(np.where(valid, highest - logits, 0)), limit), 0)
    octaves = rshr32(distance * multiplier, DISTANCE_SHIFT)
    fraction = octaves & ((1 << DISTANCE_BITS) - 1)
    index, rest = fraction >> _SEGMENT_BITS, fraction & ((1 << _SEGMENT_BITS) - 1)
    chord = rshr32((table[index] - table[index + 1]) * rest, _SEGMENT_BITS)
    exact = rshr32(table[index] - chord, (octaves >> DISTANCE_BITS) + 15 - bits)
    return np.where(valid, exact, 0)


def exponent_and_divisor(total: Array) -> tuple[Array, Array]:
    """X and B of `QAttention` from S int64; where S is 0, x is 0 and B is 1."""
    exponent = np.maximum(bit_length(total) - 1, 0)
    mantissa = np.where(
        exponent >= 15, total >> np.maximum(exponent - 15, 0), total << np.maximum(15 - exponent, 0)
    )
    return exponent, np.maximum(mantissa, 1)


def distance_bounds(farthest: float, exp_bits: int) -> dict[str, float]:
    """Bounds of the steps from a distance to its exponential.

    Args:
        farthest: the largest distance times its multiplier.
        exp_bits: bits of the exponentials.
    """
    octaves = int(farthest / 2.0 ** (DISTANCE_SHIFT + DISTANCE_BITS)) + 16 - exp_bits
    return {
        "a distance": farthest + half_step(DISTANCE_SHIFT),
        "a shift": 31.0 if octaves <= _MOST_OCTAVES else float("inf"),
    }


def need_exp_bits(bits: int) -> None:
    """Check the width of exponentials.

    Raises:
        ValueError: it is out of range.
    """
    need(12 <= bits <= 15, f"bad width {bits} of exponentials")
