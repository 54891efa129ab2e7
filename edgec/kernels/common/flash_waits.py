"""Cycles that kernels wait for constants in flash, estimated.

A table that fits the data cache is taken to be there; from one that does not, each place that
nothing foretells costs a read of a line of flash.
"""

from __future__ import annotations

from edgec.target.memory_map import Flash

WORD_BYTES = 4
UNCACHED_BYTES = 1 << 30
"""The size of a table that is in no cache."""


def per_word(flash: Flash, table_bytes: int) -> float:
    """Cycles waited for a word of a table that is read from its start to its end."""
    if table_bytes <= flash.data_cache_bytes or not flash.line_bytes:
        return 0.0
    return flash.wait_states * min(1.0, WORD_BYTES / flash.line_bytes)


def per_row(flash: Flash, words: int, table_bytes: int) -> float:
    """Cycles waited for `words` words at a place of a table that nothing foretells."""
    if table_bytes <= flash.data_cache_bytes:
        return 0.0
    lines = max(1.0, words * WORD_BYTES / flash.line_bytes) if flash.line_bytes else 1.0
    return flash.wait_states * lines


def for_weights(weights: float, flash: Flash) -> float:
    """Cycles waited for int8 weights that are read in order and are in no cache.

    Args:
        weights: weights read in a call; one that is read again for other pixels counts again.
        flash: the flash of the board.
    """
    return weights * per_word(flash, UNCACHED_BYTES) / WORD_BYTES
