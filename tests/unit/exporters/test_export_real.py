"""`export_real`, and the float64 executor: every operator, against numpy; names, layouts."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest
from quant_samples import Sketch, conv, gemm, relu, residual_network, samples

from edgec.base.dtypes import DType
from edgec.exporters.onnx.export import export_real, tensor_names
from edgec.exporters.onnx.move import match_resize
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams


def run(graph: Graph, **inputs):
    """All outputs for one sample by onnxruntime; the float64 executor must say the same."""
    model = FloatModel(export_real(graph))
    names = tensor_names(graph)
    feeds = {names[n]: np.asarray(a, np.float32) for n, a in inputs.items()}
    results = model.run(feeds)
    found = [results[names[name]].reshape(graph.shape(name)) for name in graph.outputs]
    executed = Executor(graph, graph.outputs).run(
        {n: np.asarray(a, np.float32)[None] for n, a in inputs.items()}
    )
    for name, array in zip(graph.outputs, found, strict=True):
        np.testing.assert_allclose(executed[name][0], array, rtol=1e-5, atol=1e-5)
    return found


def one(attrs, *shape, consts=(), seed=0):
    """The input and output of one operator on random data."""
    s = Sketch(seed=seed)
    x = s.input("x", *shape)
    graph = s.graph(s(attrs, x, *[s.const(f"c{i}", c) for i, c in enumerate(consts)]))
    data = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    (y,) = run(graph, x=data)
    return data, y


def naive_conv(x, w, b, attrs):
    """x [1, H, W, I], w [O, KH, KW, I/g]."""
    top, left, bottom, right = attrs.pads
    x = np.pad(x[0], ((top, bottom), (left, right), (0, 0)))
    o_count, kh, kw, per = w.shape
    (sh, sw), (dh, dw) = attrs.strides, attrs.dilations
    oh = (x.shape[0] - (kh - 1) * dh - 1) // sh + 1
    ow = (x.shape[1] - (kw - 1) * dw - 1) // sw + 1
    y = np.zeros((1, oh, ow, o_count))
    for o in range(o_count):
        first = o // (o_count // attrs.group) * per
        for i in range(oh):
            for j in range(ow):
                rows = slice(i * sh, i * sh + (kh - 1) * dh + 1, dh)
                cols = slice(j * sw, j * sw + (kw - 1) * dw + 1, dw)
                y[0, i, j, o] = np.sum(x[rows, cols, first : first + per] * w[o]) + b[o]
    return y


@pytest.mark.parametrize(
    ("attrs", "channels", "outputs"),
    [
        (ops.Conv(pads=(1, 0, 2, 1)), 3, 4),
        (ops.Conv(strides=(2, 1), dilations=(1, 2)), 4, 2),
        (ops.Conv(group=4), 4, 8),
        (ops.Conv(group=2, pads=(1, 1, 1, 1)), 4, 6),
    ],
)
def test_conv(attrs, channels, outputs):
    rng = np.random.default_rng(0)
    w = rng.normal(size=(outputs, 3, 2, channels // attrs.group))
    b = rng.normal(size=outputs)
    x, y = one(attrs, 1, 7, 8, channels, consts=(w, b))
    np.testing.assert_allclose(y, naive_conv(x, w, b, attrs), atol=1e-4)


@pytest.mark.parametrize("group", [1, 2])
def test_conv_transpose(group):
    attrs = ops.ConvTranspose((2, 3), (1, 0, 0, 1), (1, 2), group, (1, 0))
    rng = np.random.default_rng(0)
    w = rng.normal(size=(4, 3, 2, 6 // group))
    b = rng.normal(size=4)
    x, y = one(attrs, 1, 4, 5, 6, consts=(w, b))
    expected = np.zeros_like(y)
    full = np.zeros((32, 32, 4))
    per = 6 // group
    for o in range(4):
        first = o // (4 // group) * per
        for (i, j), (ky, kx) in (
            ((i, j), (ky, kx)) for i, j in np.ndindex(4, 5) for ky, kx in np.ndindex(3, 2)
        ):
            full[i * 2 + ky, j * 3 + kx * 2, o] += x[0, i, j, first : first + per] @ w[o, ky, kx]
    expected[0] = full[1 : 1 + y.shape[1], : y.shape[2]] + b
    np.testing.assert_allclose(y, expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 6), (1, 3, 6), (1, 2, 3, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_gemm(shape, bias):
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(4, 6)), rng.normal(size=4)
    x, y = one(ops.Gemm(), *shape, consts=(w, b) if bias else (w,))
    np.testing.assert_allclose(y, x @ w.T + (b if bias else 0), atol=1e-5)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, math.inf), (0.0, 0.5), (-math.inf, 0.2), (-0.3, math.inf), (-0.3, 0.2)]
)
def test_clip(low, high):
    x, y = one(ops.Clip(low, high), 1, 20)
    np.testing.assert_array_equal(y, np.clip(x, np.float32(low), np.float32(high)))


erf = np.vectorize(math.erf)
UNARY = {
    UnaryKind.SIGMOID: lambda x: 1 / (1 + np.exp(-x)),
    UnaryKind.TANH: np.tanh,
    UnaryKind.HARD_SIGMOID: lambda x: np.clip(0.25 * x + 0.4, 0, 1),
    UnaryKind.HARD_SWISH: lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    UnaryKind.LEAKY_RELU: lambda x: np.where(x > 0, x, 0.25 * x),
    UnaryKind.ELU: lambda x: np.where(x > 0, x, 0.25 * np.expm1(x)),
    UnaryKind.SOFTPLUS: lambda x: np.log1p(np.exp(x)),
    UnaryKind.EXP: np.exp,
    UnaryKind.ABS: np.abs,
    UnaryKind.NEG: np.negative,
    UnaryKind.SQRT: np.sqrt,
    UnaryKind.ERF: erf,
    UnaryKind.GELU: lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    UnaryKind.RECIPROCAL: lambda x: 1 / x,
    UnaryKind.POW: lambda x: x**0.25,
    UnaryKind.GELU_TANH: lambda x: (
        0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    UnaryKind.SWISH: lambda x: x / (1 + np.exp(-0.25 * x)),
    UnaryKind.LOG: np.log,
    UnaryKind.RSQRT: lambda x: 1 / np.sqrt(x),
    UnaryKind.SIN: np.sin,
    UnaryKind.COS: np.cos,
    UnaryKind.TAN: np.tan,
    UnaryKind.SINH: np.sinh,
    UnaryKind.COSH: np.cosh,
    UnaryKind.ASIN: np.arcsin,
    UnaryKind.ACOS: np.arccos,
    UnaryKind.ATAN: np.arctan,
    UnaryKind.ASINH: np.arcsinh,
    UnaryKind.ACOSH: np.arccosh,
    UnaryKind.ATANH: np.arctanh,
    UnaryKind.SIGN: np.sign,
    UnaryKind.FLOOR: np.floor,
    UnaryKind.CEIL: np.ceil,
    UnaryKind.ROUND: np.rint,
    UnaryKind.MOD: lambda x: np.fmod(x, 0.25),
    UnaryKind.MISH: lambda x: x * np.tanh(np.log1p(np.exp(x))),
    UnaryKind.SELU: lambda x: 0.4 * np.where(x > 0, x, 0.25 * np.expm1(x)),
    UnaryKind.CELU: lambda x: np.maximum(x, 0) + 0.25 * np.expm1(np.minimum(x, 0) / 0.25),
    UnaryKind.THRESHOLDED_RELU: lambda x: np.where(x > 0.25, x, 0),
    UnaryKind.SHRINK: lambda x: np.where(np.abs(x) > 0.25, x - 0.4 * np.sign(x), 0),
    UnaryKind.SOFTSIGN: lambda x: x / (1 + np.abs(x)),
    UnaryKind.IDENTITY: lambda x: x,
}
OF_POSITIVE = (UnaryKind.SQRT, UnaryKind.POW, UnaryKind.LOG, UnaryKind.RSQRT)
OF_FRACTIONS = (UnaryKind.ASIN, UnaryKind.ACOS, UnaryKind.ATANH)


@pytest.mark.parametrize("kind", UNARY)
def test_unary(kind):
    s = Sketch()
    x = s.input("x", 1, 3, 5)
    graph = s.graph(s(ops.Unary(kind, 0.25, 0.4), x))
    data = np.random.default_rng(0).normal(size=(1, 3, 5)) * 3
    data = np.abs(data) if kind in OF_POSITIVE else data
    data = np.abs(data) + 1.0 if kind is UnaryKind.ACOSH else data
    data = data / np.abs(data).max() * 0.99 if kind in OF_FRACTIONS else data
    (y,) = run(graph, x=data)
    np.testing.assert_allclose(y, UNARY[kind](data), rtol=1e-5, atol=1e-6)


def test_every_function_of_one_number_is_looked_at():
    assert set(UnaryKind) - set(UNARY) == {UnaryKind.NOT, UnaryKind.COMPOSED}


def test_a_composition_is_written_as_its_steps():
    steps = (
        ops.Step(ops.Clip(0.0), (0,)),
        ops.Step(ops.Sub(), (None, 1), 0.75),
        ops.Step(ops.Unary(UnaryKind.TANH), (2,)),
        ops.Step(ops.SquaredDifference(), (3, 0)),
        ops.Step(ops.Minimum(), (4, 1)),
    )
    x, y = one(ops.Unary(UnaryKind.COMPOSED, steps=steps), 1, 3, 5)
    rectified = np.maximum(x, 0)
    inner = np.tanh(0.75 - rectified)
    np.testing.assert_allclose(y, np.minimum((inner - x) ** 2, rectified), rtol=1e-5, atol=1e-6)


def test_prelu_and_batch_normalization():
    slope = np.array([0.1, -0.5, 2.0])
    x, y = one(ops.PRelu(), 1, 2, 2, 3, consts=(slope,))
    np.testing.assert_allclose(y, np.where(x >= 0, x, x * slope), rtol=1e-6)
    rng = np.random.default_rng(0)
    p = [rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), rng.uniform(0.5, 2, 3)]
    for shape in ((1, 2, 4, 3), (1, 3), (1, 5, 3)):
        x, y = one(ops.BatchNormalization(1e-3), *shape, consts=p)
        expected = (x - p[2]) / np.sqrt(p[3] + 1e-3) * p[0] + p[1]
        np.testing.assert_allclose(y, expected, atol=1e-5)


def test_softmax_pools_and_reductions():
    x, y = one(ops.Softmax(), 1, 2, 7)
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(-1, keepdims=True), rtol=1e-5)
    x, y = one(ops.MaxPool((2, 2), (2, 2)), 1, 4, 6, 3)
    np.testing.assert_array_equal(y, x.reshape(1, 2, 2, 3, 2, 3).max((2, 4)))
    for include, count in ((True, 4), (False, 1)):
        x, y = one(ops.AveragePool((2, 2), (1, 1), (1, 1, 0, 0), (1, 1), include), 1, 3, 3, 2)
        np.testing.assert_allclose(y[0, 0, 0], x[0, 0, 0] / count, rtol=1e-6)
    functions = {
        "ReduceMean": np.mean,
        "ReduceSum": np.sum,
        "ReduceMax": np.max,
        "ReduceMin": np.min,
        "ReduceL1": lambda x, **how: np.abs(x).sum(**how),
        "ReduceL2": lambda x, **how: np.sqrt((x * x).sum(**how)),
        "ReduceSumSquare": lambda x, **how: (x * x).sum(**how),
    }
    for kind in ops.ReduceKind:
        for axes in ((1, 2), (3,), (1,), (0, 2)):
            for keepdims in (True, False):
                x, y = one(ops.Reduce(kind, axes, keepdims), 1, 3, 4, 5)
                expected = functions[kind.value](x, axis=axes, keepdims=keepdims)
                np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        (ops.Reshape((1, 4, 15)), lambda x: x.reshape(1, 4, 15)),
        (ops.Transpose((0, 3, 1, 2)), lambda x: x.transpose(0, 3, 1, 2)),
        (ops.Transpose((2, 0, 3, 1)), lambda x: x.transpose(2, 0, 3, 1)),
        (
            ops.Slice((0, 2, 0, 4), (1, -1, 1, -2), (1, 3, 4, 3)),
            lambda x: x[:, ::-1, :, ::-2],
        ),
        (ops.Slice((0, 1, 1, 0), (1, 1, 2, 1), (1, 2, 2, 5)), lambda x: x[:, 1:3, 1::2]),
        (ops.Pad(((0, 0), (1, 2), (0, 1), (3, 0)), value=2.5), None),
        (ops.Pad(((0, 0), (1, 2), (0, 1), (3, 0)), ops.PadMode.REFLECT), None),
        (ops.Pad(((0, 0), (1, 2), (0, 1), (3, 0)), ops.PadMode.EDGE), None),
    ],
)
@pytest.mark.parametrize("after_conv", [True, False])
def test_data_movement(attrs, expected, after_conv):
    """Alone, and behind a pool, where the value is stored channels first."""
    s = Sketch()
    x = s.input("x", 1, 3, 4, 5)
    y = s(ops.MaxPool((1, 1)), x) if after_conv else x
    y = s(attrs, y)
    graph = s.graph(s(ops.Clip(-0.5), y))
    data = np.random.default_rng(0).normal(size=(1, 3, 4, 5)).astype(np.float32)
    (result,) = run(graph, x=data)
    if expected is None:
        extra = {"constant_values": attrs.value} if attrs.mode is ops.PadMode.CONSTANT else {}
        moved = np.pad(data, attrs.pads, attrs.mode.value, **extra)
    else:
        moved = expected(data)
    np.testing.assert_array_equal(result, np.maximum(moved, np.float32(-0.5)))


def test_argmax():
    for last in (True, False):
        s = Sketch()
        graph = s.graph(s(ops.ArgMax(2, False, last), s.input("x", 1, 2, 4)))
        (y,) = run(graph, x=[[[1, 3, 3, 0], [5, 1, 5, 5]]])
        assert y.tolist() == ([[2, 3]] if last else [[1, 0]])


def test_binary_operators_broadcast_in_any_layout():
    """Constants of all ranks, on both sides, against values stored channels first and last."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(1, 3, 4, 5)).astype(np.float32)
    functions = {ops.Add: np.add, ops.Sub: np.subtract, ops.Mul: np.multiply}
    for kind, function in functions.items():
        for shape in ((5,), (1,), (4, 1), (1, 3, 1, 5), ()):
            c = rng.normal(size=shape).astype(np.float32)
            for swap in (True, False):
                s = Sketch()
                x = s(ops.MaxPool((1, 1)), s.input("x", 1, 3, 4, 5))
                pair = (s.const("c", c), x) if swap else (x, s.const("c", c))
                (y,) = run(s.graph(s(kind(), *pair)), x=data)
                expected = function(c, data) if swap else function(data, c)
                np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_concat_of_mixed_layouts():
    s = Sketch()
    x = s.input("x", 1, 3, 4, 5)
    const = s.const("c", np.full((1, 3, 4, 2), 7.0))
    y = s(ops.Concat(3), x, s(ops.MaxPool((1, 1)), x), const)
    data = np.random.default_rng(0).normal(size=(1, 3, 4, 5)).astype(np.float32)
    (result,) = run(s.graph(y), x=data)
    expected = np.concatenate([data, data, np.full((1, 3, 4, 2), 7.0, np.float32)], 3)
    np.testing.assert_array_equal(result, expected)


