"""Which tensors get int16 codes: all, or the fewest that a goal asks for.

The noise that the int8 codes of one tensor add at an output is measured (`trial`), and such noises
add up, as they are nearly independent.  So the tensors that add most get int16 codes until what the
others add, with what int8 weights cost anyway, is as little as was asked for.  The choice is then
measured as a whole; where it falls short, more tensors follow.  Where equal decisions are asked
for, they are counted with the first half of the tensors in that order, and so on by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import Precision
from edgec.floatrun.executor import Executor
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.qparams import QuantParams
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.decisions import FloatDecisions
from edgec.quant.common.output_noise import energy, with_scores
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import Decisions, PrecisionReport
from edgec.quant.common.sample_codes import sample_codes
from edgec.quant.convert.mixed.context import Codes16
from edgec.quant.precision.candidates import Candidate, Candidates
from edgec.quant.precision.trial import Trials

_TRIAL_MACS = 3e9
"""Multiply-accumulates of all trials together: some seconds.  What is done never depends on how
fast the computer is."""
_MOST_SAMPLES = 4
_ROUNDS = 4
"""Measurements of a choice as a whole, each with more tensors than the one before."""
_DECISIONS = 256
_DECISION_WORK = 2e9
"""Samples, and multiply-accumulates of one count of decisions, of about ten: some seconds each."""
_OF_WEIGHTS = 0.25
"""Where int8 weights alone miss the accuracy, codes may add this share of their noise: 1 dB."""

Convert = Callable[[Mapping[str, Codes16]], Graph]


@dataclass(frozen=True, slots=True)
class Goal:
    """What the fewest tensors are to give.

    Attributes:
        target_db: signal to noise of every output; None: any.
        max_drop: percentage points of decisions that may be others than those of the float network;
            None: any.
    """

    target_db: float | None
    max_drop: float | None = None

    @property
    def noise(self) -> float:
        """The largest share of an output's energy that may be noise."""
        return math.inf if self.target_db is None else float(10.0 ** (-self.target_db / 10.0))


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The memory that activations may take, and what int16 ones cost on the board.

    Attributes:
        arena_bytes: what an integer graph, as it is lowered, needs on the board.
        limit_bytes: what the board has; None: no limit.
        slowdown: estimates how many times as long the layers of an integer graph take as with int8
            activations; None where nothing is known of the core.
    """

    arena_bytes: Callable[[Graph], int]
    limit_bytes: int | None
    slowdown: Callable[[Graph], float | None] = lambda _: None

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
        candidates: Candidates,
        data: Mapping[str, Array],
        convert: Convert,
        goal: Goal,
        room: Room | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Find what can have int16 codes, and run the network so.

        Args:
            graph: REAL stage, which the outputs are compared with.
            candidates: the tensors to choose from.
            data: from `checked_calibration`.
            convert: makes the integer graph with int16 codes for some values.
            goal: what the fewest tensors are to give.
            room: the memory of the board; None: it is not known.
            progress: told after each tensor.

        Raises:
            ConfigError: the goal is in decisions, and no output names a class.
        """
        self._candidates, self._convert, self._progress = candidates, convert, progress
        self._goal, self._room = goal, room
        self._decisions = None if goal.max_drop is None else _decisions(graph, data)
        self._groups = candidates.groups
        cost = max(total_macs(graph), 1) * max(len(self._groups), 1)
        count = min(max(int(_TRIAL_MACS / cost), 1), _MOST_SAMPLES, len(next(iter(data.values()))))
        self._data = {name: array[:count] for name, array in data.items()}
        self._count = count
        self._plain = convert({})
        # What was measured of a graph must not keep the graph alive.
        self._noises: WeakKeyDictionary[Graph, float] = WeakKeyDictionary()
        self._equal: WeakKeyDictionary[Graph, Decisions] = WeakKeyDictionary()
        values = self._plain.values
        compared = [name for name in with_scores(graph) if name in values]
        outputs = [name for name in compared if values[name].quant is not None]
        self._wanted = Executor(graph, outputs).run(self._data)
        self._power = {name: max(energy(x), 1e-30) for name, x in self._wanted.items()}

    def suffices_int8(self) -> bool:
        """Whether int8 codes alone reach the goal."""
        plain = self._plain
        return self._noise(plain) <= self._goal.noise and self._drop(plain) <= self._allowed

    def beside_int8(self, report: PrecisionReport) -> PrecisionReport:
        """The report on another choice, beside what int8 codes alone give this network."""
        room = self._room
        return replace(
            report,
            int8_db=share_db(self._noise(self._plain)),
            int8_decisions=self._decided(self._plain),
            int8_arena_bytes=None if room is None else room.arena_bytes(self._plain),
        )

    def choose(self, precision: Precision) -> Choice:
        """The tensors that have int16 codes: all, or as few as reach the goal.

        Args:
            precision: INT16 or AUTO.
        """
        plain, everything = self._plain, self._convert(self._candidates.codes)
        int8, most = self._noise(plain), self._noise(everything)
        chosen, integer, noise, left_out = list(self._groups), everything, most, 0
        if precision is Precision.AUTO and self.suffices_int8():
            chosen, integer, noise = [], plain, int8
        elif precision is Precision.AUTO:
            order, count = self._needed(everything, most)
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
            slowdown=None if self._room is None else self._room.slowdown(integer),
            decisions=self._decided(integer),
            int8_decisions=self._decided(plain),
            int16_decisions=self._decided(everything),
        )
        return Choice(integer, report)

    @property
    def _allowed(self) -> float:
        """Percentage points of decisions that may be lost."""
        return math.inf if self._goal.max_drop is None else self._goal.max_drop

    def _decided(self, integer: Graph) -> Decisions | None:
        """Its equal decisions, counted once, which takes seconds; None where nobody asks."""
        if self._decisions is None:
            return None
        if integer not in self._equal:
            self._equal[integer] = self._decisions.equal_of(integer)
        return self._equal[integer]

    def _drop(self, integer: Graph) -> float:
        """Percentage points of decisions that an integer graph loses; 0 where nobody asks."""
        found = self._decided(integer)
        return 0.0 if found is None else 100.0 * (1.0 - found.share)

    def _needed(self, everything: Graph, most: float) -> tuple[list[int], int]:
        """Numbers of the groups in the order in which they matter, and how many are needed."""
        added = self._added(everything)
        order = sorted(range(len(added)), key=lambda i: (-added[i], i))
        count = 0
        if self._goal.target_db is not None:
            budget = max(self._goal.noise, most * (1 + _OF_WEIGHTS))
            count = self._fewest(added, order, most, budget)
        if self._goal.max_drop is not None:
            # What int8 weights lose cannot be had back.
            allowed = max(self._allowed, self._drop(everything))
            high = len(order)
            while count < high:
                middle = (count + high) // 2
                enough = self._drop(self._first(order, middle)[1]) <= allowed
                count, high = (count, middle) if enough else (middle + 1, high)
        return order, count

    def _fewest(
        self, added: Sequence[float], order: Sequence[int], most: float, budget: float
    ) -> int:
        """How many of the groups are needed for as little noise as the budget."""
        room = budget - most
        count = 0
        for _ in range(_ROUNDS):
            left = sum(added[i] for i in order[count:])
            while count < len(order) and left > room:
                left -= added[order[count]]
                count += 1
            noise = self._noise(self._first(order, count)[1])
            if noise <= budget or count == len(order):
                return count
            # What is left adds more together than one by one.
            room *= 0.5 * (budget - most) / max(noise - most, 1e-30)
        return len(order)

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

    def _first(self, order: Sequence[int], count: int) -> tuple[list[Candidate], Graph]:
        """The groups that matter most, in graph order, and the graph with their int16 codes."""
        chosen = [self._groups[i] for i in sorted(order[:count])]
        return chosen, self._convert(self._of(chosen))

    def _added(self, everything: Graph) -> list[float]:
        """The share of an output's energy that the int8 codes of each group add as noise."""
        samples = [sample_codes(everything, self._data, i) for i in range(self._count)]
        trials = Trials(everything, samples, list(self._wanted))
        found = []
        for number, group in enumerate(self._groups):
            narrow = self._narrow(everything, group)
            noise = dict.fromkeys(self._wanted, 0.0)
            for sample in range(self._count):
                whole = trials.outputs(sample)
                for name, value in trials.rounded(sample, narrow).items():
                    noise[name] += energy(value - whole[name])
            found.append(max((noise[name] / self._power[name] for name in noise), default=0.0))
            if self._progress is not None:
                self._progress(number + 1, len(self._groups))
        return found

    def _narrow(self, everything: Graph, group: Candidate) -> dict[str, QuantParams]:
        """The int8 parameters of a group by the tensors that have its int16 codes."""
        found = {}
        for source in group.sources:
            quant = self._candidates.codes[source].quant
            for name, value in everything.values.items():
                if source in (name, value.form_of) and value.quant == quant:
                    found[name] = self._candidates.narrow[source]
        return found

    def _noise(self, integer: Graph) -> float:
        """The largest share of an output's energy that is noise, measured once."""
        if integer not in self._noises:
            self._noises[integer] = self._measured_noise(integer)
        return self._noises[integer]

    def _measured_noise(self, integer: Graph) -> float:
        samples = [sample_codes(integer, self._data, i) for i in range(self._count)]
        trials = Trials(integer, samples, list(self._wanted))
        noise = dict.fromkeys(self._wanted, 0.0)
        for sample in range(self._count):
            for name, value in trials.outputs(sample).items():
                wanted = self._wanted[name][sample].reshape(value.shape)
                noise[name] += energy(value - wanted)
        return max((noise[name] / self._power[name] for name in noise), default=0.0)

    def _of(self, groups: Sequence[Candidate]) -> dict[str, Codes16]:
        return {name: self._candidates.codes[name] for group in groups for name in group.members}


def _decisions(graph: Graph, data: Mapping[str, Array]) -> FloatDecisions:
    found = FloatDecisions(graph, data, _DECISIONS, _DECISION_WORK)
    if not found.names_classes:
        raise ConfigError(
            "no output names a class", where="--max-drop", hint="say what is needed by --target-db"
        )
    return found
