"""`--activation-bits auto`: a width of activations for each pooled layer, on calibration data.

Every step lowers one layer to the next width that is cheaper, first where a cycle saved costs least
noise: the noise that the width adds to the layer's own output, with exact inputs, against the
signal there.  Noise of this kind adds up over layers, so the steps are a good order; how far to go
is then measured on the whole network, by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import (
    MAX_ACTIVATION_BITS,
    Optimize,
    PoolKernel,
    PoolKernelOptions,
    Progress,
)
from edgec.interp import run_graph, run_graph_batch, run_node
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes, with_rounding
from edgec.ir.weighted import pooled_attrs
from edgec.kernels.weightpool.plan.candidates import Setting, candidates
from edgec.kernels.weightpool.plan.plan import PoolPlan, kernel_rules, plan_pools
from edgec.target.board import Board

_NOISE_SAMPLES = 8
_DROP_SAMPLES = 256
_TYPICAL_BITS = 4
"""A plan for this width tells which look-up tables will be there."""
_LEAST_GAIN = 0.01
"""Share of a layer's cycles that a lower width must save."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """Cycles and noise of a layer by its width of activations: one entry for each of 1 to 8.

    Attributes:
        name: name of the node.
        cycles: estimated.
        noise: power of the error of its output, against the signal's.
    """

    name: str
    cycles: tuple[float, ...]
    noise: tuple[float, ...]


def plan_with_widths(
    graph: Graph,
    samples: Mapping[str, Array],
    board: Board,
    options: PoolKernelOptions,
    optimize: Optimize,
    progress: Progress,
) -> tuple[PoolPlan, str]:
    """A plan with as few bits for each layer as `options.max_drop` allows, where that is faster.

    Args:
        graph: INTEGER stage with pooled nodes of full width, unscaled.
        samples: int8 codes [N, ...] by graph input; at most 256 are used.
        board: the target.
        options: `max_drop`, and what limits the kernels.
        optimize: what is preferred where fast code and little flash differ.
        progress: told what is being done.

    Returns:
        The plan, and what it costs in accuracy, in words.

    Raises:
        ConfigError, WeightPoolError: see `plan_pools`.
    """
    used = {name: array[:_DROP_SAMPLES] for name, array in samples.items()}
    typical = plan_pools(limited_bits(graph, _TYPICAL_BITS), board, options, optimize)
    path = _path(_layers(graph, used, board, options, typical, progress))
    wanted = run_graph_batch(graph, used)
    low, high = 0, len(path)
    rounds = high.bit_length() + 1
    done = 0
    while low < high:
        progress("choosing widths of activations", done, rounds)
        middle = (low + high + 1) // 2
        found = run_graph_batch(_with_bits(graph, path[middle - 1]), used)
        if drop_of(found, wanted) <= options.max_drop:
            low = middle
        else:
            high = middle - 1
        done += 1
    widths = _with_bits(graph, path[low - 1] if low else {})
    first = plan_pools(widths, board, options, optimize)
    plan = plan_pools(_relaxed(widths, first), board, options, optimize)
    progress("choosing widths of activations", rounds - 1, rounds)
    lost = drop_of(run_graph_batch(plan.graph, used), wanted)
    return plan, _note(plan, len(next(iter(used.values()))), lost, options.max_drop)


def _relaxed(graph: Graph, plan: PoolPlan) -> Graph:
    """The graph with wider activations where the planned kernels are as fast with them."""
    bits = {layer.output: layer.free_bits for layer in plan.layers}
    return with_rounding(graph, lambda node, own: replace(own, activation_bits=bits[node.output]))


def _layers(
    graph: Graph,
    samples: Mapping[str, Array],
    board: Board,
    options: PoolKernelOptions,
    typical: PoolPlan,
    progress: Progress,
) -> list[_Layer]:
    nodes = pooled_nodes(graph)
    noise = {node.name: np.zeros(MAX_ACTIVATION_BITS) for node in nodes}
    signal = dict.fromkeys(noise, 0.0)
    count = min(len(next(iter(samples.values()))), _NOISE_SAMPLES)
    for index in range(count):
        progress("measuring widths of activations", index, count)
        found = run_graph(graph, {name: x[index : index + 1] for name, x in samples.items()})
        for node in nodes:
            exact = found[node.output].astype(np.float64)
            signal[node.name] += float(np.sum((exact - exact.mean()) ** 2))
            for bits in range(1, MAX_ACTIVATION_BITS):
                error = _at_width(graph, node, bits, found) - exact
                noise[node.name][bits - 1] += float(np.sum(error**2))
    return [
        _Layer(
            node.name,
            _cycles(graph, node, board, options, typical),
            tuple(noise[node.name] / max(signal[node.name], 1.0)),
        )
        for node in nodes
    ]


def _at_width(graph: Graph, node: Node, bits: int, found: Mapping[str, Array]) -> Array:
    """Output codes of a node that sees `bits` bits of its exact inputs."""
    attrs = pooled_attrs(node)
    attrs = replace(attrs, rounding=replace(attrs.rounding, activation_bits=bits))
    return run_node(graph, replace(node, attrs=attrs), found).astype(np.float64)


def _cycles(
    graph: Graph, node: Node, board: Board, options: PoolKernelOptions, typical: PoolPlan
) -> tuple[float, ...]:
    """Cycles of the fastest kernel at each width, 1 to 8, with the tables of a typical network."""
    tables = {layer.builder for layer in typical.layers if layer.table_bytes}
    setting = Setting.of(board, options)
    ways = [
        way
        for way in candidates(graph, node, setting, kernel_rules(graph, options).get(node.name))
        if way.table is None or way.table.value in tables
    ]
    costs = []
    for bits in range(1, MAX_ACTIVATION_BITS + 1):
        legal = [way for way in ways if bits == 8 or way.kernel is not PoolKernel.EXPAND]
        costs.append(
            min(
                (setting.cycles(way.spec, bits) for way in legal),
                default=math.inf,
            )
        )
    return tuple(costs)


def _path(layers: Sequence[_Layer]) -> list[dict[str, int]]:
    """Widths by name of the layer, after each step; layers at full width are left out."""
    bits = dict.fromkeys((layer.name for layer in layers), MAX_ACTIVATION_BITS)
    steps: list[dict[str, int]] = []
    while True:
        best: tuple[float, str, int] | None = None
        for layer in layers:
            now = bits[layer.name]
            for lower in range(now - 1, 0, -1):
                gain = layer.cycles[now - 1] - layer.cycles[lower - 1]
                if gain <= _LEAST_GAIN * layer.cycles[now - 1]:
                    continue
                worth = gain / max(layer.noise[lower - 1] - layer.noise[now - 1], 1e-12)
                if best is None or worth > best[0]:
                    best = (worth, layer.name, lower)
        if best is None:
            return steps
        bits[best[1]] = best[2]
        steps.append({name: width for name, width in bits.items() if width < MAX_ACTIVATION_BITS})


def _with_bits(graph: Graph, bits: Mapping[str, int]) -> Graph:
    return with_rounding(
        graph,
        lambda node, own: replace(own, activation_bits=bits.get(node.name, own.activation_bits)),
    )


def drop_of(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> float:
    """Loss of outputs against the wanted ones.

    Args:
        found, wanted: codes [N, ...] by graph output.

    Returns:
        Percentage points of equal classes for a model with one output; else the largest share, in
        percent, of the energy of an output.
    """
    if len(wanted) == 1:
        ((name, exact),) = wanted.items()
        return 100 * float(np.mean(_classes(found[name]) != _classes(exact)))
    shares = []
    for name, exact in wanted.items():
        signal = exact.astype(np.float64) - exact.mean()
        error = found[name].astype(np.float64) - exact
        shares.append(100 * float(np.sum(error**2) / max(np.sum(signal**2), 1.0)))
    return max(shares)


def _classes(scores: Array) -> Array:
    flat = scores.reshape(len(scores), -1)
    return np.asarray(flat[:, 0] if flat.shape[1] == 1 else flat.argmax(1))


def _note(plan: PoolPlan, samples: int, lost: float, max_drop: float) -> str:
    lowered = sum(layer.activation_bits < MAX_ACTIVATION_BITS for layer in plan.layers)
    note = (
        f"widths of activations lowered in {lowered} of {len(plan.layers)} pooled layers: "
        f"{lost:.2f} points lost on {samples} calibration samples, rounding of responses included "
        f"(fewer bits may lose {max_drop:g})"
    )
    if 100 / samples > max_drop:
        note += f"; one sample is {100 / samples:.2g} points: more allow a finer choice"
    return note
