"""Estimated cycles of the kernels for layers with a weight pool: what the planner compares.

The family of a kernel counts its events from the specification alone (`KernelFamily.cost`); each
takes some operations (`operations`) that have a price on a core (`prices.toml`).  Those prices are
for code and constants that never make the core wait; waiting for tables in flash comes on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgec.base.errors import InternalError
from edgec.kernels.common.cost import Cost
from edgec.kernels.common.events import Events
from edgec.kernels.common.form import KernelForm
from edgec.kernels.family import KernelSpec
from edgec.kernels.registry import FAMILIES
from edgec.kernels.weightpool.plan.prices import Prices, prices_of
from edgec.target.board import Board
from edgec.target.memory_map import Flash
from edgec.target.target import Target

_COSTS = {family.spec_type: family.cost for family in FAMILIES}


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates for one board.

    Attributes:
        form: the instructions of its kernels.
        prices: what an event costs on its core.
        flash: where constants are; None: its programs are loaded into RAM.
    """

    form: KernelForm
    prices: Prices
    flash: Flash | None

    @classmethod
    def of(cls, board: Board) -> Estimator:
        """The estimates for a board.

        Raises:
            ConfigError: the file of prices is damaged.
        """
        target = Target.of(board)
        flash = None if board.memory is None else board.memory.flash
        return cls(KernelForm.of(target), prices_of(target), flash)

    def cycles(self, spec: KernelSpec, bits: int) -> float:
        """Cycles of one call; executed instructions on a Cortex-A.

        Args:
            spec: specification of a convolution or matrix product, with a pool or not.
            bits: activation width, 1 to 8.

        Raises:
            InternalError: its family counts nothing.
        """
        cost = _cost_of(spec)
        waits = 0.0 if self.flash is None else cost.waits(spec, bits, self.form, self.flash)
        return self.ideal_cycles(spec, bits) + waits

    def ideal_cycles(self, spec: KernelSpec, bits: int) -> float:
        """Cycles of a call with memory that never makes the core wait."""
        events = events_of(spec, bits, self.form)
        return sum(number * self.prices[event] for event, number in events.items())


def events_of(spec: KernelSpec, bits: int, form: KernelForm) -> Events:
    """What one call of a kernel with weights does.

    Raises:
        InternalError: its family counts nothing; the kernel must not look as if it took no time.
    """
    return _cost_of(spec).events(spec, bits, form)


def _cost_of(spec: KernelSpec) -> Cost[Any]:
    cost = _COSTS.get(type(spec))
    if cost is None:
        raise InternalError(f"nothing counts what a kernel {spec.family!r} does")
    return cost
