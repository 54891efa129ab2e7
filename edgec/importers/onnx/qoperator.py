"""Operators on codes (the QOperator format) as Q/DQ nodes around operators on real numbers.

Both formats state the same scales and codes, so from here on there is one road, and a QOperator
file becomes the very network that the QDQ file of the same quantization becomes.

Sources: ONNX operator documentation (QLinearConv, QLinearMatMul), onnxruntime ContribOperators.md
(the others); the order of inputs there is the order here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.importers.onnx.expansion import Expansion, Rule

_CONTRIB = "com.microsoft"
_LAST_FLATTENED = 12
"""The last opset whose Softmax joins all axes from `axis` on."""
_AXES_AS_INPUT = 18


def _real(e: Expansion, first: int, **attributes: Any) -> str:
    """The real numbers of the codes that inputs `first` to `first + 2` give: x, scale, zero."""
    inputs = [e.input(first + i) for i in range(3)]
    return e.add("DequantizeLinear", inputs, **attributes)


def _quantized(e: Expansion, y: str, scale: int) -> bool:
    """Make the node's output the codes of y; inputs `scale` and `scale + 1` are its parameters."""
    e.add("QuantizeLinear", [y, e.input(scale), e.input(scale + 1)], e.node.output[0])
    return True


def _channel_axis(e: Expansion, scale: str, axis: int) -> dict[str, Any]:
    """The axis of scales of channels; none where there is one scale."""
    found = e.array(scale)
    return {} if found is not None and found.size == 1 else {"axis": axis}


def _bias(e: Expansion, codes: str, scales: Sequence[str], alpha: float = 1.0) -> str:
    """The real bias of codes of the scale of the products."""
    scale = e.add("Mul", list(scales))
    if alpha != 1.0:
        scale = e.add("Mul", [scale, e.constant(np.asarray(alpha, np.float32), "alpha")])
    return e.add("DequantizeLinear", [codes, scale], **_channel_axis(e, scales[1], 0))


def conv(e: Expansion) -> bool:
    """QLinearConv: x, w, y with scale and zero point each; B int32 of scale sx * sw."""
    x = _real(e, 0)
    w = _real(e, 3, **_channel_axis(e, e.input(4), 0))
    inputs = [x, w]
    if e.input(8):
        inputs.append(_bias(e, e.input(8), (e.input(1), e.input(4))))
    return _quantized(e, e.main("Conv", inputs, **e.attributes), 6)


def matmul(e: Expansion) -> bool:
    """QLinearMatMul: a, b, y with scale and zero point each."""
    a, b = _real(e, 0), _real(e, 3, **_channel_axis(e, e.input(4), -1))
    return _quantized(e, e.main("MatMul", [a, b]), 6)


def gemm(e: Expansion) -> bool:
    """QGemm: A, B with scale and zero point each; C int32; the output's are optional."""
    flipped = e.attributes.get("transB", 0)
    a, b = _real(e, 0), _real(e, 3, **_channel_axis(e, e.input(4), 0 if flipped else 1))
    inputs = [a, b]
    if e.input(6):
        alpha = float(e.attributes.get("alpha", 1.0))
        inputs.append(_bias(e, e.input(6), (e.input(1), e.input(4)), alpha))
    if not e.input(7):
        e.main("Gemm", inputs, e.node.output[0], **e.attributes)
        return True
    return _quantized(e, e.main("Gemm", inputs, **e.attributes), 7)


def _two(op: str) -> Rule:
    """The rule of an operator on two tensors: A, B, C with scale and zero point each."""
    return lambda e: _quantized(e, e.main(op, [_real(e, 0), _real(e, 3)]), 6)


def _one(op: str) -> Rule:
    """The rule of an operator on one tensor: X, Y with scale and zero point each."""

    def rule(e: Expansion) -> bool:
        kept = {name: value for name, value in e.attributes.items() if name != "channels_last"}
        if e.attributes.get("channels_last", 0):
            return False
        return _quantized(e, e.main(op, [_real(e, 0)], **kept), 3)

    return rule


def softmax(e: Expansion) -> bool:
    """QLinearSoftmax: X, Y with scale and zero point each; `opset` says which Softmax it was."""
    axis, own = e.attributes.get("axis", -1), e.attributes.get("opset", e.opset)
    if axis != -1 and (own > _LAST_FLATTENED) != (e.opset > _LAST_FLATTENED):
        return False
    return _quantized(e, e.main("Softmax", [_real(e, 0)], axis=axis), 3)


def reduce_mean(e: Expansion) -> bool:
    """QLinearReduceMean: data, reduced with scale and zero point each."""
    inputs, attributes = [_real(e, 0)], dict(e.attributes)
    if e.opset >= _AXES_AS_INPUT and "axes" in attributes:
        inputs.append(e.constant(np.asarray(attributes.pop("axes"), np.int64), "axes"))
    return _quantized(e, e.main("ReduceMean", inputs, **attributes), 3)


def concat(e: Expansion) -> bool:
    """QLinearConcat: scale and zero point of Y, then each X with its own."""
    parts = [_real(e, first) for first in range(2, len(e.node.input), 3)]
    return _quantized(e, e.main("Concat", parts, **e.attributes), 0)


def where(e: Expansion) -> bool:
    """QLinearWhere: the condition; X, Y, Z with scale and zero point each."""
    return _quantized(e, e.main("Where", [e.input(0), _real(e, 1), _real(e, 4)]), 7)


def clip(e: Expansion) -> bool:
    """Clip of codes (QCDQ: fewer bits than the codes have): the same limits of real numbers."""
    made = e.producer(e.input(0))
    if made is None or made.op_type != "QuantizeLinear" or e.array(made.input[0]) is not None:
        return False  # of real numbers, or of a constant, which is computed at import
    scale, zero = (e.array(name) for name in made.input[1:3])
    if scale is None or zero is None or scale.size != 1:
        return False
    limits = []
    for index in (1, 2):
        bound = e.array(e.input(index))
        if bound is None:
            return False
        real = (bound.astype(np.float32) - zero.astype(np.float32)) * scale
        limits.append(e.constant(real.reshape(()), "limit"))
    parameters = list(made.input[1:3])
    x = e.add("DequantizeLinear", [e.input(0), *parameters])
    limited = e.main("Clip", [x, *limits])
    e.add("QuantizeLinear", [limited, *parameters], e.node.output[0])
    return True


def _as_standard(e: Expansion) -> bool:
    """QuantizeLinear and DequantizeLinear, whose operands ONNX knows from later opsets on."""
    e.main(e.node.op_type, list(e.node.input), e.node.output[0], **e.attributes)
    return True


QOPERATORS: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        ("", "QLinearConv"): conv,
        ("", "QLinearMatMul"): matmul,
        ("", "Clip"): clip,
        **{
            (_CONTRIB, op): rule
            for op, rule in {
                "QGemm": gemm,
                "QLinearAdd": _two("Add"),
                "QLinearMul": _two("Mul"),
                "QLinearAveragePool": _one("AveragePool"),
                "QLinearGlobalAveragePool": _one("GlobalAveragePool"),
                "QLinearConcat": concat,
                "QLinearSigmoid": _one("Sigmoid"),
                "QLinearLeakyRelu": _one("LeakyRelu"),
                "QLinearReduceMean": reduce_mean,
                "QLinearSoftmax": softmax,
                "QLinearWhere": where,
                "QLinearConv": conv,
                "QuantizeLinear": _as_standard,
                "DequantizeLinear": _as_standard,
            }.items()
        },
    }
)
