"""Oracle kernels of the operators that end in `qops_transformer.Rescale16x15`, and of the stream.

Every intermediate is checked to lie within +-(2^31 - 1).  Matrix products are taken in float64,
which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN, saturate
from edgec.interp.kernels_np_conv import conv_sums
from edgec.interp.operands import Operand, int8_clamped, rshr32, within32
from edgec.ir import qops_transformer as qt

_TABLE_MIDDLE = qt.TABLE_SIZE // 2


def rescaled(
    output: qt.Rescale16x15,
    acc: Array,
    multiplier: Array | int,
    residual: Array | int = 0,
    more: Array | int = 0,
) -> Array:
    """`qt.Rescale16x15` of accumulators, a residual added before the bounds.

    Args:
        output: the numbers.
        acc: int64, or float64 whole numbers, any shape.
        multiplier: broadcast against `acc`.
        residual: int8 or int16, broadcast against `acc`.
        more: added to the last shift, broadcast against `acc`.

    Returns:
        int8 or int16 as `output` says (int16 for table indices), the shape of `acc`.

    Raises:
        InternalError: an intermediate does not fit 32 bits.
    """
    narrow = saturate(rshr32(within32(acc), output.pre_shift), INT16_MIN, INT16_MAX)
    scaled = rshr32(narrow * np.asarray(multiplier, np.int64), output.shift + more)
    return saturate(scaled + np.asarray(residual, np.int64), output.low, output.high)


def gemm(attrs: qt.QGemm16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QGemm16x15`: x int8 [..., K]; int8 or int16 [..., N]."""
    x, weight = (operand.array.astype(np.float64) for operand in inputs[:2])
    return _finished(attrs, x @ weight.T, inputs[2:])


def conv(attrs: qt.QConv16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QConv16x15`: x int8 [N, H, W, I]; int8 or int16 [N, OH, OW, O]."""
    return _finished(attrs, conv_sums(attrs, inputs[0].centred, inputs[1].array), inputs[2:])


def _finished(attrs: qt.QGemm16x15 | qt.QConv16x15, total: Array, rest: Sequence[Operand]) -> Array:
    """What follows the sums: bias, requantization, then table or residual."""
    bias, multiplier = rest[0].array, rest[1].array
    acc = within32(total) + bias
    if attrs.table:
        index = rescaled(attrs.output, acc, multiplier)
        return np.asarray(rest[2].array[index + _TABLE_MIDDLE])
    residual = rest[2].array if attrs.residual else 0
    return rescaled(attrs.output, acc, multiplier, residual).astype(attrs.output.dtype.numpy)


def matmul(attrs: qt.QMatMul16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QMatMul16x15`: int8 [..., M, K] and [..., K, N]; int8 or int16 [..., M, N]."""
    a, b = (operand.centred.astype(np.float64) for operand in inputs)
    a = a.swapaxes(-1, -2) if attrs.transpose_a else a
    b = b.swapaxes(-1, -2) if attrs.transpose_b else b
    return _one_multiplier(attrs, a @ b)


def mul(attrs: qt.QMul16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QMul16x15`: int8, broadcast."""
    return _one_multiplier(attrs, inputs[0].centred * inputs[1].centred)


def reduce(attrs: qt.QReduce16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QReduce16x15`: int8 or int16, `attrs.axes` gone or of length 1."""
    total = inputs[0].centred.sum(axis=attrs.axes, keepdims=attrs.keepdims)
    return _one_multiplier(attrs, np.asarray(total))


def rescale(attrs: qt.QRescale16x15, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QRescale16x15`: int8 or int16, same shape."""
    x = inputs[0].array.astype(np.int64)
    if not (attrs.before or attrs.after):
        return _one_multiplier(attrs, x)
    shifts = inputs[1].array.astype(np.int64)
    acc = (x << shifts if attrs.before else x) + attrs.bias
    y = rescaled(attrs.output, acc, attrs.multiplier, more=shifts if attrs.after else 0)
    return y.astype(attrs.output.dtype.numpy)


def _one_multiplier(
    attrs: qt.QMatMul16x15 | qt.QMul16x15 | qt.QReduce16x15 | qt.QRescale16x15, total: Array
) -> Array:
    acc = within32(total) + attrs.bias
    return rescaled(attrs.output, acc, attrs.multiplier).astype(attrs.output.dtype.numpy)


def add16(attrs: qt.QAdd16, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QAdd16`: int16 or int8, broadcast."""
    total = inputs[0].array.astype(np.int64) + inputs[1].array
    return _of_stream(attrs.dtype, total)


def _of_stream(dtype: DType, values: Array) -> Array:
    """Values limited to the codes of a stream."""
    if dtype is DType.INT8:
        return int8_clamped(values, -INT8_MAX, INT8_MAX)
    return saturate(values, INT16_MIN, INT16_MAX).astype(np.int16)


def embedding(attrs: qt.QEmbedding, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QEmbedding`: ids int32 [...]; int16 or int8 [..., C]."""
    ids, table = inputs[0].array, inputs[1].array
    rows = table[np.clip(ids, 0, len(table) - 1)].astype(np.int64)
    return _of_stream(attrs.dtype, rows * attrs.multiplier)


def is_equal(attrs: qt.QIsEqual, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QIsEqual`: int32, same shape."""
    return np.asarray(inputs[0].array == attrs.value).astype(np.int32)
