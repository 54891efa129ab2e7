"""Graphs and kernels for the tests of pooled convolutions that gather responses."""

from dataclasses import dataclass, replace

import numpy as np
from pooled_graphs import pooled_nodes
from random_net import Net
from random_ops import OPS

from edgec.base.errors import LoweringError
from edgec.ir import Graph, qops
from edgec.ir.graph import Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool import WeightPool
from edgec.kernels.weightpool.bounds import least_response_shift
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.family import pooled_conv
from edgec.kernels.weightpool.tables import ResponseKind

_LARGE_IMAGES = ((1, 5, 18, 20), (1, 9, 12, 33), (1, 13, 8, 9), (1, 12, 17, 16), (1, 10, 5, 24))
"""Several blocks of columns, chunks of groups, incomplete groups."""


@dataclass(frozen=True)
class Pooled:
    """A graph of pooled operators and a kernel for each."""

    graph: Graph
    configs: dict[str, PoolKernelConfig]


def response_operators(seed: int, each: int, runtime_bits: bool = False) -> Pooled:
    """Random pooled operators of small and large images, as `each` says of every kind.

    Widths, chunks, builders, and all that a configuration says, are random.  An operator whose
    table is too large for the kernel has another one.
    """
    net = Net.seeded(seed)
    for _ in range(each):
        OPS["pooled_conv"].apply(net, net.input(net.image_shape()))
        OPS["pooled_gemm"].apply(net, net.input(net.any_shape()))
    for shape in _LARGE_IMAGES:
        OPS["pooled_conv"].apply(net, net.input(shape))
    graph = net.build()
    rng = np.random.default_rng(seed)
    builder = GraphBuilder.of(graph)
    configs: dict[str, PoolKernelConfig] = {}
    for node in pooled_nodes(graph):
        lanes = int(rng.choice([2, 2, 2, 1]))
        bits = int(rng.choice([8, 8, 6, 4, 3, 2, 1]))
        shift = least_shift(graph, node, bits) if lanes == 2 else 0
        pooled = replace(node, attrs=replace(node.attrs, rounding=qops.PoolRounding(bits, shift)))
        config = _config(graph, pooled, rng, lanes, runtime_bits)
        if config.family is PoolFamily.RESPONSES:
            builder.put(pooled)
        configs[node.name] = config
    return Pooled(builder.build(), configs)


def least_shift(graph: Graph, node: Node, bits: int) -> int:
    """The least response shift of a pooled operator with two lanes."""
    pool, indices = (graph.constants[name].array for name in node.inputs[1:3])
    zero_point = graph.quant(node.inputs[0]).tensor_zero_point
    return least_response_shift(pool, indices, zero_point, bits, graph.shape(node.inputs[0])[-1])


def _config(
    graph: Graph, node: Node, rng: np.random.Generator, lanes: int, runtime_bits: bool
) -> PoolKernelConfig:
    pool = WeightPool(graph.constants[node.inputs[1]].array)
    widths = {READY_INDEX_BITS, pool.index_bits, max(8, pool.index_bits)}
    config = PoolKernelConfig(
        PoolFamily.RESPONSES,
        chunk_groups=int(rng.integers(1, 6)),
        lanes=lanes,
        builder=ResponseKind(rng.choice([kind.value for kind in ResponseKind])),
        index_bits=int(rng.choice(sorted(widths))),
        keep_rows=bool(rng.integers(2)),
        tables_in_ram=bool(rng.integers(2)),
        runtime_bits=runtime_bits,
    )
    for groups, keep_rows in ((config.chunk_groups, config.keep_rows), (1, False)):
        smaller = replace(config, chunk_groups=groups, keep_rows=keep_rows)
        try:
            pooled_conv(graph, node, smaller)
        except LoweringError:
            continue
        return smaller
    return PoolKernelConfig(
        PoolFamily.DECODE, index_bits=pool.index_bits, runtime_bits=runtime_bits
    )
