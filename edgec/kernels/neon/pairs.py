"""Blocks of 16 weights whose products four instructions add up in 16 bits.

A lane of VMULL and VMLAL adds the products of the weights ``l`` and ``l + 8`` of a block.  Where
the magnitudes of four such weights, of two blocks, add up to 255 at most, their products with any
codes fit int16, and one VPADAL serves both blocks: five instructions in place of six.  Which blocks
go together is chosen for every four filters, and stored in front of the weights.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.kernels.neon.weights import BLOCK_BYTES, LANES, ROWS, blocks_of, packed

_LARGEST_SUM = (2**15 - 1) // 128
"""Magnitudes of weights whose products with any codes add up to an int16."""
_WINDOW = 64
"""Blocks among which pairs are looked for, so that the time grows with the depth alone."""
MOST_PLACES = 2**12
"""Places fit twelve bits, which are all that the kernel takes."""
_SAVED = 17
"""Instructions that a pair saves, of those of a tile of four rows with four filters."""
_SPENT = 2
"""Instructions that finding a block that stands alone takes."""
_BEGUN = 5
"""Instructions that finding the pairs of four filters takes."""


def places_of(depth: int) -> Array:
    """The places of blocks in four packed rows, in sixteens of bytes, int64 [blocks]."""
    return np.arange(blocks_of(depth)) * ROWS


def pays(partners: Array) -> bool:
    """Whether a tile takes less with these pairs than without an order.

    Args:
        partners: what `pairs_of` gives.
    """
    groups, blocks = partners.shape
    single = int((partners == np.arange(blocks)).sum())
    return bool((partners.size - single) // 2 * _SAVED > single * _SPENT + groups * _BEGUN)


def pairs_of(weights: Array) -> Array:
    """The blocks that go together, for every four filters.

    Args:
        weights: int8 [O, ...].

    Returns:
        int64 [ceil(O / 4), blocks], the partner of each block, or its own number.
    """
    blocks = blocks_of(int(np.prod(weights.shape[1:])))
    sizes = np.abs(packed(weights).astype(np.int64))
    lanes = (sizes[..., : LANES // 2] + sizes[..., LANES // 2 :]).reshape(len(sizes), blocks, -1)
    starts = range(0, blocks, _WINDOW)
    found = [start + _matched(_fitting(lanes[:, start : start + _WINDOW])) for start in starts]
    return np.concatenate(found, axis=1)


def _fitting(lanes: Array) -> Array:
    """Whether two blocks fit, bool [groups, blocks, blocks]; `lanes` int64 [groups, blocks, L]."""
    fits = np.ones((*lanes.shape[:2], lanes.shape[1]), bool)
    for lane in np.moveaxis(lanes, 2, 0):
        fits &= lane[:, :, None] + lane[:, None] <= _LARGEST_SUM
    fits[:, range(lanes.shape[1]), range(lanes.shape[1])] = False
    return fits


def _matched(fits: Array) -> Array:
    """Partners int64 [groups, blocks]: again and again the block that fits the fewest others, with
    the one of those that fits the fewest.
    """
    groups, blocks, _ = fits.shape
    partner = np.tile(np.arange(blocks), (groups, 1))
    left = fits.copy()
    every = np.arange(groups)
    for _ in range(blocks // 2):
        degrees = left.sum(axis=2)
        some = degrees.any(axis=1)
        if not some.any():
            break
        counts = np.where(degrees > 0, degrees, blocks + 1)
        first = counts.argmin(axis=1)
        second = np.where(left[every, first], counts, blocks + 1).argmin(axis=1)
        rows = every[some]
        for one, other in ((first[some], second[some]), (second[some], first[some])):
            partner[rows, one] = other
            left[rows, one] = False
            left[rows, :, one] = False
    return partner


def orders_bytes(filters: int, depth: int) -> int:
    """Bytes of the orders of blocks in front of the weights: a multiple of a block."""
    stored = -(-filters // ROWS) * order_step(depth)
    return -(-stored // BLOCK_BYTES) * BLOCK_BYTES


def order_step(depth: int) -> int:
    """Bytes from the order of four filters to that of the next four."""
    return 2 * (blocks_of(depth) + 1)


def packed_pairs(weights: Array, partners: Array, places: Array) -> Array:
    """Filters four by four, first the blocks of pairs.

    Args:
        weights: int8 [O, ...].
        partners: what `pairs_of` gives.
        places: where the kernel finds the blocks of a row, in sixteens of bytes, int64 [blocks],
            each less than `MOST_PLACES`.

    Returns:
        int8 [bytes]: for every four filters an order, uint16 [1 + blocks], the number of pairs and
        the places of the blocks, those of pairs first; zeros up to a multiple of a block; the
        weights, of a pair [4 filters][2 blocks][16], of a block alone [4 filters][16].
    """
    groups = packed(weights)
    orders, streams = [], []
    for blocks, partner in zip(groups, partners, strict=True):
        numbers = np.arange(len(blocks))
        firsts = numbers[partner > numbers]
        alone = numbers[partner == numbers]
        together = np.stack([firsts, partner[firsts]], axis=1)
        orders.append([len(firsts), *places[together.ravel()], *places[alone]])
        streams += [blocks[together].swapaxes(1, 2).ravel(), blocks[alone].ravel()]
    front = np.array(orders, "<u2").view(np.int8).ravel()
    missing = orders_bytes(len(weights), weights[0].size) - len(front)
    return np.concatenate([np.pad(front, (0, missing)), *streams]).astype(np.int8)
