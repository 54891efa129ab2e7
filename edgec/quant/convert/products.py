"""Converters to operators that requantize by 16 by 15 bits: products of two activations, norms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import (
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    Requant16x15,
    round_half_up,
)
from edgec.ir import ops, qops
from edgec.ir.operator import Operator
from edgec.ir.qparams import QuantParams
from edgec.quant.common.numbers import RealNorm, norm_numbers
from edgec.quant.convert.context import SPAN, Conversion, Converter

INT8_REACH = 129.0
"""Largest code magnitude, and one, that an int8 output needs through its 16 bits."""
_WIDE_BITS = 7
"""A centred int8 code, at most 255, fits int16 when shifted left by this many bits."""


def single_rescale(
    factor: float, bound: float, y: QuantParams, bounds: tuple[int, int], where: str
) -> tuple[qops.Rescale16x15, int, int]:
    """Requantization, multiplier and bias of an operator with one factor and an int8 output.

    Args:
        factor: the factor of an accumulator, in output steps.
        bound: largest magnitude of an accumulator.
        y: parameters of the output, per tensor; the bias holds the zero point.
        bounds: least and greatest code of the output.
        where: the node, for messages.

    Raises:
        QuantizationError: the factor does not fit.
    """
    zero = y.tensor_zero_point / factor if factor else 0.0
    try:
        found = Requant16x15.from_real(factor, bound + abs(zero), INT8_REACH)
    except QuantizationError as error:
        raise QuantizationError(error.what, where=where, hint=error.hint) from error
    form = qops.Rescale16x15(found.pre_shift, found.shift, *bounds)
    return form, int(found.multiplier[0]), int(round_half_up(zero))


def matmul(c: Conversion) -> None:
    """MatMul to QMatMul."""
    attrs = c.node.attrs_as(ops.MatMul)
    names = attrs.Inputs.of(c.node.inputs)
    a, b = c.graph.quant(names.a), c.graph.quant(names.b)
    factor = a.tensor_scale * b.tensor_scale / c.y.tensor_scale * attrs.scale
    terms = attrs.terms(attrs.Inputs.of(c.graph.shapes(c.node)))
    form, multiplier, bias = single_rescale(
        factor, float(SPAN * SPAN * terms), c.y, c.act_bounds, c.node.name
    )
    transposes = attrs.transpose_a, attrs.transpose_b
    c.emit(qops.QMatMul(form, multiplier, bias, *transposes), c.node.inputs)


def norm(c: Conversion) -> None:
    """LayerNormalization and RMSNormalization of int8 codes to QNorm."""
    attrs = c.node.attrs_as(ops.Norm)
    names = attrs.Inputs.of(c.node.inputs)
    channels = c.x_shape[-1]
    beta = np.zeros(channels) if names.beta is None else c.graph.constants[names.beta].real64()
    found = norm_numbers(
        RealNorm(
            centred=isinstance(attrs, ops.LayerNormalization),
            gamma=c.graph.constants[names.gamma].real64(),
            beta=beta,
            epsilon=attrs.epsilon,
            x_scale=float(np.ldexp(c.x.tensor_scale, -_WIDE_BITS)),
            y_scale=np.full(channels, c.y.tensor_scale),
            y_zero=np.full(channels, c.y.tensor_zero_point),
            least=INT8_MIN,
        ),
        c.node.name,
    )
    gamma, integer_beta = c.constant("gamma", found.gamma), c.constant("beta", found.beta)
    inputs = qops.QNorm.Inputs(_widened(c, names.x), gamma, integer_beta)
    c.emit(found.attrs, inputs.names())


def _widened(c: Conversion, name: str) -> str:
    """The int16 tensor of an int8 value, exactly: ``(q - zero_point) * 2**7``, zero point 0."""
    for made in c.builder.nodes.values():
        if isinstance(made.attrs, qops.QRescale) and made.first == name:
            return made.output
    value, quant = c.graph.values[name], c.graph.quant(name)
    # A product is rounded by one bit at least, so the multiplier has one more.
    form = qops.Rescale16x15(0, 1, INT16_MIN, INT16_MAX, DType.INT16)
    attrs = qops.QRescale(form, 2 << _WIDE_BITS, -quant.tensor_zero_point)
    scale = float(np.ldexp(quant.tensor_scale, -_WIDE_BITS))
    wide = QuantParams.per_tensor(scale, 0, DType.INT16)
    stem = f"{name}/int16"
    widened = replace(value, name=c.builder.fresh(stem), dtype=DType.INT16, quant=wide)
    c.builder.value(replace(widened, form_of=name))
    c.builder.node(stem, attrs, (name,), (widened.name,), c.node.sources)
    return widened.name


CONVERTERS: Mapping[type[Operator], Converter] = MappingProxyType(
    {
        ops.MatMul: matmul,
        ops.LayerNormalization: norm,
        ops.RMSNormalization: norm,
    }
)
"""What makes the integer operators of these real ones."""
