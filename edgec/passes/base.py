"""Graph passes, and runs of them: verified in between, timed, dumped on request."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import InternalError
from edgec.base.output_file import write_whole
from edgec.ir.graph import Graph
from edgec.ir.text import graph_text
from edgec.ir.verify import Stage, verify

_log = logging.getLogger(__name__)

Notes = Callable[[Graph, Graph], tuple[str, ...]]


def _no_notes(_before: Graph, _after: Graph) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of a pipeline.

    Attributes:
        name: its name in logs, dumps and reports.
        requires: stage of the graph that it takes.
        gives: stage of the graph it returns.
        run: the rewrite; returns a new graph.
        notes: lines for the report, from the graph before and after.
    """

    name: str
    requires: Stage
    gives: Stage
    run: Callable[[Graph], Graph]
    notes: Notes = _no_notes


@dataclass(frozen=True, slots=True)
class PassNote:
    """One line a pass has for the report."""

    pass_name: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class PassesResult:
    """Result of a sequence of passes."""

    graph: Graph
    notes: tuple[PassNote, ...]


def run_passes(
    graph: Graph, passes: Sequence[Pass], dump_dir: Path | None = None, first_number: int = 0
) -> PassesResult:
    """Run passes in order and verify the graph before the first and after each.

    Args:
        graph: a graph of the stage that the first pass requires.
        passes: in order.
        dump_dir: write the graph after each pass to ``NN-<pass>.txt`` in this folder.
        first_number: NN of the first pass.

    Raises:
        InternalError: a pass broke the contract of its stage, or stages do not follow each other.
    """
    notes: list[PassNote] = []
    if passes:
        verify(graph, passes[0].requires, f"the steps before {passes[0].name}")
    stage = passes[0].requires if passes else None
    for number, step in enumerate(passes, first_number):
        if step.requires is not stage:
            raise InternalError(f"requires another stage than the last pass gives: {step.name}")
        start = time.perf_counter()
        after = step.run(graph).pruned()
        seconds = time.perf_counter() - start
        _log.info("%s: %d nodes, %.0f ms", step.name, len(after.nodes), seconds * 1e3)
        verify(after, step.gives, step.name)
        notes += [PassNote(step.name, text) for text in step.notes(graph, after)]
        if dump_dir is not None:
            dump_graph(after, dump_dir, number, step.name)
        graph, stage = after, step.gives
    return PassesResult(graph, tuple(notes))


def dump_graph(graph: Graph, dump_dir: Path, number: int, name: str) -> None:
    """Write the text form of a graph to ``NN-<name>.txt``; creates the folder."""
    write_whole(dump_dir / f"{number:02d}-{name}.txt", graph_text(graph).encode("ascii"))
