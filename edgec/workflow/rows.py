"""Layers in turns of a few rows, where the arena is to be small: the chains, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import Budget, CompileOptions, Progress, Rows
from edgec.ir.graph import Graph
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.passes.rows.partition import IMPOSSIBLE, Section, Sections, chains_of
from edgec.passes.rows.row_graph import by_itself, in_turns
from edgec.passes.rows.timeline import Timeline
from edgec.report.model import RowsPoint, RowsReport
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.row_kernels import (
    arena_of,
    cycles_by_name,
    cycles_of,
    estimator_of,
    need_of,
    peak_of,
    with_less_scratch,
)

_LIMITS = (1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0)
"""Limits of the peak that chains are asked for, as multiples of the least one: scratch memory and
places are known only when kernels are chosen."""
_RETRIES = 4
"""Times that chains are chosen again for a limit that they turned out to pass."""
_FASTER = 0.998
"""A larger arena is worth at least the five hundredth part of the time."""
_ROOMY = 1.25
"""Plans of memory take at most a quarter more than their floor."""
_INPUT_ROWS = "--input-rows"
_VARIABLES = 2048
"""RAM of firmware beside arena and stack."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsChoice:
    """A graph with its layers in turns, or as it was.

    Attributes:
        graph: INTEGER stage.
        choices: its kernels.
        arena_bytes: bytes of the arena before copies of weights.
        cycles: estimate for a run; None where nobody has measured the core.
        cost: price of running in turns (`passes.rows.partition`).
    """

    graph: Graph
    choices: tuple[KernelChoice, ...]
    arena_bytes: int
    cycles: float | None
    cost: float = 0.0

    @property
    def point(self) -> RowsPoint:
        """Figures of the choice for a report."""
        chains = self.graph.chains
        rows = {firing.rows for chain in chains for firing in chain.firings.values()} or {0}
        cycles = None if self.cycles is None else round(self.cycles)
        layers = sum(len(chain.firings) for chain in chains)
        return RowsPoint(self.arena_bytes, cycles, layers, len(chains), (min(rows), max(rows)))

    def spare_bytes(self, rows: Rows, limit_bytes: int | None) -> int | None:
        """Bytes by which copies of weights may let the arena grow; None: as much as is usual.

        Args:
            rows: what the user asked for: the smallest arena, or one that fits.
            limit_bytes: bytes that the arena may have; None: any number.
        """
        if not self.graph.chains:
            return None
        if rows is Rows.ALWAYS or limit_bytes is None:
            return 0
        return max(limit_bytes - self.arena_bytes, 0)


def check_rows(graph: Graph, options: CompileOptions) -> None:
    """Refuse `--rows always` and `--input-rows` for models that run as a whole.

    Args:
        graph: REAL stage.
        options: those of the compilation.

    Raises:
        ConfigError: says why they do.
    """
    if options.rows is not Rows.ALWAYS and not options.input_rows:
        return
    option = _INPUT_ROWS if options.input_rows else "--rows always"
    reasons = {
        "a stream takes a few frames a run as it is": options.stream is not None,
        "sound comes in frames as it is": options.front_end is not None,
        "runs of several lengths have layers of several heights": options.max_length is not None,
        "a model with loops or a state runs its layers as they are": not graph.is_straight,
    }
    found = next((reason for reason, holds in reasons.items() if holds), None)
    if found is not None:
        raise ConfigError(found, where=option, hint=f"leave out {option}")
    if options.input_rows:
        _check_input(graph)


def _check_input(graph: Graph) -> None:
    """Refuse inputs that cannot be handed over by rows.

    Raises:
        ConfigError: there are several, or the input is no image.
    """
    what = ""
    if len(graph.inputs) > 1:
        what = f"takes one input, and the model has {len(graph.inputs)}"
    elif len(shape := graph.shape(graph.only_input)) != 4 or shape[0] != 1:
        form = "x".join(map(str, shape))
        what = f"takes rows of one image, and the input {shown(graph.only_input)} is {form}"
    if what:
        raise ConfigError(what, where=_INPUT_ROWS, hint=f"leave out {_INPUT_ROWS}")


