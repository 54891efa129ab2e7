"""The definitions of `ir.qops.mixed`, one element at a time: the oracle of the oracle."""

from fractions import Fraction

import numpy as np
from scalar_kernels import ended, rshr

from edgec.ir import qops


def _of(array, at):
    at = at[len(at) - array.ndim :]
    return int(array[tuple(0 if n == 1 else i for n, i in zip(array.shape, at, strict=True))])


def _clamped(attrs, value):
    return min(max(value, attrs.low), attrs.high)


def conv(attrs, inputs, at):
    x, weight, bias, multiplier = (operand.array for operand in inputs)
    n, oy, ox, o = at
    depth, filters = weight.shape[3], weight.shape[0] // attrs.group
    acc = int(bias[o])
    for ky, kx, i in np.ndindex(*weight.shape[1:]):
        y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
        z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
        if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
            code = int(x[n, y, z, o // filters * depth + i]) - inputs[0].zero_point
            acc += code * int(weight[o, ky, kx, i])
    assert abs(acc) < 2**31
    return ended(attrs.output, acc, int(multiplier[o]))


def add(attrs, inputs, at):
    a, b = (_of(operand.array, at) - operand.zero_point for operand in inputs)
    total = a * attrs.a_multiplier + b * attrs.b_multiplier
    return _clamped(attrs, attrs.zero_point + rshr(total, attrs.shift))


def mul(attrs, inputs, at):
    a, b = (_of(operand.array, at) - operand.zero_point for operand in inputs)
    return ended(attrs.output, a * b, attrs.multiplier)


def matmul(attrs, inputs, at):
    a, b = (operand.array.astype(int) - operand.zero_point for operand in inputs)
    *lead, row, column = at
    a = a.swapaxes(-1, -2) if attrs.transpose_a else a
    b = b.swapaxes(-1, -2) if attrs.transpose_b else b
    depth = a.shape[-1]
    acc = sum(_of(a, (*lead, row, d)) * _of(b, (*lead, d, column)) for d in range(depth))
    assert abs(a).max() <= attrs.a_reach
    assert abs(b).max() <= attrs.b_reach
    assert abs(acc) < 2**31
    return ended(attrs.output, acc, attrs.multiplier)


def div(attrs, inputs, at):
    a, b = (_of(operand.array, at) - operand.zero_point for operand in inputs)
    steps = 0 if a == 0 else 65535
    if b != 0:
        exact = Fraction(abs(a) * attrs.multiplier * 2**attrs.left, abs(b) * 2**attrs.right)
        assert abs(a) * attrs.multiplier < 2**32
        assert abs(b) * 2**attrs.right < 2**32
        steps = min(int(exact + Fraction(1, 2)), 65535)
    sign = -1 if (a < 0) != (b < 0) else 1
    return _clamped(attrs, attrs.zero_point + sign * steps)


def average(attrs, inputs, at):
    x, multiplier = inputs[0].array, inputs[1].array
    n, oy, ox, c = at
    total, count = 0, 0
    for ky, kx in np.ndindex(*attrs.kernel):
        y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
        z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
        if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
            total += int(x[n, y, z, c]) - inputs[0].zero_point
            count += 1
    taps = len(multiplier) - 1
    return ended(attrs.output, total, int(multiplier[taps if attrs.count_include_pad else count]))


def table(attrs, inputs, at):
    x, entries = int(inputs[0].array[at]), inputs[1].array.astype(int)
    step, between = divmod(x + 2**15, 128)
    line = int(entries[step]) * (128 - between) + int(entries[step + 1]) * between
    return _clamped(attrs, attrs.zero_point + rshr(line, 7 + attrs.fine))


MIXED = {
    qops.QMixedConv: conv,
    qops.QMixedAdd: add,
    qops.QMixedMul: mul,
    qops.QMixedMatMul: matmul,
    qops.QMixedAverage: average,
    qops.QMixedDiv: div,
    qops.QMixedTable: table,
}
