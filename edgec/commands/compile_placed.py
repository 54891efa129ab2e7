"""From a graph to a program whose tensors and weights have places, and what a run takes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.commands.compile_facts import placement_report, share_of
from edgec.commands.compile_speed import estimated_speed
from edgec.ir.graph import Graph
from edgec.kernels.select import KernelChoice, tuned_count
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.lower.placed import Lowered, lowered
from edgec.report.model import PlacementReport, RowsReport, SpeedReport, TunedReport
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.bit_planes import with_bit_planes
from edgec.workflow.front_end import front_end_of, heard_model
from edgec.workflow.integer import IntegerModel
from edgec.workflow.rounded_channels import with_rounded_channels
from edgec.workflow.rows import arena_limit, chosen_rows
from edgec.workflow.stream import with_stream
from edgec.workflow.weight_pool_kernels import decoded_layers, plan_pooled_layers


class Placed(NamedTuple):
    """A program with its places.

    Attributes:
        made: the program and its memory plan.
        placement: where arena and weights lie; None under an operating system.
        speed: what a run takes, estimated; None where no core is modelled.
        rows: layers in turns of a few rows; None: nobody looked for them.
        tuned: layers with the kernel that was measured; None: no tune file was given.
        graph: INTEGER stage, with its layers in turns.
        choices: the kernels of its nodes.
    """

    made: Lowered
    placement: PlacementReport | None
    speed: SpeedReport | None
    rows: RowsReport | None
    tuned: TunedReport | None
    graph: Graph
    choices: tuple[KernelChoice, ...]


def planned_layers(
    model: IntegerModel, board: Board, options: CompileOptions, progress: Progress = no_progress
) -> tuple[IntegerModel, PoolPlan]:
    """The model as the board computes it, and how its layers with pooled weights are computed.

    Args:
        model: what is compiled.
        board: the target.
        options: how to compile.
        progress: told what is being done.
    """
    wanted = replace(options.pool, decoded=decoded_layers(model.integer, options.weight_bits))
    ready, pools = plan_pooled_layers(model, board, wanted, options.optimize, progress)
    ready, pools = with_bit_planes(ready, pools, board, options)
    return with_rounded_channels(ready, pools, board, options)


def planned(
    exact: IntegerModel, board: Board, options: CompileOptions, progress: Progress = no_progress
) -> tuple[IntegerModel, PoolPlan]:
    """The model as a board will compute it, and how its layers with pooled weights do.

    Args:
        exact: the integer model of the options.
        board: the target.
        options: how to compile.
        progress: told what is being done.

    Raises:
        ConfigError: options that the model or its calibration cannot meet.
        WeightPoolError: the kernel that the user asked for cannot compute a layer.
    """
    model = heard_model(with_stream(exact, options.stream), front_end_of(options.front_end))
    return planned_layers(model, board, options, progress)


def placed(
    pools: PoolPlan, board: Board, options: CompileOptions, progress: Progress = no_progress
) -> Placed:
    """Choose kernels and places.

    Args:
        pools: the graph, and how its layers with pooled weights are computed.
        board: the target.
        options: how to compile.
        progress: told what is being done.
    """
    share = share_of(options, board)
    processor = Target.of(board, options.optimize, options.tuned)
    limit = arena_limit(board, options)
    ready, rows = chosen_rows(
        *(pools.graph, processor, pools.configs, options.rows, limit, progress),
        input_rows=options.input_rows,
        passes=options.input_passes,
    )
    spare = ready.spare_bytes(options.rows, limit)
    made = lowered(ready.graph, ready.choices, board, share, spare)
    speed = estimated_speed(ready.graph, ready.choices, made.program, processor, pools.layers)
    tuned = None
    if options.tuned is not None:
        count = tuned_count(ready.graph, ready.choices, processor)
        tuned = TunedReport(options.tuned.file, count, len(ready.choices) - count)
    placement = placement_report(made, share, board)
    return Placed(made, placement, speed, rows, tuned, ready.graph, ready.choices)
