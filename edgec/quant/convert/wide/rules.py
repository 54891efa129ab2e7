"""The rules of TensorFlow Lite Micro for tensors of int16."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX
from edgec.base.tflite_arithmetic import MOST_SHIFT, quantized_factor, reduced_factor
from edgec.ir import ops, qops
from edgec.ir.ops.elementwise import UnaryKind
from edgec.quant.convert.codes import Coded, Output
from edgec.quant.convert.rules import Mean, Single
from edgec.quant.convert.softmax16 import SOFTMAX16_UNIT, SoftmaxParts, has_softmax16, softmax16
from edgec.quant.convert.tflm.rules import TflmRules, is_code_mean, rectifier31, tflm_refusal
from edgec.quant.convert.wide.tables import sigmoid_table

_LARGEST_SUM = 2.0**47
"""TensorFlow Lite multiplies sums below this."""
_MOST_LEFT = 7
"""Largest left shift of a factor that TensorFlow Lite takes for a sum of 64 bits."""
_UNIT = 2.0**-15
"""Scale of the outputs of the logistic function and of tanh."""
_TO_TABLE = 4096.0 * 3.0
"""Steps of the logistic function's table in 1."""


class WideRules(TflmRules):
    """Those for which TensorFlow Lite Micro has kernels of int16; it refuses all else."""

    def requantized(
        self, factors: Array, _bounds: npt.ArrayLike, y: Output
    ) -> tuple[qops.Requantization, Array]:
        """Rounded once, from sums of 64 bits.

        Raises:
            QuantizationError: a factor is out of range.
        """
        numbers = [_reduced(float(factor), y.where) for factor in factors]
        multipliers, shifts = (np.array(column) for column in zip(*numbers, strict=True))
        form = qops.Once15(tuple(map(int, shifts)), y.low, y.high)
        return form, multipliers.astype(np.int16)

    def product_end(self, a: Coded, b: Coded, y: Output, bound: float, scale: float) -> Single:
        """Rounded once, from sums of 64 bits; the scales of the operands meet in float32.

        Raises:
            QuantizationError: a factor or a sum is out of range.

        Source: TensorFlow Lite Micro, micro/kernels/batch_matmul.cc.
        """
        if scale != 1.0 or bound >= _LARGEST_SUM:
            raise tflm_refusal(f"its factor is {scale:g}, its sums reach {bound:.3g}", y.where)
        product = float(np.float32(a.scale) * np.float32(b.scale))
        multiplier, shift = _reduced(product / y.scale, y.where)
        return Single(qops.Once15((shift,), y.low, y.high), multiplier)

    def mean(self, x: Coded, attrs: ops.AveragePool, y: Output) -> Mean:
        """The end of a mean of raw codes.

        Raises:
            QuantizationError: no window of TensorFlow Lite is like it, or the types differ.
        """
        if not is_code_mean(attrs):
            raise tflm_refusal("its window is none of TensorFlow Lite's", y.where)
        if x.dtype is not y.dtype:
            raise tflm_refusal("it mixes int8 and int16 tensors", y.where)
        return Mean(qops.CodeMean(y.low, y.high, y.dtype), None)

    def softmax16(self, scale: float, row: int, y: Output) -> SoftmaxParts:
        """A softmax of int16, by interpolated tables.

        Raises:
            QuantizationError: the scale of its output is another, or there is none for its input.

        Source: TensorFlow Lite Micro, micro/kernels/softmax_common.cc.
        """
        if abs(y.scale / SOFTMAX16_UNIT - 1) > 1e-3:
            raise tflm_refusal("the scale of its output is not 2^-15", y.where)
        if not has_softmax16(scale, row):
            raise tflm_refusal(f"its rows have {row} elements, a step is {scale:.3g}", y.where)
        return replace(softmax16(scale, row, y), made=None)

    def line(self, attrs: ops.Unary, x: Coded, y: Output) -> tuple[qops.TableRule, Array]:
        """The logistic function and tanh.

        Raises:
            QuantizationError: it is another function, or the scales are others.

        Source: TensorFlow Lite Micro, micro/kernels/logistic_common.cc and tanh.cc.
        """
        if attrs.kind not in (UnaryKind.SIGMOID, UnaryKind.TANH):
            raise tflm_refusal(f"{attrs.kind.value} of 16-bit tensors is not supported", y.where)
        tanh = attrs.kind is UnaryKind.TANH
        if y.scale != _UNIT:
            raise tflm_refusal("the scale of its output is not 2^-15", y.where)
        power = math.log2(x.scale)
        left = 12 + round(power)
        if abs(power - round(power)) < 1e-3 and left in ((0, 1) if tanh else (0,)):
            multiplier, shift = 3 << left, 0
        else:
            multiplier, shift = _sigmoid_factor(x.scale)
        if multiplier > INT16_MAX:
            raise tflm_refusal("the scale of its input is too large", y.where)
        return qops.Logistic(tanh, multiplier, shift), sigmoid_table()


def leaky_relu(alpha: float, x: Coded, y: Output) -> tuple[qops.QPRelu, int]:
    """LeakyRelu of int16, and the slope of what is below 0: 1, or -1 where alpha is negative.

    Raises:
        QuantizationError: a factor is out of range.

    Source: TensorFlow Lite Micro, micro/kernels/leaky_relu_common.cc, and TensorFlow Lite,
    kernels/internal/reference/leaky_relu.h (QuantizeLeakyRelu).
    """
    real = float(np.float32(alpha))
    # A slope of -1 turns the least code around, which has no counterpart.
    factors = x.scale / y.scale, x.scale * abs(real) / y.scale
    above, below = ((factor, float(x.span + 1)) for factor in factors)
    attrs = rectifier31(above, below, y)
    if attrs is None:
        raise tflm_refusal("its scales are too far apart", y.where)
    return attrs, -1 if real < 0 else 1


def _reduced(factor: float, where: str) -> tuple[int, int]:
    """Multiplier of 15 bits and right shift of a factor."""
    multiplier, shift = quantized_factor(factor)
    if shift > _MOST_LEFT or 15 - shift > MOST_SHIFT:
        raise tflm_refusal(f"its scales are too far apart (factor {factor:.3g})", where)
    return reduced_factor(multiplier, shift)


def _sigmoid_factor(scale: float) -> tuple[int, int]:
    """Multiplier of 15 bits and right shift that make steps of the table."""
    factor, shift = scale * _TO_TABLE, 0
    while factor <= INT16_MAX / 2.0 and shift < 31:
        factor, shift = factor * 2.0, shift + 1
    return int(factor), shift
