"""Facts on a network that runs frame by frame, beside those of its whole window."""

from __future__ import annotations

from edgec.base.options import CompileOptions, no_progress
from edgec.commands.compile_placed import placed
from edgec.report.model import StreamReport
from edgec.target.board import Board
from edgec.workflow.integer import IntegerModel
from edgec.workflow.rounded_channels import with_rounded_channels
from edgec.workflow.stream import model_axes
from edgec.workflow.weight_pool_kernels import plan_pooled_layers


def stream_report(
    model: IntegerModel, whole: IntegerModel, board: Board, options: CompileOptions
) -> StreamReport | None:
    """The facts; None for a network that takes its whole window.

    Args:
        model: what is compiled.
        whole: the network of the whole window that it was made of.
        board: the target.
        options: how to compile.
    """
    found = model.stream
    if found is None:
        return None
    planned = plan_pooled_layers(whole, board, options.pool, no_progress)
    _, pools = with_rounded_channels(*planned, board, options)
    window = placed(pools, board, options)
    return StreamReport(
        window=found.window,
        frames=found.frames,
        warm_up=found.graph.warm_up,
        delay=found.delay,
        equals_window=found.equals_window,
        axes=model_axes(model.integer, found),
        window_macs=window.made.program.macs,
        window_cycles=None if window.speed is None else window.speed.cycles,
        window_arena_bytes=window.made.program.arena_bytes,
    )
