"""What the loops of plain C with weights take, which compute one pixel at a time."""

from __future__ import annotations

from typing import Protocol

from edgec.kernels.common.cost import HasEnding
from edgec.kernels.common.events import Event
from edgec.kernels.common.flash_waits import for_weights
from edgec.kernels.common.form import KernelForm
from edgec.target.memory_map import Flash

_READS = 3
"""Multiply-accumulates for which a weight is taken to be read once."""


class Plain(HasEnding, Protocol):
    """A specification of such a kernel."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a call."""


def plain_events(spec: Plain) -> dict[Event, float]:
    """Counts of a layer, without an addition at the end."""
    return {
        Event.MAC: spec.macs,
        Event.FILTERS_4: spec.out_elements / 4,
        Event.OUTPUT: spec.out_elements,
    }


def plain_waits(spec: Plain, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for the weights of a layer."""
    return for_weights(spec.macs / _READS, flash)
