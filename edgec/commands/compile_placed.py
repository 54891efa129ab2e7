"""From a graph to a program whose tensors and weights have places, and what a run takes."""

from __future__ import annotations

from typing import NamedTuple

from edgec.base.options import CompileOptions
from edgec.commands.compile_facts import placement_report, share_of
from edgec.commands.compile_speed import estimated_speed
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.lower.placed import Lowered, lowered
from edgec.report.model import PlacementReport, SpeedReport
from edgec.target.board import Board
from edgec.target.target import Target


class Placed(NamedTuple):
    """A program with its places.

    Attributes:
        made: the program and its memory plan.
        placement: where arena and weights lie; None under an operating system.
        speed: what a run takes, estimated; None where no core is modelled.
    """

    made: Lowered
    placement: PlacementReport | None
    speed: SpeedReport | None


def placed(pools: PoolPlan, board: Board, options: CompileOptions) -> Placed:
    """Choose kernels and places.

    Args:
        pools: the graph, and how its layers with pooled weights are computed.
        board: the target.
        options: how to compile.
    """
    share = share_of(options, board)
    processor = Target.of(board, options.optimize)
    choices = select_kernels(pools.graph, processor, pools.configs)
    made = lowered(pools.graph, choices, board, share)
    speed = estimated_speed(pools.graph, choices, made.program, processor, pools.layers)
    return Placed(made, placement_report(made, share, board), speed)
