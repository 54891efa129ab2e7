"""The definitions of layers of signs, one element at a time: the oracle of the oracle."""

import numpy as np
from scalar_kernels import add_params, ended

from edgec.ir import qops


def sign(words, at):
    """Element `at` of packed signs."""
    *outer, c = at
    return -1 if int(words[(*outer, c // 32)]) >> (c % 32) & 1 else 1


def word(element, channels, at):
    """The word `at` of signs whose elements a function gives."""
    *outer, n = at
    lanes = range(32 * n, min(32 * n + 32, channels))
    return sum((element((*outer, c)) < 0) << (c - 32 * n) for c in lanes)


def signs(attrs, inputs, zy, at):
    x, least, most = (operand.array for operand in inputs)
    return word(lambda i: -1 if least[i[-1]] <= x[i] <= most[i[-1]] else 1, x.shape[-1], at)


def conv(attrs, inputs, zy, at):
    def total(at):
        x, w = inputs[0].array, inputs[1].array
        n, oy, ox, o = at
        found = 0
        for ky, kx, i in np.ndindex(*w.shape[1:3], attrs.channels):
            y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
            z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
            if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
                found += sign(x, (n, y, z, i)) * sign(w, (o, ky, kx, i))
            elif attrs.pads_ones:
                found += sign(w, (o, ky, kx, i))
        return found

    return _ended(attrs, inputs, total, at)


def gemm(attrs, inputs, zy, at):
    def total(at):
        x, w = inputs[0].array, inputs[1].array
        pairs = ((sign(x, (*at[:-1], i)), sign(w, (at[-1], i))) for i in range(attrs.channels))
        return sum(a * b for a, b in pairs)

    return _ended(attrs, inputs, total, at)


def _ended(attrs, inputs, total, at):
    bias = inputs[2].array
    if attrs.output is None:
        return word(lambda i: total(i) + int(bias[i[-1]]), len(bias), at)
    acc = int(bias[at[-1]]) + attrs.step * total(at)
    t = ended(attrs.output, acc, int(inputs[3].array[at[-1]]))
    return t if attrs.residual is None else add_params(attrs.residual, t, int(inputs[4].array[at]))


BINARY = {qops.QSigns: signs, qops.QBinaryConv: conv, qops.QBinaryGemm: gemm}
