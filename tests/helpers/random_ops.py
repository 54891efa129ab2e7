"""One function per integer operator: applies it to a tensor of a random net, with random numbers.

Each takes the net and the name of an int8 tensor and gives the name of its output.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from random_net import CHANNELS, Net

from edgec.base.fixedpoint import Requant
from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.ops import CompareKind, PadMode, ReduceKind
from edgec.ir.qparams import QuantParams
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


def add20(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    params = qops.Add20(
        *(net.zero_point_of(name) for name in operands),
        *_fine_factor(net),
        *_fine_factor(net),
        net.pick([2**30, 2**31 - 1, 1518500250]),
        net.pick([17, 18, 19, 20, 21, 0, 31]),
        quant.tensor_zero_point,
        **net.clamp(quant.tensor_zero_point),
        subtracts=net.chance(),
    )
    return net.node(qops.QAdd(params), operands, net.output(_broadcast(net, operands), quant))


def squared_difference(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    params = qops.FineNumbers(
        *(net.zero_point_of(name) for name in operands),
        *_fine_factor(net),
        *_fine_factor(net),
        net.pick([2**30, 2**31 - 1, 1518500250]),
        net.pick([18, 20, 21, 22, 0, 31]),
        quant.tensor_zero_point,
        **net.clamp(quant.tensor_zero_point),
    )
    attrs = qops.QSquaredDifference(params)
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


def _fine_factor(net: Net) -> tuple[int, int]:
    """Multiplier and right shift of a factor up to 1/2."""
    return net.pick([(2**30, 0), (2**30, 3), (1234567890, 1), (2**31 - 1, 2), (0, 0), (2**30, 31)])


def mul(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    multiplier, shift = net.requant(1, 128.0 * 64)
    attrs = qops.QMul(net.form(shift, quant.tensor_zero_point), int(multiplier[0]))
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


def div(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    zero, shift = quant.tensor_zero_point, net.integer(0, qops.DIV_BITS)
    multiplier = net.pick([1, 3 << max(shift - 2, 0), 1 << shift, 1 << qops.DIV_BITS])
    attrs = qops.QDiv(min(multiplier, 1 << 22), shift, zero, *net.clamp(zero).values())
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


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


def extremum(net: Net, x: str) -> str:
    shape = net.shape(x)
    part = tuple(size if net.chance() else 1 for size in shape)
    other = x if net.chance() else net.constant(net.codes(part), net.quant_of(x))
    operands = [x, other] if net.chance() else [other, x]
    return _same_quant(net, qops.QExtremum(net.chance()), operands)


def compare(net: Net, x: str) -> str:
    operands = _operands(net, x)
    if net.chance():
        attrs = qops.QCompare(net.pick(list(CompareKind)))
    else:
        most = 1 << qops.COMPARE_BITS
        numbers = net.integer(1, most), net.integer(1, most), net.integer(-256 * most, 256 * most)
        attrs = qops.QCompare(net.pick(list(CompareKind)), *numbers)
    return net.node(attrs, operands, net.output(_broadcast(net, operands), None))


def where(net: Net, x: str) -> str:
    condition = compare(net, x)
    full = net.shape(condition)
    part = tuple(size if net.chance() else 1 for size in full)
    other = net.constant(net.codes(part), net.quant_of(x))
    operands = [condition, x, other] if net.chance() else [condition, other, x]
    chosen = net.node(qops.QWhere(), operands, net.output(full, net.quant_of(x)))
    if net.chance():
        net.node(qops.QWhere(), [condition] * 3, net.output(full, None))
    return chosen


def from_integer(net: Net, x: str) -> str:
    index = arg_max(net, x) if net.chance() else compare(net, x)
    multiplier, shift = net.requant(1, 8.0)
    quant = net.quant()
    attrs = qops.QFromInteger(net.form(shift, quant.tensor_zero_point), int(multiplier[0]))
    return net.node(attrs, [index], net.output(net.shape(index), quant))


def mul_twice(net: Net, x: str) -> str:
    operands = _operands(net, x)
    quant = net.quant()
    attrs = qops.QMul(_twice(net, quant.tensor_zero_point), _multiplier(net))
    return net.node(attrs, operands, net.output(_broadcast(net, operands), quant))


def reduce_twice(net: Net, x: str) -> str:
    shape = net.shape(x)
    axes = (net.integer(0, len(shape) - 1),)
    quant = net.quant()
    form = _twice(net, quant.tensor_zero_point)
    attrs = qops.QReduce(ReduceKind.MEAN, axes, net.chance(), form, _multiplier(net))
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), quant))


def matmul_twice(net: Net, x: str) -> str:
    if len(net.shape(x)) < 2:
        return mul_twice(net, x)  # a vector has no rows
    *lead, rows, depth = net.shape(x)
    transposes = net.chance(), net.chance()
    depth = rows if transposes[0] else depth
    columns = net.integer(1, 5)
    inner = (columns, depth) if transposes[1] else (depth, columns)
    other = net.input((*(net.pick([n, 1]) for n in lead), *inner))
    quant = net.quant()
    form = _twice(net, quant.tensor_zero_point)
    attrs = qops.QMatMul(form, _multiplier(net), 0, *transposes)
    y_shape = infer_shape(attrs, [net.shape(x), net.shape(other)])
    return net.node(attrs, [x, other], net.output(y_shape, quant))


def prelu_codes(net: Net, x: str) -> str:
    shape = net.shape(x)
    slopes = net.rng.choice([-255, -128, -1, 0, 1, 77, 255], shape[-1]).astype(np.int16)
    quant = net.quant()
    output = _twice(net, quant.tensor_zero_point)
    below = replace(output, shifts=(net.pick([-14, -9, -1, 0, 3]),))
    attrs = qops.QPReluCodes(output, below, _multiplier(net), _multiplier(net))
    return net.node(attrs, [x, net.constant(slopes)], net.output(shape, quant))


def _twice(net: Net, zero_point: int) -> qops.Twice31:
    shift = net.pick([-9, -8, -7, -6, -1, 0, 3, -31])
    return qops.Twice31((shift,), zero_point, *net.clamp(zero_point).values())


def _multiplier(net: Net) -> int:
    return int(net.pick([2**30, 2**31 - 1, 1518500250, 700000000, 1, 0]))


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


def average_codes(net: Net, x: str) -> str:
    _, height, width, _ = net.shape(x)
    kernel = _pair(net, 1, min(4, height, width))
    pads = tuple(net.integer(0, size - 1) for size in (*kernel, *kernel))
    attrs = qops.QAverageCodes(kernel, _pair(net, 1, 3), pads, (1, 1), *net.clamp(0).values())
    return net.node(attrs, [x], net.output(infer_shape(attrs, [net.shape(x)]), net.quant()))


def softmax31(net: Net, x: str) -> str:
    scale = net.pick([0.0, 1e-3, 0.05, 0.7, 10.0])
    table = np.floor((2.0**31 - 1) * np.exp(-scale * np.arange(256.0))).astype(np.int32)
    quant = QuantParams.per_tensor(1 / 256, -128)
    return net.node(qops.QSoftmax31(), [x, net.constant(table)], net.output(net.shape(x), quant))


def reduce(net: Net, x: str) -> str:
    shape = net.shape(x)
    chosen = tuple(axis for axis in range(len(shape)) if net.chance())
    axes = chosen or (net.integer(0, len(shape) - 1),)
    return _reduced(net, x, axes, net.pick([kind for kind in ReduceKind if kind not in _NORMS]))


_NORMS = (ReduceKind.L1, ReduceKind.L2, ReduceKind.SUM_SQUARE)


def reduce_norm(net: Net, x: str) -> str:
    axis = net.integer(0, len(net.shape(x)) - 1)
    return _reduced(net, x, (axis,), net.pick(list(_NORMS)))


def _reduced(net: Net, x: str, axes: tuple[int, ...], kind: ReduceKind) -> str:
    shape = net.shape(x)
    if kind.selects:
        return _same_quant(net, qops.QReduce(kind, axes, net.chance()), [x])
    terms = math.prod(shape[axis] for axis in axes)
    squares = {ReduceKind.SUM_SQUARE: 60.0**2 * terms, ReduceKind.L2: 60.0 * math.sqrt(terms) * 8.0}
    multiplier, shift = net.requant(1, squares.get(kind, 60.0 * terms))
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    bits = 3 if kind is ReduceKind.L2 else 0
    attrs = qops.QReduce(kind, axes, net.chance(), form, int(multiplier[0]), root_bits=bits)
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
    return _same_quant(net, qops.QResizeLinear(net.chance()), inputs)


def arg_max(net: Net, x: str) -> str:
    shape = net.shape(x)
    axis = net.integer(0, len(shape) - 1)
    attrs = qops.QArgMax(axis, net.chance(), net.chance(), net.chance())
    return net.node(attrs, [x], net.output(infer_shape(attrs, [shape]), None))


def tree_ensemble(net: Net, x: str) -> str:
    features = math.prod(net.shape(x))
    row = _same_quant(net, qops.QReshape((1, features)), [x])
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
        "add20": OpKind(add20),
        "squared_difference": OpKind(squared_difference),
        "mul": OpKind(mul),
        "div": OpKind(div),
        "log_softmax": OpKind(log_softmax),
        "top_k": OpKind(top_k),
        "extremum": OpKind(extremum),
        "compare": OpKind(compare),
        "where": OpKind(where),
        "from_integer": OpKind(from_integer),
        "mul_twice": OpKind(mul_twice),
        "reduce_twice": OpKind(reduce_twice),
        "matmul_twice": OpKind(matmul_twice),
        "lut": OpKind(lut),
        "prelu": OpKind(prelu),
        "prelu_codes": OpKind(prelu_codes),
        "softmax": OpKind(softmax),
        "softmax31": OpKind(softmax31),
        "max_pool": OpKind(max_pool, True),
        "average_pool": OpKind(average_pool, True),
        "average_codes": OpKind(average_codes, True),
        "reduce": OpKind(reduce),
        "reduce_norm": OpKind(reduce_norm),
        "reshape": OpKind(reshape),
        "transpose": OpKind(transpose),
        "slice": OpKind(slice_),
        "concat": OpKind(concat),
        "pad": OpKind(pad),
        "resize_nearest": OpKind(resize_nearest, True),
        "resize_linear": OpKind(resize_linear, True),
        "arg_max": OpKind(arg_max),
        "tree_ensemble": OpKind(tree_ensemble),
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