def resize(mode, rows, cols):
    def split(positions):
        low, high, weight = zip(*positions, strict=True)
        return tuple(low), tuple(high), tuple(weight)

    return ops.Resize(mode, *split(rows), *split(cols))


NEAREST_2X = [(i // 2, i // 2, 0.0) for i in range(6)]
ODD_ROWS = [(2, 2, 0.0), (0, 0, 0.0), (1, 1, 0.0)]
HALF_PIXEL_2X = [
    (0, 0, 0.0), (0, 1, 0.25), (0, 1, 0.75), (1, 2, 0.25), (1, 2, 0.75), (2, 2, 0.0)
]  # fmt: skip
ODD_LINEAR = [(0, 2, 0.5), (1, 2, 0.125), (0, 1, 1.0)]


@pytest.mark.parametrize(
    ("mode", "rows", "cols", "as_resize"),
    [
        (ops.ResizeMode.NEAREST, NEAREST_2X, NEAREST_2X, True),
        (ops.ResizeMode.NEAREST, ODD_ROWS, NEAREST_2X, False),
        (ops.ResizeMode.LINEAR, HALF_PIXEL_2X, HALF_PIXEL_2X, True),
        (ops.ResizeMode.LINEAR, ODD_LINEAR, HALF_PIXEL_2X, False),
    ],
)
def test_resize(mode, rows, cols, as_resize):
    attrs = resize(mode, rows, cols)
    assert (match_resize(attrs, 3, 3) is not None) == as_resize
    x, y = one(attrs, 1, 3, 3, 2)

    def lerp(data, positions, axis):
        low, high, weight = (np.array(part) for part in zip(*positions, strict=True))
        weight = weight.reshape((-1, 1, 1) if axis == 1 else (-1, 1))
        return (1 - weight) * data.take(low, axis) + weight * data.take(high, axis)

    np.testing.assert_allclose(y, lerp(lerp(x, rows, 1), cols, 2), atol=1e-5)


def test_quantize_nodes_of_an_imported_graph():
    s = Sketch()
    quant = QuantParams.per_tensor(0.1, 3)
    x = s.input("x", 1, 4)
    s.builder.value(Value("q", (1, 4), DType.INT8, quant))
    s.builder.node("quantize", ops.QuantizeLinear(), (x,), ("q",))
    y = s(ops.DequantizeLinear(), "q")
    (result,) = run(s.graph(y), x=[[0.04, 0.06, -100.0, 1.0]])
    np.testing.assert_allclose(result, [[0.0, 0.1, -13.1, 1.0]], atol=1e-6)


def test_extra_outputs_come_in_the_graphs_layout():
    graph = residual_network()
    names = tensor_names(graph)
    model = FloatModel(export_real(graph, ["conv", "x", graph.outputs[0], "conv"]))
    assert model.output_names[:2] == (names[graph.outputs[0]], names["conv"])
    data = samples(graph, 3)
    results = model.run(data)
    assert results[names["conv"]].shape == (3, 8, 8, 8)
    w, b = graph.constants["conv_w"].array, graph.constants["conv_b"].array
    expected = naive_conv(data["x"][:1], w, b, ops.Conv(pads=(1, 1, 1, 1)))
    np.testing.assert_allclose(results[names["conv"]][:1], expected, atol=1e-4)
    np.testing.assert_array_equal(results[model.output_names[2]], data["x"])


def test_model_layout_restores_the_original_axes():
    graph = residual_network().replace(input_layouts={"x": (0, 2, 3, 1)})
    inner = FloatModel(export_real(graph))
    proto = export_real(graph, model_layout=True)
    outer = FloatModel(proto)
    assert outer.inputs[0].shape == (1, 3, 8, 8)
    assert "Transpose" not in {node.op_type for node in proto.graph.node}
    data = samples(graph, 2)["x"]
    a, b = inner.run({"x": data}), outer.run({"x": data.transpose(0, 3, 1, 2)})
    np.testing.assert_allclose(*(r[inner.output_names[0]] for r in (a, b)), atol=1e-6)


def test_output_layout_of_any_permutation():
    s = Sketch()
    x = s.input("x", 1, 3, 4, 5)
    graph = s.graph(s(ops.Clip(0.0), x)).replace(
        input_layouts={"x": (2, 0, 3, 1)}, output_layouts={"clip": (3, 0, 1, 2)}
    )
    model = FloatModel(export_real(graph, model_layout=True))
    data = np.random.default_rng(0).normal(size=(3, 5, 1, 4)).astype(np.float32)
    assert model.inputs[0].shape == data.shape
    expected = np.maximum(data.transpose(2, 0, 3, 1), 0)
    assert model.outputs[0].shape == (3, 4, 5, 1)
    y = model.run({"x": data})["clip"]
    np.testing.assert_array_equal(y.transpose(3, 0, 1, 2), expected)


def test_hostile_names_become_safe_and_unique():
    s = Sketch('mod"el\n../x')
    names = ["a b", "a_b", "a/b", 'q"\n', "x" * 10_000, "x" * 10_001, "int"]
    inputs = [s.input(name, 1, 2) for name in names]
    total = inputs[0]
    for name in inputs[1:]:
        total = s(ops.Add(), total, name, name="../" + "y" * 500)
    graph = s.graph(total)
    exported = tensor_names(graph)
    assert len(set(exported.values())) == len(exported)
    assert exported["a/b"] == "a/b"
    assert all(len(name) <= 110 and "\n" not in name for name in exported.values())
    model = FloatModel(export_real(graph))
    assert model.input_names == tuple(exported[name] for name in names)


def test_an_input_that_is_an_output_and_two_outputs_of_one_tensor():
    s = Sketch()
    x = s.input("x", 1, 2)
    y = s(ops.Clip(0.0), x)
    graph = s.graph(x, y, s(ops.Transpose((0, 1)), y))
    model = FloatModel(export_real(graph))
    first, second, third = model.run({"x": np.array([[-1, 2]], np.float32)}).values()
    assert first.tolist() == [[-1, 2]]
    assert second.tolist() == third.tolist() == [[0, 2]]


def test_same_graph_same_bytes_and_metadata():
    graph = residual_network().replace(metadata={"edgec.b": "2", "edgec.a": "1"})
    first = export_real(graph)
    assert (
        first.SerializeToString()
        == export_real(
            residual_network().replace(metadata={"edgec.a": "1", "edgec.b": "2"})
        ).SerializeToString()
    )
    assert [p.key for p in first.metadata_props] == ["edgec.a", "edgec.b"]
    onnx.checker.check_model(first, full_check=True)


def test_a_network_without_movement_exports_without_needless_transposes():
    s = Sketch()
    x = s.input("x", 1, 8, 8, 3)
    y = relu(s, conv(s, relu(s, conv(s, x, 4)), 4))
    y = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), y)
    graph = s.graph(gemm(s, y, 3)).replace(input_layouts={"x": (0, 2, 3, 1)})
    kinds = [node.op_type for node in export_real(graph, model_layout=True).graph.node]
    assert kinds == ["Conv", "Relu", "Conv", "Relu", "ReduceMean", "Gemm"]
