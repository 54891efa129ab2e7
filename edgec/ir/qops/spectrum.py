"""Steps that operators on spectra of frames share: scaled frames, logarithms of sums of powers."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.qops.arithmetic import bit_length
from edgec.ir.qops.softmax import LOG_BITS, binary_logarithm

SAMPLE_BITS = 15
"""Fraction bits of the window and of `QLogMel.emphasis`; left shift of a sample."""
FULL_BITS = 29
"""Bits to which a frame is scaled up."""
POWER_SHIFT = 14
"""Bits of a power that are dropped, so that sums of its products with weights fit 64 bits."""


def scaled_frames(e: Array, window: Array) -> tuple[Array, Array]:
    """Windowed frames, scaled up so that quiet ones lose nothing.

    ``h = min(29 - bitlen(max |e|), 14)``, 0 where all are 0; ``v[n] = rshr(e[n] * window[n],
    15 - h)``.

    Args:
        e: samples, int64 [..., W], with 15 fraction bits.
        window: int64 [W], 15 fraction bits.

    Returns:
        v [..., W] and h [...], int64.
    """
    up = np.minimum(FULL_BITS - bit_length(np.abs(e).max(axis=-1)), SAMPLE_BITS - 1)
    up = np.where(np.any(e, axis=-1), up, 0)
    down = (SAMPLE_BITS - up)[..., None]
    return (e * window + (1 << (down - 1))) >> down, up


def wide_logarithm(values: Array) -> Array:
    """The logarithm to base 2 of the first 32 bits of uint64 numbers, 0 for 0.

    Returns:
        int64, `LOG_BITS` fraction bits.
    """
    extra = bit_length((values >> np.uint64(32)).astype(np.int64))
    first = (values >> extra.astype(np.uint64)).astype(np.int64)
    return np.asarray(binary_logarithm(np.maximum(first, 1)) + (extra << LOG_BITS))
