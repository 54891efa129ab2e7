"""The compile-time proof finds each way to overflow, and names the operator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_transformers import inputs_of, vit

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.options import QuantOptions
from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.common.numbers import check_intervals
from edgec.quant.transformer import quantize_transformer


@pytest.fixture(scope="module")
def integer() -> Graph:
    real = run_passes(vit(1), TRANSFORMER_PASSES).graph
    graph, _ = quantize_transformer(real, inputs_of(real, 4), QuantOptions())
    check_intervals(graph)
    return graph


def first(graph: Graph, kind: type) -> Node:
    return next(node for node in graph.nodes if isinstance(node.attrs, kind))


def with_constant(graph: Graph, name: str, change) -> Graph:
    constant = graph.constants[name]
    array = change(constant.array.copy()).astype(constant.array.dtype)
    return graph.replace(constants={**graph.constants, name: Constant(name, array, constant.quant)})


def with_attrs(graph: Graph, node: Node, **changes) -> Graph:
    moved = replace(node, attrs=replace(node.attrs, **changes))
    return graph.replace(nodes=tuple(moved if n is node else n for n in graph.nodes))


def refused(graph: Graph, node: Node, match: str) -> None:
    with pytest.raises(QuantizationError, match=match) as caught:
        check_intervals(graph)
    assert caught.value.where == node.name


@pytest.mark.parametrize("kind", [qops.QGemm, qops.QConv])
def test_a_large_bias(integer, kind):
    node = first(integer, kind)
    changed = with_constant(integer, node.inputs[2], lambda b: np.full_like(b, 2**31 - 1))
    refused(changed, node, "the accumulator")


def test_large_factors_of_a_norm(integer):
    node = first(integer, qops.QNorm)
    changed = with_constant(integer, node.inputs[2], lambda b: np.full_like(b, 2**31 - 1))
    refused(changed, node, "the output")
    refused(with_attrs(integer, node, square_shift=0), node, "the sum of squares")
    refused(with_attrs(integer, node, epsilon=2**31 - 1), node, "the sum of squares")


def test_many_keys_need_narrowed_rows():
    keys, heads = 600, np.array([[1000, 10**6, 2**29, 8]], np.int32)
    quant = QuantParams.per_tensor(0.1, 0)
    builder = GraphBuilder("long")
    for name, shape in (("q", (1, 2, 4)), ("k", (1, keys, 4)), ("y", (1, 2, 4))):
        builder.value(Value(name, shape, DType.INT8, quant))
    builder.inputs, builder.outputs = ["q", "k"], ["y"]
    table = builder.constant("heads", heads)
    whole = qops.QAttention(1, 4, 4, 0, 0, 0, exp_bits=15)
    node = builder.node("a", whole, ("q", "k", "k", table), ("y",))
    graph = builder.build()
    refused(graph, node, "weighted values")
    check_intervals(with_attrs(graph, node, trimmed=True))


def test_numbers_of_attention(integer):
    node = first(integer, qops.QAttention)
    for column, value, match in (
        (0, 2**31 - 1, "a distance"),
        (2, 2**31 - 1, "the numerator"),
        (3, 0, "a shift"),
        (3, 40, "weighted values"),
    ):

        def change(heads, column=column, value=value):
            heads[:, column] = value
            return heads

        refused(with_constant(integer, node.inputs[3], change), node, match)


def test_more_keys_than_bits_allow(integer):
    node = first(integer, qops.QAttention)
    values = dict(integer.values)
    name = node.inputs[0]
    values[name] = replace(values[name], shape=(1, 600, values[name].shape[2]))
    refused(integer.replace(values=values), node, "weighted values")
