"""What a network with pooled weights asks of a board, estimated without building it."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.options import PoolKernelOptions, no_progress
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.memory import plan_memory
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel
from edgec.workflow.weight_pool_kernels import plan_pooled_layers


@dataclass(frozen=True, slots=True, eq=False)
class PoolFigures:
    """A network on a board.

    Attributes:
        graph: INTEGER stage: what the kernels that were chosen compute.
        cycles: estimated, of the layers with pooled weights; None: there is no estimate.
        arena_bytes: SRAM of activations and scratch memory.
    """

    graph: Graph
    cycles: int | None
    arena_bytes: int


def pool_figures(ready: IntegerModel, board: Board) -> PoolFigures:
    """Plan a network with pooled weights for a board, with 8 bits of activations.

    Raises:
        WeightPoolError, ConfigError: see `plan_pooled_layers`.
    """
    planned, plan = plan_pooled_layers(ready, board, PoolKernelOptions(), no_progress)
    graph = planned.integer
    choices = select_kernels(graph, Target.of(board), plan.configs)
    buffers, overlaps, _ = buffers_of(graph, choices)
    found = [layer.cycles for layer in plan.layers]
    known = [cycles for cycles in found if cycles is not None]
    cycles = sum(known) if known and len(known) == len(found) else None
    return PoolFigures(graph, cycles, plan_memory(buffers, overlaps).arena_bytes)
