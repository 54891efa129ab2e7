"""How often a kernel reads its weights: what a copy of them in RAM saves."""

from __future__ import annotations

from typing import NamedTuple

from edgec.kernels.common.flash_waits import WORD_BYTES, per_word
from edgec.target.memory_map import Flash

COPY_CYCLES = 3
"""What a copied word takes beside waiting for it: a load of two cycles and a store of one
(Cortex-M4 technical reference manual, table 3-1)."""

_CORE_CACHE_BYTES = 16 * 1024
"""A data cache from this size on is the core's, which holds RAM as well as flash: a copy in RAM is
no nearer to it (Cortex-M7; the smaller ones stand before the flash alone)."""


class WeightReads(NamedTuple):
    """The weights of a call.

    Attributes:
        size_bytes: size of the constant that the first argument struct names as `weights`.
        times: how often a call reads all of it.
        beside: sizes of the constants that are read with it, filter by filter, and stay in flash.
    """

    size_bytes: int
    times: int
    beside: tuple[int, ...] = ()

    def saved_cycles(self, flash: Flash) -> float:
        """What it saves to copy them to RAM first, by the waiting for words read in order."""
        if flash.data_cache_bytes >= _CORE_CACHE_BYTES:
            return 0.0
        line = flash.cache_line
        # Each constant may begin in the middle of a line of the cache.
        read = sum(size + line for size in (self.size_bytes, *self.beside))
        wait = per_word(flash, read)
        return self.size_bytes / WORD_BYTES * ((self.times - 1) * wait - COPY_CYCLES)
