"""Counts of a tracer, and the segments of a trace that are made of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from edgec.base.errors import SimulationError
from edgec.timing.types import Edge, Segment

_K = TypeVar("_K")
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
        segments: number of calls of the step hook.
        finished: the run function returned.
    """

    edges: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    fetch_stalls: dict[tuple[int, int], int] = field(default_factory=dict)
    data_stalls: dict[tuple[int, int], int] = field(default_factory=dict)
    divides: dict[tuple[int, int, int], int] = field(default_factory=dict)
    written: tuple[int, int] = (0, 0)
    segments: int = 0
    finished: bool = False

    def steps(self, calls: Sequence[int]) -> tuple[Segment, ...]:
        """One segment for each step of the program, of all its calls together.

        Args:
            calls: the number of the step of each call, in order.
        """
        found: dict[int, set[int]] = {}
        for index, step in enumerate(calls):
            found.setdefault(step, set()).add(index)
        return tuple(self._segment(found[step]) for step in sorted(found))

    @property
    def outside(self) -> Segment:
        """Segment of the code that runs after the last step."""
        return self._segment({self.segments})

    def _segment(self, indices: set[int]) -> Segment:
        divides: dict[int, dict[int, int]] = {}
        for (segment, address, bits), count in sorted(self.divides.items()):
            if segment in indices:
                _add(divides.setdefault(address, {}), bits, count)
        edges: dict[Edge, int] = {}
        for (segment, start, size, next_start), count in sorted(self.edges.items()):
            if segment in indices:
                _add(edges, Edge(start, size, next_start), count)
        return Segment(
            edges=edges,
            fetch_stalls=_of_segments(self.fetch_stalls, indices),
            data_stalls=_of_segments(self.data_stalls, indices),
            divides=divides,
        )


def _of_segments(stalls: dict[tuple[int, int], int], indices: set[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (segment, start), cycles in sorted(stalls.items()):
        if segment in indices and cycles:
            _add(found, start, cycles)
    return found


def _add(counts: dict[_K, int], key: _K, amount: int) -> None:
    counts[key] = counts.get(key, 0) + amount


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
