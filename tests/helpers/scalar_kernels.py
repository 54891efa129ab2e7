"""The definitions of `ir.qops`, one element at a time: the oracle of the oracle."""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.ops import CompareKind, PadMode, ReduceKind
from edgec.ir.qops.operands import Operand

Element = Callable[[qops.AddParams | object, list[Operand], int, tuple[int, ...]], int]


def rshr(x: int, n: int) -> int:
    return (x + 2 ** (n - 1)) // 2**n if n else x


def ended(form: qops.Requant31 | qops.TwoRoundings31, acc: int, multiplier: int) -> int:
    if isinstance(form, qops.TwoRoundings31):
        (shift,) = form.shifts
        scaled = twice(acc << max(shift, 0), multiplier, max(-shift, 0))
    else:
        scaled = rshr(acc * multiplier, form.shift)
    assert abs(acc) < 2**31
    value = form.zero_point + scaled
    return min(max(value, form.low), form.high)


def add_params(p: qops.AddParams, a: int, b: int) -> int:
    total = (a - p.a_zero_point) * p.a_multiplier + (b - p.b_zero_point) * p.b_multiplier
    return min(max(p.y_zero_point + rshr(total, p.shift), p.low), p.high)


def away(x: int, n: int) -> int:
    """x / 2**n to the nearest, halves away from zero."""
    magnitude = (2 * abs(x) + 2**n) // 2 ** (n + 1)
    return magnitude if x > 0 else -magnitude


def twice(x: int, multiplier: int, right: int) -> int:
    return away(rshr(x * multiplier, 31), right)


def fine_sum(p: qops.TfliteSum, a: int, b: int) -> int:
    first = twice((a - p.a_zero_point) << p.bits, p.a_multiplier, p.a_right)
    second = twice((b - p.b_zero_point) << p.bits, p.b_multiplier, p.b_right)
    total = first - second if p.subtracts else first + second
    value = p.y_zero_point + twice(total, p.y_multiplier, p.y_right)
    return min(max(value, p.low), p.high)


