"""Constant biases on the logits of attention, masks of pairs, and softmax, against float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.ir import ops, qops
from edgec.ir.graph import Value
from edgec.ir.ops import UnaryKind
from edgec.ir.qops.operands import Operand
from edgec.passes.fuse_attention import fuse_attention
from edgec.passes.pooling import average_by_convolution
from edgec.quant.common.logit_bias import bias_steps
from edgec.quant.common.numbers import distance_numbers, exponential_bits, head_numbers

LOWEST = float(np.finfo(np.float32).min)


def weights_of(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def biased_error(q: Array, k: Array, v: Array, bias: Array, kappa: float) -> Array:
    """Steps between `QAttention` with a bias [1, heads, N, M] and the exact one; ratio 1."""
    heads, width = bias.shape[1], q.shape[1] // bias.shape[1]
    bits = exponential_bits(len(k), "h")
    numbers = head_numbers(kappa, 1.0, width, bits, "h", biased=True)
    table = np.array([numbers] * heads, np.int32)
    steps, places = (Operand(c) for c in bias_steps(bias, table, width, "h"))
    attrs = qops.QAttention(heads, width, width, 0, 0, 0, bits)
    operands = [Operand(array[None]) for array in (q, k, v)]
    y = qops.computed(attrs, [*operands, Operand(table), None, steps, places])[0]
    split = [t.astype(np.float64).reshape(len(t), heads, width).swapaxes(0, 1) for t in (q, k, v)]
    logits = split[0] @ split[1].swapaxes(1, 2) * (numbers[0] / 2.0**26 * math.log(2)) + bias[0]
    ideal = (weights_of(logits) @ split[2]).swapaxes(0, 1).reshape(y.shape)
    return np.asarray(np.abs(np.clip(ideal, -127, 127) - y))


@pytest.mark.parametrize("kappa", [2e-8, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("hidden", ["none", "future", "windows"])
def test_attention_with_a_bias_stays_within_six_tenths_of_a_step(kappa, hidden):
    rng = np.random.default_rng(3)
    q, k, v = (rng.integers(-127, 128, (64, 24)).astype(np.int8) for _ in range(3))
    bias = rng.normal(0, 3, (1, 3, 64, 64))
    if hidden == "future":
        bias[..., np.triu_indices(64, 1)[0], np.triu_indices(64, 1)[1]] = LOWEST
    if hidden == "windows":  # Swin's -100
        bias[..., :32, 32:] -= 100.0
        bias[..., 32:, :32] -= 100.0
    # A coarse logit rounds the bias; half a unit of it is the error that there is.
    assert biased_error(q, k, v, bias, kappa).max() <= 0.6


def test_a_row_far_below_the_others_keeps_its_differences():
    rng = np.random.default_rng(4)
    q, k, v = (rng.integers(-127, 128, (9, 8)).astype(np.int8) for _ in range(3))
    bias = rng.normal(0, 2, (1, 1, 9, 9))
    bias[0, 0, 4] -= 1e6
    assert biased_error(q, k, v, bias, 1e-3).max() <= 0.6


def test_biases_of_positions_are_kept_once():
    places = np.arange(30)[None, :] - np.arange(30)[:, None] + 29
    bias = np.random.default_rng(0).normal(0, 1, (1, 2, 59))[..., places]
    numbers = np.array([head_numbers(1e-3, 1.0, 8, 15, "h", biased=True)] * 2)
    steps, found = bias_steps(bias, numbers, 8, "h")
    assert steps.shape == (2, 59)
    assert steps.max() == 0
    assert found.shape == (1, 30, 30)
    np.testing.assert_array_equal(found[0, 1:, 1:], found[0, :-1, :-1])


def test_too_many_biases_are_refused():
    bias = np.random.default_rng(0).normal(0, 1, (1, 1, 200, 200))
    numbers = np.array([head_numbers(1e-6, 1.0, 8, 15, "h", biased=True)])
    with pytest.raises(QuantizationError, match="different values") as caught:
        bias_steps(bias, numbers, 8, "here")
    assert caught.value.where == "here"


@pytest.mark.parametrize("depth", [1, 2, 10, 300, 1000])
@pytest.mark.parametrize("scale", [1e-4, 0.02, 0.2, 3.0, 9.0])
def test_softmax_stays_within_six_tenths_of_a_step(depth, scale):
    x = np.random.default_rng(depth).integers(-128, 128, (50, depth)).astype(np.int8)
    bits = exponential_bits(depth, "s")
    numbers = distance_numbers(scale * math.log2(math.e), bits, 255)
    y = qops.computed(qops.QSoftmax(qops.Octaves(*numbers, bits)), [Operand(x)])
    real = x.astype(np.float64) * (numbers[0] / 2.0**26 * math.log(2))
    ideal = np.minimum(weights_of(real) * 256, 255) - 128
    assert np.abs(ideal - y).max() <= 0.6


# -- passes ----------------------------------------------------------------------------------------


def parts(m: Maker, change) -> str:
    """Attention of [1, 2, 4, 8], its logits changed."""
    q, k, v = (m.input(1, 2, 4, 8, name=name) for name in "qkv")
    logits = change(m.op(ops.MatMul(transpose_b=True), q, k))
    return m.op(ops.MatMul(), m.op(ops.Softmax(), logits), v)


def attention_of(graph):
    return next(node for node in graph.nodes if isinstance(node.attrs, ops.Attention))


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 4), (2, 1, 4), (1, 2, 4, 4)])
def test_constant_summands_become_one_bias(shape):
    m = Maker()
    graph = m.graph(
        parts(m, lambda x: m.op(ops.Add(), m.op(ops.Add(), x, m.const(*shape)), m.const(4, 4)))
    )
    after = fuse_attention(graph)
    assert_same_function(graph, after)
    assert after.is_constant(attention_of(after).inputs[3])


@pytest.mark.parametrize("shape", [(), (1,), (4, 1), (1, 2, 1, 1)])
def test_what_all_keys_have_in_common_vanishes(shape):
    m = Maker()
    graph = m.graph(parts(m, lambda x: m.op(ops.Add(), x, m.const(*shape))))
    after = fuse_attention(graph)
    assert_same_function(graph, after)
    assert attention_of(after).inputs[3] == ""


@pytest.mark.parametrize("swapped", [False, True])
def test_pairs_hidden_by_a_constant(swapped):
    m = Maker()
    seen = np.tril(np.ones((4, 4), np.float32))
    low = m.const(array=np.float32(LOWEST))

    def change(x):
        condition = m.const(array=1 - seen if swapped else seen)
        return m.op(ops.Where(), condition, *((low, x) if swapped else (x, low)))

    graph = m.graph(parts(m, change))
    after = fuse_attention(graph)
    assert_same_function(graph, after)
    bias = after.constants[attention_of(after).inputs[3]].array
    np.testing.assert_array_equal(bias[0, 0] == LOWEST, seen == 0)


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("added", [False, True])
def test_keys_hidden_by_a_mask(hides, causal, added):
    """A mask of keys, together with a constant one of pairs, chosen or added."""
    m = Maker()
    m.builder.inputs.append("mask")
    m.builder.value(Value("mask", (1, 4), DType.INT32))
    mask = m.op(ops.Reshape((1, 1, 1, 4)), "mask", dtype=DType.INT32)
    if hides:
        mask = m.op(ops.Unary(UnaryKind.NOT), mask, dtype=DType.INT32)
    zero, low = (m.const(array=np.float32(number)) for number in (0.0, LOWEST))
    if causal:
        pairs = m.const(array=np.tril(np.ones((4, 4), np.float32)))
        chosen = m.op(ops.Where(), mask, pairs, zero)
        negated = m.op(ops.Unary(UnaryKind.NOT), chosen, dtype=DType.INT32)
        mask = m.op(ops.Unary(UnaryKind.NOT), negated, dtype=DType.INT32)
    shape = (1, 1, 4, 4)
    mask = m.op(ops.Expand(shape), mask, dtype=DType.INT32)

    def change(x):
        if added:
            return m.op(ops.Add(), x, m.op(ops.Where(), mask, zero, low))
        return m.op(ops.Where(), mask, x, low)

    after = fuse_attention(m.graph(parts(m, change)))
    _, _, _, bias, keys = attention_of(after).inputs
    assert (bias != "") == causal
    producer = after.producers.get(keys)
    assert (producer is not None and isinstance(producer.attrs, ops.Unary)) == hides
    if causal:
        found = after.constants[bias].array[0, 0] == LOWEST
        np.testing.assert_array_equal(found, np.triu(np.ones((4, 4)), 1) == 1)


@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize(
    "window", [((2, 2), (2, 2), (0, 0, 0, 0)), ((3, 3), (1, 1), (1, 1, 1, 1)),
               ((3, 2), (2, 1), (1, 0, 0, 1))],
)  # fmt: skip
def test_average_pools_become_convolutions(window, count_include_pad):
    m = Maker()
    pool = ops.AveragePool(*window, count_include_pad=count_include_pad)
    graph = m.graph(m.op(pool, m.input(1, 7, 6, 3)))
    after = average_by_convolution(graph)
    assert_same_function(graph, after)
    assert "AveragePool" not in ops_of(after)
