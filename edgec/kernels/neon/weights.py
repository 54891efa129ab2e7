"""Weights in the order in which the NEON kernel reads them: `firmware/.../neon_products.h`."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array

ROWS = 4
"""Filters, or rows of x, whose sums are computed together."""

LANES = 16
"""Values of one filter, or row of x, in a block."""

BLOCK_BYTES = ROWS * LANES
"""Bytes in one block."""


def blocks_of(depth: int) -> int:
    """Blocks that filters of `depth` weights take."""
    return -(-depth // LANES)


def padded_rows(rows: int) -> int:
    """Filters, rows of x, keys or values of a row as stored: a multiple of four."""
    return -(-rows // ROWS) * ROWS


def packed(weights: Array) -> Array:
    """Filters four by four, block by block.

    Args:
        weights: int8 [O, ...].

    Returns:
        int8 [ceil(O / 4), blocks, 4, 16]; what is missing at the ends is zero.
    """
    filters = weights.reshape(weights.shape[0], -1)
    count, depth = filters.shape
    blocks = blocks_of(depth)
    missing = ((0, padded_rows(count) - count), (0, blocks * LANES - depth))
    groups = np.pad(filters, missing).reshape(-1, ROWS, blocks, LANES)
    return np.ascontiguousarray(groups.transpose(0, 2, 1, 3))


def padded(values: Array) -> Array:
    """One number a filter, zeros for those that are missing at the end; [O] to [multiple of 4]."""
    return np.pad(values, (0, padded_rows(len(values)) - len(values)))
