"""Every TensorFlow Lite operator and form: the graph computes what the interpreter computes."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from tflite_models import Op, T, const, write_tflite
from tflite_oracle import needs_litert, run_litert

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.floatrun.executor import Executor
from edgec.importers.tflite.importer import import_model
from edgec.importers.tflite.registry import HANDLERS, supported_operators
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.passes import REAL_PASSES, run_passes

RNG = np.random.default_rng(1)
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID
RELU, RELU6 = tflite.ActivationFunctionType.RELU, tflite.ActivationFunctionType.RELU6
N1, TANH = tflite.ActivationFunctionType.RELU_N1_TO_1, tflite.ActivationFunctionType.TANH


def f(*shape: int) -> T:
    return const(RNG.normal(size=shape).astype(np.float32))


def i(*values: int) -> T:
    return const(np.array(values, np.int32))


def scalar(value: Any) -> T:
    return const(np.asarray(value))


def window(padding: int, h: int = 1, w: int = 1, **more: Any) -> dict[str, Any]:
    return {"Padding": padding, "StrideH": h, "StrideW": w, **more}


X4 = (1, 8, 9, 3)
CONV = {"w": f(5, 3, 3, 3), "b": f(5)}
DEPTHWISE = {"w": f(1, 3, 3, 6), "b": f(6)}
POOL = "Pool2DOptions"
STRIDED = "StridedSliceOptions"

# name -> (operator, shape of x, constants in the order of inputs, kind of options, options)
CASES: dict[str, tuple[str, tuple[int, ...], dict[str, T], str, dict[str, Any]]] = {
    "conv_same": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME)),
    "conv_valid_strided": ("CONV_2D", X4, CONV, "Conv2DOptions", window(VALID, 2, 3)),
    "conv_same_strided": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME, 2, 3)),
    "conv_dilated": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME, DilationHFactor=2, DilationWFactor=3)),
    "conv_relu": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME, FusedActivationFunction=RELU)),
    "conv_relu6": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME, FusedActivationFunction=RELU6)),
    "conv_relu_n1": ("CONV_2D", X4, CONV, "Conv2DOptions", window(SAME, FusedActivationFunction=N1)),
    "conv_grouped": ("CONV_2D", (1, 6, 6, 4), {"w": f(6, 3, 3, 2), "b": f(6)}, "Conv2DOptions", window(SAME)),
    "depthwise": ("DEPTHWISE_CONV_2D", (1, 8, 9, 6), DEPTHWISE, "DepthwiseConv2DOptions", window(SAME, DepthMultiplier=1)),
    "depthwise_multiplier": ("DEPTHWISE_CONV_2D", X4, DEPTHWISE, "DepthwiseConv2DOptions", window(VALID, 2, 2, DepthMultiplier=2)),
    "depthwise_of_one": ("DEPTHWISE_CONV_2D", (1, 8, 9, 1), DEPTHWISE, "DepthwiseConv2DOptions", window(SAME, 2, 2, DepthMultiplier=6)),
    "transpose_conv_same": ("TRANSPOSE_CONV", (1, 4, 5, 3), {"s": i(1, 8, 15, 5), "w": f(5, 3, 3, 3)}, "TransposeConvOptions", window(SAME, 2, 3)),
    "transpose_conv_valid": ("TRANSPOSE_CONV", (1, 4, 5, 3), {"s": i(1, 9, 11, 5), "w": f(5, 3, 3, 3)}, "TransposeConvOptions", window(VALID, 2, 2)),
    "transpose_conv_odd": ("TRANSPOSE_CONV", (1, 4, 5, 3), {"s": i(1, 7, 9, 5), "w": f(5, 4, 4, 3)}, "TransposeConvOptions", window(SAME, 2, 2)),
    "fully_connected": ("FULLY_CONNECTED", (1, 6), {"w": f(4, 6), "b": f(4)}, "FullyConnectedOptions", {}),
    "fully_connected_flat": ("FULLY_CONNECTED", (1, 2, 3, 4), {"w": f(5, 24)}, "FullyConnectedOptions", {"FusedActivationFunction": RELU}),
    "fully_connected_rows": ("FULLY_CONNECTED", (1, 3, 4), {"w": f(5, 4), "b": f(5)}, "FullyConnectedOptions", {"KeepNumDims": True}),
    "batch_matmul_constant": ("BATCH_MATMUL", (1, 3, 4), {"w": f(4, 5)}, "BatchMatMulOptions", {}),
    "batch_matmul_adjoint": ("BATCH_MATMUL", (1, 4, 3), {"w": f(5, 4)}, "BatchMatMulOptions", {"AdjX": True, "AdjY": True}),
    "max_pool": ("MAX_POOL_2D", X4, {}, POOL, window(SAME, 2, 2, FilterHeight=3, FilterWidth=2)),
    "max_pool_valid": ("MAX_POOL_2D", X4, {}, POOL, window(VALID, 2, 1, FilterHeight=2, FilterWidth=3, FusedActivationFunction=RELU)),
    "average_pool": ("AVERAGE_POOL_2D", X4, {}, POOL, window(SAME, 2, 2, FilterHeight=3, FilterWidth=2)),
    "average_pool_valid": ("AVERAGE_POOL_2D", X4, {}, POOL, window(VALID, FilterHeight=8, FilterWidth=9)),
    "mean": ("MEAN", X4, {"a": i(1, 2)}, "ReducerOptions", {}),
    "mean_keep": ("MEAN", X4, {"a": i(-1)}, "ReducerOptions", {"KeepDims": True}),
    "sum": ("SUM", (1, 5, 4), {"a": i(1)}, "ReducerOptions", {}),
    "reduce_max": ("REDUCE_MAX", (1, 5, 4), {"a": i(2)}, "ReducerOptions", {"KeepDims": True}),
    "arg_max": ("ARG_MAX", (1, 5, 4), {"a": i(-1)}, "ArgMaxOptions", {"OutputType": tflite.TensorType.INT32}),
    "add_constant": ("ADD", (1, 4, 3), {"c": f(3)}, "AddOptions", {"FusedActivationFunction": RELU}),
    "sub_constant": ("SUB", (1, 4, 3), {"c": f(4, 3)}, "SubOptions", {}),
    "mul_constant": ("MUL", (1, 4, 3), {"c": f(1, 1, 3)}, "MulOptions", {"FusedActivationFunction": RELU6}),
    "div_constant": ("DIV", (1, 4, 3), {"c": f(3)}, "DivOptions", {}),
    "squared_difference": ("SQUARED_DIFFERENCE", (1, 4, 3), {"c": f(3)}, "", {}),
    "maximum": ("MAXIMUM", (1, 9), {"c": scalar(np.float32(0.25))}, "", {}),
    "minimum": ("MINIMUM", (1, 9), {"c": scalar(np.float32(0.25))}, "", {}),
    "sin": ("SIN", (1, 9), {}, "", {}),
    "cos": ("COS", (1, 9), {}, "", {}),
    "sign": ("SIGN", (1, 9), {}, "", {}),
    "floor": ("FLOOR", (1, 9), {}, "", {}),
    "ceil": ("CEIL", (1, 9), {}, "", {}),
    "round": ("ROUND", (1, 9), {}, "", {}),
    "prelu_axes": ("PRELU", X4, {"a": f(8, 1, 3)}, "", {}),
    "reduce_min": ("REDUCE_MIN", (1, 5, 4), {"a": i(2)}, "ReducerOptions", {"KeepDims": True}),
    "arg_min": ("ARG_MIN", (1, 5, 4), {"a": i(-1)}, "ArgMinOptions", {"OutputType": tflite.TensorType.INT32}),
    "tile": ("TILE", (1, 3, 4), {"m": i(1, 2, 3)}, "", {}),
    "broadcast_to": ("BROADCAST_TO", (1, 1, 4), {"s": i(2, 3, 4)}, "", {}),
    "mirror_pad_symmetric": ("MIRROR_PAD", (1, 4, 4), {"p": const(np.array([[0, 0], [1, 2], [0, 4]], np.int32))}, "MirrorPadOptions", {"Mode": 1}),
    "gather_uneven": ("GATHER", (1, 7, 3), {"i": i(1, 3, 4, 4)}, "GatherOptions", {"Axis": 1}),
    "relu": ("RELU", (1, 9), {}, "", {}),
    "relu6": ("RELU6", (1, 9), {}, "", {}),
    "relu_n1_to_1": ("RELU_N1_TO_1", (1, 9), {}, "", {}),
    "relu_0_to_1": ("RELU_0_TO_1", (1, 9), {}, "", {}),
    "leaky_relu": ("LEAKY_RELU", (1, 9), {}, "LeakyReluOptions", {"Alpha": 0.3}),
    "prelu": ("PRELU", X4, {"a": f(1, 1, 3)}, "", {}),
    "prelu_one": ("PRELU", X4, {"a": f(1, 1, 1)}, "", {}),
    "elu": ("ELU", (1, 9), {}, "", {}),
    "abs": ("ABS", (1, 9), {}, "", {}),
    "neg": ("NEG", (1, 9), {}, "", {}),
    "exp": ("EXP", (1, 9), {}, "", {}),
    "square": ("SQUARE", (1, 9), {}, "", {}),
    "logistic": ("LOGISTIC", (1, 9), {}, "", {}),
    "tanh": ("TANH", (1, 9), {}, "", {}),
    "hard_swish": ("HARD_SWISH", (1, 40), {}, "", {}),
    "gelu": ("GELU", (1, 9), {}, "GeluOptions", {}),
    "gelu_tanh": ("GELU", (1, 9), {}, "GeluOptions", {"Approximate": True}),
    "softmax": ("SOFTMAX", (1, 9), {}, "SoftmaxOptions", {"Beta": 1.0}),
    "softmax_beta": ("SOFTMAX", (1, 3, 9), {}, "SoftmaxOptions", {"Beta": 2.5}),
    "log_softmax": ("LOG_SOFTMAX", (1, 3, 9), {}, "", {}),
    "reshape": ("RESHAPE", (1, 4, 6), {"s": i(1, -1, 3)}, "ReshapeOptions", {"NewShape": [1, 8, 3]}),
    "squeeze": ("SQUEEZE", (1, 1, 6, 1), {}, "SqueezeOptions", {"SqueezeDims": [1, -1]}),
    "expand_dims": ("EXPAND_DIMS", (1, 6), {"a": scalar(np.int32(1))}, "", {}),
    "transpose": ("TRANSPOSE", X4, {"p": i(0, 3, 1, 2)}, "", {}),
    "depth_to_space": ("DEPTH_TO_SPACE", (1, 3, 4, 8), {}, "DepthToSpaceOptions", {"BlockSize": 2}),
    "space_to_depth": ("SPACE_TO_DEPTH", (1, 6, 4, 3), {}, "SpaceToDepthOptions", {"BlockSize": 2}),
    "space_to_batch_nd": ("SPACE_TO_BATCH_ND", (1, 5, 6, 3), {"b": i(2, 3), "p": const(np.array([[0, 1], [1, 2]], np.int32))}, "", {}),
    "pad": ("PAD", (1, 3, 4), {"p": const(np.array([[0, 0], [1, 2], [0, 3]], np.int32))}, "", {}),
    "padv2": ("PADV2", (1, 3, 4), {"p": const(np.array([[0, 0], [1, 2], [0, 3]], np.int32)), "v": scalar(np.float32(0.5))}, "", {}),
    "mirror_pad": ("MIRROR_PAD", (1, 4, 4), {"p": const(np.array([[0, 0], [1, 2], [0, 3]], np.int32))}, "MirrorPadOptions", {"Mode": 0}),
    "slice": ("SLICE", (1, 5, 6), {"b": i(0, 1, 2), "s": i(1, -1, 3)}, "", {}),
    "strided_slice": ("STRIDED_SLICE", (1, 5, 6), {"b": i(0, 4, -2), "e": i(1, 0, -6), "s": i(1, -2, -1)}, STRIDED, {}),
    "strided_slice_masks": ("STRIDED_SLICE", (1, 5, 6), {"b": i(9, 1, 9), "e": i(9, 4, 9), "s": i(1, 2, -1)}, STRIDED, {"BeginMask": 5, "EndMask": 5}),
    "strided_slice_shrink": ("STRIDED_SLICE", (1, 5, 6), {"b": i(0, 3), "e": i(1, 4), "s": i(1, 1)}, STRIDED, {"ShrinkAxisMask": 2}),
    "gather": ("GATHER", (1, 7, 3), {"i": i(1, 3, 5)}, "GatherOptions", {"Axis": 1}),
    "pack": ("PACK", (1, 3), {"c": f(1, 3)}, "PackOptions", {"Axis": 1, "ValuesCount": 2}),
    "concatenation": ("CONCATENATION", (1, 3, 4), {"c": f(1, 2, 4)}, "ConcatenationOptions", {"Axis": 1}),
}  # fmt: skip
FIRST = {"TRANSPOSE_CONV": 2}
"""Place of x among the inputs, where it is not the first."""


def model_of(name: str) -> tuple[dict[str, T], Op]:
    op, shape, constants, kind, options = CASES[name]
    names = list(constants)
    names.insert(FIRST.get(op, 0), "x")
    # The interpreter finds other sizes itself.
    sizes = (1, 4, 3) if op == "SLICE" else (1,)
    out = T(sizes, dtype="int32" if op.startswith("ARG_") else "float32")
    return {"x": T(shape), **constants, "y": out}, Op(op, names, ["y"], kind, options)


def built(folder: Path, name: str) -> Path:
    tensors, op = model_of(name)
    return write_tflite(folder / "m.tflite", tensors, [op])


def imported(path: Path) -> Graph:
    graph = import_model(path)
    verify(graph, Stage.REAL, "import")
    return graph


def executed(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    batch = {name: array[np.newaxis] for name, array in inputs.items()}
    return {name: found[0] for name, found in Executor(graph, graph.outputs).run(batch).items()}


def assert_same(path: Path, inputs: Mapping[str, Array]) -> Graph:
    graph = imported(path)
    found = executed(graph, inputs)
    for name, wanted in run_litert(path, inputs).items():
        assert found[name].shape == wanted.shape
        np.testing.assert_allclose(found[name], wanted, rtol=1e-4, atol=1e-5)
    return graph


@needs_litert
@pytest.mark.parametrize("name", CASES)
def test_operators(name: str, tmp_path: Path):
    x = 3.0 * np.random.default_rng(2).normal(size=CASES[name][1])
    assert_same(built(tmp_path, name), {"x": x.astype(np.float32)})


RESIZE = {
    f"{op}_{align:d}{half:d}_{h}x{w}": (op, align, half, h, w)
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
    for align, half in ((False, False), (True, False), (False, True))
    for h, w in ((8, 10), (3, 2), (1, 13), (12, 15))
}


def resized(folder: Path, name: str) -> Path:
    op, align, half, h, w = RESIZE[name]
    kind = {"RESIZE_BILINEAR": "ResizeBilinearOptions"}.get(op, "ResizeNearestNeighborOptions")
    options = {"AlignCorners": align, "HalfPixelCenters": half}
    tensors = {"x": T((1, 4, 5, 2)), "s": i(h, w), "y": T((1,))}
    return write_tflite(folder / "m.tflite", tensors, [Op(op, ["x", "s"], ["y"], kind, options)])


@needs_litert
@pytest.mark.parametrize("name", RESIZE)
def test_resize(name: str, tmp_path: Path):
    x = np.random.default_rng(2).normal(size=(1, 4, 5, 2)).astype(np.float32)
    assert_same(resized(tmp_path, name), {"x": x})


@needs_litert
@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"])
def test_two_computed_operands(op: str, tmp_path: Path):
    kind = "" if op == "SQUARED_DIFFERENCE" else f"{op.title()}Options"
    tensors = {"x": T((1, 4, 3)), "z": T((1, 1, 3)), "y": T((1,))}
    path = write_tflite(tmp_path / "m", tensors, [Op(op, ["x", "z"], ["y"], kind)], ["x", "z"])
    x, z = (np.random.default_rng(3).uniform(0.5, 2.0, size) for size in ((1, 4, 3), (1, 1, 3)))
    assert_same(path, {"x": x.astype(np.float32), "z": z.astype(np.float32)})


@needs_litert
def test_matrices_computed_both(tmp_path: Path):
    tensors = {"x": T((1, 2, 3, 4)), "z": T((1, 2, 5, 4)), "y": T((1,))}
    op = Op("BATCH_MATMUL", ["x", "z"], ["y"], "BatchMatMulOptions", {"AdjY": True})
    path = write_tflite(tmp_path / "m", tensors, [op], ["x", "z"])
    rng = np.random.default_rng(3)
    assert_same(path, {n: rng.normal(size=tensors[n].shape).astype(np.float32) for n in "xz"})


@needs_litert
@pytest.mark.parametrize("op", ["SQRT", "RSQRT", "LOG"])
def test_roots_of_positive_numbers(op: str, tmp_path: Path):
    path = write_tflite(tmp_path / "m", {"x": T((1, 9)), "y": T((1,))}, [Op(op, ["x"], ["y"])])
    assert_same(path, {"x": np.linspace(0.1, 4.0, 9, dtype=np.float32)[None]})


def test_a_convolution_needs_no_bias(tmp_path: Path):
    w = f(4, 1, 1, 3)
    tensors = {"x": T(X4), "w": w, "y": T((1, 8, 9, 4))}
    op = Op("CONV_2D", ["x", "w", ""], ["y"], "Conv2DOptions", window(VALID))
    graph = imported(write_tflite(tmp_path / "m", tensors, [op]))
    x = RNG.normal(size=X4).astype(np.float32)
    assert w.data is not None
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], x @ w.data[:, 0, 0].T, 1e-4, 1e-6)


@needs_litert
@pytest.mark.parametrize("op", ["SPLIT", "SPLIT_V", "TOPK_V2", "UNPACK"])
def test_several_outputs(op: str, tmp_path: Path):
    axis = scalar(np.int32(1))
    tensors = {"x": T((1, 4, 3)), "a": axis, "s": i(1, -1), "k": scalar(np.int32(2))}
    inputs, kind, options, count = {
        "SPLIT": (["a", "x"], "SplitOptions", {"NumSplits": 2}, 2),
        "SPLIT_V": (["x", "s", "a"], "SplitVOptions", {"NumSplits": 2}, 2),
        "TOPK_V2": (["x", "k"], "TopKV2Options", {}, 2),
        "UNPACK": (["x"], "UnpackOptions", {"Axis": 2, "Num": 3}, 3),
    }[op]
    outputs = [f"y{number}" for number in range(count)]
    tensors |= {name: T((1,)) for name in outputs}
    if op == "TOPK_V2":
        tensors["y1"] = T((1,), dtype="int32")
    path = write_tflite(
        tmp_path / "m", tensors, [Op(op, inputs, outputs, kind, options)], outputs=outputs
    )
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    assert_same(path, {"x": x})


@needs_litert
def test_the_shape_arithmetic_of_keras(tmp_path: Path):
    """Flatten of an open batch: SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    tensors = {
        "x": T((1, 4, 3), signature=(-1, 4, 3)),
        "shape": T((3,), dtype="int32"), "b": i(0), "e": i(1), "s": i(1),
        "batch": T((), dtype="int32"), "rest": scalar(np.int32(12)),
        "wanted": T((2,), dtype="int32"), "y": T((1, 12), signature=(-1, 12)),
    }  # fmt: skip
    ops = [
        Op("SHAPE", ["x"], ["shape"], "ShapeOptions", {"OutType": tflite.TensorType.INT32}),
        Op("STRIDED_SLICE", ["shape", "b", "e", "s"], ["batch"], STRIDED, {"ShrinkAxisMask": 1}),
        Op("PACK", ["batch", "rest"], ["wanted"], "PackOptions", {"ValuesCount": 2}),
        Op("RESHAPE", ["x", "wanted"], ["y"]),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    graph = assert_same(path, {"x": x})
    assert [node.op for node in graph.nodes] == ["Reshape"]


@needs_litert
def test_rows_of_a_dense_layer_are_counted_at_import(tmp_path: Path):
    """Dense on [batch, 4, 3] of Keras: REDUCE_PROD of parts of the shape, PACK, RESHAPE."""
    tensors = {
        "x": T((1, 4, 3), signature=(-1, 4, 3)), "first": i(0, 1), "last": i(2), "a": i(0),
        **{name: T((1,), dtype="int32") for name in ("shape", "rows", "width")},
        "count": T((), dtype="int32"), "depth": T((), dtype="int32"),
        "wanted": T((2,), dtype="int32"), "y": T((4, 3)),
    }  # fmt: skip
    ops = [
        Op("SHAPE", ["x"], ["shape"], "ShapeOptions", {"OutType": tflite.TensorType.INT32}),
        Op("GATHER", ["shape", "first"], ["rows"], "GatherOptions"),
        Op("GATHER", ["shape", "last"], ["width"], "GatherOptions"),
        Op("REDUCE_PROD", ["rows", "a"], ["count"], "ReducerOptions"),
        Op("REDUCE_PROD", ["width", "a"], ["depth"], "ReducerOptions"),
        Op("PACK", ["count", "depth"], ["wanted"], "PackOptions", {"ValuesCount": 2}),
        Op("RESHAPE", ["x", "wanted"], ["y"]),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    graph = assert_same(path, {"x": x})
    assert [node.op for node in graph.nodes] == ["Reshape"]


def test_codes_are_read_beside_their_dequantize(tmp_path: Path):
    """The int8 LayerNorm of Keras: a mean is dequantized for NEG, and subtracted as codes."""
    codes = T((1, 6), dtype="int8", scale=[0.05], zero=[3])
    tensors = {
        "x": codes, "r": T((1, 6)), "n": T((1, 6)), "s": codes, "y": T((1, 6)), "z": T((1, 6)),
    }  # fmt: skip
    ops = [
        Op("DEQUANTIZE", ["x"], ["r"]),
        Op("NEG", ["r"], ["n"]),
        Op("MUL", ["x", "x"], ["s"], "MulOptions"),
        Op("DEQUANTIZE", ["s"], ["z"]),
        Op("ADD", ["n", "z"], ["y"], "AddOptions"),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    graph = imported(path)
    x = np.array([[-90, -20, 3, 14, 50, 120]], np.int8)
    real = (x - 3.0) * 0.05
    square = np.clip(np.round(real * real / 0.05) + 3, -128, 127)
    wanted = (square - 3) * 0.05 - real
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], wanted, atol=1e-6)


WHOLE = {
    "ADD": [[4, 14], [9, 5]], "SUB": [[-2, -8], [5, -9]], "MUL": [[3, 33], [14, -14]],
    "FLOOR_DIV": [[0, 0], [3, -1]], "FLOOR_MOD": [[1, 3], [1, 5]],
    "MAXIMUM": [[3, 11], [7, 7]], "MINIMUM": [[1, 3], [2, -2]],
}  # fmt: skip


@pytest.mark.parametrize("op", WHOLE)
def test_whole_numbers_are_computed_at_import(op: str, tmp_path: Path):
    a, b = [[1, 3], [7, -2]], [[3, 11], [2, 7]]
    tensors = {
        "x": T((1, 2, 2)), "a": const(np.array(a, np.int32)), "b": const(np.array(b, np.int32)),
        "c": T((2, 2), dtype="int32"), "r": T((2, 2)), "y": T((1, 2, 2)),
    }  # fmt: skip
    cast = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    ops = [
        Op(op, ["a", "b"], ["c"]),
        Op("CAST", ["c"], ["r"], "CastOptions", cast),
        Op("ADD", ["x", "r"], ["y"], "AddOptions"),
    ]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    x = np.zeros((1, 2, 2), np.float32)
    np.testing.assert_array_equal(executed(graph, {"x": x})["y"][0], WHOLE[op])


@pytest.mark.parametrize(
    ("op", "wanted"), [("REDUCE_MAX", 7), ("REDUCE_MIN", -2), ("REDUCE_PROD", -42), ("SUM", 9)]
)
def test_whole_numbers_are_reduced_at_import(op: str, wanted: int, tmp_path: Path):
    tensors = {
        "x": T((1, 4)), "a": i(1, 3, 7, -2), "axis": i(-1), "c": T((1,), dtype="int32"),
        "r": T((1,)), "y": T((1, 4)),
    }  # fmt: skip
    cast = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    ops = [
        Op(op, ["a", "axis"], ["c"], "ReducerOptions", {"KeepDims": True}),
        Op("CAST", ["c"], ["r"], "CastOptions", cast),
        Op("ADD", ["x", "r"], ["y"], "AddOptions"),
    ]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    found = executed(graph, {"x": np.zeros((1, 4), np.float32)})["y"]
    np.testing.assert_array_equal(found, np.full((1, 4), wanted))


@pytest.mark.parametrize(
    ("op", "a", "b", "reason"),
    [
        ("FLOOR_DIV", (1, 2), (1, 0), "divides by zero"),
        ("ADD", (1, 2), (1, 2, 3), "do not fit each other"),
    ],
)
def test_whole_numbers_that_do_not_fit_are_refused(op, a, b, reason, tmp_path: Path):
    tensors = {
        "x": T((1, 2)), "a": i(*a), "b": i(*b), "c": T((2,), dtype="int32"), "y": T((1, 2)),
    }  # fmt: skip
    ops = [Op(op, ["a", "b"], ["c"]), Op("RESHAPE", ["x", "c"], ["y"])]
    with pytest.raises(UnsupportedModelError, match=reason):
        imported(write_tflite(tmp_path / "m", tensors, ops))


@needs_litert
def test_float16_weights_and_hybrid_weights(tmp_path: Path):
    w16 = RNG.normal(size=(4, 6)).astype(np.float16)
    w8 = RNG.integers(-127, 128, (3, 4)).astype(np.int8)
    tensors = {
        "x": T((1, 6)), "w16": const(w16), "w": T((4, 6)), "h": T((1, 4)),
        "w8": const(w8), "wd": T((3, 4)), "q": const(w8, [0.02]), "y": T((1, 3)),
    }  # fmt: skip
    ops = [
        Op("DEQUANTIZE", ["w16"], ["w"]),
        Op("FULLY_CONNECTED", ["x", "w"], ["h"], "FullyConnectedOptions"),
        Op("DEQUANTIZE", ["q"], ["wd"]),
        Op("FULLY_CONNECTED", ["h", "wd"], ["y"], "FullyConnectedOptions"),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    assert_same(path, {"x": RNG.normal(size=(1, 6)).astype(np.float32)})


def test_weights_of_dynamic_range_are_what_their_codes_mean(tmp_path: Path):
    w8 = RNG.integers(-127, 128, (3, 4)).astype(np.int8)
    tensors = {"x": T((1, 4)), "q": const(w8, [0.5, 0.25, 2.0], axis=0), "y": T((1, 3))}
    ops = [Op("FULLY_CONNECTED", ["x", "q"], ["y"], "FullyConnectedOptions")]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    x = RNG.normal(size=(1, 4)).astype(np.float32)
    wanted = x @ (w8 * np.array([[0.5], [0.25], [2.0]])).T
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], wanted, rtol=1e-6)


