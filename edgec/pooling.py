"""Layers with pooled weights on their way to a board: widths of activations, then kernels.

Layer 6, between `integer` and lowering: what the driver does for `PoolKernelOptions`.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.board import Board
from edgec.errors import ConfigError
from edgec.integer import IntegerModel
from edgec.ir.graph import Graph
from edgec.ir.pool_graph import limited_bits, pooled_nodes, with_pooling
from edgec.lower import PoolPlan, plan_pools
from edgec.lower.pool_bits import choose_bits
from edgec.options import PoolKernelOptions, Progress


def plan_pooled_layers(
    ready: IntegerModel, board: Board, options: PoolKernelOptions, progress: Progress
) -> tuple[IntegerModel, PoolPlan]:
    """Choose widths and kernels.

    Args:
        ready: its integer graph is exact: full widths, unscaled responses.
        board: the target.
        options: what the user asked for.
        progress: told what is being done.

    Returns:
        The model with the graph that the board will compute, and the plan.

    Raises:
        ConfigError: options that the model or its calibration cannot meet.
        WeightPoolError: the kernel that the user asked for cannot compute a layer.
    """
    if pooled_nodes(ready.integer):
        progress("planning pooled layers")
    graph, notes = _with_widths(ready, board, options, progress)
    pools = plan_pools(graph, board, options)
    if options.activation_bits == "auto":
        pools = plan_pools(_relaxed(graph, pools), board, options)
    return replace(ready, integer=pools.graph, notes=(*ready.notes, *notes)), pools


def _relaxed(graph: Graph, pools: PoolPlan) -> Graph:
    """The graph with wider activations where the planned kernels are as fast with them."""
    bits = {layer.output: layer.free_bits for layer in pools.layers}
    return with_pooling(graph, lambda node, own: replace(own, activation_bits=bits[node.output]))


def _with_widths(
    ready: IntegerModel, board: Board, options: PoolKernelOptions, progress: Progress
) -> tuple[Graph, tuple[str, ...]]:
    graph = ready.integer
    if options.activation_bits != "auto":
        return limited_bits(graph, options.activation_bits), ()
    if not pooled_nodes(graph):
        return graph, ()
    if not ready.calibration:
        raise ConfigError(
            "widths of activations are chosen on calibration data, and there are none",
            where="--activation-bits auto",
            hint="give typical inputs with --calibration, or a fixed width",
        )
    samples = {name: graph.quant(name).quantize(array) for name, array in ready.calibration.items()}
    found = choose_bits(graph, samples, board, options, progress)
    return found.graph, (found.note,)
