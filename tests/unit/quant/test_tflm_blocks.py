"""Operators that move codes, and small networks of many operators, beside TensorFlow Lite Micro."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from tflite_models import Op, T, const, write_tflite
from tflm_oracle import check_exact, codes_for, needs_tflm

RNG = np.random.default_rng(3)
QUANT = (0.1, 3)
SHAPE = (1, 4, 6)
IMAGE = (1, 4, 4, 8)
SAME = tflite.Padding.SAME
RELU, RELU6 = tflite.ActivationFunctionType.RELU, tflite.ActivationFunctionType.RELU6
pytestmark = needs_tflm


def coded(shape: Sequence[int], quant: tuple[float, int] = QUANT) -> T:
    return T(tuple(shape), dtype="int8", scale=[float(np.float32(quant[0]))], zero=[quant[1]])


def codes(shape: Sequence[int], quant: tuple[float, int] = QUANT) -> T:
    array = RNG.integers(-128, 128, tuple(shape)).astype(np.int8)
    return const(array, [float(np.float32(quant[0]))], [quant[1]])


def i(*values: int) -> T:
    return const(np.array(values, np.int32))


PADS = const(np.array([[0, 0], [1, 2], [0, 1]], np.int32))
# operator -> (shape of x, constants in the order of inputs, shape of y, kind of options, options)
MOVES: Mapping[str, tuple[Sequence[int], dict[str, T], Sequence[int], str, dict[str, Any]]] = {
    "PAD": (SHAPE, {"p": PADS}, (1, 7, 7), "", {}),
    "PADV2": (
        SHAPE,
        {"p": PADS, "v": const(np.array([7], np.int8), [QUANT[0]], [QUANT[1]])},
        (1, 7, 7),
        "",
        {},
    ),
    "MIRROR_PAD": (SHAPE, {"p": PADS}, (1, 7, 7), "MirrorPadOptions", {}),
    "CONCATENATION": (
        SHAPE,
        {"c": codes((1, 2, 6))},
        (1, 6, 6),
        "ConcatenationOptions",
        {"Axis": 1},
    ),
    "MAXIMUM": (SHAPE, {"c": codes((1, 1, 6))}, SHAPE, "MaximumMinimumOptions", {}),
    "MINIMUM": (SHAPE, {"c": codes((1, 4, 1))}, SHAPE, "MaximumMinimumOptions", {}),
    "REDUCE_MIN": (SHAPE, {"a": i(2)}, (1, 4), "ReducerOptions", {}),
    "TRANSPOSE": (IMAGE, {"p": i(0, 2, 3, 1)}, (1, 4, 8, 4), "", {}),
    "STRIDED_SLICE": (
        SHAPE,
        {"b": i(0, 0, 1), "e": i(1, 4, 6), "s": i(1, 2, 3)},
        (1, 2, 2),
        "StridedSliceOptions",
        {},
    ),
    "SLICE": (SHAPE, {"b": i(0, 1, 2), "s": i(1, 2, 3)}, (1, 2, 3), "", {}),
    "SPACE_TO_DEPTH": (IMAGE, {}, (1, 2, 2, 32), "SpaceToDepthOptions", {"BlockSize": 2}),
    "DEPTH_TO_SPACE": (IMAGE, {}, (1, 8, 8, 2), "DepthToSpaceOptions", {"BlockSize": 2}),
    "RESHAPE": (SHAPE, {"s": i(1, 24)}, (1, 24), "ReshapeOptions", {"NewShape": [1, 24]}),
    "EXPAND_DIMS": (SHAPE, {"a": i(1)}, (1, 1, 4, 6), "", {}),
    "SQUEEZE": ((1, 4, 1, 6), {}, SHAPE, "SqueezeOptions", {"SqueezeDims": [2]}),
}


@pytest.mark.parametrize("op", MOVES)
def test_codes_that_are_moved(tmp_path: Path, op: str):
    shape, constants, y, kind, options = MOVES[op]
    # The sum before and the table after it keep what moves inside the graph.
    tensors = {
        "x": coded(shape),
        "sum": coded(shape),
        **constants,
        "m": coded(y),
        "y": coded(y, (1 / 256, -128)),
    }
    ops = [
        Op("ADD", ["x", "x"], ["sum"], "AddOptions"),
        Op(op, ["sum", *constants], ["m"], kind, options),
        Op("LOGISTIC", ["m"], ["y"]),
    ]
    found = check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops))
    assert {"sum", "y"} <= {*found.compared}


def test_the_largest_place(tmp_path: Path):
    tensors = {"x": coded(SHAPE), "a": const(np.array(2, np.int32)), "y": T((1, 4), dtype="int32")}
    ops = [
        Op("ARG_MAX", ["x", "a"], ["y"], "ArgMaxOptions", {"OutputType": tflite.TensorType.INT32})
    ]
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops))


def weights(shape: Sequence[int], axis: int = 0) -> T:
    """Codes of weights with a scale for each output channel."""
    array = RNG.integers(-127, 128, tuple(shape)).astype(np.int8)
    scales = RNG.uniform(0.005, 0.02, shape[axis]).astype(np.float32).tolist()
    return const(array, scales, [0] * len(scales), axis)


def biases(count: int) -> T:
    return const(RNG.integers(-2000, 2000, count).astype(np.int32))


def squeeze_and_excite(path: Path) -> Path:
    """MobileNetV3's block: hard swish, a gate from means, a product, a sum, a resize, a softmax."""
    x, wide = (1, 6, 6, 4), (1, 6, 6, 8)
    tensors = {
        "x": coded(x), "w1": weights((8, 3, 3, 4)), "b1": biases(8), "c1": coded(wide, (0.11, 2)),
        "h": coded(wide, (0.08, -100)), "w2": weights((1, 3, 3, 8), 3), "b2": biases(8), "d": coded(wide, (0.07, -128)),
        "axes": i(1, 2), "m": coded((1, 1, 1, 8), (0.03, -128)), "w3": weights((8, 1, 1, 8)), "b3": biases(8),
        "g": coded((1, 1, 1, 8), (0.05, 4)), "gate": coded((1, 1, 1, 8), (1 / 256, -128)),
        "p": coded(wide, (0.05, -128)), "w4": weights((4, 1, 1, 8)), "b4": biases(4), "c4": coded(x, (0.09, 7)),
        "r": coded(x, (0.13, -3)), "size": i(9, 7), "big": coded((1, 9, 7, 4), (0.13, -3)),
        "a": coded((1, 4, 3, 4), (0.13, -3)), "flat": i(1, 48), "f": coded((1, 48), (0.13, -3)),
        "w5": weights((5, 48)), "b5": biases(5), "l": coded((1, 5), (0.2, 1)), "y": coded((1, 5), (1 / 256, -128)),
    }  # fmt: skip
    w5 = tensors["w5"]
    tensors["w5"] = const(w5.data, [0.011], [0])  # fully connected layers have one scale
    step = {"Padding": SAME, "StrideH": 1, "StrideW": 1}
    pool = {
        "Padding": tflite.Padding.VALID,
        "FilterHeight": 2,
        "FilterWidth": 2,
        "StrideH": 2,
        "StrideW": 2,
    }
    ops = [
        Op("CONV_2D", ["x", "w1", "b1"], ["c1"], "Conv2DOptions", step),
        Op("HARD_SWISH", ["c1"], ["h"]),
        Op("DEPTHWISE_CONV_2D", ["h", "w2", "b2"], ["d"], "DepthwiseConv2DOptions", {**step, "DepthMultiplier": 1, "FusedActivationFunction": RELU}),
        Op("MEAN", ["d", "axes"], ["m"], "ReducerOptions", {"KeepDims": True}),
        Op("CONV_2D", ["m", "w3", "b3"], ["g"], "Conv2DOptions", step),
        Op("LOGISTIC", ["g"], ["gate"]),
        Op("MUL", ["d", "gate"], ["p"], "MulOptions", {"FusedActivationFunction": RELU6}),
        Op("CONV_2D", ["p", "w4", "b4"], ["c4"], "Conv2DOptions", step),
        Op("ADD", ["c4", "x"], ["r"], "AddOptions"),
        Op("RESIZE_BILINEAR", ["r", "size"], ["big"], "ResizeBilinearOptions", {"HalfPixelCenters": True}),
        Op("AVERAGE_POOL_2D", ["big"], ["a"], "Pool2DOptions", pool),
        Op("RESHAPE", ["a", "flat"], ["f"], "ReshapeOptions", {"NewShape": [1, 48]}),
        Op("FULLY_CONNECTED", ["f", "w5", "b5"], ["l"], "FullyConnectedOptions"),
        Op("SOFTMAX", ["l"], ["y"], "SoftmaxOptions", {"Beta": 1.0}),
    ]  # fmt: skip
    return write_tflite(path, tensors, ops)


