"""Mean of codes over windows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_dtype
from edgec.ir.qops.convolution import padded_image, window_taps
from edgec.ir.qops.operands import Operand, value
from edgec.ir.shapes import Pads2D, Pair, Window, need, pool_shape


@dataclass(frozen=True, slots=True)
class QAverageCodes(IntegerOperator):
    """x [N, H, W, C]: the mean of raw codes, as TensorFlow Lite's average pool computes it.

    ``y = clamp(sum x / count)``, rounded to the nearest, halves away from zero; the sum runs over
    the taps inside the image and count is their number.  Every window meets the image: pads are
    smaller than the kernel, dilations are 1.

    Source: TensorFlow Lite, kernels/internal/reference/integer_ops/pooling.h (AveragePool).
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        mean = mean_of_codes(self, self.kernel, inputs.x.wide)
        return int8_clamped(mean, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max)
        need_dtype(output, DType.INT8)
        need_windows_that_meet(self, self.kernel)


def mean_of_codes(geometry: Window, kernel: Pair, x: Array) -> Array:
    """Means over the taps inside the image, rounded to the nearest, halves away from zero.

    Args:
        geometry: strides, pads and dilations.
        kernel: height and width of a window.
        x: codes, int64 [N, H, W, C].

    Returns:
        int64 [N, OH, OW, C].
    """
    total = sum(window_taps(geometry, kernel, padded_image(geometry, x, 0)), np.int64(0))
    counted = padded_image(geometry, np.ones_like(x[:1, :, :, :1]), 0)
    count = sum(window_taps(geometry, kernel, counted), np.int64(0))
    return np.asarray(np.sign(total) * ((np.abs(total) + count // 2) // count))


def need_windows_that_meet(geometry: Window, kernel: Pair) -> None:
    """Check that each window has a tap inside the image.

    Raises:
        ValueError: one need not have.
    """
    need(geometry.dilations == (1, 1), "its windows have gaps")
    inside = all(pad < k for pad, k in zip(geometry.pads, (*kernel, *kernel), strict=True))
    need(inside, "a window lies outside the image")
