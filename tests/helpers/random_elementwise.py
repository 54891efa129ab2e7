"""Random operators on elements of one tensor, or of two."""

from dataclasses import replace

import numpy as np
from random_net import Net
from random_parts import (
    any_multiplier,
    any_twice,
    broadcast_shape,
    fine_factor,
    moved_codes,
    two_operands,
)
from random_reductions import arg_max

from edgec.ir import qops
from edgec.ir.infer import infer_shape
from edgec.ir.ops import CompareKind


def add(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    a, b = (net.zero_point_of(name) for name in operands)
    attrs = qops.QAdd(net.add_params(a, b, quant.tensor_zero_point))
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), quant))


def add20(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    params = qops.TfliteSum(
        *(net.zero_point_of(name) for name in operands),
        *fine_factor(net),
        *fine_factor(net),
        net.pick([2**30, 2**31 - 1, 1518500250]),
        net.pick([17, 18, 19, 20, 21, 0, 31]),
        quant.tensor_zero_point,
        **net.clamp(quant.tensor_zero_point),
        subtracts=net.chance(),
    )
    return net.node(qops.QAdd(params), operands, net.output(broadcast_shape(net, operands), quant))


def squared_difference(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    params = qops.TfliteSumNumbers(
        *(net.zero_point_of(name) for name in operands),
        *fine_factor(net),
        *fine_factor(net),
        net.pick([2**30, 2**31 - 1, 1518500250]),
        net.pick([18, 20, 21, 22, 0, 31]),
        quant.tensor_zero_point,
        **net.clamp(quant.tensor_zero_point),
        bits=7,
    )
    attrs = qops.QSquaredDifference(params)
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), quant))


def mul(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    multiplier, shift = net.requant(1, 128.0 * 64)
    attrs = qops.QMul(net.form(shift, quant.tensor_zero_point), int(multiplier[0]))
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), quant))


def mul_twice(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    attrs = qops.QMul(any_twice(net, quant.tensor_zero_point), any_multiplier(net))
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), quant))


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
    form = any_twice(net, quant.tensor_zero_point)
    attrs = qops.QMatMul(form, any_multiplier(net), 0, *transposes)
    y_shape = infer_shape(attrs, [net.shape(x), net.shape(other)])
    return net.node(attrs, [x, other], net.output(y_shape, quant))


def div(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    quant = net.quant()
    zero, shift = quant.tensor_zero_point, net.integer(0, 22)
    multiplier = net.pick([1, 3 << max(shift - 2, 0), 1 << shift, 1 << 22])
    left = net.integer(1, 16) if shift == 0 else 0
    attrs = qops.QDiv(min(multiplier, 1 << 22), left, shift, zero, *net.clamp(zero).values())
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), quant))


def extremum(net: Net, x: str) -> str:
    shape = net.shape(x)
    part = tuple(size if net.chance() else 1 for size in shape)
    other = x if net.chance() else net.constant(net.codes(part), net.quant_of(x))
    operands = [x, other] if net.chance() else [other, x]
    return moved_codes(net, qops.QExtremum(net.chance()), operands)


def compare(net: Net, x: str) -> str:
    operands = two_operands(net, x)
    if net.chance():
        attrs = qops.QCompare(net.pick(list(CompareKind)))
    else:
        most = 1 << 21
        numbers = net.integer(1, most), net.integer(1, most), net.integer(-256 * most, 256 * most)
        attrs = qops.QCompare(net.pick(list(CompareKind)), *numbers)
    return net.node(attrs, operands, net.output(broadcast_shape(net, operands), None))


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
    attrs = qops.QRescale(net.form(shift, quant.tensor_zero_point), int(multiplier[0]))
    return net.node(attrs, [index], net.output(net.shape(index), quant))


def lut(net: Net, x: str) -> str:
    table = net.constant(net.codes((256,)))
    return net.node(qops.QLut(), [x, table], net.output(net.shape(x), net.quant()))


def prelu(net: Net, x: str) -> str:
    shape = net.shape(x)
    multipliers, shift = net.requant(shape[-1] + 1, 128.0)
    quant = net.quant()
    attrs = qops.QPRelu(net.form(shift, quant.tensor_zero_point), int(multipliers[0]))
    return net.node(attrs, [x, net.constant(multipliers[1:])], net.output(shape, quant))


def prelu_codes(net: Net, x: str) -> str:
    shape = net.shape(x)
    slopes = net.rng.choice([-255, -128, -1, 0, 1, 77, 255], shape[-1]).astype(np.int16)
    quant = net.quant()
    output = any_twice(net, quant.tensor_zero_point)
    below = replace(output, shifts=(net.pick([-14, -9, -1, 0, 3]),))
    attrs = qops.QPRelu(output, any_multiplier(net), below, any_multiplier(net))
    return net.node(attrs, [x, net.constant(slopes)], net.output(shape, quant))
