"""Random operators with weights."""

import math

import numpy as np
from random_net import CHANNELS, Net
from random_parts import any_weights, any_window, moved_codes, pair_between

from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.shapes import window_out


def conv(net: Net, x: str) -> str:
    channels = net.shape(x)[3]
    group = net.pick([g for g in (1, 1, 2, 3, 4, 5, 8, channels) if channels % g == 0])
    filters = net.pick(CHANNELS) if group == 1 else group * net.integer(1, 3)
    return _conv(net, x, group, filters)


def depthwise(net: Net, x: str) -> str:
    channels = net.shape(x)[3]
    return _conv(net, x, channels, channels * net.pick([1, 1, 2, 3]))


def pooled_conv(net: Net, x: str) -> str:
    return _conv(net, x, 1, net.pick(CHANNELS), net.rounding())


def _conv(
    net: Net, x: str, group: int, filters: int, rounding: qops.PoolRounding | None = None
) -> str:
    _, height, width, channels = net.shape(x)
    kernel, strides, pads, dilations = any_window(net, height, width)
    depth = channels // group
    y_shape = (
        1,
        window_out(height, kernel[0], strides[0], dilations[0], pads[0], pads[2]),
        window_out(width, kernel[1], strides[1], dilations[1], pads[1], pads[3]),
        filters,
    )
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    parameters, shift = any_weights(net, (filters, *kernel, depth), rounding)
    residual, extra = None, []
    if net.pick([True, False, False]):
        y_quant = net.quant()
        extra = [net.input(y_shape)]
        b_zero_point = net.zero_point_of(extra[0])
        residual = net.add_params(zero_point, b_zero_point, y_quant.tensor_zero_point)
        quant = y_quant
    attrs = qops.QConv(
        strides,
        pads,
        dilations,
        group,
        net.form(shift, zero_point),
        residual,
    )
    whole = attrs if rounding is None else qops.QPooledConv(attrs, rounding)
    return net.node(whole, [x, *parameters, *extra], net.output(y_shape, quant))


def conv_transpose(net: Net, x: str) -> str:
    channels = net.shape(x)[3]
    group = net.pick([g for g in (1, 1, 2, 3, channels) if channels % g == 0])
    filters = group * net.integer(1, 5)
    kernel, strides, dilations = (pair_between(net, 1, 3) for _ in range(3))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    top, left = (net.integer(0, size - 1) for size in reach)
    # Rows before and after the image may not take all of it.
    bottom, right = (
        net.integer(0, min(2, size - 1 - before))
        for size, before in zip(reach, (top, left), strict=True)
    )
    extra = tuple(net.integer(0, max(s, d) - 1) for s, d in zip(strides, dilations, strict=True))
    parameters, shift = any_weights(net, (filters, *kernel, channels // group))
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    pads = (top, left, bottom, right)
    attrs = qops.QConvTranspose(strides, pads, dilations, group, extra, net.form(shift, zero_point))
    shapes = [net.shape(name) for name in (x, *parameters)]
    return net.node(attrs, [x, *parameters], net.output(infer_shape(attrs, shapes), quant))


def gemm(net: Net, x: str) -> str:
    return _gemm(net, x, None)


def pooled_gemm(net: Net, x: str) -> str:
    return _gemm(net, x, net.rounding())


def _gemm(net: Net, x: str, rounding: qops.PoolRounding | None) -> str:
    *rows, depth = net.shape(x)
    units = net.pick(CHANNELS)
    parameters, shift = any_weights(net, (units, depth), rounding)
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    attrs = qops.QGemm(net.form(shift, zero_point))
    whole = attrs if rounding is None else qops.QPooledGemm(attrs, rounding)
    return net.node(whole, [x, *parameters], net.output((*rows, units), quant))


def tree_ensemble(net: Net, x: str) -> str:
    features = math.prod(net.shape(x))
    row = moved_codes(net, qops.QReshape((1, features)), [x])
    outputs, leaves = net.integer(1, 4), net.integer(1, 9)
    nodes: list[tuple[int, int, int]] = []
    roots = []
    for _ in range(net.integer(1, 4)):
        roots.append(len(nodes))
        nodes += _tree(net, features, leaves, net.integer(0, 4))
    multiplier, shift = net.requant(1, 32767.0)
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    constants = (
        np.asarray(nodes, np.int16),
        np.asarray(roots, np.int32),
        net.rng.integers(-32767, 32768, (leaves, outputs)).astype(np.int16),
        net.rng.integers(-(2**20), 2**20, outputs).astype(np.int32),
    )
    inputs = [row, *(net.constant(array) for array in constants)]
    attrs = qops.QTreeEnsemble(form, int(multiplier[0]))
    return net.node(attrs, inputs, net.output((1, outputs), quant))


def _tree(net: Net, features: int, leaves: int, depth: int) -> list[tuple[int, int, int]]:
    """Rows of a random tree; thresholds reach beyond the codes."""
    if depth == 0 or net.rng.random() < 0.2:
        return [(-1, int(net.rng.integers(leaves)), 0)]
    yes, no = (_tree(net, features, leaves, depth - 1) for _ in range(2))
    threshold = int(net.rng.choice([-129, -128, 127, *net.rng.integers(-128, 128, 6)]))
    return [(int(net.rng.integers(features)), threshold, len(yes) + 1), *yes, *no]
