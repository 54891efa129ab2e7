"""What a call of a kernel costs, as its family counts it from the specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from edgec.kernels.common.events import Event, Events
from edgec.kernels.common.form import KernelForm
from edgec.target.memory_map import Flash

S = TypeVar("S")


class HasEnding(Protocol):
    """A specification that may end in an addition."""

    @property
    def residual_shift(self) -> int | None:
        """Right shift of the addition; None: there is none."""

    @property
    def out_elements(self) -> int:
        """Elements of y."""


def _never(_spec: Any, _bits: int, _form: KernelForm, _flash: Flash) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Cost(Generic[S]):
    """How a family counts what a call takes.

    Attributes:
        events: counts of one call in closed form, from a specification, the width of activations
            (1 to 8 bits) and the form of the kernels.
        waits: cycles that the call waits for constants in flash, from the same and the flash of
            the board.  Default: none.
    """

    events: Callable[[S, int, KernelForm], Events]
    waits: Callable[[S, int, KernelForm, Flash], float] = _never


def residual_events(spec: HasEnding, event: Event = Event.RESIDUAL) -> dict[Event, float]:
    """The additions at the end of outputs, if there are any."""
    return {} if spec.residual_shift is None else {event: spec.out_elements}
