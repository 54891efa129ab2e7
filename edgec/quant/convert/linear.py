"""Converters of the operators that multiply and add: convolutions, Gemm, Add, Sub, Mul."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator import Operator
from edgec.quant.common.weights import accumulator_bound
from edgec.quant.convert.context import SPAN, Conversion, Converter

_MAX_ADD_SHIFT = 30


def conv(c: Conversion) -> None:
    """Conv to QConv."""
    attrs = c.node.attrs_as(ops.Conv)
    inputs, output = _weighted(c)
    c.emit(
        qops.QConv(
            strides=attrs.strides,
            pads=attrs.pads,
            dilations=attrs.dilations,
            group=attrs.group,
            output=output,
        ),
        inputs,
    )


def conv_transpose(c: Conversion) -> None:
    """ConvTranspose to QConvTranspose."""
    attrs = c.node.attrs_as(ops.ConvTranspose)
    inputs, output = _weighted(c)
    c.emit(
        qops.QConvTranspose(
            strides=attrs.strides,
            pads=attrs.pads,
            dilations=attrs.dilations,
            group=attrs.group,
            output_padding=attrs.output_padding,
            output=output,
        ),
        inputs,
    )


def gemm(c: Conversion) -> None:
    """Gemm to QGemm."""
    inputs, output = _weighted(c)
    c.emit(qops.QGemm(output), inputs)


def _weighted(c: Conversion) -> tuple[tuple[str, ...], qops.Requant31]:
    """Inputs (x, weight, bias, multiplier) and requantization of a convolution or Gemm.

    Raises:
        QuantizationError: the accumulators are not bounded by int32.
    """
    node, graph = c.node, c.graph
    inputs = ops.layer_inputs(node)
    weight, bias_name = graph.constants[inputs.w], inputs.b or ""
    if not bias_name:
        bias_name = c.int32("bias", np.zeros(weight.shape[0]))
    bias: Array = c.builder.constants[bias_name].array
    bound = float(accumulator_bound(weight.array, bias).max())
    scale = np.asarray(graph.quant(weight.name).scale)
    requant = c.requant(scale * c.x.tensor_scale / c.y.tensor_scale, bound)
    multiplier = c.constant("multiplier", requant.multiplier)
    return (node.first, weight.name, bias_name, multiplier), c.form(requant.shift)


def add(c: Conversion) -> None:
    """Add and Sub to QAdd."""
    inputs = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b, y = c.graph.quant(inputs.a), c.graph.quant(inputs.b), c.y
    sign = -1.0 if isinstance(c.node.attrs, ops.Sub) else 1.0
    first = a.tensor_scale / y.tensor_scale
    second = sign * b.tensor_scale / y.tensor_scale
    first_multiplier, second_multiplier, shift = add_multipliers(first, second, c.node.name)
    low, high = c.act_bounds
    params = qops.AddParams(
        a_zero_point=a.tensor_zero_point,
        b_zero_point=b.tensor_zero_point,
        a_multiplier=first_multiplier,
        b_multiplier=second_multiplier,
        shift=shift,
        y_zero_point=y.tensor_zero_point,
        act_min=low,
        act_max=high,
    )
    c.emit(qops.QAdd(params), c.node.inputs)


def add_multipliers(first: float, second: float, where: str) -> tuple[int, int, int]:
    """Multipliers and shift of an integer addition: the largest shift whose sums fit int32.

    Args:
        first: scale of a over scale of y, positive.
        second: scale of b over scale of y, negative for a subtraction.
        where: the node, for the message.

    Raises:
        QuantizationError: none fits, that is the output scale is far too small.
    """
    sign = -1 if second < 0 else 1
    magnitudes = np.abs([first, second])
    for shift in range(_MAX_ADD_SHIFT if magnitudes.max() < INT32_MAX else 0, 0, -1):
        # Magnitudes are rounded, so that x - x is 0 whatever the scale.
        a, b = (int(m) for m in round_half_up(magnitudes * 2.0**shift))
        if SPAN * (a + b) + 2 ** (shift - 1) <= INT32_MAX:
            return a, sign * b, shift
    raise QuantizationError(
        f"rescaling factors {first:.3g} and {second:.3g} are too large for 32-bit integers",
        where=where,
        hint="the output scale is far smaller than the input scales; recalibrate",
    )


def mul(c: Conversion) -> None:
    """Mul to QMul."""
    inputs = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.graph.quant(inputs.a), c.graph.quant(inputs.b)
    factor = a.tensor_scale * b.tensor_scale / c.y.tensor_scale
    requant = c.requant(factor, SPAN * SPAN)
    c.emit(qops.QMul(c.form(requant.shift), int(requant.multiplier[0])), c.node.inputs)


CONVERTERS: Mapping[type[Operator], Converter] = MappingProxyType(
    {
        ops.Conv: conv,
        ops.ConvTranspose: conv_transpose,
        ops.Gemm: gemm,
        ops.Add: add,
        ops.Sub: add,
        ops.Mul: mul,
    }
)
