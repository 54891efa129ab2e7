"""One function per integer operator: applies it to a tensor of a random net, with random numbers.

Each takes the net and the name of an int8 tensor and gives the name of its output.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from random_net import CHANNELS, Net

from edgec.base.fixedpoint import Requant
from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.ops import PadMode, ReduceKind
from edgec.ir.shapes import Pads2D, Pair, window_out


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
    kernel, strides, pads, dilations = _window(net, height, width)
    depth = channels // group
    y_shape = (
        1,
        window_out(height, kernel[0], strides[0], dilations[0], pads[0], pads[2]),
        window_out(width, kernel[1], strides[1], dilations[1], pads[1], pads[3]),
        filters,
    )
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    parameters, shift = _weights(net, (filters, *kernel, depth), rounding)
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
    kernel, strides, dilations = (_pair(net, 1, 3) for _ in range(3))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    top, left = (net.integer(0, size - 1) for size in reach)
    # Rows before and after the image may not take all of it.
    bottom, right = (
        net.integer(0, min(2, size - 1 - before))
        for size, before in zip(reach, (top, left), strict=True)
    )
    extra = tuple(net.integer(0, max(s, d) - 1) for s, d in zip(strides, dilations, strict=True))
    parameters, shift = _weights(net, (filters, *kernel, channels // group))
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
    parameters, shift = _weights(net, (units, depth), rounding)
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    attrs = qops.QGemm(net.form(shift, zero_point))
    whole = attrs if rounding is None else qops.QPooledGemm(attrs, rounding)
    return net.node(whole, [x, *parameters], net.output((*rows, units), quant))


def add(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    a, b = (net.zero_point_of(name) for name in operands)
    attrs = qops.QAdd(net.add_params(a, b, quant.tensor_zero_point))
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


def mul(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    multiplier, shift = net.requant(1, 128.0 * 64)
    attrs = qops.QMul(net.form(shift, quant.tensor_zero_point), int(multiplier[0]))
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


def lut(net: Net, x: str) -> str:
    table = net.constant(net.codes((256,)))
    return net.node(qops.QLut(), [x, table], net.output(net.shape(x), net.quant()))


def prelu(net: Net, x: str) -> str:
    shape = net.shape(x)
    multipliers, shift = net.requant(shape[-1] + 1, 128.0)
    quant = net.quant()
    attrs = qops.QPRelu(net.form(shift, quant.tensor_zero_point), int(multipliers[0]))
    return net.node(attrs, [x, net.constant(multipliers[1:])], net.output(shape, quant))


def softmax(net: Net, x: str) -> str:
    shape = net.shape(x)
    bits = 30 - math.ceil(math.log2(shape[-1]))
    scale = net.pick([0.0, 1e-3, 0.05, 0.7, 10.0])
    table = np.floor(2.0**bits * np.exp(-scale * np.arange(256.0)) + 0.5).astype(np.int32)
    step = net.pick([1 / 256, 1 / 128, 0.03, 0.9, 1e-7])
    requant = Requant.from_real(step, shape[-1] << bits)
    quant = net.quant()
    zero_point = quant.tensor_zero_point
    numbers = int(requant.multiplier[0]), requant.shift, zero_point
    attrs = qops.QSoftmax(*numbers, *net.clamp(zero_point).values())
    return net.node(attrs, [x, net.constant(table)], net.output(shape, quant))


def max_pool(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    attrs = qops.QMaxPool(*_pool_window(net, height, width))
    return _same_quant(net, attrs, [x])


def average_pool(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    window = _pool_window(net, height, width)
    taps = window[0][0] * window[0][1]
    shift = net.pick([32, 32, 31, 28])
    real = net.rng.uniform(0.2, 1.9) * 2.0**shift / np.maximum(np.arange(taps + 1), 1)
    multiplier = np.minimum(real, 2.0**31 - 1).astype(np.int32)
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    attrs = qops.QAveragePool(*window, net.chance(), form)
    inputs = [x, net.constant(multiplier)]
    shapes = [net.shape(name) for name in inputs]
    return net.node(attrs, inputs, net.output(infer_shape(attrs, shapes), quant))


def reduce(net: Net, x: str) -> str:
    shape = net.shape(x)
    chosen = tuple(axis for axis in range(len(shape)) if net.chance())
    axes = chosen or (net.integer(0, len(shape) - 1),)
    kind = net.pick(list(ReduceKind))
    if kind is ReduceKind.MAX:
        return _same_quant(net, qops.QReduce(kind, axes, net.chance()), [x])
    terms = math.prod(shape[axis] for axis in axes)
    multiplier, shift = net.requant(1, 60.0 * terms)
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    attrs = qops.QReduce(kind, axes, net.chance(), form, int(multiplier[0]))
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), quant))


def reshape(net: Net, x: str) -> str:
    shape = net.shape(x)
    flat = (1, math.prod(shape))
    return _same_quant(net, qops.QReshape(net.pick([flat, (*shape, 1), (1, *shape[::-1])])), [x])


def transpose(net: Net, x: str) -> str:
    axes = list(range(len(net.shape(x))))
    perm = tuple(axes.pop(net.integer(0, len(axes) - 1)) for _ in net.shape(x))
    return _same_quant(net, qops.QTranspose(perm), [x])


def slice_(net: Net, x: str) -> str:
    ranges = []
    for size in net.shape(x):
        step = net.pick([1, 1, 2, 3, -1, -2])
        start = net.integer(0, size - 1)
        room = (size - 1 - start) // step if step > 0 else start // -step
        ranges.append((start, step, net.integer(1, room + 1)))
    starts, steps, sizes = zip(*ranges, strict=True)
    return _same_quant(net, qops.QSlice(starts, steps, sizes), [x])


def concat(net: Net, x: str) -> str:
    shape = net.shape(x)
    axis = net.integer(0, len(shape) - 1)
    inputs = [x]
    for _ in range(net.integer(0, 3)):
        if net.chance():
            inputs.append(x)
        else:
            part = tuple(net.integer(1, 4) if i == axis else n for i, n in enumerate(shape))
            inputs.insert(0, net.constant(net.codes(part), net.quant_of(x)))
    return _same_quant(net, qops.QConcat(axis), inputs)


def pad(net: Net, x: str) -> str:
    mode = net.pick(list(PadMode))
    most = [min(3, size - 1) if mode is PadMode.REFLECT else 3 for size in net.shape(x)]
    pads = tuple((net.integer(0, n), net.integer(0, n)) for n in most)
    return _same_quant(net, qops.QPad(pads, mode, net.pick([-128, 0, 127])), [x])


def resize_nearest(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    rows, cols = (
        net.rng.integers(0, size, net.integer(1, 9)).astype(np.int32) for size in (height, width)
    )
    inputs = [x, net.constant(rows), net.constant(cols)]
    return _same_quant(net, qops.QResizeNearest(), inputs)


def resize_linear(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    tables = [_interpolation(net, size) for size in (height, width)]
    inputs = [x, *(net.constant(table) for table in tables)]
    return _same_quant(net, qops.QResizeLinear(), inputs)


def arg_max(net: Net, x: str) -> str:
    shape = net.shape(x)
    attrs = qops.QArgMax(net.integer(0, len(shape) - 1), net.chance(), net.chance())
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), None))


@dataclass(frozen=True)
class OpKind:
    """How to apply an operator, and whether it needs an image [1, H, W, C]."""

    apply: Callable[[Net, str], str]
    needs_image: bool = False


OPS: Mapping[str, OpKind] = MappingProxyType(
    {
        "conv": OpKind(conv, True),
        "depthwise": OpKind(depthwise, True),
        "conv_transpose": OpKind(conv_transpose, True),
        "gemm": OpKind(gemm),
        "pooled_conv": OpKind(pooled_conv, True),
        "pooled_gemm": OpKind(pooled_gemm),
        "add": OpKind(add),
        "mul": OpKind(mul),
        "lut": OpKind(lut),
        "prelu": OpKind(prelu),
        "softmax": OpKind(softmax),
        "max_pool": OpKind(max_pool, True),
        "average_pool": OpKind(average_pool, True),
        "reduce": OpKind(reduce),
        "reshape": OpKind(reshape),
        "transpose": OpKind(transpose),
        "slice": OpKind(slice_),
        "concat": OpKind(concat),
        "pad": OpKind(pad),
        "resize_nearest": OpKind(resize_nearest, True),
        "resize_linear": OpKind(resize_linear, True),
        "arg_max": OpKind(arg_max),
    }
)


def _pair(net: Net, low: int, high: int) -> Pair:
    return net.integer(low, high), net.integer(low, high)


def _window(net: Net, height: int, width: int) -> tuple[Pair, Pair, Pads2D, Pair]:
    """(kernel, strides, pads, dilations) of a window that fits."""
    match net.pick(["any", "any", "any", "pointwise", "whole"]):
        case "pointwise":
            return (1, 1), net.pick([(1, 1), (2, 2)]), (0, 0, 0, 0), (1, 1)
        case "whole":
            return (height, width), (1, 1), (0, 0, 0, 0), (1, 1)
    kernel, strides, dilations = _pair(net, 1, 4), _pair(net, 1, 3), _pair(net, 1, 3)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    top, left = (net.integer(0, min(3, span - 1)) for span in spans)
    bottom, right = (
        max(net.integer(0, min(3, span - 1)), span - size - before)
        for span, size, before in zip(spans, (height, width), (top, left), strict=True)
    )
    return kernel, strides, (top, left, bottom, right), dilations


def _pool_window(net: Net, height: int, width: int) -> tuple[Pair, Pair, Pads2D, Pair]:
    return _window(net, height, width)


def _weights(
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


def _operands(net: Net, x: str) -> list[str]:
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


def _broadcast(net: Net, names: list[str]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(net.shape(name) for name in names))


def _same_quant(net: Net, attrs: object, inputs: list[str]) -> str:
    """A node that moves codes: the output has the quantization of x."""
    x = next(name for name in inputs if name in net.builder.values)
    shape = infer_shape(attrs, [net.shape(name) for name in inputs])
    return net.node(attrs, inputs, net.output(shape, net.quant_of(x)))


def _interpolation(net: Net, size: int) -> np.ndarray:
    """int32 [n, 3]: (low, high, weight) of a linear resize along one axis."""
    count = net.integer(1, 9)
    low = net.rng.integers(0, size, count)
    high = np.minimum(low + net.rng.integers(0, 2, count), size - 1)
    weight = net.rng.choice([0, 1, 1024, 2047, 2048, 777], count)
    return np.stack([low, high, weight], axis=1).astype(np.int32)
