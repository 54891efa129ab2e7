"""Layers with pooled weights on their way to a board: widths of activations, then kernels.

A step between `integer` and lowering, which `PoolKernelOptions` rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import InPool, LayerBits, Optimize, PoolKernelOptions, Progress
from edgec.ir.graph import Graph
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes
from edgec.kernels.weightpool.plan.plan import PoolPlan, plan_pools
from edgec.kernels.weightpool.plan.widths import plan_with_widths
from edgec.target.board import Board
from edgec.workflow.integer import IntegerModel


def plan_pooled_layers(
    ready: IntegerModel,
    board: Board,
    options: PoolKernelOptions,
    optimize: Optimize,
    progress: Progress,
) -> tuple[IntegerModel, PoolPlan]:
    """Choose widths and kernels.

    Args:
        ready: its integer graph is exact: full widths, unscaled responses.
        board: the target.
        options: what the user asked for.
        optimize: what is preferred where fast code and little flash differ.
        progress: told what is being done.

    Returns:
        The model with the graph that the board will compute, and the plan.

    Raises:
        ConfigError: options that the model or its calibration cannot meet.
        WeightPoolError: the kernel that the user asked for cannot compute a layer.
    """
    graph = ready.integer
    if pooled_nodes(graph):
        progress("planning pooled layers")
    notes: tuple[str, ...] = ()
    if options.activation_bits != "auto":
        pools = plan_pools(limited_bits(graph, options.activation_bits), board, options, optimize)
    elif not pooled_nodes(graph):
        pools = plan_pools(graph, board, options, optimize)
    else:
        pools, note = plan_with_widths(
            graph, _calibration(ready), board, options, optimize, progress
        )
        notes = (note,)
    return replace(ready, integer=pools.graph, notes=(*ready.notes, *notes)), pools


def decoded_layers(graph: Graph, asked: Sequence[LayerBits]) -> frozenset[str]:
    """Names of the pooled layers that options of weights want the small kernel for.

    Args:
        graph: INTEGER stage.
        asked: names and patterns of layers; of several that match a layer the last holds.
    """
    found = {}
    for node in pooled_nodes(graph):
        for each in asked:
            if each.layers == node.name or any(
                fnmatchcase(name, each.layers) for name in (node.name, *node.sources)
            ):
                found[node.name] = isinstance(each.bits, InPool) and each.bits.decode
    return frozenset(name for name, decode in found.items() if decode)


def _calibration(ready: IntegerModel) -> dict[str, Array]:
    """Calibration samples as int8 codes [N, ...] by graph input."""
    if not ready.calibration:
        raise ConfigError(
            "widths of activations are chosen on calibration data, and there are none",
            where="--activation-bits auto",
            hint="give typical inputs with --calibration, or a fixed width",
        )
    quants = {name: ready.integer.quant(name) for name in ready.calibration}
    return {name: quants[name].quantize(array) for name, array in ready.calibration.items()}
