"""QONNX (Brevitas, qonnx): quantizers of any bits in one node, as Q/DQ nodes and limits.

``Quant(x, scale, zero, bits)`` is ``(clip(round(x / scale + zero), low, high) - zero) * scale``
with the integers that `bits` bits can hold, one fewer below if `narrow`.  Weights become codes
here; activations become a QuantizeLinear of 8 bits whose input is limited to what fewer bits hold,
which changes no number.

Source: QONNX operator documentation (docs/qonnx-custom-ops), Quant and BipolarQuant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.onnx.expansion import Expansion, Rule

DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")
_BYTE, _WORD = 8, 32
_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Quantizer:
    """What a node says of its codes.

    Attributes:
        scale, zero: float32 and whole numbers, of equal size; one, or one a channel.
        axis: the axis of the channels; None where there is one scale.
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

    def shaped(self, array: Array, rank: int) -> Array:
        """Parameters that broadcast against a tensor."""
        shape = [1] * rank
        if self.axis is not None:
            shape[self.axis] = -1
        return array.reshape(shape)


def quant(e: Expansion) -> bool:
    """Quant of at most 8 bits (constants 32), rounding to the nearest, scale and bits constant."""
    found = _quantizer(e)
    if found is None:
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
    """BipolarQuant: the scale, negative for negative numbers."""
    scale, stored = e.array(e.input(1)), e.array(e.input(0))
    if scale is None or scale.size != 1:
        return False
    step = e.constant(np.asarray(scale, np.float32).reshape(()), "scale")
    parameters = [step, e.constant(np.asarray(0, np.int8), "zero")]
    if stored is not None:
        signs = np.where(stored >= 0.0, 1, -1).astype(np.int8)
        codes = e.constant(signs, f"{e.input(0)}/codes")
    else:
        half = e.constant(np.asarray(_HALF, np.float32), "half")
        # The sign of 0 is 0, and shall be 1.
        sign = e.add("Sign", [e.add("Add", [e.add("Sign", [e.input(0)]), half])])
        codes = e.add("QuantizeLinear", [e.add("Mul", [sign, step]), *parameters])
    e.main("DequantizeLinear", [codes, *parameters], e.node.output[0])
    return True


def _quantizer(e: Expansion) -> _Quantizer | None:
    """The parameters of a Quant node; None where they are of no form that is known."""
    scale, zero, bits = (e.array(e.input(index)) for index in (1, 2, 3))
    mode = e.attributes.get("rounding_mode", b"ROUND")
    if scale is None or zero is None or bits is None or mode.upper() != b"ROUND":
        return None
    wide = np.broadcast_to(zero, np.broadcast_shapes(zero.shape, scale.shape))
    scale = np.broadcast_to(scale, wide.shape)
    channels = [axis for axis, size in enumerate(wide.shape) if size > 1]
    width = float(bits.reshape(-1)[0]) if bits.size == 1 else 0.0
    if len(channels) > 1 or width not in range(2, _WORD + 1) or not np.all(wide == np.round(wide)):
        return None
    signed, narrow = (bool(e.attributes.get(key, 0)) for key in ("signed", "narrow"))
    low = -(1 << (int(width) - 1)) + narrow if signed else 0
    high = (1 << (int(width) - signed)) - 1 - (narrow and not signed)
    shape = (-1,) if channels else ()
    return _Quantizer(
        scale.astype(np.float32).reshape(shape),
        wide.reshape(shape),
        channels[0] if channels else None,
        low,
        high,
        int(width),
        signed,
    )


def _codes(stored: Array, found: _Quantizer) -> Array:
    scale, zero = (found.shaped(array, stored.ndim) for array in (found.scale, found.zero))
    codes = np.round(stored.astype(np.float32) / scale + zero.astype(np.float32))
    return np.clip(codes, found.low, found.high).astype(found.dtype)


def _limited(e: Expansion, found: _Quantizer) -> str:
    """The node's input, within what the codes can say where these are fewer than 8 bits hold."""
    whole = np.iinfo(found.dtype)
    if (found.low, found.high) == (whole.min, whole.max) or found.axis is not None:
        return e.input(0)
    ends = [(end - found.zero) * found.scale for end in (found.low, found.high)]
    bounds = [e.constant(np.asarray(end, np.float32), "limit") for end in ends]
    return e.add("Clip", [e.input(0), *bounds])


QONNX: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        (domain, op): rule
        for domain in DOMAINS
        for op, rule in (("Quant", quant), ("IntQuant", quant), ("BipolarQuant", bipolar))
    }
)
