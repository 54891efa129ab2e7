"""`--activation-bits auto`: a width of activations for each pooled layer, on calibration data.

Every step lowers one layer to the next width that is cheaper, first where a cycle saved costs least
noise: the noise that the width adds to the layer's own output, with exact inputs, against the
signal there.  Noise of this kind adds up over layers, so the steps are a good order; how far to go
is then measured on the whole network, by bisection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.board import Board
from edgec.dtypes import Array
from edgec.interp import run_graph, run_graph_batch, run_node
from edgec.ir.graph import Graph, Node
from edgec.ir.pool_graph import pooled_nodes, with_pooling
from edgec.lower.pool_candidates import Setting, candidates
from edgec.lower.pool_cost import estimate
from edgec.lower.pool_prices import prices_of
from edgec.options import MAX_ACTIVATION_BITS, PoolKernel, PoolKernelOptions, Progress

_NOISE_SAMPLES = 8
_DROP_SAMPLES = 256
_LEAST_GAIN = 0.01
"""Share of a layer's cycles that a lower width must save."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenBits:
    """The graph with its widths, and what it costs in accuracy, in words."""

    graph: Graph
    note: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """What a width means for a layer; both tuples are for the widths 1 to 8.

    Attributes:
        name: of the node.
        cycles: estimated.
        noise: power of the error of its output, against the signal's.
    """

    name: str
    cycles: tuple[float, ...]
    noise: tuple[float, ...]


def choose_bits(
    graph: Graph,
    samples: Mapping[str, Array],
    board: Board,
    options: PoolKernelOptions,
    progress: Progress,
) -> ChosenBits:
    """As few bits for each layer as `options.max_drop` allows, where that saves cycles.

    Args:
        graph: INTEGER stage with pooled nodes of full width, unscaled.
        samples: int8 codes [N, ...] by graph input; at most 256 are used.
        board: the target.
        options: `max_drop`, and what limits the kernels.
        progress: told what is being done.
    """
    used = {name: array[:_DROP_SAMPLES] for name, array in samples.items()}
    setting = Setting(board, prices_of(board), options.table_bytes, options.runtime_bits)
    layers = _layers(graph, used, setting, progress)
    path = _path(layers)
    wanted = run_graph_batch(graph, used)
    low, lost = 0, 0.0
    high = len(path)
    rounds = len(path).bit_length()
    for done in range(rounds):
        progress("choosing widths of activations", done, rounds)
        if low == high:
            break
        middle = (low + high + 1) // 2
        drop = _drop(run_graph_batch(_with_bits(graph, path[middle - 1]), used), wanted)
        if drop <= options.max_drop:
            low, lost = middle, drop
        else:
            high = middle - 1
    bits = path[low - 1] if low else {}
    return ChosenBits(_with_bits(graph, bits), _note(layers, bits, used, lost, options.max_drop))


def _layers(
    graph: Graph, samples: Mapping[str, Array], setting: Setting, progress: Progress
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
            _cycles(graph, node, setting),
            tuple(noise[node.name] / max(signal[node.name], 1.0)),
        )
        for node in nodes
    ]


def _at_width(graph: Graph, node: Node, bits: int, found: Mapping[str, Array]) -> Array:
    """Output codes of a node that sees `bits` bits of its exact inputs."""
    attrs = replace(node.attrs, pooling=replace(node.attrs.pooling, activation_bits=bits))
    return run_node(graph, replace(node, attrs=attrs), found).astype(np.float64)


def _cycles(graph: Graph, node: Node, setting: Setting) -> tuple[float, ...]:
    """Of the fastest kernel at each width, 1 to 8."""
    ways = candidates(graph, node, setting, None)
    costs = []
    for bits in range(1, MAX_ACTIVATION_BITS + 1):
        legal = (way for way in ways if bits == 8 or way.kernel is not PoolKernel.EXPAND)
        costs.append(min(estimate(way.spec, bits, setting.prices, setting.board) for way in legal))
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
    return with_pooling(
        graph,
        lambda node, own: replace(own, activation_bits=bits.get(node.name, own.activation_bits)),
    )


def _drop(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> float:
    """Percentage points of equal classes, or of output energy where there are no classes."""
    lost = 0.0
    for name, exact in wanted.items():
        a, b = (array.reshape(len(array), -1).astype(np.float64) for array in (found[name], exact))
        if len(wanted) == 1 and b.shape[1] > 1:
            return 100 * float(np.mean(a.argmax(1) != b.argmax(1)))
        if len(wanted) == 1:
            return 100 * float(np.mean(a != b))
        lost = max(lost, 100 * float(np.sum((a - b) ** 2) / max(np.sum((b - b.mean()) ** 2), 1.0)))
    return lost


def _note(
    layers: Sequence[_Layer],
    bits: Mapping[str, int],
    samples: Mapping[str, Array],
    lost: float,
    max_drop: float,
) -> str:
    count = len(next(iter(samples.values())))
    before = sum(layer.cycles[-1] for layer in layers)
    after = sum(layer.cycles[bits.get(layer.name, MAX_ACTIVATION_BITS) - 1] for layer in layers)
    note = (
        f"widths of activations lowered in {len(bits)} of {len(layers)} pooled layers: about "
        f"{after:,.0f} instead of {before:,.0f} cycles in them; {lost:.2f} of at most "
        f"{max_drop:g} points lost on {count} calibration samples"
    )
    if 100 / count > max_drop:
        note += f"; one sample is {100 / count:.2g} points, more samples allow a finer choice"
    return note
