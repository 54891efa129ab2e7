"""Oracle kernels of the operators that work element by element or along the last axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import requantize, rshr
from edgec.interp.operands import Operand, accumulators, int8_clamped
from edgec.ir import qops


def add(attrs: qops.QAdd, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QAdd`: int8, broadcast."""
    return add_codes(attrs.params, inputs[0].array, inputs[1].array)


def add_codes(params: qops.AddParams, a: Array, b: Array) -> Array:
    """`qops.AddParams` of two int8 arrays, broadcast; int8."""
    a_term = (a.astype(np.int64) - params.a_zero_point) * params.a_multiplier
    b_term = (b.astype(np.int64) - params.b_zero_point) * params.b_multiplier
    scaled = rshr(accumulators(a_term + b_term), params.shift)
    return int8_clamped(params.y_zero_point + scaled, params.act_min, params.act_max)


def mul(attrs: qops.QMul, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QMul`: int8, broadcast."""
    product = inputs[0].centred * inputs[1].centred
    scaled = requantize(product, attrs.multiplier, attrs.shift)
    return int8_clamped(y_zero_point + scaled, attrs.act_min, attrs.act_max)


def lut(attrs: qops.QLut, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QLut`: int8, same shape."""
    return np.asarray(inputs[1].array[inputs[0].array.astype(np.int64) + 128])


def prelu(attrs: qops.QPRelu, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QPRelu`: x int8 [..., C]; int8, same shape."""
    x = inputs[0].centred
    multiplier = np.where(x >= 0, attrs.multiplier, inputs[1].array)
    scaled = requantize(x, multiplier, attrs.shift)
    return int8_clamped(y_zero_point + scaled, attrs.act_min, attrs.act_max)


def softmax(attrs: qops.QSoftmax, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QSoftmax`: x int8 [..., N]; int8, same shape."""
    x = inputs[0].array.astype(np.int64)
    exponentials = inputs[1].array.astype(np.int64)[x.max(axis=-1, keepdims=True) - x]
    total = accumulators(exponentials.sum(axis=-1, keepdims=True))
    divisor = np.maximum(requantize(total, attrs.multiplier, attrs.shift), 1)
    quotient = (exponentials + divisor // 2) // divisor
    return int8_clamped(y_zero_point + quotient, attrs.act_min, attrs.act_max)
