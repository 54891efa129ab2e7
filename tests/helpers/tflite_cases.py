"""TensorFlow Lite files of one operator each, in all its forms."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tflite
from tflite_models import Op, T, const, write_tflite

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
    "gather_nd": ("GATHER_ND", (1, 4, 5), {"i": const(np.array([[0, 3, 4], [0, 1, 2], [0, 0, 0]], np.int32))}, "", {}),
    "gather_nd_rows": ("GATHER_ND", (1, 4, 5), {"i": const(np.array([[0, 3], [0, 1]], np.int32))}, "", {}),
    "reverse": ("REVERSE_V2", (1, 5, 4), {"a": i(1)}, "", {}),
    "reverse_both": ("REVERSE_V2", (1, 5, 4), {"a": i(-2, 2)}, "", {}),
    "add_n": ("ADD_N", (1, 5, 4), {"a": f(1, 5, 4), "b": f(1, 5, 4)}, "", {}),
    "pow": ("POW", (1, 5, 4), {"c": scalar(np.float32(3))}, "", {}),
    "cumsum": ("CUMSUM", (1, 5, 4), {"a": scalar(np.int32(1))}, "CumsumOptions", {}),
    "cumsum_back": ("CUMSUM", (1, 5, 4), {"a": scalar(np.int32(-1))}, "CumsumOptions", {"Exclusive": True, "Reverse": True}),
    "l2_normalization": ("L2_NORMALIZATION", (1, 5, 4), {}, "L2NormOptions", {}),
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