def arena_limit(board: Board, budget: Budget | None) -> int | None:
    """Bytes that the arena may have on a board and within a budget; None: any number."""
    found = [] if board.arena_limit_bytes is None else [board.arena_limit_bytes]
    if budget is not None and budget.ram_bytes is not None and board.memory is not None:
        found.append(max(budget.ram_bytes - board.memory.stack_bytes - _VARIABLES, 0))
    return min(found, default=None)


def chosen_rows(
    graph: Graph,
    target: Target,
    decisions: Mapping[str, object],
    rows: Rows,
    limit_bytes: int | None,
    progress: Progress,
    *,
    input_rows: bool = False,
) -> tuple[RowsChoice, RowsReport | None]:
    """Kernels of a graph, whose layers run in turns where that is asked for or needed.

    Args:
        graph: INTEGER stage.
        target: the processor.
        decisions: what planners decided, by name of the node.
        rows: what the user asked for.
        limit_bytes: bytes that the arena may have; None: any number.
        progress: told what is being done.
        input_rows: the caller hands the input over by rows.

    Returns:
        The choice, and the ways that were compared; None where none were looked for.

    Raises:
        ConfigError: no layers can take the input by rows.
    """
    choices = select_kernels(graph, target, decisions)
    floor = peak_of(graph, choices).arena_bytes
    whole = RowsChoice(graph, choices, floor, None)
    roomy = limit_bytes is None or floor * _ROOMY <= limit_bytes
    if input_rows:
        progress("looking for layers that can take the input by rows")
        whole = _planned(graph, choices, target)
        ways = _handed_choices(whole, target, decisions)
        return _chosen(ways, rows, limit_bytes, whole)
    fixed = not graph.is_straight or graph.length is not None
    if rows is Rows.NEVER or fixed or (rows is Rows.AUTO and roomy):
        return whole, None
    whole = _planned(graph, choices, target)
    if rows is Rows.AUTO and (limit_bytes is None or whole.arena_bytes <= limit_bytes):
        return whole, None
    progress("looking for layers that can run in turns of a few rows")
    return _chosen(row_choices(whole, target, decisions), rows, limit_bytes)


def _chosen(
    found: Sequence[RowsChoice],
    rows: Rows,
    limit_bytes: int | None,
    beside: RowsChoice | None = None,
) -> tuple[RowsChoice, RowsReport]:
    """The fastest of the ways that fit; without a limit, or with `--rows always`, the smallest.

    Args:
        found: the smallest first, the fastest last.
        rows: what the user asked for.
        limit_bytes: bytes that the arena may have; None: any number.
        beside: the graph as it is, to compare with, where it is none of the ways.
    """
    fitting = [
        number
        for number, each in enumerate(found)
        if limit_bytes is not None and each.arena_bytes <= limit_bytes
    ]
    chosen = fitting[-1] if rows is Rows.AUTO and fitting else 0
    handed = found[chosen].graph.chains[0].handed if found[chosen].graph.chains else None
    input_rows = 0 if handed is None else handed.firing.rows
    points = tuple(each.point for each in (*found, *((beside,) if beside else ())))
    return found[chosen], RowsReport(chosen, points, input_rows)


def row_choices(
    whole: RowsChoice, target: Target, decisions: Mapping[str, object]
) -> tuple[RowsChoice, ...]:
    """The graph in turns at several limits: the smallest first, the fastest, as it is, last.

    Args:
        whole: the graph as it is.
        target: the processor.
        decisions: nodes that planners decided for stay as they are.
    """
    return _front((whole, *_ways(whole, target, decisions, None)))


def _handed_choices(
    whole: RowsChoice, target: Target, decisions: Mapping[str, object]
) -> tuple[RowsChoice, ...]:
    """Likewise, where the caller hands the input over by rows.

    Raises:
        ConfigError: no layers can take it so.
    """
    found = _front(_ways(whole, target, decisions, whole.graph.only_input))
    if not found:
        raise ConfigError(
            "the first layers cannot compute a few rows of this input at a time",
            where=_INPUT_ROWS,
            hint="docs/rows.md says which layers can; leave out --input-rows",
        )
    return found