@needs_litert
def test_rows_chosen_by_ids(tmp_path: Path):
    tensors = {"x": T((1, 4), dtype="int32"), "t": f(7, 3), "y": T((1, 4, 3))}
    op = Op("GATHER", ["t", "x"], ["y"], "GatherOptions", {"Axis": 0})
    path = write_tflite(tmp_path / "m", tensors, [op])
    assert_same(path, {"x": np.array([[6, 0, 3, 3]], np.int32)})


RELATIONS = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]


@needs_litert
@pytest.mark.parametrize("select", ["SELECT", "SELECT_V2"])
@pytest.mark.parametrize("op", RELATIONS)
def test_comparisons_choose(op: str, select: str, tmp_path: Path):
    tensors = {"x": T((1, 6)), "z": T((1, 6)), "c": T((1, 6), dtype="bool"), "y": T((1, 6))}
    ops = [Op(op, ["x", "z"], ["c"]), Op(select, ["c", "x", "z"], ["y"])]
    path = write_tflite(tmp_path / "m", tensors, ops, ["x", "z"])
    x, z = np.array([[1, 2, 3, 4, 5, 6]], np.float32), np.array([[1, 3, 2, 4, 0, 9]], np.float32)
    assert_same(path, {"x": x, "z": z})


@needs_litert
@pytest.mark.parametrize("op", ["LOGICAL_AND", "LOGICAL_OR"])
def test_truth_values_are_combined(op: str, tmp_path: Path):
    boolean = T((1, 6), dtype="bool")
    tensors = {"x": T((1, 6)), "z": T((1, 6)), "a": boolean, "b": boolean, "c": boolean}
    tensors |= {"d": boolean, "half": scalar(np.float32(0.5)), "y": T((1, 6))}
    ops = [
        Op("LESS", ["x", "z"], ["a"]), Op("GREATER", ["x", "half"], ["b"]),
        Op(op, ["a", "b"], ["c"]), Op("LOGICAL_NOT", ["c"], ["d"]),
        Op("SELECT_V2", ["d", "half", "x"], ["y"]),
    ]  # fmt: skip
    path = write_tflite(tmp_path / "m", tensors, ops, ["x", "z"])
    rng = np.random.default_rng(4)
    assert_same(path, {name: rng.normal(size=(1, 6)).astype(np.float32) for name in "xz"})


