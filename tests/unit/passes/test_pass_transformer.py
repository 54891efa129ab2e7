"""The passes that find a transformer's operators in their parts."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.passes.fuse_attention import fuse_attention
from edgec.passes.fuse_functions import fuse_functions
from edgec.passes.fuse_matmul import fuse_matmul
from edgec.passes.fuse_norm import fuse_norm
from edgec.passes.merge_moves import merge_moves, sink_reshape
from edgec.passes.simplify import simplify

MEAN = ops.ReduceKind.MEAN
SQUARE = ops.Unary(UnaryKind.POW, alpha=2.0)


def number(m: Maker, value: float) -> str:
    return m.const(array=np.float32(value))


def norm_parts(m: Maker, x: str, axis: int, centre: bool, square: bool, **fields) -> str:
    mean = ops.Reduce(MEAN, (axis,))
    c = m.op(ops.Sub(), x, m.op(mean, x)) if centre else x
    power = m.op(SQUARE, c) if square else m.op(ops.Mul(), c, c)
    shifted = m.op(ops.Add(), number(m, 1e-3), m.op(mean, power))
    root = m.op(ops.Unary(UnaryKind.SQRT), shifted, **fields)
    return m.op(ops.Mul(), c, m.op(ops.Unary(UnaryKind.RECIPROCAL), root))


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("centre", [True, False])
def test_norm_with_gamma_and_beta(centre, square):
    m = Maker()
    y = norm_parts(m, m.input(1, 5, 8), 2, centre, square)
    y = m.op(ops.Mul(), m.const(8), y)
    graph = m.graph(m.op(ops.Add(), y, m.const(8)))
    after = fuse_norm(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == (["LayerNormalization"] if centre else ["RMSNormalization", "Add"])


def moments(m: Maker, x: str, gamma: bool, beta: str, **fields) -> str:
    """``x * s + (beta - mean * s)``, as Keras (`beta` "add") and TensorFlow ("sub") write it."""
    mean = m.op(ops.Reduce(MEAN, (2,)), x)
    power = m.op(SQUARE, m.op(ops.Sub(), x, mean))
    shifted = m.op(ops.Add(), m.op(ops.Reduce(MEAN, (2,)), power), number(m, 1e-3))
    scale = m.op(ops.Unary(UnaryKind.RSQRT), shifted, **fields)
    if gamma:
        scale = m.op(ops.Mul(), scale, m.const(1, 1, 8))
    if beta == "sub":
        rest = m.op(ops.Sub(), m.const(1, 1, 8), m.op(ops.Mul(), mean, scale))
    else:
        rest = m.op(ops.Mul(), m.op(ops.Unary(UnaryKind.NEG), mean), scale)
    if beta == "add":
        rest = m.op(ops.Add(), rest, m.const(1, 1, 8))
    return m.op(ops.Add(), m.op(ops.Mul(), x, scale), rest)


@pytest.mark.parametrize("gamma", [True, False])
@pytest.mark.parametrize("beta", ["add", "sub", ""])
def test_norms_of_keras(gamma, beta):
    m = Maker()
    graph = m.graph(moments(m, m.input(1, 5, 8), gamma, beta))
    after = fuse_norm(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["LayerNormalization"]


def test_pinned_moments_are_no_norm():
    m = Maker()
    pin = QuantParams.per_tensor(0.1, 0)
    graph = m.graph(moments(m, m.input(1, 5, 8), True, "add", quant=pin))
    assert fuse_norm(graph) is graph


def test_norm_over_another_axis_is_moved_last():
    m = Maker()
    graph = m.graph(norm_parts(m, m.input(1, 8, 3, 2), 1, True, True))
    after = fuse_norm(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Transpose", "LayerNormalization", "Transpose"]


def test_pinned_parts_are_no_norm():
    m = Maker()
    pin = QuantParams.per_tensor(0.1, 0)
    graph = m.graph(norm_parts(m, m.input(1, 5, 8), 2, True, True, quant=pin))
    assert fuse_norm(graph) is graph


def gate(m: Maker, x: str, slope: float) -> str:
    inner = m.op(ops.Mul(), x, number(m, slope))
    return m.op(ops.Mul(), x, m.op(ops.Unary(UnaryKind.SIGMOID), inner))


def erf_gelu(m: Maker, x: str, scale: float = 0.5**0.5) -> str:
    erf = m.op(ops.Unary(UnaryKind.ERF), m.op(ops.Mul(), x, number(m, scale)))
    half = m.op(ops.Mul(), x, number(m, 0.5))
    return m.op(ops.Mul(), half, m.op(ops.Add(), erf, number(m, 1.0)))


@pytest.mark.parametrize("slope", [1.0, 1.702])
def test_gates_of_any_slope(slope):
    m = Maker()
    graph = m.graph(gate(m, m.input(2, 7), slope))
    after = fuse_functions(graph)
    assert_same_function(graph, after)
    (node,) = after.nodes
    assert node.attrs.kind is UnaryKind.SWISH
    assert node.attrs.alpha == pytest.approx(slope, abs=1e-5)


def test_gelu_and_what_only_looks_like_it():
    m = Maker()
    x = m.input(2, 7)
    graph = m.graph(erf_gelu(m, x), erf_gelu(m, x, scale=0.7))
    after = fuse_functions(graph)
    assert_same_function(graph, after)
    kinds = [n.attrs.kind for n in after.nodes if isinstance(n.attrs, ops.Unary)]
    assert kinds.count(UnaryKind.GELU) == 1
    assert kinds.count(UnaryKind.ERF) == 1


def test_half_of_a_value_is_no_function():
    m = Maker()
    graph = m.graph(m.op(ops.Mul(), m.input(2, 7), number(m, 0.5)))
    assert fuse_functions(graph) is graph


def heads(m: Maker, x: str, count: int) -> str:
    *_, n, width = m.shape(x)
    split = m.op(ops.Reshape((1, n, count, width // count)), x)
    return m.op(ops.Transpose((0, 2, 1, 3)), split)


def attention(m: Maker, q: str, k: str, v: str, bias: str = "") -> str:
    swapped = m.op(ops.Transpose((0, 1, 3, 2)), k)
    logits = m.op(ops.Mul(), m.op(ops.MatMul(), q, swapped), number(m, 0.3))
    logits = m.op(ops.Add(), logits, bias) if bias else logits
    return m.op(ops.MatMul(), m.op(ops.Softmax(), logits), v)


def fused(graph: Graph) -> Graph:
    after = fuse_attention(fuse_matmul(graph))
    assert_same_function(graph, after)
    return simplify(merge_moves(simplify(after)))


def test_a_temperature_for_each_head_is_part_of_attention():
    m = Maker()
    q, k, v = (heads(m, m.input(1, 5, 8, name=name), 2) for name in "qkv")
    swapped = m.op(ops.Transpose((0, 1, 3, 2)), k)
    logits = m.op(ops.Mul(), m.op(ops.MatMul(), q, swapped), m.const(2, 1, 1))
    graph = m.graph(m.op(ops.MatMul(), m.op(ops.Softmax(), logits), v))
    assert "Attention" in ops_of(fused(graph))
    assert "Softmax" not in ops_of(fused(graph))


@pytest.mark.parametrize("lead", [(), (1, 1), (1, 2)])
def test_heads_are_read_where_they_lie(lead):
    m = Maker()
    x = [m.input(1, length, 8, name=name) for name, length in (("q", 5), ("k", 7), ("v", 7))]
    y = attention(m, *(heads(m, name, 2) for name in x), bias=m.const(*lead, 5, 7))
    joined = m.op(ops.Transpose((0, 2, 1, 3)), y)
    after = fused(m.graph(m.op(ops.Reshape((1, 5, 8)), joined)))
    assert [op for op in ops_of(after) if op != "Reshape"] == ["Attention"]
    (node,) = (n for n in after.nodes if n.op == "Attention")
    assert node.attrs.heads == 2
    assert node.attrs.scale == pytest.approx(0.3)
    assert node.inputs[:3] == ("q", "k", "v")


def test_heads_that_come_as_such_stay_sequences_of_their_own():
    m = Maker()
    y = attention(m, *(m.input(1, 2, 5, 4, name=name) for name in "qkv"), bias=m.const(1, 2, 5, 5))
    after = fused(m.graph(y))
    assert sorted(set(ops_of(after))) == ["Attention", "Reshape"]


def test_one_operand_elsewhere_is_moved():
    m = Maker()
    q, k = (heads(m, m.input(1, 5, 8, name=name), 2) for name in "qk")
    y = attention(m, q, k, m.input(1, 2, 5, 4, name="v"))
    after = fused(m.graph(y))
    assert next(n for n in after.nodes if n.op == "Attention").attrs.heads == 2


def test_weights_that_others_read_are_kept():
    m = Maker()
    q, k, v = (m.input(1, 2, 5, 4, name=name) for name in "qkv")
    weights = m.op(ops.Softmax(), m.op(ops.MatMul(transpose_b=True), q, k))
    graph = m.graph(m.op(ops.MatMul(), weights, v), weights)
    assert fuse_attention(graph) is graph


@pytest.mark.parametrize("seed", range(20))
def test_chains_of_moves_need_one_transpose(seed):
    m = Maker()
    rng = np.random.default_rng(seed)
    y = m.input(2, 3, 4, 5)
    for _ in range(4):
        y = m.op(ops.Transpose(tuple(int(a) for a in rng.permutation(len(m.shape(y))))), y)
        shape = list(m.shape(y))
        at = int(rng.integers(len(shape) - 1)) if len(shape) > 1 else 0
        y = m.op(ops.Reshape((*shape[:at], int(np.prod(shape[at : at + 2])), *shape[at + 2 :])), y)
    graph = m.graph(m.op(ops.Clip(0.0), y))
    after = merge_moves(simplify(graph))
    assert_same_function(graph, after)
    assert ops_of(after).count("Transpose") <= 1


def test_moves_that_undo_each_other_go():
    m = Maker()
    y = m.op(ops.Transpose((0, 2, 1)), m.op(ops.Transpose((0, 2, 1)), m.input(1, 4, 6)))
    graph = m.graph(m.op(ops.Clip(0.0), y))
    after = simplify(merge_moves(graph))
    assert_same_function(graph, after)
    assert ops_of(after) == ["Clip"]


def test_rows_keep_one_shape():
    m = Maker()
    flat = m.op(ops.Reshape((5, 8)), m.input(1, 5, 8))
    y = m.op(ops.Unary(UnaryKind.GELU), m.op(ops.Gemm(), flat, m.const(6, 8), m.const(6)))
    graph = m.graph(m.op(ops.Reshape((1, 5, 6)), y))
    after = simplify(sink_reshape(graph))
    assert_same_function(graph, after)
    assert ops_of(after) == ["Gemm", "Unary"]
