"""QDQ models: integer weights stay integer, codes keep their meaning over data movement."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, assert_same, imported, model_of, run, save
from onnx import TensorProto, helper

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.ir.qparams import QuantParams
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(2)
S = np.float32


def codes(*shape: int, dtype: type = np.int8) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max + 1, shape).astype(dtype)


def conv_model(
    weight: np.ndarray, scale: np.ndarray, zero: np.ndarray, axis: int, op: str = "Conv"
):
    nodes = [
        N("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        N("DequantizeLinear", ["q", "xs", "xz"], ["xd"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=axis),
        N("DequantizeLinear", ["b", "bs"], ["bd"]),
        N(op, ["xd", "wd", "bd"], ["c"]),
        N("Relu", ["c"], ["r"]),
        N("QuantizeLinear", ["r", "ys", "yz"], ["y"]),
    ]
    outputs = weight.shape[0] if op == "Conv" else weight.shape[1]
    constants = {
        "xs": S(0.05), "xz": np.int8(3), "w": weight, "ws": scale, "wz": zero,
        "b": codes(outputs, dtype=np.int8).astype(np.int32), "bs": S(0.01),
        "ys": S(0.1), "yz": np.int8(-128),
    }  # fmt: skip
    return model_of(nodes, {"x": (1, 3, 6, 6)}, constants, output_type=TensorProto.INT8)


def test_per_channel_weights_stay_integer_with_their_axis_moved(tmp_path):
    weight, scale = codes(4, 3, 3, 3), np.linspace(0.01, 0.04, 4, dtype=np.float32)
    graph = assert_same(conv_model(weight, scale, np.zeros(4, np.int8), 0), tmp_path)
    constant = graph.constants["w"]
    np.testing.assert_array_equal(constant.array, weight.transpose(0, 2, 3, 1))
    assert constant.quant is not None
    assert constant.quant.axis == 0
    np.testing.assert_array_equal(np.float32(constant.quant.scale), scale)
    bias = graph.constants["b"]
    assert bias.dtype is DType.INT32
    assert bias.quant is not None
    assert graph.values["y"].quant == QuantParams.per_tensor(np.float32(0.1), -128)


def test_conv_transpose_axis(tmp_path):
    weight, scale = codes(3, 4, 3, 3), np.linspace(0.01, 0.04, 4, dtype=np.float32)
    model = conv_model(weight, scale, np.zeros(4, np.int8), 1, "ConvTranspose")
    graph = assert_same(model, tmp_path)
    quant = graph.constants["w"].quant
    assert quant is not None
    assert quant.axis == 0


def test_uint8_weights_and_activations(tmp_path):
    weight = codes(4, 3, 3, 3, dtype=np.uint8)
    graph = assert_same(conv_model(weight, S(0.02), np.uint8(120), 1), tmp_path)
    assert graph.constants["w"].dtype is DType.UINT8
    nodes = [N("QuantizeLinear", ["x", "s"], ["q"]), N("DequantizeLinear", ["q", "s"], ["y"])]
    graph = assert_same(model_of(nodes, {"x": (1, 9)}, {"s": S(0.1)}), tmp_path)
    assert graph.values["q"].dtype is DType.UINT8


def test_float_weights_quantized_in_the_model(tmp_path):
    """PyTorch writes float weights followed by QuantizeLinear and DequantizeLinear."""
    nodes = [
        N("QuantizeLinear", ["w", "s", "z"], ["q"], axis=0),
        N("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0),
        N("Gemm", ["x", "d"], ["y"], transB=1),
    ]
    weight = RNG.normal(size=(3, 4)).astype(np.float32)
    constants = {"w": weight, "s": S([0.01, 0.02, 0.03]), "z": np.zeros(3, np.int8)}
    graph = assert_same(model_of(nodes, {"x": (1, 4)}, constants), tmp_path)
    (name,) = [n for n in graph.nodes[0].inputs[1:] if n]
    assert graph.constants[name].dtype is DType.INT8


@pytest.mark.parametrize("move", ["transpose", "reshape", "unsqueeze"])
def test_data_movement_of_dequantized_weights(move, tmp_path):
    weight, scale = codes(4, 5), np.linspace(0.01, 0.05, 5, dtype=np.float32)
    constants = {"w": weight, "s": scale, "z": np.zeros(5, np.int8)}
    nodes = [N("DequantizeLinear", ["w", "s", "z"], ["d"], axis=1)]
    if move == "transpose":
        nodes += [N("Transpose", ["d"], ["t"]), N("Gemm", ["x", "t"], ["y"], transB=1)]
    elif move == "reshape":
        constants["shape"] = np.array([1, 4, 5], np.int64)
        nodes += [N("Reshape", ["d", "shape"], ["t"]), N("MatMul", ["x", "t"], ["y"])]
    else:
        nodes += [N("Unsqueeze", ["d"], ["t"], axes=[0]), N("MatMul", ["x", "t"], ["y"])]
    opset = 13 if move != "unsqueeze" else 11
    if opset == 11:
        del nodes[0].attribute[:]
        constants |= {"s": S(0.02), "z": np.int8(0)}
    graph = assert_same(model_of(nodes, {"x": (1, 4)}, constants, opset=opset), tmp_path)
    assert graph.constants["w"].dtype is DType.INT8
    np.testing.assert_array_equal(graph.constants["w"].array, weight.T)


def test_reordering_across_channels_is_refused(tmp_path):
    nodes = [
        N("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0),
        N("Reshape", ["d", "shape"], ["t"]),
        N("MatMul", ["x", "t"], ["y"]),
    ]
    constants = {
        "w": codes(4, 6), "s": S([0.1, 0.2, 0.3, 0.4]), "z": np.zeros(4, np.int8),
        "shape": np.array([3, 8], np.int64),
    }  # fmt: skip
    with pytest.raises(UnsupportedModelError, match="across its channels"):
        imported(model_of(nodes, {"x": (1, 3)}, constants), tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_integer_input_through_data_movement(dtype, tmp_path):
    zero = dtype(7)
    nodes = [
        N("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
        N("MaxPool", ["t"], ["m"], kernel_shape=[2, 2]),
        N("Pad", ["m", "p", "z"], ["pad"]),
        N("DequantizeLinear", ["pad", "s", "z"], ["d"]),
        N("Relu", ["d"], ["r"]),
        N("QuantizeLinear", ["r", "s", "z"], ["q"]),
        N("Flatten", ["q"], ["y"]),
    ]
    onnx_type = TensorProto.INT8 if dtype is np.int8 else TensorProto.UINT8
    constants = {"s": S(0.1), "z": zero, "p": np.array([0, 0, 1, 1, 0, 0, 0, 2], np.int64)}
    model = model_of(
        nodes, {"x": (1, 5, 4, 3)}, constants, input_type=onnx_type, output_type=onnx_type
    )
    graph = imported(model, tmp_path)
    expected = QuantParams.per_tensor(np.float32(0.1), 7, DType(np.dtype(dtype).name))
    for name in ("x", "t", "m", "pad", "q", "y"):
        assert graph.values[name].quant == expected
        assert graph.values[name].dtype is expected.dtype
    (pad,) = [n.attrs for n in graph.nodes if n.op == "Pad"]
    assert pad.value == 0.0, "a fill with the zero point is a real zero"


def test_four_bit_weights(tmp_path):
    tensor = helper.make_tensor("w", TensorProto.INT4, [2, 4], [1, -2, 3, -4, 5, -6, 7, -8])
    nodes = [N("DequantizeLinear", ["w", "s"], ["d"]), N("MatMul", ["x", "d"], ["y"])]
    model = model_of(nodes, {"x": (1, 2)}, {"s": S(0.5)}, opset=21)
    model.graph.initializer.append(tensor)
    model.ir_version = 10
    graph = imported(model, tmp_path)
    assert graph.constants["w"].array.T.tolist() == [[1, -2, 3, -4], [5, -6, 7, -8]]


@pytest.mark.parametrize("scale", [0.0, -0.1, np.nan, np.inf])
def test_impossible_scales_name_the_initializer(scale, tmp_path):
    nodes = [N("QuantizeLinear", ["x", "my_scale"], ["q"]),
             N("DequantizeLinear", ["q", "my_scale"], ["y"])]  # fmt: skip
    with pytest.raises(ImportModelError, match="my_scale"):
        imported(model_of(nodes, {"x": (1, 4)}, {"my_scale": S(scale)}), tmp_path)


def test_codes_read_with_another_scale_are_refused(tmp_path):
    nodes = [N("QuantizeLinear", ["x", "s"], ["q"]), N("DequantizeLinear", ["q", "s2"], ["y"])]
    with pytest.raises(ImportModelError, match="another scale"):
        imported(model_of(nodes, {"x": (1, 4)}, {"s": S(0.1), "s2": S(0.2)}), tmp_path)


def test_integers_of_unknown_meaning_are_refused(tmp_path):
    model = model_of(
        [N("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])], {"x": (1, 3, 4, 4)},
        input_type=TensorProto.INT8, output_type=TensorProto.INT8,
    )  # fmt: skip
    with pytest.raises(ImportModelError, match="unknown meaning"):
        imported(model, tmp_path)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (N("DynamicQuantizeLinear", ["x"], ["y", "s1", "z1"]), "computed at run time"),
        (N("QuantizeLinear", ["x", "many"], ["y"], axis=1), "per channel"),
    ],
)
def test_unsupported_quantization(node, reason, tmp_path):
    constants = {"s": S(0.1), "many": S([0.1, 0.2])}
    model = model_of([node], {"x": (1, 2)}, constants, opset=21)
    with pytest.raises(UnsupportedModelError, match=reason):
        imported(model, tmp_path)


@pytest.mark.parametrize("axis", [None, 0])
def test_constants_quantized_after_an_identity(axis, tmp_path):
    """PyTorch shares equal weights by Identity; onnxruntime's quantizer works on what it gives."""
    constants = {"w": RNG.normal(size=(3, 4)).astype(np.float32)}
    constants |= {"s": S(0.01), "z": np.int8(3)}
    if axis is not None:
        constants |= {"s": S([0.01, 0.02, 0.03]), "z": np.zeros(3, np.int8)}
    attributes = {} if axis is None else {"axis": axis}
    nodes = [
        N("Identity", ["w"], ["v"]),
        N("QuantizeLinear", ["v", "s", "z"], ["q"], **attributes),
        N("DequantizeLinear", ["q", "s", "z"], ["d"], **attributes),
        N("Gemm", ["x", "d"], ["y"], transB=1),
    ]
    graph = assert_same(model_of(nodes, {"x": (1, 4)}, constants), tmp_path)
    (weight,) = graph.constants.values()
    assert weight.dtype is DType.INT8


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_pixels_in_through_integers(channels_last, normalized, tmp_path):
    """An image of bytes, cast to floats in the model, in either layout: its bytes are the codes."""
    mean, deviation = (S(v).reshape(1, 3, 1, 1) for v in ([124, 116, 104], [58, 57, 57]))
    constants = {
        "w": (RNG.normal(size=(8, 3, 3, 3)) / 5).astype(np.float32), "k": S(1 / 255),
        "m": mean, "d": deviation,
    }  # fmt: skip
    nodes = [N("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])] if channels_last else []
    nodes.append(N("Cast", ["t" if channels_last else "x"], ["a"], to=TensorProto.FLOAT))
    if normalized:
        nodes += [N("Sub", ["a", "m"], ["s"]), N("Div", ["s", "d"], ["n"])]
    else:
        nodes.append(N("Mul", ["a", "k"], ["n"]))
    nodes += [N("Conv", ["n", "w"], ["c"]), N("GlobalAveragePool", ["c"], ["y"])]
    shape = (8, 8, 3) if channels_last else (3, 8, 8)
    unused = ("k",) if normalized else ("m", "d")
    constants = {name: array for name, array in constants.items() if name not in unused}
    model = model_of(nodes, {"x": (1, *shape)}, constants, input_type=TensorProto.UINT8)
    images = RNG.integers(0, 256, (16, *shape)).astype(np.uint8)
    built = integer_model(save(model, tmp_path), {"x": images}, CompileOptions())
    graph = built.integer
    assert graph.quant("x") == QuantParams.per_tensor(1.0, -128)
    for image in images[:4]:
        pixels = image if channels_last else image.transpose(1, 2, 0)
        codes = (pixels.astype(np.int16) - 128).astype(np.int8)[None]
        found = graph.quant("y").dequantize(run_graph(graph, {"x": codes})["y"])
        wanted = run(model, {"x": image[None]})[0].reshape(found.shape)
        assert np.abs(found - wanted).max() <= 3.0 * graph.quant("y").tensor_scale
