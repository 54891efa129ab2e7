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


def flipped_quads(weights: Array) -> Array:
    """Filters two by two, word by word, with the signs flipped that `edgec/quads.h` wants so.

    Args:
        weights: int8 [O, K], K a multiple of 4.

    Returns:
        int8 [ceil(O / 2), K / 4, 2, 4]; a filter that is missing at the end is zero.
    """
    filters, depth = weights.shape
    pairs = -(-filters // FILTERS)
    padded = np.pad(weights, ((0, pairs * FILTERS - filters), (0, 0)))
    quads = padded.reshape(pairs, FILTERS, depth // QUAD, QUAD).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(quads ^ np.array([-128, 0, -128, 0], np.int8))
