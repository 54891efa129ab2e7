"""What the converters of operators with int16 tensors share, however the codes were chosen."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT16_MAX, Requant16x15, round_half_up
from edgec.ir import ops, qops
from edgec.ir.fusion import act_bounds
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.context import INT8_REACH, Coded, Conversion, Single

FIXED_SPAN = 256
"""Bound of |q - zero point| of int8 codes that bounds of sums count with."""


@dataclass(frozen=True, slots=True)
class Codes16:
    """How a value has int16 codes.

    Attributes:
        quant: scale, with zero point 0.
        reach: largest magnitude of a code, so that no layer that reads it can overflow 32 bits.
    """

    quant: QuantParams
    reach: int

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest code."""
        return -self.reach, min(self.reach, INT16_MAX)


@dataclass(frozen=True, slots=True, eq=False)
class LayerSums:
    """What the sums of a layer are made of.

    Attributes:
        x: its input.
        weight: constant of the integer graph, int8 [O, ...].
        scale: what a weight of each output stands for, float64 [O].
        bias: whole numbers [O], in steps of the products.
    """

    x: Coded
    weight: str
    scale: Array
    bias: Array


class MixedConversion(Conversion):
    """A node each of whose tensors is int8 or int16."""

    __slots__ = ()

    @abstractmethod
    def widened(self, name: str) -> Coded:
        """The int16 tensor of an operand, made from the int8 one where there is only that."""

    @abstractmethod
    def codes16(self, name: str) -> Codes16 | None:
        """The int16 codes of an operand or of the output; None where it has int8 codes."""

    @abstractmethod
    def constant16(self, name: str) -> str:
        """A constant operand in the int16 codes of the output."""

    @abstractmethod
    def sums(self, real: ops.Weighted.Inputs[str]) -> LayerSums:
        """What the layer that the node is sums up."""

    @abstractmethod
    def reshaped(self, name: str, shape: tuple[int, ...]) -> str:
        """A tensor in another shape."""

    @abstractmethod
    def intermediate(
        self, attrs: qops.IntegerOperator, inputs: Operands[str], shape: tuple[int, ...]
    ) -> str:
        """The output of one more node: the codes of this node's output in another shape."""

    @property
    @abstractmethod
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output."""

    @property
    @abstractmethod
    def limits(self) -> tuple[int, int]:
        """Least and largest code that the output may have."""

    def is16(self, name: str) -> bool:
        """Whether an operand has int16 codes."""
        return self.codes16(name) is not None

    def reach_of(self, name: str) -> int:
        """Bound of |q - zero point| of an operand's codes."""
        found = self.codes16(name)
        return FIXED_SPAN if found is None else found.reach

    def bounds_of(self, low: float, high: float) -> tuple[int, int]:
        """The codes of the bounds of a Clip, within `limits`."""
        y, (least, most) = self.y, self.limits
        if y.dtype is not DType.INT16:
            first, last = act_bounds(low, high, y.tensor_scale, y.tensor_zero_point)
            return max(first, least), max(last, least)

        def code(real: float) -> int:
            if math.isinf(real):
                return most if real > 0 else least
            steps = min(max(real / y.tensor_scale, least), most)
            return int(round_half_up(steps))

        return code(low), code(high)

    def form31(self, shift: int) -> qops.Requant31:
        """The requantization by 31 bits to the output."""
        return qops.Requant31(shift, self.y.tensor_zero_point, *self.act_bounds, self.y.dtype)

    def single(self, factor: float, bound: float) -> Single:
        """By 16 by 15 bits: what reductions of int16 tensors end in."""
        return self.rescale(factor, bound, self.y, self.act_bounds)

    def rescale(
        self, factor: float, bound: float, y: QuantParams, bounds: tuple[int, int]
    ) -> Single:
        """A change of scale by 16 by 15 bits; the bias holds the zero point of y.

        Raises:
            QuantizationError: the factor does not fit.
        """
        zero = y.tensor_zero_point / factor if factor else 0.0
        reach = INT8_REACH if y.dtype is DType.INT8 else float(INT16_MAX + 1)
        try:
            found = Requant16x15.from_real(factor, bound + abs(zero), reach)
        except QuantizationError as error:
            raise QuantizationError(error.what, where=self.node.name, hint=error.hint) from error
        form = qops.Rescale16x15(found.pre_shift, found.shift, *bounds, y.dtype)
        return Single(form, int(found.multiplier[0]), int(round_half_up(zero)))
