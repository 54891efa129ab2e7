"""What random operators have in common: windows, weights, operands, numbers."""

import math

import numpy as np
from random_net import Net

from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.shapes import Pads2D, Pair


def pair_between(net: Net, low: int, high: int) -> Pair:
    return net.integer(low, high), net.integer(low, high)


def any_window(net: Net, height: int, width: int) -> tuple[Pair, Pair, Pads2D, Pair]:
    """(kernel, strides, pads, dilations) of a window that fits."""
    match net.pick(["any", "any", "any", "pointwise", "whole"]):
        case "pointwise":
            return (1, 1), net.pick([(1, 1), (2, 2)]), (0, 0, 0, 0), (1, 1)
        case "whole":
            return (height, width), (1, 1), (0, 0, 0, 0), (1, 1)
    kernel, strides, dilations = (
        pair_between(net, 1, 4),
        pair_between(net, 1, 3),
        pair_between(net, 1, 3),
    )
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    top, left = (net.integer(0, min(3, span - 1)) for span in spans)
    bottom, right = (
        max(net.integer(0, min(3, span - 1)), span - size - before)
        for span, size, before in zip(spans, (height, width), (top, left), strict=True)
    )
    return kernel, strides, (top, left, bottom, right), dilations


def any_weights(
    net: Net, shape: tuple[int, ...], rounding: qops.PoolRounding | None = None
) -> tuple[list[str], int]:
    """Names of (weight, or pool and indices, bias, multiplier), and the shift."""
    filters, depth = shape[0], math.prod(shape[1:])
    if rounding is None:
        weights, size = (net.codes(shape),), 74.0
    else:
        weights = net.pool_and_indices(shape)
        size = max(float(weights[0].std()), 1.0)
    typical = 74.0 * size * math.sqrt(depth)
    multiplier, shift = net.requant(filters, typical)
    arrays = (*weights, net.bias(filters, typical), multiplier)
    return [net.constant(array) for array in arrays], shift


def two_operands(net: Net, x: str) -> list[str]:
    """x and another operand: itself, a constant, or an input, of any shape that broadcasts."""
    shape = net.shape(x)
    other = [net.pick([n, n, 1]) for n in shape]
    if net.chance():
        del other[: net.integer(0, len(other) - 1)]
    kind = net.pick(["itself", "constant", "input", "input"])
    if kind == "itself":
        return [x, x]
    if kind == "constant":
        second = net.constant(net.codes(tuple(other)), net.quant())
    else:
        second = net.input(tuple(other))
    return [x, second] if net.chance() else [second, x]


def broadcast_shape(net: Net, names: list[str]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(net.shape(name) for name in names))


def moved_codes(net: Net, attrs: object, inputs: list[str]) -> str:
    """A node that moves codes: the output has the quantization of x."""
    x = next(name for name in inputs if name in net.builder.values)
    shape = infer_shape(attrs, [net.shape(name) for name in inputs])
    return net.node(attrs, inputs, net.output(shape, net.quant_of(x)))


def fine_factor(net: Net) -> tuple[int, int]:
    """Multiplier and right shift of a factor up to 1/2."""
    return net.pick([(2**30, 0), (2**30, 3), (1234567890, 1), (2**31 - 1, 2), (0, 0), (2**30, 31)])


def any_twice(net: Net, zero_point: int) -> qops.TwoRoundings31:
    shift = net.pick([-9, -8, -7, -6, -1, 0, 3, -31])
    return qops.TwoRoundings31((shift,), zero_point, *net.clamp(zero_point).values())


def any_multiplier(net: Net) -> int:
    return int(net.pick([2**30, 2**31 - 1, 1518500250, 700000000, 1, 0]))
