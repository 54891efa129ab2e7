"""`to_integer`: the numbers of each integer operator, the overflow guarantee, dropped tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quant_samples import Sketch, conv, gemm, relu, samples

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.options import QuantOptions
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Value
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.quant import annotate, to_integer
from edgec.quant.common.quality import sqnr_db
from edgec.quant.convert.codes import Coded, Output
from edgec.quant.convert.rules import sum_multipliers

X = QuantParams.per_tensor(0.02, 5)
Y = QuantParams.per_tensor(0.05, -20)


def integer(graph: Graph) -> Graph:
    """The integer graph of a pinned real graph."""
    annotated, _ = annotate(graph, None, QuantOptions())
    result = to_integer(annotated)
    verify(result, Stage.INTEGER)
    return result


def test_whole_numbers_that_nothing_reads_stay_whole_numbers():
    """A switch of training that the network for inference does not look at."""
    s = Sketch()
    y = s(ops.Clip(0.0, 1.0), s.input("x", 1, 4, quant=X), quant=X)
    s.builder.inputs.append("training")
    s.builder.value(Value("training", (1,), DType.INT32))
    assert integer(s.graph(y)).values["training"].dtype is DType.INT32


def only(graph: Graph):
    (node,) = integer(graph).nodes
    return node


def test_conv_numbers():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2, quant=X)
    w = s.const("w", np.full((3, 3, 3, 2), 2, np.int8), QuantParams.per_tensor(0.5, 0))
    b = s.const("b", np.array([1.0, -2.0, 0.0]))
    attrs = ops.Conv((2, 1), (1, 0, 0, 1), (1, 1), 1)
    y = s(ops.Clip(-0.5, 2.0), s(attrs, x, w, b), quant=Y)
    graph = integer(s.graph(y))
    (node,) = graph.nodes
    q = node.attrs
    assert (q.strides, q.pads, q.dilations, q.group) == ((2, 1), (1, 0, 0, 1), (1, 1), 1)
    assert (q.output.zero_point, q.output.low, q.output.high) == (-20, -30, 20)
    assert graph.constants[node.inputs[2]].array.tolist() == [100, -200, 0]
    multiplier = graph.constants[node.inputs[3]].array
    assert multiplier.dtype == np.int32
    np.testing.assert_allclose(multiplier * 2.0**-q.output.shift, [0.2] * 3, rtol=1e-8)
    assert node.outputs == (y,)
    assert set(node.sources) == set()
    assert graph.values[y].dtype is DType.INT8


def test_a_missing_bias_becomes_zeros():
    s = Sketch()
    x = s.input("x", 1, 4, quant=X)
    graph = integer(s.graph(s(ops.Gemm(), x, s.normal("w", 3, 4), quant=Y)))
    (node,) = graph.nodes
    assert graph.constants[node.inputs[2]].array.tolist() == [0, 0, 0]


def test_sources_of_an_operator_and_its_clip_are_kept():
    s = Sketch()
    x = s.input("x", 1, 4)
    y = relu(s, gemm(s, x, 3))
    graph = s.graph(y)
    named = [
        n.__class__(n.name, n.attrs, n.inputs, n.outputs, (f"src_{n.op}",)) for n in graph.nodes
    ]
    graph = graph.replace(nodes=tuple(named))
    annotated, _ = annotate(graph, samples(graph, 2), QuantOptions())
    (node,) = to_integer(annotated).nodes
    assert node.sources == ("src_Gemm", "src_Clip")


@given(st.floats(2.0**-20, 2.0**20), st.floats(2.0**-20, 2.0**20))
def test_sum_multipliers_fit_and_are_as_exact_as_can_be(first, second):
    codes = (Coded("x", QuantParams.per_tensor(scale, 0)) for scale in (first, second))
    y = Output(QuantParams.per_tensor(1.0, 0), -128, 127, "add")
    a, b, shift = sum_multipliers(*codes, y)
    assert 1 <= shift <= 30
    assert 255 * (a + b) + 2 ** (shift - 1) < 2**31
    assert abs(a * 2.0**-shift - first) <= 2.0 ** -(shift + 1)
    assert abs(b * 2.0**-shift - second) <= 2.0 ** -(shift + 1)
    if shift < 30:
        double = 255 * (first + second) * 2.0 ** (shift + 1) + 2**shift
        assert double > 2**31 * (1 - 1e-6) - 512


def test_add_and_sub():
    s = Sketch()
    a, b = s.input("a", 1, 4, quant=X), s.input("b", 1, 4, quant=Y)
    node = only(s.graph(s(ops.Sub(), a, b, quant=Y)))
    params = node.attrs.form
    assert (params.a_zero_point, params.b_zero_point, params.y_zero_point) == (5, -20, -20)
    assert params.a_multiplier * 2.0**-params.shift == pytest.approx(0.4)
    assert params.b_multiplier * 2.0**-params.shift == pytest.approx(-1.0)


def test_a_tensor_minus_itself_is_zero():
    s = Sketch()
    x = s.input("x", 1, 256, quant=X)
    graph = integer(s.graph(s(ops.Sub(), x, x, quant=Y)))
    codes = np.arange(-128, 128, dtype=np.int8)[None]
    assert set(run_graph(graph, {x: codes})[graph.outputs[0]].ravel()) == {-20}


def test_impossible_rescaling_names_the_node():
    s = Sketch()
    tiny = QuantParams.per_tensor(1e-20, 0)
    a = s.input("a", 1, 4, quant=X)
    for attrs in (ops.Add(), ops.Mul()):
        s = Sketch()
        a = s.input("a", 1, 4, quant=X)
        graph = s.graph(s(attrs, a, a, name="culprit", quant=tiny))
        with pytest.raises(QuantizationError, match="culprit_node: .*too large"):
            integer(graph)


def test_reductions_that_could_overflow_are_an_error():
    s = Sketch()
    x = s.input("x", 1, 4096, 4096, quant=X)
    graph = s.graph(s(ops.Reduce(ops.ReduceKind.SUM, (1, 2)), x, quant=Y))
    with pytest.raises(QuantizationError, match="beyond 32 bits"):
        integer(graph)


def test_tables_that_change_nothing_are_dropped():
    s = Sketch()
    x = s.input("x", 1, 4, quant=X)
    a = s(ops.Gemm(), x, s.normal("w", 4, 4), quant=Y)
    b = s(ops.Unary(UnaryKind.IDENTITY), a, quant=Y)
    c = s(ops.Gemm(), b, s.normal("v", 4, 4), quant=Y)
    d = s(ops.Unary(UnaryKind.IDENTITY), c, quant=Y)
    graph = integer(s.graph(d))
    assert [n.op for n in graph.nodes] == ["QGemm", "QGemm"]
    assert graph.outputs == (d,)
    assert graph.nodes[1].outputs == (d,)


def test_tables_between_inputs_and_outputs_stay():
    s = Sketch()
    x = s.input("x", 1, 4, quant=X)
    y = s(ops.Unary(UnaryKind.IDENTITY), x, quant=X)
    z = s(ops.Unary(UnaryKind.IDENTITY), x, quant=Y)
    assert [n.op for n in integer(s.graph(y, z)).nodes] == ["QLut", "QLut"]


def test_a_clip_that_nothing_absorbs_is_a_table():
    s = Sketch()
    x = s.input("x", 1, 4, quant=X)
    y = s(ops.Clip(0.0), s(ops.MaxPool((1, 1)), s(ops.Reshape((1, 1, 1, 4)), x)), quant=X)
    assert [n.op for n in integer(s.graph(y)).nodes] == ["QReshape", "QMaxPool", "QLut"]


def test_prelu_slopes_of_one_and_of_all_channels():
    for slope in ([0.25], [0.5, -0.25, 2.0]):
        s = Sketch()
        x = s.input("x", 1, 2, 3, quant=X)
        graph = integer(s.graph(s(ops.PRelu(), x, s.const("slope", slope), quant=Y)))
        (node,) = graph.nodes
        multiplier = graph.constants[node.inputs[1]].array * 2.0**-node.attrs.output.shift
        np.testing.assert_allclose(multiplier, np.broadcast_to(slope, 3) * 0.4, rtol=1e-6)


def test_average_pool_and_mean():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2, quant=X)
    y = s(ops.AveragePool((2, 3), (1, 1), (0, 1, 1, 1)), x, quant=Y)
    graph = integer(s.graph(y))
    (node,) = graph.nodes
    real = graph.constants[node.inputs[1]].array * 2.0**-node.attrs.output.shift
    np.testing.assert_allclose(real[1:], 0.4 / np.arange(1, 7), rtol=1e-6)
    assert real[0] == 0
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2, quant=X)
    node = only(s.graph(s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2)), x, quant=Y)))
    assert node.attrs.multiplier * 2.0**-node.attrs.output.shift == pytest.approx(
        0.4 / 16, rel=1e-6
    )


def test_pad_resize_and_argmax():
    s = Sketch()
    x = s.input("x", 1, 2, 2, 2, quant=X)
    positions = ((0, 0, 1), (0, 1, 1), (0.0, 0.25, 0.0))
    y = s(ops.Pad(((0, 0), (0, 1), (0, 0), (0, 0)), value=0.3), x)
    y = s(ops.Resize(ops.ResizeMode.LINEAR, *positions, *positions), y)
    graph = integer(s.graph(y, s(ops.ArgMax(3, False, True), y)))
    pad, resize, argmax = graph.nodes
    assert pad.attrs.value == 20
    rows = graph.constants[resize.inputs[1]].array
    assert rows.tolist() == [[0, 0, 0], [0, 1, 512], [1, 1, 0]]
    assert argmax.attrs == qops.QArgMax(3, False, True)
    assert graph.values[argmax.output].dtype is DType.INT32
    assert graph.values[argmax.output].quant is None


def test_extreme_inputs_stay_inside_the_accumulator():
    """Codes at the ends, weights of full scale, a large bias; the interpreter checks the sums."""
    s = Sketch()
    x = s.input("x", 1, 6, 6, 64, quant=QuantParams.per_tensor(0.02, -128))
    w = s.const("w", np.where(s.rng.normal(size=(8, 3, 3, 64)) > 0, 1.0, -1.0))
    y = s(ops.Conv(pads=(1, 1, 1, 1)), x, w, s.const("b", np.full(8, 1e5)), quant=Y)
    graph = integer(s.graph(y))
    for code in (-128, 127):
        codes = np.full((1, 6, 6, 64), code, np.int8)
        assert run_graph(graph, {x: codes})[y].shape == (1, 6, 6, 8)


def test_networks_without_any_operator():
    s = Sketch()
    x = s.input("x", 1, 4, quant=X)
    graph = integer(s.graph(x))
    assert graph.nodes == ()
    assert graph.values[x].dtype is DType.INT8


def test_depthwise_channels_without_weights():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 4)
    y = relu(s, conv(s, x, 4, depthwise=True))
    weight = s.builder.constants["conv_w"].array.copy()
    weight[:2] = 0.0
    s.builder.constant("conv_w", weight, keep_name=True)
    graph = s.graph(y)
    data = samples(graph, 8)
    annotated, report = annotate(graph, data, QuantOptions())
    assert report.layers[0].sqnr_db > 30
    bias = annotated.constants["conv_b"]
    np.testing.assert_allclose(bias.real(), graph.constants["conv_b"].array, atol=1e-3)


@pytest.mark.parametrize(
    ("wanted", "found", "decibels"),
    [
        ([1.0], [1.0], np.inf),
        ([0.0], [1.0], -np.inf),
        ([1.0], [-np.inf], -np.inf),
        ([1e-160], [1e5], -3300.0),
    ],
)
def test_signal_to_noise_of_extreme_numbers(wanted, found, decibels):
    """Masks hold minus infinity, and a ratio may be too small for a float."""
    assert sqnr_db(np.array(wanted), np.array(found)) == pytest.approx(decibels)
