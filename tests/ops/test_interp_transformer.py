"""The numpy oracle = the definitions of `ir.qops` read literally, element by element."""

from __future__ import annotations

import numpy as np
import pytest
from scalar_transformer import SCALAR
from small_transformers import NETS, Net, inputs_of

from edgec.base.dtypes import DType
from edgec.base.options import QuantOptions
from edgec.interp import run_graph
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.operands import Operand
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.transformer import quantize_transformer

MOST_ELEMENTS = 12


def plain_attention() -> Graph:
    """Two activations multiplied where no attention was found; x [1, 6, 8]."""
    n = Net("products", 6)
    x = n.input("x", 1, 6, 8)
    y = n.norm(n(ops.Add(), x, n.linear(x, 8, "a")), "n")
    y = n(ops.MatMul(transpose_b=True, scale=0.3), y, n.linear(y, 8, "b"), name="product")
    y = n(ops.Reduce(ops.ReduceKind.SUM, (1,), keepdims=False), y)
    return n.graph(y)


CASES = {**NETS, "products": plain_attention}


def integer_graph(name: str) -> Graph:
    real = run_passes(CASES[name](), TRANSFORMER_PASSES).graph
    return quantize_transformer(real, inputs_of(real, 8), QuantOptions())[0]


def operand(graph: Graph, name: str, values: dict[str, np.ndarray]) -> Operand:
    if graph.is_constant(name):
        array, quant = graph.constants[name].array, graph.constants[name].quant
    else:
        array, quant = values[name], graph.values[name].quant
    return Operand(array, quant.tensor_zero_point if quant and quant.axis is None else 0)


def check(graph: Graph, node: Node, values: dict[str, np.ndarray], rng: np.random.Generator):
    y = values[node.output]
    operands = [operand(graph, name, values) if name else None for name in node.inputs]
    for _ in range(MOST_ELEMENTS):
        at = tuple(int(rng.integers(size)) for size in y.shape)
        assert y[at] == SCALAR[type(node.attrs)](node.attrs, operands, at), f"{node.name} at {at}"


@pytest.mark.parametrize("name", CASES)
def test_kernel_is_its_definition(name):
    graph = integer_graph(name)
    rng = np.random.default_rng(0)
    for low, high in ((-128, 128), (-20, 20), (126, 128), (-128, -126)):
        feeds = {}
        for tensor in graph.inputs:
            shape = graph.shape(tensor)
            if graph.dtype(tensor) is DType.INT32:
                feeds[tensor] = rng.integers(-3, 50, shape).astype(np.int32)
            else:
                feeds[tensor] = rng.integers(low, high, shape).astype(np.int8)
        values = run_graph(graph, feeds)
        for node in graph.nodes:
            if type(node.attrs) in SCALAR:
                check(graph, node, values, rng)


def test_every_operator_has_a_kernel_a_definition_and_a_network():
    used = {type(node.attrs) for name in CASES for node in integer_graph(name).nodes}
    assert set(SCALAR) <= used
