"""Which tensors get int16 codes: all, or the fewest that the accuracy of the outputs asks for.

The noise that the int8 codes of one tensor add at an output is measured (`trial`), and such noises
add up, as they are nearly independent.  So the tensors that add most get int16 codes until what the
others add, with what int8 weights cost anyway, is as little as was asked for.  The choice is then
measured as a whole; where it falls short, more tensors follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Observer, Precision, QuantSettings
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.quant.cnn.ties import TieGroup, tie_groups
from edgec.quant.common.calibrate import Progress, calibrate
from edgec.quant.common.output_noise import MOST_SAMPLES, energy
from edgec.quant.common.report import PrecisionReport, share_db
from edgec.quant.convert.mixed.conversion import Codes16
from edgec.quant.precision.codes import int16_codes
from edgec.quant.precision.trial import Trials

_TRIAL_MACS = 3e9
"""Multiply-accumulates of all trials together: some seconds.  What is done never depends on how
fast the computer is."""
_ROUNDS = 4
"""Measurements of a choice as a whole, each with more tensors than the one before."""
_OF_WEIGHTS = 0.25
"""Where int8 weights alone miss the accuracy, codes may add this share of their noise: 1 dB."""

Convert = Callable[[Mapping[str, Codes16]], Graph]


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The memory that activations may take.

    Attributes:
        arena_bytes: what an integer graph, as it is lowered, needs on the board.
        limit_bytes: what the board has; None: no limit.
    """

    arena_bytes: Callable[[Graph], int]
    limit_bytes: int | None

    def fits(self, graph: Graph) -> bool:
        """Whether a graph fits."""
        return self.limit_bytes is None or self.arena_bytes(graph) <= self.limit_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What was chosen.

    Attributes:
        integer: INTEGER stage, with the int16 codes that were chosen.
        report: what is int16, and what that gives.
    """

    integer: Graph
    report: PrecisionReport


class Chooser:
    """Chooses the tensors with int16 codes of one network."""

    def __init__(
        self,
        graph: Graph,
        annotated: Graph,
        data: Mapping[str, Array],
        convert: Convert,
        room: Room | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Find what can have int16 codes, and run the network so.

        Args:
            graph: REAL stage, which the outputs are compared with.
            annotated: ANNOTATED stage.
            data: from `checked_calibration`.
            convert: makes the integer graph with int16 codes for some values.
            room: the memory of the board; None: it is not known.
            progress: told after each tensor.
        """
        self._annotated, self._convert, self._progress = annotated, convert, progress
        self._room = room
        self._groups = [group for group in tie_groups(annotated) if _can_widen(annotated, group)]
        names = [name for group in self._groups for name in group.members]
        ranges = calibrate(annotated, names, data, QuantSettings(observer=Observer.MINMAX))
        self._codes = int16_codes(annotated, self._groups, ranges)
        self._groups = [group for group in self._groups if group.members[0] in self._codes]
        cost = max(total_macs(annotated), 1) * max(len(self._groups), 1)
        count = min(max(int(_TRIAL_MACS / cost), 1), MOST_SAMPLES, len(next(iter(data.values()))))
        self._data = {name: array[:count] for name, array in data.items()}
        self._count = count
        outputs = [name for name in graph.outputs if annotated.values[name].quant is not None]
        self._wanted = Executor(graph, outputs).run(self._data)
        self._power = {name: max(energy(x), 1e-30) for name, x in self._wanted.items()}

    def suffices_int8(self, target_db: float) -> bool:
        """Whether int8 codes alone give every output `target_db`."""
        return bool(self._noise(self._convert({})) <= 10.0 ** (-target_db / 10.0))

    def choose(self, precision: Precision, target_db: float) -> Choice:
        """The tensors that have int16 codes: all, or as few as give `target_db`.

        Args:
            precision: INT16 or AUTO.
            target_db: for AUTO: signal to noise that every output must have, if it can.
        """
        plain, everything = self._convert({}), self._convert(self._codes)
        int8, most = self._noise(plain), self._noise(everything)
        budget = 10.0 ** (-target_db / 10.0)
        chosen, integer, noise, left_out = list(self._groups), everything, most, 0
        if precision is Precision.AUTO and int8 <= budget:
            chosen, integer, noise = [], plain, int8
        elif precision is Precision.AUTO:
            order, count = self._fewest(everything, most, max(budget, most * (1 + _OF_WEIGHTS)))
            fitting = self._fitting(order, count)
            left_out = count - fitting
            chosen, integer = self._first(order, fitting)
            noise = self._noise(integer)
        report = PrecisionReport(
            tensors=tuple(group.sources[0] for group in chosen),
            candidates=len(self._groups),
            output_db=share_db(noise),
            int8_db=share_db(int8),
            int16_db=share_db(most),
            arena_bytes=None if self._room is None else self._room.arena_bytes(integer),
            int8_arena_bytes=None if self._room is None else self._room.arena_bytes(plain),
            left_out=left_out,
        )
        return Choice(integer, report)

    def _fewest(self, everything: Graph, most: float, budget: float) -> tuple[list[int], int]:
        """Numbers of the groups in the order in which they matter, and how many are needed."""
        added = self._added(everything)
        order = sorted(range(len(added)), key=lambda i: (-added[i], i))
        room = budget - most
        count = 0
        for _ in range(_ROUNDS):
            left = sum(added[i] for i in order[count:])
            while count < len(order) and left > room:
                left -= added[order[count]]
                count += 1
            noise = self._noise(self._first(order, count)[1])
            if noise <= budget or count == len(order):
                return order, count
            # What is left adds more together than one by one.
            room *= 0.5 * (budget - most) / max(noise - most, 1e-30)
        return order, len(order)

    def _fitting(self, order: Sequence[int], count: int) -> int:
        """How many of the first `count` groups fit the board: as many as they can be."""
        if self._room is None or self._room.fits(self._first(order, count)[1]):
            return count
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._room.fits(self._first(order, middle)[1])
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _first(self, order: Sequence[int], count: int) -> tuple[list[TieGroup], Graph]:
        """The groups that matter most, in graph order, and the graph with their int16 codes."""
        chosen = [self._groups[i] for i in sorted(order[:count])]
        return chosen, self._convert(self._of(chosen))

    def _added(self, everything: Graph) -> list[float]:
        """The share of an output's energy that the int8 codes of each group add as noise."""
        samples = [self._codes_of(everything, i) for i in range(self._count)]
        trials = Trials(everything, samples)
        found = []
        for number, group in enumerate(self._groups):
            narrow = {name: self._annotated.quant(name) for name in group.sources}
            noise = dict.fromkeys(self._wanted, 0.0)
            for sample in range(self._count):
                whole = trials.outputs(sample)
                for name, value in trials.rounded(sample, narrow).items():
                    noise[name] += energy(value - whole[name])
            found.append(max(noise[name] / self._power[name] for name in noise))
            if self._progress is not None:
                self._progress(number + 1, len(self._groups))
        return found

    def _noise(self, integer: Graph) -> float:
        """The largest share of an output's energy that is noise."""
        trials = Trials(integer, [self._codes_of(integer, i) for i in range(self._count)])
        noise = dict.fromkeys(self._wanted, 0.0)
        for sample in range(self._count):
            for name, value in trials.outputs(sample).items():
                wanted = self._wanted[name][sample].reshape(value.shape)
                noise[name] += energy(value - wanted)
        return max((noise[name] / self._power[name] for name in noise), default=0.0)

    def _codes_of(self, integer: Graph, sample: int) -> dict[str, Array]:
        codes = {}
        for name in integer.inputs:
            array, quant = self._data[name][sample : sample + 1], integer.values[name].quant
            codes[name] = array.astype(np.int32) if quant is None else quant.quantize(array)
        return codes

    def _of(self, groups: Sequence[TieGroup]) -> dict[str, Codes16]:
        return {name: self._codes[name] for group in groups for name in group.members}


def _can_widen(graph: Graph, group: TieGroup) -> bool:
    """Whether the values of a group can have int16 codes."""
    return group.members[0] not in graph.input_features


def precision_notes(report: PrecisionReport | None) -> tuple[str, ...]:
    """What the user reads of a choice, a line each."""
    if report is None:
        return ()
    counted = f"{len(report.tensors)} of {report.candidates} tensors have int16 codes"
    found = (
        f"{counted}: {report.output_db:.1f} dB at the worst output, "
        f"{report.int8_db:.1f} dB with int8 alone, {report.int16_db:.1f} dB with int16 everywhere"
    )
    lines = [found]
    if report.tensors and len(report.tensors) < report.candidates:
        lines.append(f"int16: {', '.join(report.tensors)}")
    if report.tensors and report.arena_bytes is not None:
        lines.append(
            f"int16 codes take an arena of {report.arena_bytes:,} bytes, int8 alone "
            f"{report.int8_arena_bytes:,}"
        )
    if report.left_out:
        lines.append(
            f"{report.left_out} more tensors would need int16 codes; they do not fit the RAM"
        )
    return tuple(lines)
