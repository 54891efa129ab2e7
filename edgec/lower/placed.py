"""A program whose arena and constants have their places: `lowered`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edgec.base.options import Placement
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of, loop_steps
from edgec.kernels.placement import with_copied_weights
from edgec.kernels.select import KernelChoice
from edgec.lower.bind import Bound, bind
from edgec.lower.lower import lower
from edgec.lower.program import Program
from edgec.lower.resident import Residence, Share, residence
from edgec.memory import MemoryPlan, check_plan, plan_memory
from edgec.target.board import Board


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A program and what led to its addresses.

    Attributes:
        program: what C code is written from.
        plan: where each tensor lies in the arena.
        residence: where arena and constants lie in RAM.
        possible: where they could lie, if all are to stay in flash; empty otherwise.
    """

    program: Program
    plan: MemoryPlan
    residence: Residence
    possible: Residence


def lowered(
    graph: Graph,
    choices: Sequence[KernelChoice],
    board: Board,
    share: Share,
    spare_bytes: int | None = None,
) -> Lowered:
    """The program of a graph on a board.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.
        board: what it runs on.
        share: what its weights may have of RAM.
        spare_bytes: by which copies of weights may let the arena grow; None: as much as is usual.

    Raises:
        LoweringError: see `lower`.
        MemoryPlanError: all weights shall lie in RAM, and do not fit.
    """
    buffers, overlaps, _ = buffers_of(graph, choices)
    loops = [(each.first_step, each.end_step) for each in loop_steps(graph, choices)]
    bare = plan_memory(buffers, overlaps)

    def planned(resident: frozenset[int] = frozenset()) -> MemoryPlan:
        plan, copies = with_copied_weights(graph, choices, board, bare, resident, spare_bytes)
        check_plan(plan, (*buffers, *copies), overlaps, loops=loops)
        return plan

    bound = bind(graph, choices)
    # Weights that lie in RAM need no copy in the arena.
    sram = share.placement is Placement.SRAM
    plan = planned(frozenset(range(len(choices))) if sram else frozenset())
    places = residence(bound, plan, board, share)
    possible = Residence("", (), 0.0)
    if share.placement is Placement.FLASH:
        possible = residence(bound, plan, board, replace(share, placement=Placement.AUTO))
    if places.constants and not sram:
        plan = planned(_steps_in_ram(bound, places))
    program = lower(graph, choices, plan, places.constants, bound)
    return Lowered(program, plan, places, possible)


def _steps_in_ram(bound: Bound, places: Residence) -> frozenset[int]:
    """The steps whose largest constant lies in RAM: that is what would be copied."""
    resident = {each.constant for each in places.constants}
    found = []
    for number, call in enumerate(bound.calls):
        sizes = {index: bound.constants[index].array.nbytes for index in call.reads}
        if sizes and max(sizes, key=lambda index: sizes[index]) in resident:
            found.append(number)
    return frozenset(found)
