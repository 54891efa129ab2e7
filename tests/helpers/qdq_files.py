"""Small quantized (Q/DQ) networks that tests build themselves."""

from __future__ import annotations

import numpy as np
import onnx
from import_models import N, model_of
from onnx import TensorProto

from edgec.base.dtypes import Array

WIDTH = 16
_LAYERS = 3


def dense_qdq(hidden_scale_factor: float = 1.0, bias_zero_point: int = 0) -> onnx.ModelProto:
    """Three dense layers of int8 weights, biases at input scale times weight scale; x [1, 16].

    Args:
        hidden_scale_factor: multiplies the scale of the first layer's output after the biases were
            written, so that the second layer's bias has another scale than it needs.
        bias_zero_point: of the first bias.
    """
    rng = np.random.default_rng(5)
    constants: dict[str, Array] = {"zero": np.int8(0), "x_s": np.float32(0.0217)}
    nodes = [_quantize("x", "x_q", "x_s"), _dequantize("x_q", "x_d", "x_s")]
    scale = 0.0217
    for index in range(_LAYERS):
        w, b, y = f"w{index}", f"b{index}", f"y{index}"
        weight_scale = 0.0113
        real_bias = rng.normal(size=WIDTH)
        constants[w] = rng.integers(-100, 101, (WIDTH, WIDTH)).astype(np.int8)
        constants[f"{w}_s"] = np.float32(weight_scale)
        constants[b] = np.round(real_bias / (scale * weight_scale)).astype(np.int32)
        constants[f"{b}_s"] = np.float32(scale * weight_scale)
        constants[f"{b}_z"] = np.int32(bias_zero_point if index == 0 else 0)
        scale = 0.0471
        constants[f"{y}_s"] = np.float32(scale * (hidden_scale_factor if index == 0 else 1.0))
        x = "x_d" if index == 0 else f"y{index - 1}_d"
        nodes += [
            _dequantize(w, f"{w}_d", f"{w}_s"),
            N("DequantizeLinear", [b, f"{b}_s", f"{b}_z"], [f"{b}_d"]),
            N("Gemm", [x, f"{w}_d", f"{b}_d"], [f"{y}_f"], transB=1),
            _quantize(f"{y}_f", f"{y}_q", f"{y}_s"),
            _dequantize(f"{y}_q", f"{y}_d", f"{y}_s"),
        ]
    nodes[-1].output[0] = "y"
    return model_of(nodes, {"x": (1, WIDTH)}, constants, output_type=TensorProto.FLOAT)


def _quantize(source: str, target: str, scale: str) -> onnx.NodeProto:
    return N("QuantizeLinear", [source, scale, "zero"], [target])


def _dequantize(source: str, target: str, scale: str) -> onnx.NodeProto:
    return N("DequantizeLinear", [source, scale, "zero"], [target])
