"""Weights of 2 to 4 bits in the order in which `firmware/.../unpack.h` reads them."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.kernels.common.dense import SIGNS, WORD

WIDTHS = (2, 3, 4)
"""Widths of codes that are stored packed."""
_BYTE = 8
_LOW_BITS = 2
"""Bits of a code of three that its byte of the first two words holds."""


def code_bits(weights: Array) -> int | None:
    """The least of `WIDTHS` whose signed numbers the weights are; None: they need more."""
    low, high = int(weights.min(initial=0)), int(weights.max(initial=0))
    return next((b for b in WIDTHS if -(1 << b - 1) <= low and high < 1 << b - 1), None)


def codes_of_turn(bits: int) -> int:
    """Weights that one turn of the loop of `dense/unpacked_weights.h` unpacks: the bytes of whole
    words.
    """
    return WORD * (_BYTE if bits % 2 else _BYTE // bits)


def turns_of(count: int, bits: int) -> int:
    """Turns that unpack `count` weights, the last one perhaps more than that."""
    return -(-count // codes_of_turn(bits))


def packed_bytes(count: int, bits: int) -> int:
    """Bytes of `count` weights as stored, the last turn filled up."""
    return turns_of(count, bits) * codes_of_turn(bits) * bits // _BYTE


def packed(stored: Array, bits: int, count: int, *, flips: bool) -> Array:
    """Weights as stored in flash.

    A turn has one word of four weights for each place in a byte, lowest bits first.  Codes of
    three bits are two words of their lower two bits and a word of their highest ones.

    Args:
        stored: int8 [n], in the order of the kernel that reads them.
        bits: one of `WIDTHS`.
        count: weights that a call unpacks, at least n; those that are missing are zero.
        flips: the signs of the weights 0 and 2 of each word are flipped in `stored`.

    Returns:
        int8 [packed_bytes(count, bits)].
    """
    missing = turns_of(count, bits) * codes_of_turn(bits) - stored.size
    codes = np.concatenate([_unflipped(stored) if flips else stored, np.zeros(missing, np.int8)])
    digits = (codes.astype(np.int16) + (1 << bits - 1)).astype(np.uint8)
    words = digits.reshape(-1, codes_of_turn(bits) // WORD, WORD)
    if bits % 2:
        half = words.shape[1] // 2
        low = words & ((1 << _LOW_BITS) - 1)
        parts = [
            _joined(low[:, :half], _LOW_BITS),
            _joined(low[:, half:], _LOW_BITS),
            _joined(words >> _LOW_BITS, 1),
        ]
        return np.asarray(np.stack(parts, axis=1).reshape(-1).view(np.int8))
    return np.asarray(_joined(words, bits).reshape(-1).view(np.int8))


def _unflipped(stored: Array) -> Array:
    return np.asarray((stored.reshape(-1, WORD) ^ SIGNS).reshape(-1))


def _joined(words: Array, bits: int) -> Array:
    """Digits uint8 [turns, n, 4] of `bits` bits side by side in bytes [turns, 4], lowest first."""
    shifts = (np.arange(words.shape[1], dtype=np.uint8) * bits).astype(np.uint8)
    joined = np.bitwise_or.reduce(words << shifts[:, None], axis=1)
    return np.asarray(joined, np.uint8)