def attention_block(path: Path) -> Path:
    """A norm of its parts, two products of matrices around a softmax, and the sum with the input."""
    rows, square = (1, 5, 8), (1, 5, 5)
    one = (1, 5, 1)
    tensors = {
        "x": coded(rows), "axes": i(2), "mean": coded(one, (0.04, 1)), "sq": coded(rows, (0.3, -128)),
        "var": coded(one, (0.12, -128)), "eps": const(np.array([[[-120]]], np.int8), [0.001], [-128]),
        "ve": coded(one, (0.12, -128)), "root": coded(one, (0.01, -128)), "cen": coded(rows, (0.11, 2)),
        "n": coded(rows, (0.03, 0)), "qk": coded(square, (0.09, 5)), "att": coded(square, (1 / 256, -128)),
        "av": coded(rows, (0.02, -1)), "e": coded(rows, (0.02, -60)), "y": coded(rows, (0.1, 0)),
    }  # fmt: skip
    ops = [
        Op("MEAN", ["x", "axes"], ["mean"], "ReducerOptions", {"KeepDims": True}),
        Op("SQUARED_DIFFERENCE", ["x", "mean"], ["sq"]),
        Op("MEAN", ["sq", "axes"], ["var"], "ReducerOptions", {"KeepDims": True}),
        Op("ADD", ["var", "eps"], ["ve"], "AddOptions"),
        Op("RSQRT", ["ve"], ["root"]),
        Op("SUB", ["x", "mean"], ["cen"], "SubOptions"),
        Op("MUL", ["cen", "root"], ["n"], "MulOptions"),
        Op("BATCH_MATMUL", ["n", "n"], ["qk"], "BatchMatMulOptions", {"AdjY": True}),
        Op("SOFTMAX", ["qk"], ["att"], "SoftmaxOptions", {"Beta": 1.0}),
        Op("BATCH_MATMUL", ["att", "n"], ["av"], "BatchMatMulOptions"),
        Op("ELU", ["av"], ["e"]),
        Op("ADD", ["e", "x"], ["y"], "AddOptions"),
    ]
    return write_tflite(path, tensors, ops)


@pytest.mark.parametrize("network", [squeeze_and_excite, attention_block])
def test_small_networks(tmp_path: Path, network: Any):
    path = network(tmp_path / "n.tflite")
    found = check_exact(path, codes_for(path, 20))
    assert not found.missing, str(found)
