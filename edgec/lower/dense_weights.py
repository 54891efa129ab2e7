"""Weights in the order in which the DSP kernel reads them: `firmware/.../dsp.h`."""

from __future__ import annotations

import numpy as np

from edgec.dtypes import Array

FILTERS = 2
"""Filters whose sums are computed together."""
QUAD = 4
"""Weights in a word."""


def padded_depth(depth: int) -> int:
    """Weights of a filter as stored: pairs of quads."""
    return -(-depth // (2 * QUAD)) * 2 * QUAD


def interleaved(weights: Array) -> Array:
    """Filters two by two, quad by quad.

    Args:
        weights: int8 [O, ...].

    Returns:
        int8 [ceil(O / 2), quads, 2, 4]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    filters, depth = rows.shape
    pairs = -(-filters // FILTERS)
    missing = ((0, pairs * FILTERS - filters), (0, padded_depth(depth) - depth))
    padded = np.pad(rows, missing).reshape(pairs, FILTERS, -1, QUAD)
    return np.ascontiguousarray(padded.transpose(0, 2, 1, 3))