@needs_litert
def test_truth_values_become_real(tmp_path: Path):
    options = {"InDataType": tflite.TensorType.BOOL, "OutDataType": tflite.TensorType.FLOAT32}
    tensors = {"x": T((1, 6)), "z": f(1, 6), "c": T((1, 6), dtype="bool"), "y": T((1, 6))}
    ops = [Op("LESS", ["x", "z"], ["c"]), Op("CAST", ["c"], ["y"], "CastOptions", options)]
    x = RNG.normal(size=(1, 6)).astype(np.float32)
    assert_same(write_tflite(tmp_path / "m", tensors, ops), {"x": x})


def dilated(folder: Path, one_axis: bool) -> Path:
    """A dilated convolution as converters of TensorFlow write it, of images or of sequences."""
    pair = const(np.array([[2, 3]] if one_axis else [[2, 3], [3, 3]], np.int32))
    crop = const(np.array([[0, 1]] if one_axis else [[0, 1], [0, 0]], np.int32))
    blocks = i(2) if one_axis else i(2, 3)
    shape = (1, 9, 3) if one_axis else (1, 9, 9, 3)
    tensors = {
        "x": T(shape), "b": blocks, "p": pair, "c": crop, "w": f(4, 1 if one_axis else 3, 3, 3),
        "v": f(4), "axis": scalar(np.int32(1)), "y": T((1,)), "z": T((1,)),
        **{name: T((1,)) for name in ("s", "e", "k", "q")},
    }  # fmt: skip
    conv = window(VALID, FusedActivationFunction=RELU)
    middle = [Op("CONV_2D", ["s", "w", "v"], ["q"], "Conv2DOptions", conv)]
    if one_axis:
        middle = [
            Op("EXPAND_DIMS", ["s", "axis"], ["e"]),
            Op("CONV_2D", ["e", "w", "v"], ["k"], "Conv2DOptions", conv),
            Op("SQUEEZE", ["k"], ["q"], "SqueezeOptions", {"SqueezeDims": [1]}),
        ]
    operators = [
        Op("SPACE_TO_BATCH_ND", ["x", "b", "p"], ["s"]),
        *middle,
        Op("BATCH_TO_SPACE_ND", ["q", "b", "c"], ["z"]),
        Op("NEG", ["z"], ["y"]),
    ]
    return write_tflite(folder / "m.tflite", tensors, operators)


