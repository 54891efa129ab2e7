"""Layers with weights on 16-bit codes: convolutions, and matrix products as such."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.reduced import MOST_SHIFT, reduced_factor
from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.quant.convert.wide.conversion import WideConversion

_MOST_LEFT = 7
"""Largest left shift of a factor that TensorFlow Lite takes for a sum of 64 bits."""


def conv(c: WideConversion) -> None:
    """Conv to QWideConv."""
    attrs, real = c.node.attrs_as(ops.Conv), ops.layer_inputs(c.node)
    factors = _factors(c, real)
    window = attrs.strides, attrs.pads, attrs.dilations, attrs.group
    inputs = _inputs(c, c.codes16(real.x).name, real, factors)
    c.emit(qops.QWideConv(*window, *c.act_bounds), inputs)


def gemm(c: WideConversion) -> None:
    """Gemm to QWideConv of one row of pixels."""
    real = ops.layer_inputs(c.node)
    weight = c.graph.constants[real.w]
    shape = c.graph.shape(real.x)
    row = (1, 1, math.prod(shape[:-1]), shape[-1])
    x = c.reshaped(c.codes16(real.x).name, row)
    inputs = _inputs(c, x, real, _factors(c, real))
    integer = qops.QWideConv((1, 1), (0, 0, 0, 0), (1, 1), 1, *c.act_bounds)
    made = c.intermediate(integer, inputs, (1, 1, row[2], weight.shape[0]))
    c.emit(qops.QReshape(c.output_shape), qops.QReshape.Inputs(made))


def _factors(c: WideConversion, real: ops.Weighted.Inputs[str]) -> list[tuple[int, int]]:
    """Multiplier and shift of each output, or one for all.

    Raises:
        QuantizationError: the weights have no scales, or a factor is out of range.
    """
    quant = c.graph.constants[real.w].quant
    if quant is None or quant.dtype not in (DType.INT8, DType.UINT8):
        raise c.error("its weights are no int8 codes")
    x, y = c.operand(real.x).scale, c.y.tensor_scale
    found = []
    for scale in quant.scale:
        multiplier, shift = quantized_factor(x * scale / y)
        if shift > _MOST_LEFT or 15 - shift > MOST_SHIFT:
            raise c.error(f"its scales are too far apart (factor {x * scale / y:.3g})")
        found.append(reduced_factor(multiplier, shift))
    return found


def _inputs(
    c: WideConversion, x: str, real: ops.Weighted.Inputs[str], factors: list[tuple[int, int]]
) -> qops.QWideConv.Inputs[str]:
    weight = _codes(c, real)
    outputs = len(weight)
    bias = np.zeros(outputs, np.int64) if real.b is None else c.graph.constants[real.b].array
    if bias.dtype.kind not in "iu":
        raise c.error("its bias is no integer")
    multiplier, shift = np.broadcast_to(np.array(factors), (outputs, 2)).T
    w = c.constant("weight", weight.reshape(outputs, *_taps(weight)))
    numbers = (
        c.constant(name, array.astype(kind))
        for name, array, kind in (
            ("bias", bias, np.int32),
            ("multiplier", multiplier, np.int16),
            ("shift", shift, np.int8),
        )
    )
    return qops.QWideConv.Inputs(x, w, *numbers)


def _codes(c: WideConversion, real: ops.Weighted.Inputs[str]) -> Array:
    """The weights as int8 codes around 0."""
    constant = c.graph.constants[real.w]
    quant = constant.quant
    zero = np.asarray((0,) if quant is None else quant.zero_point, np.int64)
    codes = constant.array.astype(np.int64) - zero.reshape(-1, *[1] * (constant.array.ndim - 1))
    if codes.min() < INT8_MIN or codes.max() > INT8_MAX:
        raise c.error("its weights do not fit int8 around their zero point")
    return codes.astype(np.int8)


def _taps(weight: Array) -> tuple[int, ...]:
    """Shape of a filter: a row of a matrix is one of a single tap."""
    return weight.shape[1:] if weight.ndim == 4 else (1, 1, *weight.shape[1:])
