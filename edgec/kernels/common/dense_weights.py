"""Weights in the order in which the dense kernels read them: `firmware/.../dsp.h`, `tile_5x2.h`."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array

FILTERS = 2
"""Filters whose sums are computed together."""

WORD = 4
"""Weights in a word."""

SIGNS = np.array([-128, 0, -128, 0], np.int8)
"""What is added without carries to a word whose signs `edgec/tile_4x2.h` wants flipped."""


def padded_depth(depth: int) -> int:
    """Weights of a filter as stored: pairs of words."""
    return -(-depth // (2 * WORD)) * 2 * WORD


def interleaved(weights: Array) -> Array:
    """Filters two by two, word by word.

    Args:
        weights: int8 [O, ...].

    Returns:
        int8 [ceil(O / 2), words, 2, 4]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    filters, depth = rows.shape
    pairs = -(-filters // FILTERS)
    missing = ((0, pairs * FILTERS - filters), (0, padded_depth(depth) - depth))
    padded = np.pad(rows, missing).reshape(pairs, FILTERS, -1, WORD)
    return np.ascontiguousarray(padded.transpose(0, 2, 1, 3))


def flipped_words(weights: Array, together: int = FILTERS) -> Array:
    """A few filters at a time, word by word, with the signs flipped that `edgec/tile_4x2.h` wants.

    Args:
        weights: int8 [O, ...].
        together: filters whose words stand beside each other.

    Returns:
        int8 [ceil(O / together), words, together, 4]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    filters, depth = rows.shape
    padded = np.pad(rows, ((0, -filters % together), (0, -depth % WORD)))
    words = padded.reshape(-(-filters // together), together, -1, WORD).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(words ^ SIGNS)


def odd_sums(weights: Array) -> Array:
    """What the biases of products with any codes hold more (`edgec/tile_4x2.h`).

    Args:
        weights: int8 [O, ...].

    Returns:
        int64 [O]: 128 times the sum of each filter's weights 1, 3, 5, ...
    """
    rows = weights.reshape(weights.shape[0], -1).astype(np.int64)
    return np.asarray(128 * rows[:, 1::2].sum(axis=1))


def by_column(weights: Array, filters: int, padded_depth: int) -> Array:
    """A few filters at a time, one weight of each in turn: `edgec/tile_5x2.h`.

    Args:
        weights: int8 [O, ...].
        filters: in a group.
        padded_depth: weights of a filter with those that are added.

    Returns:
        int8 [ceil(O / filters), padded_depth, filters]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    missing = ((0, -len(rows) % filters), (0, padded_depth - rows.shape[1]))
    padded = np.pad(rows, missing).reshape(-1, filters, padded_depth)
    return np.ascontiguousarray(padded.transpose(0, 2, 1))
