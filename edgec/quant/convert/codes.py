"""The codes of the tensors that a node reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.ir import qops
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import LEAST_SCALE

SPAN = 255
"""Bound of |q - zero_point| for int8 q."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A tensor of the integer graph that stands for an operand.

    Attributes:
        name: its name there.
        quant: what its codes mean; None for int32 numbers, which mean themselves.
    """

    name: str
    quant: QuantParams | None

    @property
    def params(self) -> QuantParams:
        """`quant` of a tensor of codes; InternalError for int32 numbers."""
        if self.quant is None:
            raise InternalError("tensor has no quantization", where=self.name)
        return self.quant

    @property
    def scale(self) -> float:
        """The scale of a tensor quantized as a whole."""
        return self.params.tensor_scale

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor quantized as a whole."""
        return self.params.tensor_zero_point

    @property
    def dtype(self) -> DType:
        """Element type of codes."""
        return self.params.dtype

    @property
    def span(self) -> int:
        """Bound of |q - zero_point| of its codes."""
        return INT16_MAX + 1 if self.dtype is DType.INT16 else SPAN


@dataclass(frozen=True, slots=True)
class Output:
    """The codes that a node gives.

    Attributes:
        quant: what they mean, one scale for all; in a stream, one for each channel.
        low, high: bounds of its codes.
        where: the node, for messages.
        in_stream: the operands are codes of the same stream.
    """

    quant: QuantParams
    low: int
    high: int
    where: str
    in_stream: bool = False

    @property
    def scale(self) -> float:
        """The scale of a tensor quantized as a whole."""
        return self.quant.tensor_scale

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor quantized as a whole."""
        return self.quant.tensor_zero_point

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.quant.dtype


@dataclass(frozen=True, slots=True)
class Codes16:
    """How a value has int16 codes.

    Attributes:
        quant: scale, with zero point 0.
        reach: largest magnitude of a code, so that no layer that reads it can overflow 32 bits.
        bounds: least and largest code by the range that a file gives the tensor.
    """

    quant: QuantParams
    reach: int
    bounds: tuple[int, int] = (INT16_MIN, INT16_MAX)

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest code."""
        low, high = self.bounds
        return max(-self.reach, low), min(self.reach, high)


def int16_of(real: Array, reach: int = INT16_MAX) -> QuantParams:
    """The int16 codes, none beyond a reach, that hold the numbers of a constant."""
    most = float(np.abs(real).max(initial=0.0))
    scale = float(np.float32(max(most / reach, LEAST_SCALE)))
    return QuantParams.per_tensor(scale, 0, DType.INT16)


_WIDE_BITS = 7
"""A centred int8 code, at most 255, fits int16 when shifted left by this many bits."""


def exactly_int16(quant: QuantParams) -> tuple[qops.QRescale, QuantParams]:
    """What makes int16 codes of int8 ones without rounding, and the parameters of these."""
    # A product is rounded by one bit at least, so the multiplier has one more.
    form = qops.Rescale16x15(0, 1, INT16_MIN, INT16_MAX, DType.INT16)
    attrs = qops.QRescale(form, 2 << _WIDE_BITS, -quant.tensor_zero_point)
    unit = float(np.ldexp(quant.tensor_scale, -_WIDE_BITS))
    return attrs, QuantParams.per_tensor(unit, 0, DType.INT16)