def conv(attrs, inputs, zy, at):
    x, weight, bias, multiplier = (operand.array for operand in inputs[:4])
    n, oy, ox, o = at
    depth, filters = weight.shape[3], weight.shape[0] // attrs.group
    acc = int(bias[o])
    for ky, kx, i in np.ndindex(*weight.shape[1:]):
        y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
        z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
        if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
            code = int(x[n, y, z, o // filters * depth + i]) - inputs[0].zero_point
            acc += code * int(weight[o, ky, kx, i])
    t = ended(attrs.output, acc, int(multiplier[o]))
    return t if attrs.residual is None else add_params(attrs.residual, t, int(inputs[4].array[at]))


def conv_transpose(attrs, inputs, zy, at):
    x, weight, bias, multiplier = (operand.array for operand in inputs)
    n, oy, ox, o = at
    depth, filters = weight.shape[3], weight.shape[0] // attrs.group
    acc = int(bias[o])
    for iy, ix in np.ndindex(*x.shape[1:3]):
        for ky, kx in np.ndindex(*weight.shape[1:3]):
            y = iy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
            z = ix * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
            if (y, z) == (oy, ox):
                for i in range(depth):
                    code = int(x[n, iy, ix, o // filters * depth + i]) - inputs[0].zero_point
                    acc += code * int(weight[o, ky, kx, i])
    return ended(attrs.output, acc, int(multiplier[o]))


def gemm(attrs, inputs, zy, at):
    x, weight, bias, multiplier = (operand.array for operand in inputs)
    n = at[-1]
    codes = (int(code) - inputs[0].zero_point for code in x[at[:-1]])
    acc = int(bias[n]) + sum(c * int(w) for c, w in zip(codes, weight[n], strict=True))
    return ended(attrs.output, acc, int(multiplier[n]))


def rounded(code: int, bits: int) -> int:
    """t(q) of `qops.PoolRounding`."""
    half = 2 ** (7 - bits) if bits < 8 else 0
    step = 2 ** (8 - bits)
    return min(code + 128 + half, 255) // step * step


def responses(
    rounding: qops.PoolRounding, x: Operand, at: tuple[int, ...], pool: Array, row: Array
) -> int:
    """2**k times the sum of the responses r[g, row[g, term]] at position `at` of x."""
    group, bits, total = pool.shape[1], rounding.activation_bits, 0
    channels = [int(code) for code in x.array[at]]
    terms = len(row) // -(-len(channels) // group)
    for number, index in enumerate(row):
        exact, g = 0, number // terms
        for j, code in enumerate(channels[g * group : (g + 1) * group]):
            centred = rounded(code, bits) - rounded(x.zero_point, bits)
            exact += centred * int(pool[index, j])
        total += rshr(exact, rounding.response_shift)
    return total * 2**rounding.response_shift


def pooled_conv(attrs, inputs, zy, at):
    x, pool, indices, bias, multiplier = (operand.array for operand in inputs[:5])
    n, oy, ox, o = at
    inner = attrs.conv
    acc = int(bias[o])
    for ky, kx in np.ndindex(*indices.shape[1:3]):
        y = oy * inner.strides[0] - inner.pads[0] + ky * inner.dilations[0]
        z = ox * inner.strides[1] - inner.pads[1] + kx * inner.dilations[1]
        if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
            acc += responses(attrs.rounding, inputs[0], (n, y, z), pool, indices[o, ky, kx])
    t = ended(inner.output, acc, int(multiplier[o]))
    return t if inner.residual is None else add_params(inner.residual, t, int(inputs[5].array[at]))


def pooled_gemm(attrs, inputs, zy, at):
    pool, indices, bias, multiplier = (operand.array for operand in inputs[1:])
    inner, n = attrs.gemm, at[-1]
    acc = int(bias[n]) + responses(attrs.rounding, inputs[0], at[:-1], pool, indices[n])
    return ended(inner.output, acc, int(multiplier[n]))


def _broadcast(array: Array, at: tuple[int, ...]) -> int:
    at = at[len(at) - array.ndim :]
    return int(array[tuple(0 if n == 1 else i for n, i in zip(array.shape, at, strict=True))])


def add(attrs, inputs, zy, at):
    form = attrs.form
    a, b = (_broadcast(operand.array, at) for operand in inputs)
    if isinstance(form, qops.CodeSum):
        return min(max(a + b, form.low), form.high)
    return fine_sum(form, a, b) if isinstance(form, qops.TfliteSum) else add_params(form, a, b)


def squared_difference(attrs, inputs, zy, at):
    p = attrs.params
    a, b = (_broadcast(operand.array, at) for operand in inputs)
    first = twice((a - p.a_zero_point) << p.bits, p.a_multiplier, p.a_right)
    second = twice((b - p.b_zero_point) << p.bits, p.b_multiplier, p.b_right)
    value = p.y_zero_point + twice((first - second) ** 2, p.y_multiplier, p.y_right)
    return min(max(value, p.low), p.high)


def mul(attrs, inputs, zy, at):
    a, b = (_broadcast(operand.array, at) - operand.zero_point for operand in inputs)
    return ended(attrs.output, a * b, attrs.multiplier)


def div(attrs, inputs, zy, at):
    a, b = (_broadcast(operand.array, at) - operand.zero_point for operand in inputs)
    steps = 65535 if a else 0
    if b:
        exact = Fraction(abs(a) * attrs.multiplier * 2**attrs.left, abs(b) * 2**attrs.right)
        assert abs(a) * attrs.multiplier < 2**32
        assert abs(b) * 2**attrs.right < 2**32
        steps = min(int(exact + Fraction(1, 2)), 65535)
    signed = -steps if (a < 0) != (b < 0) else steps
    return min(max(attrs.zero_point + signed, attrs.low), attrs.high)


def log_softmax(attrs, inputs, zy, at):
    row = [int(code) for code in inputs[0].array[at[:-1]]]
    total = sum(int(inputs[1].array[max(row) - code]) for code in row)
    # 16 digits of the logarithm: total^(2^16) is too long, so its leading bits are squared.
    power = total.bit_length() - 1
    mantissa, digits = total << (31 - power), power
    for _ in range(16):
        square = mantissa * mantissa >> 31
        digit = square >> 32
        mantissa, digits = square >> digit, 2 * digits + digit
    logarithm = digits - (attrs.table_bits << 16)
    summand = rshr(logarithm * attrs.log_multiplier, 16)
    term = (row[at[-1]] - max(row)) * attrs.multiplier - summand
    return min(max(attrs.zero_point + rshr(term, attrs.shift), attrs.low), attrs.high)


def matmul(attrs, inputs, zy, at):
    a, b = (operand.array.astype(int) - operand.zero_point for operand in inputs)
    a = a.swapaxes(-1, -2) if attrs.transpose_a else a
    b = b.swapaxes(-1, -2) if attrs.transpose_b else b
    *lead, row, column = at
    left, right = (
        matrix[tuple(0 if n == 1 else i for n, i in zip(matrix.shape[:-2], lead, strict=True))]
        for matrix in (a, b)
    )
    acc = sum(int(p) * int(q) for p, q in zip(left[row], right[:, column], strict=True))
    return ended(attrs.output, acc, attrs.multiplier)


def top_k(attrs, inputs, zy, at):
    row = [int(code) for code in inputs[0].array[at[:-1]]]
    order = sorted(range(len(row)), key=lambda i: (-row[i] if attrs.largest else row[i], i))
    place = order[at[-1]]
    return place if attrs.indices else row[place]


def extremum(attrs, inputs, zy, at):
    codes = [_broadcast(operand.array, at) for operand in inputs]
    return max(codes) if attrs.largest else min(codes)


def compare(attrs, inputs, zy, at):
    a, b = (_broadcast(operand.array, at) for operand in inputs)
    a, b = a * attrs.a_multiplier, b * attrs.b_multiplier + attrs.offset
    relations = {CompareKind.EQUAL: a == b, CompareKind.LESS: a < b}
    return int(relations.get(attrs.kind, a <= b))


def where(attrs, inputs, zy, at):
    condition, a, b = (_broadcast(operand.array, at) for operand in inputs)
    return a if condition else b


def rescale(attrs, inputs, zy, at):
    return ended(attrs.output, int(inputs[0].array[at]) + attrs.bias, attrs.multiplier)


def lut(attrs, inputs, zy, at):
    x, entries, rule = int(inputs[0].array[at]), inputs[1].array.astype(int), attrs.rule
    if isinstance(rule, qops.Line):
        near = min(max(x * 2**rule.near, -(2**15)), 2**15 - 1)
        step, between = divmod(near + 2**15, 128)
        line = int(entries[step]) * (128 - between) + int(entries[step + 1]) * between
        return min(max(rule.zero_point + rshr(line, 7 + rule.fine), rule.low), rule.high)
    return int(entries[x + 128])


def prelu(attrs, inputs, zy, at):
    code, slope = int(inputs[0].array[at]) - inputs[0].zero_point, int(inputs[1].array[at[-1]])
    if code >= 0:
        return ended(attrs.output, code, attrs.multiplier)
    if attrs.below is None:
        return ended(attrs.output, code, slope)
    return ended(attrs.below, code * slope, attrs.below_multiplier)


def softmax(attrs, inputs, zy, at):
    rule = attrs.rule
    if isinstance(rule, qops.Reciprocal31):
        return softmax31(inputs, at)
    row = [int(code) for code in inputs[0].array[at[:-1]]]
    exponentials = [int(inputs[1].array[max(row) - code]) for code in row]
    divisor = max(rshr(sum(exponentials) * rule.multiplier, rule.shift), 1)
    y = zy + (exponentials[at[-1]] + divisor // 2) // divisor
    return min(max(y, rule.low), rule.high)


def softmax31(inputs, at):
    """The reciprocal by Newton's steps, one integer after the other."""
    row = [int(code) for code in inputs[0].array[at[:-1]]]
    exponentials = [int(inputs[1].array[max(row) - code]) for code in row]
    total = sum(away(e, 12) for e in exponentials)
    places = total.bit_length() - 20
    fraction = (total << (32 - total.bit_length())) - 2**31
    half = (fraction + 2**31) // 2
    x = 1515870810 + rshr(half * -1010580540, 31)
    for _ in range(3):
        x += 4 * rshr(x * (2**29 - rshr(half * x, 31)), 31)
    inverse = min(2 * x, 2**31 - 1)
    return min(away(rshr(inverse * exponentials[at[-1]], 31), 23 + places) - 128, 127)


def _taps(attrs, shape: tuple[int, ...], at: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    n, oy, ox, c = at
    for ky, kx in np.ndindex(*attrs.kernel):
        y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
        z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
        if 0 <= y < shape[1] and 0 <= z < shape[2]:
            yield n, y, z, c


def max_pool(attrs, inputs, zy, at):
    x = inputs[0].array
    # No tap inside the image: the maximum of nothing.
    return max((int(x[tap]) for tap in _taps(attrs, x.shape, at)), default=-128)


def average_pool(attrs, inputs, zy, at):
    x, form = inputs[0].array, attrs.output
    if isinstance(form, qops.CodeMean):
        codes = [int(x[tap]) for tap in _taps(attrs, x.shape, at)]
        magnitude = (2 * abs(sum(codes)) + len(codes)) // (2 * len(codes))
        mean = magnitude if sum(codes) > 0 else -magnitude
        return min(max(mean, form.low), form.high)
    codes = [int(x[tap]) - inputs[0].zero_point for tap in _taps(attrs, x.shape, at)]
    count = attrs.kernel[0] * attrs.kernel[1] if attrs.count_include_pad else len(codes)
    return ended(attrs.output, sum(codes), int(inputs[1].array[count]))


def _reduced(x: Array, axes: tuple[int, ...], keepdims: bool, at: tuple[int, ...]) -> list[int]:
    """The elements of x that end up at `at`."""
    kept = iter(at)
    ranges = []
    for axis, size in enumerate(x.shape):
        if axis not in axes:
            ranges.append([next(kept)])
            continue
        if keepdims:
            next(kept)
        ranges.append(list(range(size)))
    return [int(x[index]) for index in itertools.product(*ranges)]


def reduce(attrs, inputs, zy, at):
    codes = _reduced(inputs[0].array, attrs.axes, attrs.keepdims, at)
    if attrs.kind.selects:
        return max(codes) if attrs.kind is ReduceKind.MAX else min(codes)
    centred = [code - inputs[0].zero_point for code in codes]
    match attrs.kind:
        case ReduceKind.L1:
            total = sum(abs(code) for code in centred)
        case ReduceKind.SUM_SQUARE:
            total = sum(code**2 for code in centred)
        case ReduceKind.L2:
            total = math.isqrt(sum(code**2 for code in centred) * 4**attrs.root_bits)
        case _:
            total = sum(centred)
    return ended(attrs.output, total, attrs.multiplier)


def arg_max(attrs, inputs, zy, at):
    codes = _reduced(inputs[0].array, (attrs.axis,), attrs.keepdims, at)
    wanted = min(codes) if attrs.smallest else max(codes)
    where = [index for index, code in enumerate(codes) if code == wanted]
    return where[-1] if attrs.select_last_index else where[0]


def reshape(attrs, inputs, zy, at):
    return int(inputs[0].array.ravel()[np.ravel_multi_index(at, attrs.shape)])


def transpose(attrs, inputs, zy, at):
    source = [0] * len(at)
    for axis, index in zip(attrs.perm, at, strict=True):
        source[axis] = index
    return int(inputs[0].array[tuple(source)])


def slice_(attrs, inputs, zy, at):
    ranges = zip(attrs.starts, attrs.steps, at, strict=True)
    return int(inputs[0].array[tuple(start + i * step for start, step, i in ranges)])


def concat(attrs, inputs, zy, at):
    index = at[attrs.axis]
    for operand in inputs:
        size = operand.array.shape[attrs.axis]
        if index < size:
            return int(operand.array[(*at[: attrs.axis], index, *at[attrs.axis + 1 :])])
        index -= size
    raise IndexError


def slide(attrs, inputs, zy, at):
    x, rows = (operand.array for operand in inputs)
    index, new = at[attrs.axis], rows.shape[attrs.axis]
    kept = x.shape[attrs.axis] - new
    source, index = (x, index + new) if index < kept else (rows, index - kept)
    return int(source[(*at[: attrs.axis], index, *at[attrs.axis + 1 :])])


def pad(attrs, inputs, zy, at):
    x = inputs[0].array
    source = []
    for (before, _), size, index in zip(attrs.pads, x.shape, at, strict=True):
        position = index - before
        if not 0 <= position < size:
            match attrs.mode:
                case PadMode.CONSTANT:
                    return attrs.value
                case PadMode.EDGE:
                    position = 0 if position < 0 else size - 1
                case PadMode.REFLECT:
                    position = -position if position < 0 else 2 * (size - 1) - position
        source.append(position)
    return int(x[tuple(source)])


def resize_nearest(attrs, inputs, zy, at):
    x, rows, cols = (operand.array for operand in inputs)
    return int(x[at[0], rows[at[1]], cols[at[2]], at[3]])


def resize_linear(attrs, inputs, zy, at):
    x, rows, cols = (operand.array.astype(int) for operand in inputs)
    (rl, rh, wr), (cl, ch, wc) = rows[at[1]], cols[at[2]]
    low = (2048 - wc) * x[at[0], rl, cl, at[3]] + wc * x[at[0], rl, ch, at[3]]
    high = (2048 - wc) * x[at[0], rh, cl, at[3]] + wc * x[at[0], rh, ch, at[3]]
    return (away if attrs.half_away else rshr)(int((2048 - wr) * low + wr * high), 22)


def tree_ensemble(attrs, inputs, zy, at):
    x, nodes, roots, leaves, base = (operand.array for operand in inputs)
    acc = int(base[at[1]])
    for root in roots:
        place = int(root)
        while (row := [int(number) for number in nodes[place]])[0] >= 0:
            place += 1 if x[0, row[0]] <= row[1] else row[2]
        acc += int(leaves[row[1] + 32768 * row[2], at[1]])
    return ended(attrs.output, acc, attrs.multiplier)


ELEMENTS: dict[type, Element] = {
    qops.QConv: conv,
    qops.QConvTranspose: conv_transpose,
    qops.QGemm: gemm,
    qops.QPooledConv: pooled_conv,
    qops.QPooledGemm: pooled_gemm,
    qops.QAdd: add,
    qops.QSquaredDifference: squared_difference,
    qops.QMul: mul,
    qops.QDiv: div,
    qops.QLogSoftmax: log_softmax,
    qops.QMatMul: matmul,
    qops.QTopK: top_k,
    qops.QExtremum: extremum,
    qops.QCompare: compare,
    qops.QWhere: where,
    qops.QRescale: rescale,
    qops.QLut: lut,
    qops.QPRelu: prelu,
    qops.QSoftmax: softmax,
    qops.QMaxPool: max_pool,
    qops.QAveragePool: average_pool,
    qops.QReduce: reduce,
    qops.QArgMax: arg_max,
    qops.QTreeEnsemble: tree_ensemble,
    qops.QReshape: reshape,
    qops.QTranspose: transpose,
    qops.QSlice: slice_,
    qops.QConcat: concat,
    qops.QSlide: slide,
    qops.QPad: pad,
    qops.QResizeNearest: resize_nearest,
    qops.QResizeLinear: resize_linear,
}