def _ways(
    whole: RowsChoice, target: Target, decisions: Mapping[str, object], handed: str | None
) -> list[RowsChoice]:
    """The graph in turns at several limits; `handed`: an input that comes by rows."""
    graph, choices, estimator = whole.graph, whole.choices, estimator_of(target)
    peak, alone = peak_of(graph, choices), peak_of(graph, choices, overlapping=False)
    chains = chains_of(
        graph,
        peak.arena_bytes,
        lambda *node: need_of(by_itself(*node), target, estimator),
        frozenset(decisions),
        handed,
        whole_cycles={} if estimator is None else cycles_by_name(graph, choices, estimator),
    )
    names = [choice.node.name for choice in choices]
    found: dict[tuple[Timeline | None, ...], tuple[RowsChoice, ...]] = {}
    for steps in (peak.by_step, alone.by_step):
        sections = Sections.of(graph, chains, dict(zip(names, steps, strict=False)), handed)
        if sections.least_bytes >= IMPOSSIBLE:
            continue
        for limit in [int(sections.least_bytes * factor) for factor in _LIMITS]:
            for _ in range(_RETRIES):
                cut = sections.cheapest(limit)
                key = tuple(each.chain for each in cut)
                if not cut or key in found:
                    break
                found[key] = ways = _kernels_of(graph, cut, target, decisions)
                if ways[-1].arena_bytes <= limit:
                    break
                highest = _highest(cut, graph, ways[-1])
                sections = sections.grown(highest, ways[-1].arena_bytes)
    return _planned_ways(each for ways in found.values() for each in ways)


def _planned_ways(ways: Iterable[RowsChoice]) -> list[RowsChoice]:
    """Ways with the arena of their plan in place of its floor, where no faster one is as small.

    Plans take long, and mostly reach their floors, so that few have to be made.
    """
    found: list[RowsChoice] = []
    for each in sorted(ways, key=lambda each: (_time(each), each.arena_bytes)):
        if all(each.arena_bytes < faster.arena_bytes for faster in found):
            found.append(replace(each, arena_bytes=arena_of(each.graph, each.choices)))
    return found


def _kernels_of(
    graph: Graph, cut: Sequence[Section], target: Target, decisions: Mapping[str, object]
) -> tuple[RowsChoice, ...]:
    """Kernels of a graph with some chains in turns, with less and less scratch memory."""
    made = in_turns(graph, [each.chain for each in cut if each.chain is not None])
    kernels, cost = select_kernels(made, target, decisions), sum(each.cost for each in cut)
    return tuple(
        RowsChoice(made, each, floor, cycles_of(made, each, target), cost)
        for each, floor in with_less_scratch(made, kernels, target)
    )


def _highest(cut: Sequence[Section], graph: Graph, made: RowsChoice) -> Section:
    """The chain with the step that needs most, or the one for which that has rows of padding."""
    peak = peak_of(made.graph, made.choices)
    name = made.choices[peak.by_step.index(peak.arena_bytes)].node.name
    number = next((n for n, node in enumerate(graph.nodes) if node.name == name), 0)
    return next((each for each in cut if number < each.end), cut[-1])


def _front(found: Iterable[RowsChoice]) -> tuple[RowsChoice, ...]:
    """Choices that nothing smaller is as fast as, or nearly, the smallest first."""
    front: list[RowsChoice] = []
    for each in sorted(found, key=lambda each: (each.arena_bytes, _time(each))):
        least = 1 if not each.graph.chains else _FASTER
        if not front or _time(each) < least * _time(front[-1]):
            front.append(each)
    return tuple(front)


def _time(way: RowsChoice) -> float:
    """Cycles; without an estimate, those that turns are expected to take more."""
    return way.cost if way.cycles is None else way.cycles


def _planned(graph: Graph, choices: tuple[KernelChoice, ...], target: Target) -> RowsChoice:
    return RowsChoice(graph, choices, arena_of(graph, choices), cycles_of(graph, choices, target))
