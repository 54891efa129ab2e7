"""The passes that run for transformers alone."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.passes.pooling import pooling_by_attention
from edgec.passes.sink_addition import sink_addition


def test_reshape():
    m = Maker()
    tokens = m.op(
        ops.Reshape((1, 6, 4)), m.op(ops.Conv(), m.input(1, 2, 3, 5), m.const(4, 1, 1, 5), "")
    )
    graph = m.graph(m.op(ops.Add(), tokens, m.const(1, 6, 4, name="pos"), name="y"))
    after = sink_addition(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Conv", "Add", "Reshape"]


def test_concat_with_a_class_token():
    m = Maker()
    x = m.op(ops.Reshape((1, 6, 4)), m.input(1, 2, 3, 4))
    tokens = m.op(ops.Concat(1), m.const(1, 1, 4, name="cls"), x)
    graph = m.graph(m.op(ops.Add(), m.const(1, 7, 4, name="pos"), tokens, name="y"))
    after = sink_addition(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Add", "Reshape", "Concat"]
    (name, _) = after.nodes[-1].inputs
    assert after.is_constant(name)


def two_readers(m: Maker) -> tuple[str, ...]:
    tokens = m.op(ops.Reshape((1, 6, 4)), m.input(1, 2, 3, 4))
    return m.op(ops.Add(), tokens, m.const(1, 6, 4)), m.op(ops.Clip(0.0), tokens)


def broadcast(m: Maker) -> tuple[str, ...]:
    tokens = m.op(ops.Reshape((1, 6, 4)), m.input(1, 2, 3, 4))
    return (m.op(ops.Add(), tokens, m.const(4)),)


def two_values(m: Maker) -> tuple[str, ...]:
    x = m.input(1, 2, 3, 4)
    tokens = m.op(ops.Reshape((1, 6, 4)), x)
    return (m.op(ops.Add(), tokens, m.op(ops.Reshape((1, 6, 4)), m.op(ops.Clip(0.0), x))),)


@pytest.mark.parametrize("make", [two_readers, broadcast, two_values])
def test_other_additions_stay(make):
    m = Maker()
    graph = m.graph(*make(m))
    assert sink_addition(graph) is graph


def pooling(m: Maker, rows: int = 1, weighted: bool = True):
    x = m.op(ops.Clip(-1.0, 1.0), m.input(1, 7, 4))
    weights = m.op(ops.Gemm(), x, m.const(rows, 4), m.const(rows))
    weights = m.op(ops.Reshape((1, rows, 7)), weights)
    values = x if weighted else m.op(ops.Clip(0.0), x)
    return m.graph(m.op(ops.MatMul(), m.op(ops.Softmax(), weights), values, name="y"))


def test_pool():
    graph = pooling(Maker())
    after = pooling_by_attention(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Clip", "Attention"]
    query = after.constants[after.nodes[-1].inputs[0]]
    assert query.shape == (1, 1, 4)


@pytest.mark.parametrize("change", [{"rows": 2}, {"weighted": False}])
def test_other_products_stay(change):
    graph = pooling(Maker(), **change)
    assert pooling_by_attention(graph) is graph


def test_a_transposed_product_stays():
    m = Maker()
    x = m.op(ops.Clip(-1.0, 1.0), m.input(1, 4, 4))
    weights = m.op(ops.Reshape((1, 1, 4)), m.op(ops.Gemm(), x, m.const(1, 4), ""))
    product = m.op(ops.MatMul(transpose_b=True), m.op(ops.Softmax(), weights), x)
    graph = m.graph(product)
    assert pooling_by_attention(graph) is graph
    assert np.prod(graph.shape(product)) == 4
