"""Pooled operators where they are degenerate, and their definition with scaled responses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parity import check_host
from pooled_graphs import DENSE_FAMILIES, dense_configs, pooled_nodes, pooled_operators
from test_interp_definition import check_node

from edgec.base.dtypes import DType
from edgec.base.errors import LoweringError
from edgec.interp import run_graph
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.target.board import load_board
from edgec.target.target import Target

TWO = np.array([[1, -2, 3, -4], [5, 0, -7, 8]], np.int8)
ZEROS = np.zeros((2, 8), np.int8)
ONE_EACH = np.eye(4, dtype=np.int8) * 127
WRAPPING = np.array([[127, 0, 0, -127], [-127, 0, 0, 127]], np.int8)
LOWEST = np.repeat(np.array([[-128, 0, 0, 0], [127, 0, 0, 0]], np.int8), 2, axis=0)


def one_layer(
    vectors: np.ndarray, *, filters: int = 5, index: int | tuple[int, ...] | None = None
) -> Graph:
    """A 3x3 convolution over [1, 4, 5, 6]; with `index`, every vector is that one, or that sum."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder("layer")
    quant = QuantParams.per_tensor(1.0, 7)
    x = builder.value(Value("x", (1, 4, 5, 6), DType.INT8, quant))
    shape = (filters, 3, 3, -(-6 // vectors.shape[1]))
    indices = rng.integers(0, len(vectors), shape)
    if index is not None:
        indices = np.tile(index, shape)
    inputs = [
        x,
        builder.constant("pool", vectors),
        builder.constant("indices", indices.astype(np.uint16)),
        builder.constant("bias", rng.integers(-900, 900, filters).astype(np.int32)),
        builder.constant("multiplier", np.full(filters, 2**24, np.int32)),
    ]
    y = builder.value(Value("y", (1, 4, 5, filters), DType.INT8, quant))
    plain = qops.QConv((1, 1), (1, 1, 1, 1), (1, 1), 1, qops.Requant31(32, 7))
    builder.node("layer", qops.QPooledConv(plain, qops.PoolRounding()), inputs, [y])
    builder.inputs, builder.outputs = [x], [y]
    return builder.build()


EDGES = {
    "two vectors": lambda: one_layer(TWO),
    "all vectors zero": lambda: one_layer(ZEROS),
    "constant layer": lambda: one_layer(TWO, index=1),
    "one filter": lambda: one_layer(TWO, filters=1),
    "largest vectors": lambda: one_layer(ONE_EACH),
    "lowest vectors": lambda: one_layer(LOWEST),
    "a sum of one vector and itself": lambda: one_layer(TWO, index=(1, 1)),
    "sums that wrap around before the last term": lambda: one_layer(WRAPPING, index=(0, 0, 1)),
}


@pytest.mark.parametrize("family", DENSE_FAMILIES, ids=lambda f: f.value)
@pytest.mark.parametrize("edge", EDGES)
def test_edges_equal_the_oracle(edge: str, family: PoolFamily, tmp_path: Path):
    graph = EDGES[edge]()
    check_host(graph, tmp_path, pool_configs=dense_configs(graph, [family], [True]))


def test_all_vectors_zero_give_the_bias_alone():
    graph = one_layer(ZEROS)
    x = np.random.default_rng(1).integers(-128, 128, (1, 4, 5, 6)).astype(np.int8)
    y = run_graph(graph, {"x": x})["y"]
    assert np.all(y == y[:, :1, :1])


@pytest.mark.parametrize("seed", range(4))
def test_rounded_and_scaled_responses_are_their_definition(seed: int):
    graph = pooled_operators(seed, each=4)
    rng = np.random.default_rng(seed)
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        rounding = qops.PoolRounding(int(rng.integers(1, 9)), int(rng.integers(0, 9)))
        builder.put(replace(node, attrs=replace(node.attrs, rounding=rounding)))
    scaled = builder.build()
    inputs = {n: rng.integers(-128, 128, graph.shape(n)).astype(np.int8) for n in graph.inputs}
    values = run_graph(scaled, inputs)
    for node in scaled.nodes:
        check_node(scaled, node, values, rng)


@pytest.mark.parametrize("family", DENSE_FAMILIES, ids=lambda f: f.value)
def test_scaled_responses_need_the_table(family: PoolFamily):
    graph = one_layer(TWO)
    builder = GraphBuilder.of(graph)
    attrs = replace(graph.nodes[0].attrs, rounding=qops.PoolRounding(8, 2))
    builder.put(replace(graph.nodes[0], attrs=attrs))
    with pytest.raises(LoweringError, match="responses are scaled"):
        select_kernels(
            builder.build(), Target.of(load_board("host")), {"layer": PoolKernelConfig(family)}
        )


def test_the_direct_kernel_refuses_a_pool_that_its_offsets_cannot_reach():
    graph = one_layer(np.tile(TWO, (129, 1)))
    config = PoolKernelConfig(PoolFamily.DIRECT, index_bits=9)
    with pytest.raises(LoweringError, match="258 vectors"):
        select_kernels(graph, Target.of(load_board("host")), {"layer": config})


def test_a_pool_beyond_byte_indices_is_decoded(tmp_path: Path):
    check_host(one_layer(np.tile(TWO, (300, 1))), tmp_path)
