"""The definitions of `ir.qops` read literally: Python integers, one row at a time.

Each function gives the codes of one row of the output (its last axis), or of one element where an
operator has no rows.  Every intermediate passes through `s32`, which fails beyond +-(2^31 - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.operands import Operand

Index = tuple[int, ...]


def s32(value: int) -> int:
    assert abs(value) < 2**31
    return value


def rshr(value: int, shift: int) -> int:
    return s32(s32(value) + (1 << shift >> 1)) >> shift


def clip(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def rescale(output: qops.Rescale16x15, acc: int, multiplier: int, residual: int = 0) -> int:
    a = clip(rshr(acc, output.pre_shift), -32768, 32767)
    return clip(rshr(s32(a * multiplier), output.shift) + residual, output.low, output.high)


def _finished(attrs: Any, acc: int, inputs: Sequence[Operand], n: int, at: Index) -> int:
    multiplier = int(inputs[3].array[n])
    if len(inputs) > 5:
        return int(inputs[5].array[rescale(attrs.output, acc, multiplier) + 512])
    residual = int(inputs[4].array[at]) if attrs.residual is not None else 0
    return rescale(attrs.output, acc, multiplier, residual)


def gemm(attrs: qops.QGemm, inputs: Sequence[Operand], at: Index) -> int:
    x, weight, bias = (operand.array for operand in inputs[:3])
    n = at[-1]
    acc = int(bias[n])
    for k in range(weight.shape[1]):
        acc = s32(acc + int(x[at[:-1]][k]) * int(weight[n, k]))
    return _finished(attrs, acc, inputs, n, at)


def conv(attrs: qops.QConv, inputs: Sequence[Operand], at: Index) -> int:
    x, weight = inputs[0].array, inputs[1].array
    batch, oy, ox, o = at
    acc = int(inputs[2].array[o])
    outputs, kh, kw, depth = weight.shape
    first = o // (outputs // attrs.group) * depth
    for ky, kx, i in np.ndindex(kh, kw, depth):
        iy = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
        ix = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
        if 0 <= iy < x.shape[1] and 0 <= ix < x.shape[2]:
            code = int(x[batch, iy, ix, first + i]) - inputs[0].zero_point
            acc = s32(acc + code * int(weight[o, ky, kx, i]))
    return _finished(attrs, acc, inputs, o, at)


def matmul(attrs: qops.QMatMul, inputs: Sequence[Operand], at: Index) -> int:
    a, b = (operand.array for operand in inputs)
    a = a.swapaxes(-1, -2) if attrs.transpose_a else a
    b = b.swapaxes(-1, -2) if attrs.transpose_b else b
    lead = at[:-2]
    row = np.broadcast_to(a, (*lead_shape(a, b), *a.shape[-2:]))[lead][at[-2]]
    column = np.broadcast_to(b, (*lead_shape(a, b), *b.shape[-2:]))[lead][:, at[-1]]
    acc = attrs.bias
    for p, q in zip(row, column, strict=True):
        acc = s32(acc + (int(p) - inputs[0].zero_point) * (int(q) - inputs[1].zero_point))
    return rescale(attrs.output, acc, attrs.multiplier)


def lead_shape(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])


def _pair(inputs: Sequence[Operand], at: Index) -> tuple[int, int]:
    shape = np.broadcast_shapes(*(operand.array.shape for operand in inputs))
    a, b = (int(np.broadcast_to(operand.array, shape)[at]) for operand in inputs)
    return a, b


def mul(attrs: qops.QMul, inputs: Sequence[Operand], at: Index) -> int:
    a, b = _pair(inputs, at)
    product = (a - inputs[0].zero_point) * (b - inputs[1].zero_point)
    return rescale(attrs.output, s32(product + attrs.bias), attrs.multiplier)


def reduce(attrs: qops.QReduce, inputs: Sequence[Operand], at: Index) -> int:
    assert attrs.kind is not ReduceKind.MAX
    x = inputs[0].array
    kept = list(at)
    if not attrs.keepdims:
        for axis in attrs.axes:
            kept.insert(axis, 0)
    where = tuple(slice(None) if axis in attrs.axes else index for axis, index in enumerate(kept))
    acc = attrs.bias
    for code in x[where].ravel():
        acc = s32(acc + int(code) - inputs[0].zero_point)
    return rescale(attrs.output, acc, attrs.multiplier)


def rescaled(attrs: qops.QRescale, inputs: Sequence[Operand], at: Index) -> int:
    x, output = int(inputs[0].array[at]), attrs.output
    if attrs.before:
        x <<= int(inputs[1].array[at[-1]])
    if attrs.after:
        output = replace(output, shift=output.shift + int(inputs[1].array[at[-1]]))
    return rescale(output, s32(attrs.bias + x), attrs.multiplier)


def of_stream(dtype: DType, value: int) -> int:
    return clip(value, -127, 127) if dtype is DType.INT8 else clip(value, -32768, 32767)


def add(attrs: qops.QAdd, inputs: Sequence[Operand], at: Index) -> int:
    assert isinstance(attrs.form, qops.CodeSum)
    return clip(sum(_pair(inputs, at)), attrs.form.low, attrs.form.high)


def embedding(attrs: qops.QEmbedding, inputs: Sequence[Operand], at: Index) -> int:
    table = inputs[1].array
    row = clip(int(inputs[0].array[at[:-1]]), 0, len(table) - 1)
    return of_stream(attrs.dtype, s32(int(table[row, at[-1]]) * attrs.multiplier))


def norm(attrs: qops.QNorm, inputs: Sequence[Operand], at: Index) -> int:
    x = [int(code) for code in inputs[0].array[at[:-1]]]
    if len(inputs) > 3:
        x = [code << int(k) for code, k in zip(x, inputs[3].array, strict=True)]
    gamma, beta = (int(operand.array[at[-1]]) for operand in inputs[1:3])
    count = len(x)
    total = s32(sum(x))
    w = [s32(s32(count * code) - total) if attrs.centred else code for code in x]
    m = max(code ^ (code >> 31) for code in w).bit_length()
    q = max(m - 15, 0)
    p = max(m - 15 + attrs.square_shift, attrs.least_shift)
    squares = s32(sum(s32(rshr(code, p) ** 2) for code in w))
    away = 2 * (p - attrs.least_shift)
    mass = max(s32(squares + (rshr(attrs.epsilon, away) if away <= 30 else 0)), 1)
    j = 0
    while mass * 4 ** (j + 1) < 2**31:
        j += 1
    scaled = s32(mass * 4**j)
    root = math.isqrt(scaled)
    root += scaled - root * root > root
    assert 23170 <= root <= 46341
    reciprocal = (2**30 + root // 2) // root
    s = 15 - j + p - q
    half = (1 << s >> 1) + (reciprocal >> 1 if q > 0 else 0)
    v = w[at[-1]] >> q
    assert -32768 <= v <= 32767
    u = s32(s32(v * reciprocal) + half) >> s
    assert abs(u) <= 33280
    return clip(s32(s32(u * gamma) + beta) >> attrs.shift, attrs.low, attrs.high)


def exponential(distance: int, multiplier: int, bits: int) -> int:
    table = [math.floor(32767 * 2 ** (-n / 32) + 0.5) for n in range(33)]
    t = rshr(s32(distance * multiplier), 15)
    n, f = (t & 2047) >> 6, t & 63
    c = table[n] - rshr((table[n] - table[n + 1]) * f, 6)
    return rshr(c, (t >> 11) + 15 - bits)


def softmax(attrs: qops.QSoftmax, inputs: Sequence[Operand], at: Index) -> int:
    x = [int(code) for code in inputs[0].array[at[:-1]]]
    rule = attrs.rule
    assert isinstance(rule, qops.Octaves)
    numbers = rule.distance_multiplier, rule.exp_bits
    weights = [exponential(min(max(x) - code, rule.distance_limit), *numbers) for code in x]
    total = s32(sum(weights))
    e = total.bit_length() - 1
    divisor = total >> (e - 15) if e >= 15 else total << (15 - e)
    reciprocal = s32(2**30 + divisor // 2) // divisor
    return min(rshr(s32(weights[at[-1]] * reciprocal), e + 7) - 128, 127)


def is_equal(attrs: qops.QIsEqual, inputs: Sequence[Operand], at: Index) -> int:
    return int(inputs[0].array[at] == attrs.value)


def attention(attrs: qops.QAttention, inputs: Sequence[Operand], at: Index) -> int:
    named = attrs.Inputs.of(inputs)
    q, k, v = named.q.array, named.k.array, named.v.array
    lead, i = at[:-2], at[-2]
    head, e = divmod(at[-1], attrs.value_width)
    multiplier, limit, numerator, output_shift = (int(n) for n in named.heads.array[head])
    valid = range(k.shape[-2])
    if named.keys is not None:
        mask = np.broadcast_to(named.keys.array, k.shape[:-1])[lead]
        valid = [j for j in valid if mask[j] != 0]
    if not valid:
        return 0
    q_row = q[lead][i][attrs.q_start + head * attrs.width :][: attrs.width]
    logits = {}
    for j in valid:
        k_row = k[lead][j][attrs.k_start + head * attrs.width :][: attrs.width]
        logits[j] = s32(sum(int(a) * int(b) for a, b in zip(q_row, k_row, strict=True)))
        if named.steps is not None and named.places is not None:
            steps, places = named.steps.array, named.places.array
            b = int(np.ravel_multi_index(lead, q.shape[:-2])) if len(places) > 1 else 0
            logits[j] = s32(logits[j] + int(steps[head, places[b, i, j]]))
    highest = max(logits.values())
    total = summed = 0
    weights = {}
    for j in valid:
        distance = min(s32(highest - logits[j]), limit)
        weights[j] = exponential(distance, multiplier, attrs.exp_bits)
    if attrs.trimmed:
        n = max((s32(sum(weights.values())) + 2**16).bit_length() - 24, 0)
        weights = {j: rshr(weight, n) for j, weight in weights.items()}
    for j, weight in weights.items():
        total = s32(total + weight)
        value = int(v[lead][j][attrs.v_start + head * attrs.value_width + e])
        summed = s32(summed + s32(weight * value))
    x = total.bit_length() - 1
    divisor = total >> (x - 15) if x >= 15 else total << (15 - x)
    reciprocal = s32(numerator + divisor // 2) // divisor
    a = clip(rshr(summed, x - 15 + output_shift), -32768, 32767)
    return clip(rshr(s32(a * reciprocal), 21), -127, 127)


SCALAR: Mapping[type, Callable[[Any, Sequence[Operand], Index], int]] = MappingProxyType(
    {
        qops.QGemm: gemm,
        qops.QConv: conv,
        qops.QMatMul: matmul,
        qops.QMul: mul,
        qops.QAdd: add,
        qops.QReduce: reduce,
        qops.QRescale: rescaled,
        qops.QEmbedding: embedding,
        qops.QNorm: norm,
        qops.QAttention: attention,
        qops.QIsEqual: is_equal,
        qops.QSoftmax: softmax,
    }
)
"""(attrs, inputs, index of an output element) -> its code."""
