"""Estimated cycles of a call of a kernel: the prices of its parts, and what it waits for flash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edgec.kernels.choice.prices import core_prices
from edgec.kernels.common.flash_waits import WORD_BYTES, for_weights
from edgec.kernels.common.parts import Parts
from edgec.kernels.common.weight_reads import COPY_CYCLES
from edgec.kernels.family import KernelFamily
from edgec.target.memory_map import Flash
from edgec.target.target import Target

_BYTES_A_CYCLE = 3
"""Code that runs in a cycle, from instructions of two and four bytes."""
_LEAST_WAIT = 1
"""Cycles that a new line of code takes at least: branches go to its middle."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates for one target.

    Attributes:
        prices: cycles of each part, by family; a family that is not in it cannot be estimated.
        flash: where code and weights are; None: nothing waits.
    """

    prices: Mapping[str, Mapping[str, float]]
    flash: Flash | None

    @classmethod
    def of(cls, target: Target) -> Estimator:
        """The estimates for a target, which may be one without prices.

        Raises:
            ConfigError: the file of prices is damaged.
        """
        found = core_prices().get(target.price_key) if target.is_cortex_m else None
        return cls({} if found is None else found.families, target.flash)

    def knows(self, family: KernelFamily[Any]) -> bool:
        """Whether the parts of a family's kernels have prices."""
        return family.name in self.prices

    def cycles(self, family: KernelFamily[Any], spec: Any) -> float | None:
        """Cycles of one call; None where nobody counts them, or has measured the parts."""
        prices = self.prices.get(family.name)
        parts = None if prices is None else family.parts(spec)
        if prices is None or parts is None or not _all_known(prices, parts):
            return None
        taken = sum(number * prices.get(part, 0.0) for part, number in parts.counts.items())
        if self.flash is None:
            return taken
        return taken + code_waits(parts, self.flash) + weight_waits(parts, self.flash)


def _all_known(prices: Mapping[str, float], parts: Parts) -> bool:
    return all(part in prices for part, number in parts.counts.items() if number)


def code_waits(parts: Parts, flash: Flash) -> float:
    """Cycles that a call waits for the first reading of its code.

    Prefetch reads a line while the one before it runs.
    """
    if not flash.line_bytes or not flash.wait_states:
        return 0.0
    hidden = flash.line_bytes / _BYTES_A_CYCLE if flash.prefetch else 0.0
    lines = parts.code_bytes / flash.line_bytes
    return lines * max(flash.wait_states - hidden, _LEAST_WAIT)


def weight_waits(parts: Parts, flash: Flash) -> float:
    """Cycles that a call waits for weights and what is read with them.

    They are read once where a copy in RAM pays.  From a cache that holds them every kernel reads
    them alike.
    """
    reads = parts.weights
    size = reads.size_bytes + sum(reads.beside)
    if size <= flash.data_cache_bytes:
        return 0.0
    if not flash.data_cache_bytes:
        loads = reads.size_bytes / parts.load_bytes + sum(reads.beside) / WORD_BYTES
        return loads * reads.times * flash.wait_states
    copied = parts.copies and reads.saved_cycles(flash) > 0
    if not copied:
        return for_weights(size * reads.times, flash)
    return for_weights(size, flash) + reads.size_bytes / WORD_BYTES * COPY_CYCLES
