"""Time and energy of the results of a build that is watched, one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError, EdgecError
from edgec.base.samples import SampleFile
from edgec.profile.energy import duty_of, energy_of
from edgec.profile.run import profile
from edgec.profile.types import DutyEstimate
from edgec.target.board import Board


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and energy of a result on the board.

    Attributes:
        milliseconds: cycles at the board's clock.
        microjoules: energy, an estimate from one figure of a data sheet; None: there is no figure.
    """

    milliseconds: float
    microjoules: float | None


@dataclass(frozen=True, slots=True)
class WatchSummary:
    """All results that were watched.

    Attributes:
        on: "host", "emulator" or "device".
        results: number of them.
        milliseconds, least, most: time of a result, in the mean and at the ends; None: not known.
        measured: the board's own counter told the time; False: it is an estimate.
        microjoules: energy of a result in the mean, an estimate; None: not known.
        duty: power of results again and again; None: not known, or more than the board can do.
        figure: the figure of the data sheet that energy and power come from; "" without one.
        note: why something is not known; "" where all is.
    """

    on: str
    results: int
    milliseconds: float | None = None
    least: float | None = None
    most: float | None = None
    measured: bool = False
    microjoules: float | None = None
    duty: DutyEstimate | None = None
    figure: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return dataclasses.asdict(self)


class Meter:
    """Takes note of the cycles of results.

    Args:
        board: where the build belongs.
        estimate: gives the cycles of a run by the cycle model, for a target that counts none;
            raises `EdgecError` where there are none.
    """

    def __init__(self, board: Board, estimate: Callable[[], int]) -> None:
        self._board = board
        self._estimate = estimate
        self._estimated: int | None = None
        self._note: str | None = None
        self._results = 0
        self._measured = True
        self._cycles: list[int] = []

    def prepare(self) -> None:
        """Ask the cycle model now, before the first result of a target that counts no cycles."""
        self._of_model()

    def add(self, cycles: int | None, runs: int = 1) -> Cost | None:
        """Time and energy of the next result; None where nobody knows.

        Args:
            cycles: those that the target counted; None: it counts none.
            runs: runs that the result took.
        """
        self._results += 1
        if cycles is None:
            self._measured = False
            each = self._of_model()
            cycles = None if each is None else runs * each
        if cycles is None:
            return None
        self._extend(cycles)
        energy = energy_of(self._board, cycles)
        return Cost(self._ms(cycles), None if energy is None else energy.microjoules)

    def _extend(self, cycles: int) -> None:
        """Sum, least and most, so that days of results take no memory."""
        total, least, most = self._cycles or (0, cycles, cycles)
        self._cycles = [total + cycles, min(least, cycles), max(most, cycles)]

    def _of_model(self) -> int | None:
        if self._note is None:
            try:
                self._estimated, self._note = self._estimate(), ""
            except EdgecError as error:
                # Messages about a folder leave out its name.
                self._note = f"it {error.what}" if isinstance(error, ConfigError) else error.what
        return self._estimated

    def _ms(self, cycles: float) -> float:
        return 1e3 * cycles / self._board.clock_hz

    def summary(self, on: str, rate: float) -> WatchSummary:
        """All results so far.

        Args:
            on: what ran them.
            rate: results a second, for the power.
        """
        note = self._note or ""
        if not self._cycles:
            return WatchSummary(on, self._results, note=note)
        total, least, most = self._cycles
        mean = total / self._results
        energy = energy_of(self._board, round(mean))
        share = rate * mean / self._board.clock_hz
        return WatchSummary(
            on=on,
            results=self._results,
            milliseconds=self._ms(mean),
            least=self._ms(least),
            most=self._ms(most),
            measured=self._measured,
            microjoules=None if energy is None else energy.microjoules,
            duty=None if energy is None or share > 1 else duty_of(energy, rate, share),
            figure="" if energy is None else energy.words,
            note=note,
        )


def meter_of(folder: Path, board: Board, samples: SampleFile | None = None) -> Meter:
    """A meter of a build, which asks the cycle model where a target counts no cycles.

    `samples`: what it runs on, as long as its runs are; None: the longest run counts.
    """
    return Meter(board, lambda: profile(folder, samples).total_cycles)
