"""Oracle kernel of `qops_transformer.QAttention`; every step as it is defined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    round_half_up,
    saturate,
)
from edgec.interp.kernels_np_norm import bit_length
from edgec.interp.operands import Operand, rshr32, within32
from edgec.ir import qops_transformer as qt

_SEGMENT_BITS = 6
_SEGMENTS = 1 << (qt.DISTANCE_BITS - _SEGMENT_BITS)


def exp_table() -> Array:
    """``round(32767 * 2**(-i/32))`` for i = 0..32; int64 [33]."""
    return round_half_up(INT16_MAX * 2.0 ** (-np.arange(_SEGMENTS + 1) / _SEGMENTS))


def attention(attrs: qt.QAttention, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QAttention`: q, k, v int8, token-major; int8 [..., N, heads * value_width]."""
    q, k, v = (operand.array.astype(np.float64) for operand in inputs[:3])
    heads = inputs[3].array.astype(np.int64)
    keys = inputs[4].array != 0 if attrs.keys else np.True_
    outputs = []
    for head, numbers in enumerate(heads):
        q_h = _columns(q, attrs.q_start, attrs.width, head)
        k_h = _columns(k, attrs.k_start, attrs.width, head)
        v_h = _columns(v, attrs.v_start, attrs.value_width, head)
        logits = within32(q_h @ k_h.swapaxes(-1, -2))
        if attrs.bias:
            logits = within32(logits + _bias(inputs, head, logits.shape))
        valid = np.broadcast_to(np.expand_dims(keys, -2) if attrs.keys else keys, logits.shape)
        weights = exponentials(logits, valid, int(numbers[0]), int(numbers[1]), attrs.exp_bits)
        weights = narrowed(weights) if attrs.narrowed else weights
        sums = within32(weights.astype(np.float64) @ v_h)
        outputs.append(normalised(sums, weights, int(numbers[2]), int(numbers[3])))
    return np.concatenate(outputs, axis=-1)


def exponentials(logits: Array, valid: Array, multiplier: int, limit: int, bits: int) -> Array:
    """E of `qt.QAttention`.

    Args:
        logits: int64 [..., M].
        valid: bool [..., M]: the keys that take part.
        multiplier: distance_multiplier of the head.
        limit: distance_limit of the head.
        bits: exp_bits.

    Returns:
        int64 [..., M]; 0 for the keys that take no part.
    """
    table = exp_table()
    highest = np.where(valid, logits, np.iinfo(np.int64).min).max(axis=-1, keepdims=True)
    distance = np.where(valid, np.minimum(within32(np.where(valid, highest - logits, 0)), limit), 0)
    octaves = rshr32(distance * multiplier, qt.DISTANCE_SHIFT)
    fraction = octaves & ((1 << qt.DISTANCE_BITS) - 1)
    index, rest = fraction >> _SEGMENT_BITS, fraction & ((1 << _SEGMENT_BITS) - 1)
    chord = rshr32((table[index] - table[index + 1]) * rest, _SEGMENT_BITS)
    exact = rshr32(table[index] - chord, (octaves >> qt.DISTANCE_BITS) + 15 - bits)
    return np.where(valid, exact, 0)


def narrowed(weights: Array) -> Array:
    """E of a row of `qt.QAttention` after it has lost the bits that its sum has too many."""
    total = within32(weights.sum(axis=-1, keepdims=True))
    excess = bit_length(total + qt.SUM_MARGIN) - qt.SUM_BITS
    return rshr32(weights, np.maximum(excess, 0))


def normalised(sums: Array, weights: Array, numerator: int, output_shift: int) -> Array:
    """The y of `qt.QAttention` from A int64 [..., E] and E int64 [..., M]; int8 [..., E]."""
    total = within32(weights.sum(axis=-1, keepdims=True))
    exponent = np.maximum(bit_length(total) - 1, 0)
    mantissa = np.where(
        exponent >= 15, total >> np.maximum(exponent - 15, 0), total << np.maximum(15 - exponent, 0)
    )
    divisor = np.maximum(mantissa, 1)
    reciprocal = np.where(total > 0, (numerator + divisor // 2) // divisor, 0)
    shift = np.where(total > 0, exponent - 15 + output_shift, 0)
    narrow = saturate(rshr32(sums, shift), INT16_MIN, INT16_MAX)
    y = rshr32(within32(narrow * reciprocal), qt.ATTENTION_SHIFT)
    return saturate(y, qt.ATTENTION_MIN, INT8_MAX).astype(np.int8)


def _bias(inputs: Sequence[Operand], head: int, shape: tuple[int, ...]) -> Array:
    """The summand of a head's logits of a shape [..., N, M], int64, broadcasts to it."""
    steps, places = (operand.array for operand in inputs[-2:])
    found = steps[head].astype(np.int64)[places]
    return np.asarray(found[0] if len(found) == 1 else found.reshape(shape))


def softmax(attrs: qt.QSoftmax16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QSoftmax16x15`: int8, same shape."""
    x = inputs[0].array.astype(np.int64)
    numbers = attrs.distance_multiplier, attrs.distance_limit, attrs.exp_bits
    weights = exponentials(x, np.ones_like(x, np.bool_), *numbers)
    total = within32(weights.sum(axis=-1, keepdims=True))
    exponent = bit_length(total) - 1
    divisor = np.where(
        exponent >= 15, total >> np.maximum(exponent - 15, 0), total << np.maximum(15 - exponent, 0)
    )
    reciprocal = (2**30 + divisor // 2) // divisor
    y = rshr32(within32(weights * reciprocal), exponent + 7) + INT8_MIN
    return np.asarray(np.minimum(y, INT8_MAX).astype(np.int8))


def _columns(tensor: Array, start: int, width: int, head: int) -> Array:
    first = start + head * width
    return np.asarray(tensor[..., first : first + width])
