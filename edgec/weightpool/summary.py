"""The report of a compressed network: errors measured, sizes counted."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import WeightPoolOptions
from edgec.floatrun.activations import activations
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.weightpool.network import Network
from edgec.weightpool.report import (
    CompressionReport,
    LayerCompression,
    index_bytes,
    stored_sizes,
)

SAMPLES = 32
"""Calibration samples that signal-to-noise ratios are measured on."""


def summarized(network: Network, graph: Graph, options: WeightPoolOptions) -> CompressionReport:
    """Report of a compressed network.

    Args:
        network: before.
        graph: after, with nodes and values of the same names.
        options: the options of the compression.
    """
    quality = output_quality(network, graph)
    nodes = {node.name: node for node in graph.nodes}
    layers, pools = [], set()
    for layer in network.choice.pooled:
        weight = graph.constants[ops.layer_inputs(nodes[layer.node.name]).w]
        if weight.pooled is None:
            continue
        pools.add(id(weight.pooled.pool))
        before = network.graph.constants[layer.weight_name].real()
        layers.append(
            LayerCompression(
                node=layer.node.name,
                weights=math.prod(weight.shape),
                vectors=layer.vectors,
                terms=weight.pooled.terms,
                pool_size=weight.pooled.pool.size,
                entries_used=len(np.unique(weight.pooled.indices)),
                weight_error=_relative_error(before, weight.real()),
                sqnr_db=quality.get(layer.node.output),
                index_bytes=index_bytes(weight.pooled.indices.size, weight.pooled.pool),
            )
        )
    return CompressionReport(
        pool_size=options.size,
        group=options.group,
        pools=len(pools),
        signed=options.signed,
        samples=network.samples,
        layers=tuple(layers),
        left_alone=network.choice.left_alone,
        sizes=stored_sizes(graph, signed=options.signed),
    )


def _relative_error(wanted: Array, found: Array) -> float:
    """Squared error over squared sum; 0 where both are zero."""
    target, result = wanted.astype(np.float64), found.astype(np.float64)
    power = float(np.sum(target**2))
    return float(np.sum((target - result) ** 2)) / power if power > 0 else 0.0


def output_quality(network: Network, graph: Graph) -> dict[str, float]:
    """Signal over error in dB of each pooled layer's output, by value; empty without data."""
    if network.data is None:
        return {}
    names = list(dict.fromkeys(layer.node.output for layer in network.choice.pooled))
    data = {name: array[:SAMPLES] for name, array in network.data.items()}
    signal, noise = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    before, after = activations(network.graph, names, data), activations(graph, names, data)
    for (_, wanted), (_, found) in zip(before, after, strict=True):
        for name in names:
            target = wanted[name].astype(np.float64)
            signal[name] += float(np.sum(target**2))
            noise[name] += float(np.sum((found[name] - target) ** 2))
    return {name: _decibel(signal[name], noise[name]) for name in names}


def _decibel(signal: float, noise: float) -> float:
    if noise == 0.0:
        return math.inf
    return 10.0 * math.log10(signal / noise) if signal > 0.0 else -math.inf
