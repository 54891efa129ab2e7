"""Graphs of operators with pooled weights, and kernels for them."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from random_net import Net
from random_ops import OPS

from edgec.ir import Graph, qops
from edgec.ir.graph import Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool import WeightPool
from edgec.ir.weighted import POOLED
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.decoded import serves_dsp
from edgec.kernels.weightpool.direct import DIRECT_POOL_SIZE
from edgec.kernels.weightpool.plan.short import with_short_numbers
from edgec.kernels.weightpool.tables import ResponseKind

DENSE_FAMILIES = (PoolFamily.DECODE, PoolFamily.DIRECT)
_BYTE_SIZES = 256
_LARGE_IMAGES = ((1, 5, 4, 33), (1, 3, 6, 64))
"""Filters on these are decoded in several batches."""


def pooled_operators(seed: int, each: int) -> Graph:
    """`each` pooled convolutions and matrix products, each on its own input; responses exact."""
    net = Net.seeded(seed)
    for _ in range(each):
        OPS["pooled_conv"].apply(net, net.input(net.image_shape()))
        OPS["pooled_gemm"].apply(net, net.input(net.any_shape()))
    for shape in _LARGE_IMAGES:
        OPS["pooled_conv"].apply(net, net.input(shape))
    return net.build()


def pooled_nodes(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if isinstance(node.attrs, POOLED)]


def with_rounding(graph: Graph, rounding: qops.PoolRounding) -> Graph:
    """The graph with one arithmetic in all pooled operators."""
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        builder.put(replace(node, attrs=replace(node.attrs, rounding=rounding)))
    return builder.build()


def at_width(graph: Graph, bits: int) -> Graph:
    """The graph as it computes with a width of `bits` set at run time."""
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        own = node.attrs.rounding
        narrow = replace(own, activation_bits=min(bits, own.activation_bits))
        builder.put(replace(node, attrs=replace(node.attrs, rounding=narrow)))
    return builder.build()


def dense_configs(
    graph: Graph,
    families: Sequence[PoolFamily] = DENSE_FAMILIES,
    runtime_bits: Sequence[bool] = (False, True),
) -> dict[str, PoolKernelConfig]:
    """Kernels of these families by turns, with tables and storage of indices by turns."""
    kinds = (ResponseKind.BITSERIAL, ResponseKind.NIBBLE)
    turns = itertools.cycle(itertools.product(families, runtime_bits, kinds, (True, False)))
    found = {}
    for node, (family, at_run_time, kind, as_bytes) in zip(
        pooled_nodes(graph), turns, strict=False
    ):
        pool = WeightPool(graph.constants[node.inputs[1]].array)
        found[node.name] = PoolKernelConfig(
            family if pool.size <= DIRECT_POOL_SIZE else PoolFamily.DECODE,
            builder=kind,
            index_bits=8 if as_bytes and pool.size <= _BYTE_SIZES else pool.index_bits,
            runtime_bits=at_run_time,
        )
    return found


def with_short(
    graph: Graph, configs: dict[str, PoolKernelConfig], every: int = 2
) -> tuple[Graph, dict[str, PoolKernelConfig]]:
    """Every second layer that can with biases and multipliers of 16 bits."""
    able = [name for name, config in configs.items() if not config.runtime_bits]
    short = {name: replace(configs[name], short=True) for name in able[::every]}
    return with_short_numbers(graph, short), configs | short


def dense_4x2_operators(seed: int, each: int) -> Graph:
    """Pooled operators whose channels are multiples of 4, exact: for `PooledDecodeDsp`."""
    net = Net.seeded(seed)
    for _ in range(each):
        shape = (1, net.integer(1, 6), net.integer(2, 6), 4 * net.integer(1, 9))
        OPS["pooled_conv"].apply(net, net.input(shape))
        OPS["pooled_gemm"].apply(net, net.input((net.integer(1, 7), 4 * net.integer(1, 9))))
    return net.build()


def dsp_configs(
    graph: Graph, runtime_bits: Sequence[bool] = (False, True)
) -> dict[str, PoolKernelConfig]:
    """Decoding for cores with DSP, where it serves; batches and storage of indices by turns."""
    turns = itertools.cycle(itertools.product(runtime_bits, (None, 2, 4), (True, False)))
    nodes = [node for node in pooled_nodes(graph) if serves_dsp(graph, node)]
    found = {}
    for node, (at_run_time, batch, as_bytes) in zip(nodes, turns, strict=False):
        pool = WeightPool(graph.constants[node.inputs[1]].array)
        found[node.name] = PoolKernelConfig(
            PoolFamily.DECODE,
            index_bits=8 if as_bytes and pool.size <= _BYTE_SIZES else pool.index_bits,
            batch=batch,
            dsp=True,
            runtime_bits=at_run_time,
        )
    return found
