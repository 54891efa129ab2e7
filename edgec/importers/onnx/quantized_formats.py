"""Quantized models in other forms than Q/DQ nodes: QONNX, and the QOperator format.

QONNX (Brevitas, qonnx): quantizers of any bits in one node, as Q/DQ nodes and limits.

``Quant(x, scale, zero, bits)`` is ``(clip(round(x / scale + zero), low, high) - zero) * scale``
with the integers that `bits` bits can hold, one fewer below if `narrow`.  Weights become codes
here; activations become a QuantizeLinear of 8 bits whose input is limited to what fewer bits hold,
which changes no number.

Source: QONNX operator documentation (docs/qonnx-custom-ops), Quant and BipolarQuant.

Operators on codes (the QOperator format) as Q/DQ nodes around operators on real numbers.

Both formats state the same scales and codes, so from here on there is one road, and a QOperator
file becomes the very network that the QDQ file of the same quantization becomes.

Sources: ONNX operator documentation (QLinearConv, QLinearMatMul), onnxruntime ContribOperators.md
(the others); the order of inputs there is the order here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.onnx.expansion import FIRST, LAST, Expansion, Rule

DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")
_BYTE, _WORD = 8, 32
_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Quantizer:
    """Scales, zero points and code limits of a quantizer node.

    Attributes:
        scale, zero: float32 and whole numbers, of equal size; one, or one a channel.
        axis: the axis of the channels, counted from the last one, which is -1; None where there is
            one scale.
        low, high: least and greatest code.
        bits, signed: width of a code, and whether codes may be negative.
    """

    scale: Array
    zero: Array
    axis: int | None
    low: int
    high: int
    bits: int
    signed: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type that holds the codes."""
        if self.bits > _BYTE:
            return np.dtype(np.int32)
        return np.dtype(np.int8 if self.signed else np.uint8)

    @property
    def usable_scale(self) -> Array:
        """Scales to compute with: 1 for one that is not positive and finite.

        The node that carries the scale is refused where it is read, in the words of any such file.
        """
        positive = np.isfinite(self.scale) & (self.scale > 0.0)
        return np.where(positive, self.scale, np.float32(1.0))

    @property
    def holds_zero(self) -> bool:
        """The zero points are codes of `dtype`."""
        limits = np.iinfo(self.dtype)
        return bool(np.all((limits.min <= self.zero) & (self.zero <= limits.max)))

    def shaped(self, array: Array, rank: int) -> Array:
        """Parameters that broadcast against a tensor."""
        shape = [1] * rank
        if self.axis is not None:
            shape[self.axis] = -1
        return array.reshape(shape)


def quant(e: Expansion) -> bool:
    """Quant of at most 8 bits (constants 32), rounding to the nearest, scale and bits constant."""
    found = _quantizer(e)
    if found is None or not found.holds_zero:
        return False
    stored = e.array(e.input(0))
    parameters = [
        e.constant(found.scale, "scale"),
        e.constant(found.zero.astype(found.dtype), "zero"),
    ]
    axis: dict[str, Any] = {} if found.axis is None else {"axis": found.axis}
    if stored is not None:
        codes = e.constant(_codes(stored, found), f"{e.input(0)}/codes")
        e.main("DequantizeLinear", [codes, *parameters], e.node.output[0], **axis)
        return True
    if found.bits > _BYTE:
        return False
    x = e.add("QuantizeLinear", [_limited(e, found), *parameters], **axis)
    e.main("DequantizeLinear", [x, *parameters], e.node.output[0], **axis)
    return True


def bipolar(e: Expansion) -> bool:
    """BipolarQuant: the scale, negative for negative numbers; of constants one a channel, too."""
    scale, stored = e.array(e.input(1)), e.array(e.input(0))
    if scale is None or not scale.size:
        return False
    channels = [axis for axis, size in enumerate(scale.shape) if size > 1]
    if len(channels) > 1 or (channels and (stored is None or not _broadcasts(scale.shape, stored))):
        return False
    flat = (-1,) if channels else ()
    axis: dict[str, Any] = {"axis": channels[0] - scale.ndim} if channels else {}
    step = e.constant(np.asarray(scale, np.float32).reshape(flat), "scale")
    zeros = np.zeros(scale.size if channels else (), np.int8)
    parameters = [step, e.constant(zeros, "zero")]
    if stored is not None:
        signs = np.where(stored >= 0.0, 1, -1).astype(np.int8)
        codes = e.constant(signs, f"{e.input(0)}/codes")
    else:
        half = e.constant(np.asarray(_HALF, np.float32), "half")
        # The sign of 0 is 0, and shall be 1.
        sign = e.add("Sign", [e.add("Add", [e.add("Sign", [e.input(0)]), half])])
        codes = e.add("QuantizeLinear", [e.add("Mul", [sign, step]), *parameters])
    e.main("DequantizeLinear", [codes, *parameters], e.node.output[0], **axis)
    return True