@needs_litert
@pytest.mark.parametrize("one_axis", [False, True])
def test_dilated_convolutions(one_axis: bool, tmp_path: Path):
    path = dilated(tmp_path, one_axis)
    shape = (1, 9, 3) if one_axis else (1, 9, 9, 3)
    inputs = {"x": RNG.normal(size=shape).astype(np.float32)}
    fused = run_passes(assert_same(path, inputs), REAL_PASSES).graph
    assert [node.op for node in fused.nodes if node.op not in ("Reshape", "Unary", "Clip")] == [
        "Conv"
    ]
    (wanted,) = run_litert(path, inputs).values()
    np.testing.assert_allclose(executed(fused, inputs)["y"], wanted, rtol=1e-4, atol=1e-5)


@needs_litert
def test_blocks_without_a_convolution_become_moves(tmp_path: Path):
    pads, crops = (
        const(np.array(pairs, np.int32)) for pairs in ([[0, 1], [1, 2]], [[1, 0], [0, 2]])
    )
    tensors = {
        "x": T((1, 5, 6, 3)), "b": i(2, 3), "p": pads, "c": crops, "y": T((1,)),
        "s": T((1,)), "r": T((1,)),
    }  # fmt: skip
    operators = [
        Op("SPACE_TO_BATCH_ND", ["x", "b", "p"], ["s"]), Op("NEG", ["s"], ["r"]),
        Op("BATCH_TO_SPACE_ND", ["r", "b", "c"], ["y"]),
    ]  # fmt: skip
    path = write_tflite(tmp_path / "m.tflite", tensors, operators)
    inputs = {"x": RNG.normal(size=(1, 5, 6, 3)).astype(np.float32)}
    moved = run_passes(assert_same(path, inputs), REAL_PASSES).graph
    (wanted,) = run_litert(path, inputs).values()
    np.testing.assert_array_equal(executed(moved, inputs)["y"], wanted)


