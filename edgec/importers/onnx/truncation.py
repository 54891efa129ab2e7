"""QONNX's Trunc, which takes low bits of codes away, as FINN writes it after average pools.

``Trunc(x, scale, 0, in_bits, out_bits)`` is ``round(x / scale / 2**(in_bits - out_bits)) * scale``
in version 1 of the domain; the last rounding is Floor, Ceil or Round.  In version 2 the output has
a scale of its own, whose ratio to the first one, rounded to a power of two, is the divisor, and
codes are limited to `out_bits`.

Of codes of 8 bits this is a table.  Sums of codes, as ``Mul(AveragePool(x), size)`` gives them,
have more bits than an input of a table; they become a convolution with equal weights: for whole u
the Floor of u / d is the nearest number to (u - (d - 1) / 2) / d, which is never a tie, and the
Ceil that to (u + (d - 1) / 2) / d.

Source: QONNX operator documentation (docs/qonnx-custom-ops), Trunc of versions 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from onnx import helper

from edgec.base.dtypes import Array
from edgec.importers.onnx.expansion import Expansion, Rule
from edgec.importers.onnx.quantized_formats import DOMAINS, rounding_mode

_BYTE = 8
_MODES = {b"FLOOR": "Floor", b"CEIL": "Ceil", b"ROUND": "Round"}
_TOLERANCE = 1e-5
"""Scales of a file that are equal up to this part are the same; files hold them as float32."""
_EQUAL_WEIGHT = 2
"""Code of each weight, so that half a code of the input is a whole code of the bias."""


@dataclass(frozen=True, slots=True)
class _Truncation:
    """Parameters of a Trunc node.

    Attributes:
        scale: what a code of the input means.
        shift: bits that go away.
        out_scale: what a code of the output means.
        mode: ONNX operator of the rounding.
        limits: least and greatest code of the output; None where the node has none.
    """

    scale: float
    shift: int
    out_scale: float
    mode: str
    limits: tuple[int, int] | None


@dataclass(frozen=True, slots=True, eq=False)
class _Codes:
    """Codes that a DequantizeLinear makes real, around 0.

    Attributes:
        real: name of the real numbers.
        scale: what a code means.
        dtype: int8 or uint8.
    """

    real: str
    scale: float
    dtype: np.dtype[Any]


def trunc(e: Expansion) -> bool:
    """Trunc around 0 to at most 8 bits, of codes or of the sums of an average pool."""
    found = _truncation(e)
    if found is None:
        return False
    codes = _codes(e, e.input(0))
    if codes is not None:
        return _same(codes.scale, found.scale) and _table(e, found, codes)
    return _pooled(e, found)


def _truncation(e: Expansion) -> _Truncation | None:
    """The parameters of the node; None where they are of no form that is known."""
    # Version 2 has the scale of the output after the bits of the input; its first files had a zero
    # point there, too.
    own = len(e.node.input)
    places = {5: (1, 2, 3, 4), 6: (1, 2, 3, 4, 5), 7: (1, 2, 3, 4, 5, 6)}.get(own)
    numbers = [_number(e, e.input(place)) for place in places or ()]
    mode = _MODES.get(rounding_mode(e, b"FLOOR"))
    if places is None or mode is None or None in numbers:
        return None
    scale, zero, in_bits, *rest = (float(number or 0.0) for number in numbers)
    out_bits = rest[-1]
    whole = all(bits == round(bits) for bits in (in_bits, out_bits))
    if not (scale > 0.0 and whole and 1 <= out_bits <= _BYTE) or zero or (own == 7 and rest[1]):
        return None
    if own == 5:
        shift = round(in_bits - out_bits)
        return _Truncation(scale, shift, scale, mode, None) if 0 <= shift < 16 else None
    if not rest[0] > 0.0 or not 0 <= (shift := round(math.log2(rest[0] / scale))) < 16:
        return None
    signed = bool(e.attributes.get("signed", 1))
    narrow, half = bool(e.attributes.get("narrow", 0)), 1 << (round(out_bits) - signed)
    limits = (-half + narrow, half - 1) if signed else (0, half - 1 - narrow)
    return _Truncation(scale, shift, rest[0], mode, limits)


def _table(e: Expansion, found: _Truncation, codes: _Codes) -> bool:
    """Write the definition on codes, which becomes a table."""
    steps = e.add("Round", [_times(e, codes.real, 1.0 / found.scale)])
    cut = e.add(found.mode, [_times(e, steps, 0.5**found.shift)])
    real = _times(e, cut, found.out_scale)
    return _finish(e, real, found, codes.dtype)


def _pooled(e: Expansion, found: _Truncation) -> bool:
    """Write sums as a convolution of the codes that an average pool reads."""
    name, factor = e.input(0), 1.0
    made = e.producer(name)
    if made is not None and made.op_type == "Mul":
        for own, other in (tuple(made.input), tuple(made.input)[::-1]):
            number = _number(e, other)
            if number is not None:
                name, factor = own, number
                break
        made = e.producer(name)
    window = None if made is None else _window(e, made)
    if made is None or window is None or found.mode == "Round":
        return False
    channels, size, strides = window
    codes = _codes(e, made.input[0])
    count = math.prod(size)
    # Sums of codes are what the node truncates, and fit the codes of the output.
    whole = codes is not None and _same(codes.scale * factor / count, found.scale)
    if codes is None or not whole or (found.limits is None and count > 1 << found.shift):
        return False
    step = found.out_scale / (_EQUAL_WEIGHT << found.shift) / codes.scale
    half = (1 << found.shift) - 1
    weight = np.full((channels, 1, *size), _EQUAL_WEIGHT, np.int8)
    bias = np.full(channels, -half if found.mode == "Floor" else half, np.int32)
    w = _real_constant(e, weight, step, np.int8)
    b = _real_constant(e, bias, float(np.float32(codes.scale) * np.float32(step)), np.int32)
    y = e.main(
        "Conv", [codes.real, w, b], kernel_shape=list(size), strides=list(strides), group=channels
    )
    return _finish(e, y, found, codes.dtype)


def _window(
    e: Expansion, pool: onnx.NodeProto
) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    """Channels, window and strides of an average pool of images without borders."""
    shape = e.shape(pool.input[0])
    if shape is None or len(shape) != 4 or not shape[1]:
        return None
    if pool.op_type == "GlobalAveragePool":
        height, width = shape[2:]
        return (shape[1], (height, width), (1, 1)) if height and width else None
    if pool.op_type != "AveragePool":
        return None
    attributes = {a.name: helper.get_attribute_value(a) for a in pool.attribute}
    size = tuple(attributes.get("kernel_shape", ()))
    plain = (
        len(size) == 2
        and not any(attributes.get("pads", ()))
        and not attributes.get("ceil_mode", 0)
        and attributes.get("auto_pad", b"NOTSET") in (b"NOTSET", b"VALID")
        and all(d == 1 for d in attributes.get("dilations", ()))
    )
    return (shape[1], size, tuple(attributes.get("strides", (1, 1)))) if plain else None


def _finish(e: Expansion, real: str, found: _Truncation, dtype: np.dtype[Any]) -> bool:
    """The codes of the output, within its limits, and the real numbers that they stand for."""
    if found.limits is not None:
        dtype = np.dtype(np.int8 if found.limits[0] else np.uint8)
        whole = np.iinfo(dtype)
        if found.limits != (whole.min, whole.max):
            ends = [
                e.constant(np.asarray(end * found.out_scale, np.float32), "limit")
                for end in found.limits
            ]
            real = e.add("Clip", [real, *ends])
    parameters = [
        e.constant(np.asarray(found.out_scale, np.float32), "scale"),
        e.constant(np.zeros((), dtype), "zero"),
    ]
    codes = e.add("QuantizeLinear", [real, *parameters])
    e.add("DequantizeLinear", [codes, *parameters], e.node.output[0])
    return True


def _codes(e: Expansion, name: str) -> _Codes | None:
    """The codes of 8 bits around 0 that a tensor stands for; None for any other tensor."""
    made = e.producer(name)
    if made is None or made.op_type != "DequantizeLinear" or len(made.input) != 3:
        return None
    scale, zero = _number(e, made.input[1]), e.array(made.input[2])
    bytes_ = zero is not None and zero.dtype in (np.int8, np.uint8) and not zero.any()
    return _Codes(name, scale, zero.dtype) if scale and zero is not None and bytes_ else None


def _number(e: Expansion, name: str) -> float | None:
    """A stored tensor of one finite number."""
    array: Array | None = e.array(name)
    if array is None or array.size != 1 or not np.isfinite(number := float(array.reshape(-1)[0])):
        return None
    return number


def _times(e: Expansion, x: str, factor: float) -> str:
    return e.add("Mul", [x, e.constant(np.asarray(factor, np.float32), "factor")])


def _real_constant(e: Expansion, codes: Array, scale: float, dtype: type[Any]) -> str:
    """Codes of one scale as real numbers."""
    parameters = [
        e.constant(np.asarray(scale, np.float32), "scale"),
        e.constant(np.zeros((), dtype), "zero"),
    ]
    return e.add("DequantizeLinear", [e.constant(codes, "codes"), *parameters])


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_TOLERANCE)


TRUNCATION: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {(domain, "Trunc"): trunc for domain in DOMAINS}
)
"""Rules for a model whose QONNX quantizers are Q/DQ nodes already, so that shapes are known."""
