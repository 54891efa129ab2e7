from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.passes.fuse_factors import fuse_bias
from edgec.passes.fuse_pad import fuse_pad

P, Q = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5)
RELU = ops.Clip(0.0)


def batch_norm(m: Maker, x: str, **fields) -> str:
    c = m.shape(x)[-1]
    variance = m.const(c, array=np.abs(m.rng.normal(0, 1, c)).astype(np.float32))
    attrs = ops.BatchNormalization(1e-3)
    return m.op(attrs, x, m.const(c), m.const(c), m.const(c), variance, **fields)


def conv(m: Maker, x: str, o: int = 6, k: int = 3, bias: bool = True, quant=None, **attrs) -> str:
    group = attrs.get("group", 1)
    shape = (o, k, k, m.shape(x)[3] // group)
    codes = m.rng.integers(-127, 128, shape).astype(np.int8)
    weight = m.const(*shape) if quant is None else m.const(array=codes, quant=quant)
    return m.op(ops.Conv(**attrs), x, weight, m.const(o) if bias else "")


def folded(graph):
    after = fold_batch_norm(graph)
    assert_same_function(graph, after)
    return after


@pytest.mark.parametrize("bias", [True, False])
def test_rule_1_after_conv(bias):
    m = Maker()
    y = batch_norm(m, conv(m, m.input(1, 5, 5, 4), bias=bias, group=2, pads=(1, 1, 1, 1)))
    assert ops_of(folded(m.graph(m.op(RELU, y)))) == ["Conv", "Clip"]


def test_rule_1_after_conv_transpose_and_gemm():
    m = Maker()
    y = m.op(ops.ConvTranspose((2, 2)), m.input(1, 4, 4, 3), m.const(6, 2, 2, 3), "")
    assert ops_of(folded(m.graph(batch_norm(m, y)))) == ["ConvTranspose"]
    m = Maker()
    y = m.op(ops.Gemm(), m.input(1, 4), m.const(6, 4), m.const(6))
    assert ops_of(folded(m.graph(batch_norm(m, y)))) == ["Gemm"]


def test_rules_2_and_3_decomposed_batch_norm():
    m = Maker()
    y = conv(m, m.input(1, 5, 5, 4))
    y = m.op(ops.Mul(), m.const(6), y)
    y = m.op(ops.Add(), m.const(1, 1, 1, 6), y)
    y = m.op(ops.Sub(), y, m.const(1))
    assert ops_of(folded(m.graph(y))) == ["Conv"]


def test_rules_2_and_3_not_for_other_shapes_or_readers():
    m = Maker()
    x = m.input(1, 5, 6, 4)
    a = m.op(ops.Mul(), conv(m, x, k=1), m.const(1, 6, 1))
    b = m.op(ops.Sub(), m.const(6), conv(m, x, k=1))
    c = conv(m, x, o=1, k=1)
    d = m.op(ops.Add(), c, m.const(3))
    e = conv(m, x, k=1)
    f = m.op(ops.Mul(), e, m.const(6))
    graph = m.graph(a, b, d, f, e)
    assert len(folded(graph).nodes) == len(graph.nodes)


def test_rounded_results_are_left_alone():
    m = Maker()
    y = conv(m, m.input(1, 5, 5, 4))
    m.builder.values[y] = m.builder.values[y].__class__(y, m.shape(y), quant=P)
    graph = m.graph(m.op(ops.Add(), y, m.const(6)))
    assert len(folded(graph).nodes) == 2


def test_rule_7_integer_weights_keep_their_codes():
    """Factors go into the scales, and their signs into the codes."""
    m = Maker()
    y = conv(m, m.input(1, 5, 5, 4), quant=QuantParams.per_tensor(0.01, 0))
    (before,) = (c.array for c in m.builder.constants.values() if c.quant is not None)
    graph = m.graph(batch_norm(m, y))
    after = folded(graph)
    assert ops_of(after) == ["Conv"]
    weights = after.constants[ops.layer_inputs(after.nodes[0]).w]
    assert np.array_equal(np.abs(weights.array), np.abs(before))
    assert weights.quant.axis == 0 and min(weights.quant.scale) > 0.0


@pytest.mark.parametrize("high", [1.5, 40.0])
def test_rule_7_few_codes_on_both_sides_leave_room_for_the_bias(high):
    """Codes of -2 to 1 become 63 times as large after an input of two bits only."""
    m = Maker()
    x = m.op(ops.Clip(0.0, high), m.input(1, 5, 5, 4))
    m.builder.values[x] = m.builder.values[x].__class__(
        x, m.shape(x), quant=QuantParams.per_tensor(0.5, -128)
    )
    y = conv(m, x, quant=QuantParams.per_tensor(0.25, 0))
    (name,) = (n for n, c in m.builder.constants.items() if c.quant is not None)
    few = np.sign(m.builder.constants[name].array).astype(np.int8)
    few.flat[0] = -2
    m.builder.constants[name] = Constant(name, few, m.builder.constants[name].quant)
    graph = m.graph(batch_norm(m, y))
    after = folded(graph)
    weights = after.constants[ops.layer_inputs(after.nodes[1]).w]
    assert np.abs(weights.array).max() == (126 if high == 1.5 else 2)


def test_rule_5_a_factor_and_a_shift_are_one_step():
    m = Maker()
    x = m.op(ops.Unary(UnaryKind.SQRT), m.input(1, 5, 5, 4))
    scaled = m.op(ops.Mul(), x, m.const(4))
    assert ops_of(folded(m.graph(m.op(ops.Add(), m.const(4), scaled)))) == ["Unary", "Conv"]
    m = Maker()
    x = m.op(ops.Unary(UnaryKind.SQRT), m.input(1, 5, 5, 4))
    shifted = m.op(ops.Sub(), x, m.const(4))
    assert ops_of(folded(m.graph(m.op(ops.Mul(), shifted, m.const(4))))) == ["Unary", "Conv"]
    m = Maker()
    scaled = m.op(ops.Mul(), m.input(1, 5, 5, 4), m.const(4))
    features = folded(m.graph(m.op(ops.Add(), m.const(4), scaled)))
    assert ops_of(features) == ["Mul", "Add"], "features of an input get scales of their own"


@pytest.mark.parametrize("group", [1, 2, 4])
def test_rule_4_before_unpadded_conv(group):
    m = Maker()
    y = conv(m, batch_norm(m, m.input(1, 5, 5, 4)), o=8, group=group)
    assert ops_of(folded(m.graph(y))) == ["Conv"]


def test_rule_4_before_gemm():
    m = Maker()
    y = m.op(ops.Gemm(), batch_norm(m, m.input(1, 4)), m.const(6, 4), "")
    assert ops_of(folded(m.graph(y))) == ["Gemm"]


def test_rule_6_alone_and_before_padding():
    m = Maker()
    y = conv(m, batch_norm(m, m.input(1, 5, 5, 4)), pads=(1, 0, 0, 0))
    after = folded(m.graph(y))
    assert ops_of(after) == ["Conv", "Conv"]
    assert after.nodes[0].attrs.group == 4
    m = Maker()
    assert ops_of(folded(m.graph(batch_norm(m, m.input(3, 7))))) == ["Reshape", "Conv", "Reshape"]


def test_fuse_bias_rule_1_and_2():
    m = Maker()
    weights = QuantParams.per_tensor(0.01, 0)
    codes = m.rng.integers(-127, 128, (6, 4)).astype(np.int8)
    y = m.op(ops.Gemm(), m.input(1, 4), m.const(array=codes, quant=weights), "")
    quant = QuantParams.per_tensor(0.01 * 0.5, 0, DType.INT32)
    bias = m.const(array=m.rng.integers(-999, 999, (6,)).astype(np.int32), quant=quant)
    graph = m.graph(m.op(ops.Add(), y, bias))
    after = fuse_bias(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Gemm"]
    found = after.constants[after.nodes[0].inputs[2]]
    assert (found.dtype, found.quant) == (DType.INT32, quant)


def test_fuse_bias_int8_constant_becomes_real():
    m = Maker()
    codes = np.arange(6, dtype=np.int8)
    y = m.op(ops.Gemm(), m.input(1, 4), m.const(6, 4), "")
    graph = m.graph(m.op(ops.Add(), m.const(array=codes.reshape(1, 6), quant=P), y))
    after = fuse_bias(graph)
    assert_same_function(graph, after)
    assert after.constants[after.nodes[0].inputs[2]].dtype is DType.FLOAT32


def test_fuse_bias_not_over_a_bias_or_a_pin():
    m = Maker()
    x = m.input(1, 4)
    a = m.op(ops.Add(), m.op(ops.Gemm(), x, m.const(6, 4), m.const(6)), m.const(6))
    b = m.op(ops.Add(), m.op(ops.Gemm(), x, m.const(6, 4), "", quant=P), m.const(6))
    graph = m.graph(a, b)
    assert len(fuse_bias(graph).nodes) == 4


PAD = ops.Pad(((0, 0), (1, 0), (2, 1), (0, 0)))


def padded(graph, left: int = 0):
    after = fuse_pad(graph)
    assert_same_function(graph, after)
    assert ops_of(after).count("Pad") == left
    return after


def test_fuse_pad_rule_1_conv():
    m = Maker()
    y = conv(m, m.op(PAD, m.input(1, 5, 5, 4)), pads=(0, 0, 1, 1), strides=(2, 2))
    assert padded(m.graph(y)).nodes[0].attrs.pads == (1, 2, 1, 2)


def test_fuse_pad_rule_1_the_pad_stays_for_others():
    m = Maker()
    p = m.op(PAD, m.input(1, 5, 5, 4))
    after = padded(m.graph(conv(m, p), m.op(RELU, p)), left=1)
    assert next(n for n in after.nodes if n.op == "Conv").inputs[0] == "x"


@pytest.mark.parametrize(
    ("attrs", "left"),
    [
        (ops.AveragePool((3, 3)), 0),
        (ops.AveragePool((3, 3), pads=(1, 0, 1, 0), count_include_pad=True), 0),
        (ops.AveragePool((3, 3), pads=(1, 0, 1, 0)), 1),
        (ops.AveragePool((2, 2)), 1),
        (ops.MaxPool((3, 3)), 1),
    ],
)
def test_fuse_pad_rule_2_average(attrs, left):
    m = Maker()
    padded(m.graph(m.op(attrs, m.op(PAD, m.input(1, 5, 5, 4)))), left)


def test_fuse_pad_rule_3_max_of_non_negative():
    m = Maker()
    x = m.op(ops.MaxPool((2, 2)), m.op(RELU, m.input(1, 6, 5, 4)))
    padded(m.graph(m.op(ops.MaxPool((3, 3), strides=(2, 2)), m.op(PAD, x))))
    m = Maker()
    x = m.op(ops.Clip(-0.5, 1.0), m.input(1, 6, 5, 4))
    padded(m.graph(m.op(ops.MaxPool((3, 3)), m.op(PAD, x))), left=1)


@pytest.mark.parametrize("lowest", [float("-inf"), float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 0, 0, 1)])
def test_fuse_pad_rule_4_max_of_the_lowest_number(lowest, pads):
    m = Maker()
    wide = m.op(ops.Pad(((0, 0), (1, 0), (1, 1), (0, 0)), value=lowest), m.input(1, 6, 5, 4))
    padded(m.graph(m.op(ops.MaxPool((3, 3), strides=(2, 2), pads=pads), wide)))


@pytest.mark.parametrize(
    "attrs",
    [
        ops.Pad(PAD.pads, value=1.0),
        ops.Pad(PAD.pads, ops.PadMode.EDGE),
        ops.Pad(((0, 0), (1, 0), (0, 0), (0, 1))),
    ],
)
def test_fuse_pad_other_pads_stay(attrs):
    m = Maker()
    padded(m.graph(conv(m, m.op(attrs, m.input(1, 5, 5, 4)))), left=1)


def test_fuse_pad_a_requantizing_pad_stays():
    m = Maker()
    p = m.op(PAD, m.input(1, 5, 5, 4, quant=P), quant=Q)
    padded(m.graph(conv(m, p)), left=1)