@needs_litert
@pytest.mark.parametrize("op", ["MAXIMUM", "MINIMUM"])
def test_extremes_of_two_computed_tensors(op: str, tmp_path: Path):
    tensors = {"x": T((1, 4, 3)), "z": T((1, 1, 3)), "y": T((1,))}
    path = write_tflite(tmp_path / "m", tensors, [Op(op, ["x", "z"], ["y"])], ["x", "z"])
    rng = np.random.default_rng(3)
    assert_same(path, {n: rng.normal(size=tensors[n].shape).astype(np.float32) for n in "xz"})


@needs_litert
def test_whole_numbers_become_real(tmp_path: Path):
    options = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    tensors = {"x": T((1, 4), dtype="int32"), "y": T((1, 4))}
    path = write_tflite(tmp_path / "m", tensors, [Op("CAST", ["x"], ["y"], "CastOptions", options)])
    assert_same(path, {"x": np.array([[6, -1, 3, 0]], np.int32)})


def test_every_handler_states_its_constraints():
    table = supported_operators()
    assert [op for op, _ in table] == sorted(HANDLERS)
    assert all(len(text) > 5 and "\n" not in text for _, text in table)


def test_every_handler_is_tested():
    tested = {case[0] for case in CASES.values()} | {case[0] for case in RESIZE.values()} | {
        "SQRT", "RSQRT", "LOG", *RELATIONS, "SELECT", "SELECT_V2",
        "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "BATCH_TO_SPACE_ND", "TOPK_V2", "SPLIT", "SPLIT_V", "UNPACK", "SHAPE", "CAST", "DEQUANTIZE",
        # In test_tflite_int8:
        "QUANTIZE",
    }  # fmt: skip
    assert set(HANDLERS) - tested == set()
