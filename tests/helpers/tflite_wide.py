"""Small files with int16 activations and int8 weights, an operator or a network each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tflite
from tflite_models import Op, T, const, write_tflite

RELU, RELU6 = (
    tflite.ActivationFunctionType.RELU,
    tflite.ActivationFunctionType.RELU6,
)
UNIT = 2.0**-15
_RNG = np.random.default_rng(16)


def codes(shape: Sequence[int], scale: float, dtype: str = "int16", zero: int = 0) -> T:
    return T(shape, dtype=dtype, scale=[scale], zero=[zero])


def weights(*shape: int, channels: int = 0, axis: int = 0) -> T:
    """Weights with a scale for each of some channels, or one."""
    scales = _RNG.uniform(0.002, 0.02, channels or 1).astype(np.float32).tolist()
    return const(_RNG.integers(-127, 128, shape).astype(np.int8), scales, axis=axis)


def bias(count: int, kind: str = "int64") -> T:
    return const(_RNG.integers(-(10**6), 10**6, count).astype(kind))


def conv(
    path: Path,
    act: int = 0,
    padding: int = 0,
    stride: int = 1,
    depth: int = 5,
    biases: T | None = None,
    weight: T | None = None,
) -> Path:
    tensors = {
        "x": codes((1, 7, 6, depth), 0.0003), "w": weight or weights(4, 3, 3, depth, channels=4),
        "b": biases or bias(4), "y": codes((1, 7, 6, 4) if not padding else (1, 5, 4, 4), 0.0008),
    }  # fmt: skip
    if stride == 2:
        tensors["y"] = codes((1, 4, 3, 4), 0.0008)
    options = {"StrideH": stride, "StrideW": stride, "Padding": padding}
    options["FusedActivationFunction"] = act
    return write_tflite(
        path, tensors, [Op("CONV_2D", ["x", "w", "b"], ["y"], "Conv2DOptions", options)]
    )


def depthwise(path: Path) -> Path:
    tensors = {
        "x": codes((1, 6, 6, 3), 0.0003), "w": weights(1, 3, 3, 6, channels=6, axis=3),
        "b": bias(6), "y": codes((1, 6, 6, 6), 0.0007),
    }  # fmt: skip
    options = {"StrideH": 1, "StrideW": 1, "DepthMultiplier": 2, "FusedActivationFunction": RELU6}
    op = Op("DEPTHWISE_CONV_2D", ["x", "w", "b"], ["y"], "DepthwiseConv2DOptions", options)
    return write_tflite(path, tensors, [op])


def coded_bias(scale: float, kind: type = np.int64) -> T:
    """Biases of seven outputs in steps of a scale."""
    return const(np.arange(7).astype(kind), [scale])


def dense(
    path: Path,
    channels: int = 0,
    rows: int = 1,
    width: int = 40,
    biases: T | None = None,
    y: float = 0.0009,
    dtype: str = "int16",
    weight: T | None = None,
) -> Path:
    tensors = {
        "x": codes((rows, width), 0.0003, dtype),
        "w": weight or weights(7, width, channels=channels),
        "b": biases or bias(7), "y": codes((rows, 7), y, dtype),
    }  # fmt: skip
    op = Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"], "FullyConnectedOptions")
    return write_tflite(path, tensors, [op])


def two(path: Path, op: str, kind: str, other: Sequence[int] = (1, 4, 5, 3), act: int = 0) -> Path:
    y = 0.0011 if op == "MUL" else 0.0005
    tensors = {
        "x": codes((1, 4, 5, 3), 0.0003), "z": codes(other, 0.00041), "y": codes((1, 4, 5, 3), y),
    }  # fmt: skip
    if op == "MUL":
        tensors = {**tensors, "x": codes((1, 4, 5, 3), 0.003), "z": codes(other, 0.0041)}
    options: dict[str, Any] = {"FusedActivationFunction": act}
    if op in ("MAXIMUM", "MINIMUM"):
        tensors, options = {name: replace(t, scale=[0.0003]) for name, t in tensors.items()}, {}
    if op in ("ADD", "SUB"):
        options["PotScaleInt16"] = False
    return write_tflite(path, tensors, [Op(op, ["x", "z"], ["y"], kind, options)], ["x", "z"])


def one(
    path: Path,
    op: str,
    x: T,
    y: T,
    kind: str = "",
    options: dict[str, Any] | None = None,
    more: dict[str, T] | None = None,
) -> Path:
    extra = more or {}
    node = Op(op, ["x", *extra], ["y"], kind, options or {})
    return write_tflite(path, {"x": x, **extra, "y": y}, [node])


def reduction(
    path: Path,
    op: str,
    y: T,
    axes: Sequence[int] = (1, 2),
    keeps: bool = True,
    shape: tuple[int, ...] = (1, 5, 6, 3),
) -> Path:
    """A reduction of tensors in steps of 0.001."""
    given = {"axes": const(np.array(axes, np.int32))}
    options = {"KeepDims": keeps}
    return one(path, op, codes(shape, 0.001), y, "ReducerOptions", options, given)


def leaky_relu(path: Path, alpha: float) -> Path:
    x, y = codes((1, 5, 6, 3), 0.0004), codes((1, 5, 6, 3), 0.00071)
    return one(path, "LEAKY_RELU", x, y, "LeakyReluOptions", {"Alpha": alpha})


def transpose_conv(
    path: Path,
    padding: int = 0,
    stride: int = 2,
    depth: int = 3,
    biases: T | None = None,
) -> Path:
    rows, columns = (size * stride if not padding else (size - 1) * stride + 3 for size in (5, 6))
    shape = (1, rows, columns, 4)
    tensors = {
        "shape": const(np.array(shape, np.int32)), "w": weights(4, 3, 3, depth, channels=4),
        "x": codes((1, 5, 6, depth), 0.0003), **({} if biases is None else {"b": biases}),
        "y": codes(shape, 0.003),
    }  # fmt: skip
    options = {"Padding": padding, "StrideH": stride, "StrideW": stride}
    names = [name for name in tensors if name != "y"]
    return write_tflite(
        path, tensors, [Op("TRANSPOSE_CONV", names, ["y"], "TransposeConvOptions", options)]
    )


def matmul(path: Path, other: T, adj_x: bool = False, adj_y: bool = False) -> Path:
    """Two products with [7, 5], or [5, 7]."""
    x = (1, 2, 5, 7) if adj_x else (1, 2, 7, 5)
    columns = other.shape[-2 if adj_y else -1]
    tensors = {"x": codes(x, 0.0003), "z": other, "y": codes((1, 2, 7, columns), 0.1)}
    options = {"AdjX": adj_x, "AdjY": adj_y}
    inputs = ["x"] if other.data is not None else ["x", "z"]
    op = Op("BATCH_MATMUL", ["x", "z"], ["y"], "BatchMatMulOptions", options)
    return write_tflite(path, tensors, [op], inputs)


def deep(path: Path, layers: int = 10) -> Path:
    """Fully connected layers in a row, each of which rounds its multiplier to 15 bits."""
    rng = np.random.default_rng(3)
    tensors, operators = {"x0": codes((1, 32), 0.0003)}, []
    for number in range(layers):
        weight = rng.integers(-127, 128, (32, 32)).astype(np.int8)
        names = [f"x{number}", f"w{number}", f"b{number}"]
        tensors[names[1]] = const(weight, [0.0045])
        tensors[names[2]] = const(rng.integers(-9000, 9000, 32).astype(np.int64))
        tensors[f"x{number + 1}"] = codes((1, 32), 0.0003 * 1.9 ** (number + 1))
        operators.append(Op("FULLY_CONNECTED", names, [f"x{number + 1}"], "FullyConnectedOptions"))
    return write_tflite(path, tensors, operators, ["x0"], [f"x{layers}"])


def network(path: Path, edges: bool = True) -> Path:
    """Convolutions with a shortcut, pools, a fully connected layer and Softmax.

    `edges`: inputs and outputs are float32, not codes.
    """
    image = (1, 8, 8, 3)
    tensors = {
        "image": T(image), "x": codes(image, 0.00004),
        "w1": weights(6, 3, 3, 3, channels=6), "b1": bias(6), "c1": codes((1, 8, 8, 6), 0.00002),
        "w2": weights(1, 3, 3, 6, channels=6, axis=3), "b2": bias(6),
        "c2": codes((1, 8, 8, 6), 0.00002), "sum": codes((1, 8, 8, 6), 0.00003),
        "pool": codes((1, 4, 4, 6), 0.00003), "large": codes((1, 2, 2, 6), 0.00003),
        "shape": const(np.array([1, 24], np.int32)), "flat": codes((1, 24), 0.00003),
        "w3": weights(4, 24), "b3": bias(4), "logits": codes((1, 4), 0.0002),
        "p": codes((1, 4), UNIT), "scores": T((1, 4)),
    }  # fmt: skip
    step = {"StrideH": 1, "StrideW": 1, "FusedActivationFunction": RELU}
    window = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2}
    ops = [
        Op("QUANTIZE", ["image"], ["x"], "QuantizeOptions"),
        Op("CONV_2D", ["x", "w1", "b1"], ["c1"], "Conv2DOptions", step),
        Op("DEPTHWISE_CONV_2D", ["c1", "w2", "b2"], ["c2"], "DepthwiseConv2DOptions",
           {**step, "DepthMultiplier": 1}),
        Op("ADD", ["c1", "c2"], ["sum"], "AddOptions", {"PotScaleInt16": False}),
        Op("AVERAGE_POOL_2D", ["sum"], ["pool"], "Pool2DOptions", window),
        Op("MAX_POOL_2D", ["pool"], ["large"], "Pool2DOptions", window),
        Op("RESHAPE", ["large", "shape"], ["flat"], "ReshapeOptions"),
        Op("FULLY_CONNECTED", ["flat", "w3", "b3"], ["logits"], "FullyConnectedOptions"),
        Op("SOFTMAX", ["logits"], ["p"], "SoftmaxOptions", {"Beta": 1.0}),
        Op("DEQUANTIZE", ["p"], ["scores"], "DequantizeOptions"),
    ]  # fmt: skip
    if edges:
        return write_tflite(path, tensors, ops, ["image"], ["scores"])
    inner = {name: t for name, t in tensors.items() if name not in ("image", "scores")}
    return write_tflite(path, inner, ops[1:-1], ["x"], ["p"])


def mixed(path: Path) -> Path:
    """A network of int8 whose products of the last layers are int16."""
    image = (1, 6, 6, 3)
    biases = const(_RNG.integers(-3000, 3000, 4).astype(np.int32), [0.05 * 0.01])
    filters = const(_RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8), [0.01])
    tensors = {
        "x": codes(image, 0.05, "int8", 3), "w1": filters, "b1": biases,
        "c1": codes((1, 6, 6, 4), 0.06, "int8", -128),
        "pool": codes((1, 3, 3, 4), 0.06, "int8", -128),
        "shape": const(np.array([1, 36], np.int32)), "flat": codes((1, 36), 0.06, "int8", -128),
        "fine": codes((1, 36), 0.0005), "w2": weights(5, 36), "b2": bias(5),
        "y2": codes((1, 5), 0.0009), "logits": codes((1, 5), 0.2, "int8", 4),
        "p": codes((1, 5), 1 / 256, "int8", -128),
    }  # fmt: skip
    step = {"StrideH": 1, "StrideW": 1, "FusedActivationFunction": RELU}
    window = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2}
    ops = [
        Op("CONV_2D", ["x", "w1", "b1"], ["c1"], "Conv2DOptions", step),
        Op("AVERAGE_POOL_2D", ["c1"], ["pool"], "Pool2DOptions", window),
        Op("RESHAPE", ["pool", "shape"], ["flat"], "ReshapeOptions"),
        Op("QUANTIZE", ["flat"], ["fine"], "QuantizeOptions"),
        Op("FULLY_CONNECTED", ["fine", "w2", "b2"], ["y2"], "FullyConnectedOptions"),
        Op("QUANTIZE", ["y2"], ["logits"], "QuantizeOptions"),
        Op("SOFTMAX", ["logits"], ["p"], "SoftmaxOptions", {"Beta": 1.0}),
    ]  # fmt: skip
    return write_tflite(path, tensors, ops, ["x"], ["p"])
