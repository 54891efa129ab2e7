"""Small networks as TensorFlow Lite files, in float and in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tflite
from import_models import N, model_of, save
from onnx import TensorProto
from tflite_models import Op, T, const, write_tflite

INPUT = (1, 12, 12, 3)
CHANNELS, CLASSES = 32, 4
_RELU6 = tflite.ActivationFunctionType.RELU6


def float_network(path: Path) -> Path:
    """Convolution, depthwise convolution, mean, fully connected, softmax; named by a signature."""
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> T:
        return const((0.4 * rng.normal(size=shape)).astype(np.float32))

    tensors = {
        "serving_default_x:0": T(INPUT, signature=(-1, *INPUT[1:])),
        "w1": weights(CHANNELS, 3, 3, 3), "b1": weights(CHANNELS), "c1": T((1, 12, 12, CHANNELS)),
        "w2": weights(1, 3, 3, CHANNELS), "b2": weights(CHANNELS), "c2": T((1, 6, 6, CHANNELS)),
        "axes": const(np.array([1, 2], np.int32)), "mean": T((1, CHANNELS)),
        "w3": weights(CLASSES, CHANNELS), "b3": weights(CLASSES), "logits": T((1, CLASSES)),
        "StatefulPartitionedCall:0": T((1, CLASSES), signature=(-1, CLASSES)),
    }  # fmt: skip
    first, last = next(iter(tensors)), list(tensors)[-1]
    step = {"StrideH": 1, "StrideW": 1, "FusedActivationFunction": _RELU6}
    halving = {**step, "StrideH": 2, "StrideW": 2, "DepthMultiplier": 1}
    ops = [
        Op("CONV_2D", [first, "w1", "b1"], ["c1"], "Conv2DOptions", step),
        Op("DEPTHWISE_CONV_2D", ["c1", "w2", "b2"], ["c2"], "DepthwiseConv2DOptions", halving),
        Op("MEAN", ["c2", "axes"], ["mean"], "ReducerOptions"),
        Op("FULLY_CONNECTED", ["mean", "w3", "b3"], ["logits"], "FullyConnectedOptions"),
        Op("SOFTMAX", ["logits"], [last], "SoftmaxOptions", {"Beta": 1.0}),
    ]
    names = {"image": first, "scores": last}
    return write_tflite(path, tensors, ops, [first], [last], signature=names)


X_SCALE, X_ZERO, Y_SCALE = np.float32(0.05), 3, np.float32(6 / 255)
_RNG = np.random.default_rng(5)
W_SCALES = _RNG.uniform(0.01, 0.03, 5).astype(np.float32)
_W = _RNG.integers(-127, 128, (5, 3, 3, 4)).astype(np.int8)
_BIAS = _RNG.integers(-3000, 3000, 5).astype(np.int32)


def int8_network(path: Path) -> Path:
    """A convolution with Relu6 and weights per channel, a mean and uint8 at the end."""
    y_scale = float(Y_SCALE)
    tensors = {
        "x": T((1, 6, 6, 4), dtype="int8", scale=[float(X_SCALE)], zero=[X_ZERO]),
        "w": const(_W, W_SCALES.tolist()),
        "b": const(_BIAS, (X_SCALE * W_SCALES).tolist()),
        "c": T((1, 6, 6, 5), dtype="int8", scale=[y_scale], zero=[-128]),
        "a": const(np.array([1, 2], np.int32)),
        "m": T((1, 5), dtype="int8", scale=[y_scale], zero=[-128]),
        "y": T((1, 5), dtype="uint8", scale=[y_scale], zero=[0]),
    }
    conv = {"StrideH": 1, "StrideW": 1, "FusedActivationFunction": _RELU6}
    ops = [
        Op("CONV_2D", ["x", "w", "b"], ["c"], "Conv2DOptions", conv),
        Op("MEAN", ["c", "a"], ["m"], "ReducerOptions"),
        Op("QUANTIZE", ["m"], ["y"]),
    ]
    return write_tflite(path, tensors, ops)


def qdq_network(folder: Path) -> Path:
    """`int8_network` as exporters write it to ONNX."""
    constants = {
        "xs": X_SCALE, "xz": np.int8(X_ZERO), "ys": Y_SCALE, "yz": np.int8(-128), "uz": np.uint8(0),
        "w": _W.transpose(0, 3, 1, 2), "ws": W_SCALES, "wz": np.zeros(5, np.int8),
        "b": _BIAS, "bs": X_SCALE * W_SCALES, "bz": np.zeros(5, np.int32),
        "low": np.float32(0), "high": np.float32(6),
    }  # fmt: skip
    nodes = [
        N("DequantizeLinear", ["x", "xs", "xz"], ["xr"]),
        N("Transpose", ["xr"], ["xt"], perm=[0, 3, 1, 2]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wr"], axis=0),
        N("DequantizeLinear", ["b", "bs", "bz"], ["br"], axis=0),
        N("Conv", ["xt", "wr", "br"], ["c"], pads=[1, 1, 1, 1]),
        N("Clip", ["c", "low", "high"], ["r"]),
        N("QuantizeLinear", ["r", "ys", "yz"], ["cq"]),
        N("DequantizeLinear", ["cq", "ys", "yz"], ["cr"]),
        N("ReduceMean", ["cr"], ["mean"], axes=[2, 3], keepdims=0),
        N("QuantizeLinear", ["mean", "ys", "yz"], ["mq"]),
        N("DequantizeLinear", ["mq", "ys", "yz"], ["mr"]),
        N("QuantizeLinear", ["mr", "ys", "uz"], ["y"]),
    ]
    arrays = {name: np.asarray(array) for name, array in constants.items()}
    types = {"input_type": TensorProto.INT8, "output_type": TensorProto.UINT8}
    return save(model_of(nodes, {"x": (1, 6, 6, 4)}, arrays, **types), folder)
