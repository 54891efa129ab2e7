"""The definitions of layers of bit planes, one element at a time: the oracle of the oracle."""

import numpy as np
from scalar_kernels import add_params, ended

from edgec.ir import qops


def code(words, channels, planes, at):
    """The code of element `at` of packed planes."""
    *outer, c = at
    each = -(-channels // 32)
    return sum(
        (int(words[(*outer, plane * each + c // 32)]) >> (c % 32) & 1) << plane
        for plane in range(planes)
    )


def word(element, channels, at):
    """The word `at` of planes whose codes a function gives."""
    *outer, n = at
    plane, within = divmod(n, -(-channels // 32))
    lanes = range(32 * within, min(32 * within + 32, channels))
    return sum((element((*outer, c)) >> plane & 1) << (c - 32 * within) for c in lanes)


def planes(attrs, inputs, zy, at):
    x, below = (operand.array for operand in inputs)

    def element(at):
        return sum(int(x[at]) > int(end) for end in below[:, at[-1]])

    return word(element, x.shape[-1], at)


def product(attrs, x, w):
    return x * (attrs.least + attrs.unit * w)


def conv(attrs, inputs, zy, at):
    def total(at):
        x, w = inputs[0].array, inputs[1].array
        n, oy, ox, o = at
        found = 0
        for ky, kx, i in np.ndindex(*w.shape[1:3], attrs.channels):
            y = oy * attrs.strides[0] - attrs.pads[0] + ky * attrs.dilations[0]
            z = ox * attrs.strides[1] - attrs.pads[1] + kx * attrs.dilations[1]
            if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]:
                found += _product(attrs, x, (n, y, z, i), w, (o, ky, kx, i))
        return found

    return _ended(attrs, inputs, total, at)


def gemm(attrs, inputs, zy, at):
    def total(at):
        x, w = inputs[0].array, inputs[1].array
        pairs = range(attrs.channels)
        return sum(_product(attrs, x, (*at[:-1], i), w, (at[-1], i)) for i in pairs)

    return _ended(attrs, inputs, total, at)


def _product(attrs, x, at, w, of):
    weight = attrs.least + attrs.unit * code(w, attrs.channels, attrs.w_planes, of)
    return code(x, attrs.channels, attrs.x_planes, at) * weight


def _ended(attrs, inputs, total, at):
    bias = inputs[2].array
    if attrs.output is None:

        def element(at):
            acc = total(at)
            return sum(acc >= int(end) for end in bias[:, at[-1]])

        return word(element, bias.shape[-1], at)
    t = ended(attrs.output, int(bias[at[-1]]) + total(at), int(inputs[3].array[at[-1]]))
    return t if attrs.residual is None else add_params(attrs.residual, t, int(inputs[4].array[at]))


PLANES = {qops.QPlanes: planes, qops.QPlaneConv: conv, qops.QPlaneGemm: gemm}
