"""Estimated cycles of a call of a kernel: the prices of its parts, and what it waits for flash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edgec.kernels.choice.prices import Products, core_prices
from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import COPY_CYCLES, FULL_WIDTH, WORD_BYTES, Parts, Run, for_weights
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
        form: the instructions that kernels are made of.
        prices: cycles of each part, by table; executed instructions on a Cortex-A.
        flash: where code and weights are; None: nothing waits.
        compares: the estimates of any two families may be compared, so that the least one chooses.
        products: what a multiply-accumulate takes in layers whose parts nobody counts.
    """

    form: KernelForm
    prices: Mapping[str, Mapping[str, float]]
    flash: Flash | None
    compares: bool
    products: Products | None

    @classmethod
    def of(cls, target: Target) -> Estimator:
        """The estimates for a target.

        Raises:
            ConfigError: the file of prices is damaged, or has none of this target.
        """
        form, flash = KernelForm.of(target), target.flash
        if not target.price_key:
            return cls(form, {}, flash, compares=False, products=None)
        found = core_prices(target.price_key)
        compares = target.is_cortex_m or target.has_neon
        return cls(form, found.families, flash, compares, found.products)

    def knows(self, family: KernelFamily[Any]) -> bool:
        """Whether the parts of a family's kernels have prices."""
        return family.price_table in self.prices

    def cycles(self, family: KernelFamily[Any], spec: Any, bits: int = FULL_WIDTH) -> float | None:
        """Cycles of one call; None where nobody counts them, or has measured the parts.

        Args:
            family: that serves the specification.
            spec: what runs.
            bits: width of activations that a layer with pooled weights sees, 1 to 8.
        """
        parts = family.parts(spec, Run(self.form, bits))
        ideal = None if parts is None else self._ideal(family, parts)
        return None if parts is None or ideal is None else ideal + self.waits(parts)

    def ideal_cycles(
        self, family: KernelFamily[Any], spec: Any, bits: int = FULL_WIDTH
    ) -> float | None:
        """Cycles of one call with memory that never makes the core wait."""
        parts = family.parts(spec, Run(self.form, bits))
        return None if parts is None else self._ideal(family, parts)

    def _ideal(self, family: KernelFamily[Any], parts: Parts) -> float | None:
        own = _priced(self.prices.get(family.price_table), parts.counts)
        if own is None or parts.called is None:
            return own
        name, counts = parts.called
        called = _priced(self.prices.get(name), counts)
        return None if called is None else own + called

    def waits(self, parts: Parts) -> float:
        """Cycles that a call waits for code, weights and tables in flash."""
        if self.flash is None:
            return 0.0
        return code_waits(parts, self.flash) + constant_waits(parts, self.flash)


def _priced(prices: Mapping[str, float] | None, counts: Mapping[str, float]) -> float | None:
    """Cycles of some parts; None where one of them has no price."""
    if prices is None or not all(part in prices for part, number in counts.items() if number):
        return None
    return sum(number * prices.get(part, 0.0) for part, number in counts.items())


def code_waits(parts: Parts, flash: Flash) -> float:
    """Cycles that a call waits for the first reading of its code.

    Prefetch reads a line while the one before it runs.
    """
    if not flash.line_bytes or not flash.wait_states:
        return 0.0
    hidden = flash.line_bytes / _BYTES_A_CYCLE if flash.prefetch else 0.0
    lines = parts.code_bytes / flash.line_bytes
    return lines * max(flash.wait_states - hidden, _LEAST_WAIT)


def constant_waits(parts: Parts, flash: Flash, *, copies: bool = True) -> float:
    """Cycles that a call waits for weights, what is read with them, and tables.

    Args:
        parts: what runs.
        flash: where they are.
        copies: the weights are copied to RAM first where that pays.
    """
    table = 0.0 if parts.table is None else parts.table.waits(flash)
    return table + weight_waits(parts, flash, copies=copies)


def weight_waits(parts: Parts, flash: Flash, *, copies: bool = True) -> float:
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
    copied = copies and parts.copies and reads.saved_cycles(flash) > 0
    if not copied:
        return for_weights(size * reads.times, flash)
    return for_weights(size, flash) + reads.size_bytes / WORD_BYTES * COPY_CYCLES
