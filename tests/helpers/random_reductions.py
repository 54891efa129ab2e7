"""Random operators that make fewer numbers of many, or weigh them against each other."""

import math

import numpy as np
from random_net import Net
from random_parts import any_multiplier, any_twice, any_window, moved_codes, pair_between

from edgec.base.fixedpoint import INT32_MAX, Requant
from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.ops import ReduceKind
from edgec.ir.qparams import QuantParams


def max_pool(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    attrs = qops.QMaxPool(*any_window(net, height, width))
    return moved_codes(net, attrs, [x])


def average_pool(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    window = any_window(net, height, width)
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


def average_pool_codes(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    kernel = pair_between(net, 1, min(4, height, width))
    pads = tuple(net.integer(0, size - 1) for size in (*kernel, *kernel))
    form = qops.CodeMean(*net.clamp(0).values())
    attrs = qops.QAveragePool(kernel, pair_between(net, 1, 3), pads, (1, 1), False, form)
    return net.node(attrs, [x], net.output(infer_shape(attrs, [net.shape(x)]), net.quant()))


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
    attrs = qops.QSoftmax(qops.Quotients(*numbers, *net.clamp(zero_point).values()))
    return net.node(attrs, [x, net.constant(table)], net.output(shape, quant))


def softmax31(net: Net, x: str) -> str:
    """Rows that it does not take become those of the other definition, as in the quantizer."""
    if net.shape(x)[-1] > qops.Reciprocal31.LONGEST:
        return softmax(net, x)
    scale = net.pick([0.0, 1e-3, 0.05, 0.7, 10.0])
    table = np.floor((2.0**31 - 1) * np.exp(-scale * np.arange(256.0))).astype(np.int32)
    quant = QuantParams.per_tensor(1 / 256, -128)
    attrs = qops.QSoftmax(qops.Reciprocal31())
    return net.node(attrs, [x, net.constant(table)], net.output(net.shape(x), quant))


def log_softmax(net: Net, x: str) -> str:
    shape = net.shape(x)
    bits = 30 - math.ceil(math.log2(shape[-1]))
    scale, step = net.pick([1e-3, 0.05, 0.7]), net.pick([0.01, 0.03, 0.5])
    table = np.floor(2.0**bits * np.exp(-scale * np.arange(256.0)) + 0.5).astype(np.int32)
    reach = 255 * scale / step + shape[-1].bit_length() * math.log(2) / step + 1
    shift = min(24, 31 - math.frexp(reach)[1])
    numbers = (int(n / step * 2**shift) for n in (scale, math.log(2)))
    quant = net.quant()
    zero = quant.tensor_zero_point
    attrs = qops.QLogSoftmax(*numbers, shift, bits, zero, *net.clamp(zero).values())
    return net.node(attrs, [x, net.constant(table)], net.output(shape, quant))


def top_k(net: Net, x: str) -> str:
    shape = net.shape(x)
    count = net.integer(1, min(shape[-1], 5))
    attrs = qops.QTopK(count, net.chance(), net.chance())
    y = net.output((*shape[:-1], count), None if attrs.indices else net.quant_of(x))
    return net.node(attrs, [x], y)


def arg_max(net: Net, x: str) -> str:
    shape = net.shape(x)
    axis = net.integer(0, len(shape) - 1)
    attrs = qops.QArgMax(axis, net.chance(), net.chance(), net.chance())
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), None))


def reduce(net: Net, x: str) -> str:
    shape = net.shape(x)
    chosen = tuple(axis for axis in range(len(shape)) if net.chance())
    axes = chosen or (net.integer(0, len(shape) - 1),)
    return _reduced(net, x, axes, net.pick([kind for kind in ReduceKind if kind not in _NORMS]))


def reduce_twice(net: Net, x: str) -> str:
    shape = net.shape(x)
    axes = (net.integer(0, len(shape) - 1),)
    quant = net.quant()
    form = any_twice(net, quant.tensor_zero_point)
    attrs = qops.QReduce(ReduceKind.MEAN, axes, net.chance(), form, any_multiplier(net))
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), quant))


def reduce_image(net: Net, x: str) -> str:
    """All pixels of each channel, in one of the forms that means of images have."""
    return _reduced(net, x, (1, 2), net.pick([ReduceKind.MEAN, ReduceKind.SUM]))


_NORMS = (ReduceKind.L1, ReduceKind.L2, ReduceKind.SUM_SQUARE)


def reduce_norm(net: Net, x: str) -> str:
    axis = net.integer(0, len(net.shape(x)) - 1)
    return _reduced(net, x, (axis,), net.pick(list(_NORMS)))


def _reduced(net: Net, x: str, axes: tuple[int, ...], kind: ReduceKind) -> str:
    shape = net.shape(x)
    if kind.selects:
        return moved_codes(net, qops.QReduce(kind, axes, net.chance()), [x])
    terms = math.prod(shape[axis] for axis in axes)
    # No more fraction bits than there is room for below the root.
    room = (INT32_MAX // (256**2 * terms)).bit_length() - 1
    bits = min(3, room // 2) if kind is ReduceKind.L2 else 0
    root = 60.0 * math.sqrt(terms) * 2.0**bits
    squares = {ReduceKind.SUM_SQUARE: 60.0**2 * terms, ReduceKind.L2: root}
    multiplier, shift = net.requant(1, squares.get(kind, 60.0 * terms))
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    attrs = qops.QReduce(kind, axes, net.chance(), form, int(multiplier[0]), root_bits=bits)
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), quant))
