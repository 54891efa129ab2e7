"""What a tracer counts, and how a trace's segments come from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from edgec.base.errors import SimulationError
from edgec.timing.types import Edge, Segment

CHECK_BLOCKS = 1 << 20
"""Blocks between two looks at the clock; the native tracer's CHECK_BLOCKS too."""


@dataclass(frozen=True, slots=True, eq=False)
class TraceRecords:
    """Counts of one run, flat.

    Attributes:
        edges: (segment, block start, block size, next start) -> executions.
        fetch_stalls: (segment, block start) -> cycles.
        data_stalls: (segment, block start) -> cycles.
        divides: (segment, instruction address, quotient bits) -> executions.
        written: lowest and one above the highest arena address written; equal: none.
        segments: number of step hooks that were called.
        finished: the run function returned.
    """

    edges: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    fetch_stalls: dict[tuple[int, int], int] = field(default_factory=dict)
    data_stalls: dict[tuple[int, int], int] = field(default_factory=dict)
    divides: dict[tuple[int, int, int], int] = field(default_factory=dict)
    written: tuple[int, int] = (0, 0)
    segments: int = 0
    finished: bool = False

    def segment(self, index: int) -> Segment:
        """One segment of the trace; `segments` is the index of what runs after the last step."""
        divides: dict[int, dict[int, int]] = {}
        for (segment, address, bits), count in sorted(self.divides.items()):
            if segment == index:
                divides.setdefault(address, {})[bits] = count
        return Segment(
            edges={
                Edge(start, size, next_start): count
                for (segment, start, size, next_start), count in sorted(self.edges.items())
                if segment == index
            },
            fetch_stalls=_of_segment(self.fetch_stalls, index),
            data_stalls=_of_segment(self.data_stalls, index),
            divides=divides,
        )


def _of_segment(stalls: dict[tuple[int, int], int], index: int) -> dict[int, int]:
    return {
        start: cycles
        for (segment, start), cycles in sorted(stalls.items())
        if segment == index and cycles
    }


class Tracer(Protocol):
    """Watches the emulator run a model once."""

    def attach(self, uc: Any) -> None:
        """Set the hooks; call once, before the run."""

    def check(self) -> None:
        """Raise what happened in a hook.

        Raises:
            SimulationError: the run took too long, or ran code that the file does not hold.
        """

    def records(self) -> TraceRecords:
        """The counts."""


class Watchdog:
    """Ends runs that take too long; keeps exceptions that hooks must not let through.

    Args:
        limit_s: longest run.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s
        self._error: BaseException | None = None

    def guard(self, action: Callable[[], None]) -> bool:
        """Do something in a hook; whether the run may go on."""
        try:
            action()
        except BaseException as error:  # Ctrl-C too: C code cannot pass it on, `check` does
            self._error = error
            return False
        return True

    def in_time(self) -> bool:
        """Look at the clock in a hook; whether the run may go on."""
        return self.guard(self._look)

    def _look(self) -> None:
        if time.monotonic() > self._deadline:
            raise SimulationError(f"the run takes longer than {self._limit_s:g} s")

    def check(self) -> None:
        """Raise what `guard` kept."""
        if self._error is not None:
            raise self._error