def _broadcasts(shape: tuple[int, ...], x: Array) -> bool:
    """Whether parameters of a shape fit a tensor without making it larger."""
    try:
        return np.broadcast_shapes(x.shape, shape) == x.shape
    except ValueError:
        return False


def rounding_mode(e: Expansion, default: bytes) -> bytes:
    """The name of a node's rounding in capitals; empty where the attribute is no text."""
    mode = e.attributes.get("rounding_mode", default)
    return mode.upper() if isinstance(mode, bytes) else b""


def _quantizer(e: Expansion) -> _Quantizer | None:
    """The parameters of a Quant node; None where they are of no form that is known."""
    scale, zero, bits = (e.array(e.input(index)) for index in (1, 2, 3))
    if scale is None or zero is None or bits is None or rounding_mode(e, b"ROUND") != b"ROUND":
        return None
    x = e.array(e.input(0))
    try:
        shape = np.broadcast_shapes(zero.shape, scale.shape)
    except ValueError:
        return None
    if not ((x is None or _broadcasts(shape, x)) and math.prod(shape)):
        return None
    wide, scale = np.broadcast_to(zero, shape), np.broadcast_to(scale, shape)
    channels = [axis for axis, size in enumerate(wide.shape) if size > 1]
    width = float(bits.reshape(-1)[0]) if bits.size == 1 else 0.0
    signed, narrow = (bool(e.attributes.get(key, 0)) for key in ("signed", "narrow"))
    widths = range(2 if signed or narrow else 1, _WORD + 1)
    if len(channels) > 1 or width not in widths or not np.all(wide == np.round(wide)):
        return None
    low = -(1 << (int(width) - 1)) + narrow if signed else 0
    high = (1 << (int(width) - signed)) - 1 - (narrow and not signed)
    flat = (-1,) if channels else ()
    return _Quantizer(
        scale.astype(np.float32).reshape(flat),
        wide.reshape(flat),
        # Parameters broadcast from the last axis on, and may have fewer axes than the tensor.
        channels[0] - wide.ndim if channels else None,
        low,
        high,
        int(width),
        signed,
    )


def _codes(stored: Array, found: _Quantizer) -> Array:
    scale, zero = (found.shaped(array, stored.ndim) for array in (found.usable_scale, found.zero))
    with np.errstate(over="ignore"):  # a tiny scale: infinity becomes the last code
        codes = np.round(stored.astype(np.float32) / scale + zero.astype(np.float32))
    return np.clip(codes, found.low, found.high).astype(found.dtype)


def _limited(e: Expansion, found: _Quantizer) -> str:
    """The node's input, within what the codes can say where these are fewer than 8 bits hold."""
    whole = np.iinfo(found.dtype)
    if (found.low, found.high) == (whole.min, whole.max) or found.axis is not None:
        return e.input(0)
    with np.errstate(over="ignore"):  # a vast scale: no number of float32 is beyond the limit
        ends = [(end - found.zero) * found.usable_scale for end in (found.low, found.high)]
    bounds = [e.constant(np.asarray(end, np.float32), "limit") for end in ends]
    return e.add("Clip", [e.input(0), *bounds])


QONNX: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        (domain, op): rule
        for domain in DOMAINS
        for op, rule in (("Quant", quant), ("IntQuant", quant), ("BipolarQuant", bipolar))
    }
)


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


def _channels_first(e: Expansion) -> tuple[dict[str, Any], Callable[[str], str]]:
    """The attributes that ONNX knows, and the way of images to its layout."""
    attributes = dict(e.attributes)
    if not attributes.pop("channels_last", 0):
        return attributes, lambda x: x
    return attributes, lambda x: e.add("Transpose", [x], perm=FIRST)


def _quantized_last(e: Expansion, y: str, scale: int) -> bool:
    """As `_quantized`, in the layout of the node."""
    if e.attributes.get("channels_last", 0):
        y = e.add("Transpose", [y], perm=LAST)
    return _quantized(e, y, scale)


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
    attributes, first = _channels_first(e)
    x = first(_real(e, 0))
    w = _real(e, 3, **_channel_axis(e, e.input(4), 0))
    inputs = [x, w]
    if e.input(8):
        inputs.append(_bias(e, e.input(8), (e.input(1), e.input(4))))
    return _quantized_last(e, e.main("Conv", inputs, **attributes), 6)


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
        attributes, first = _channels_first(e)
        return _quantized_last(e, e.main(op, [first(_real(e, 0))], **attributes), 3)

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
