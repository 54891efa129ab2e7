"""Mean, sum, maximum, minimum and norms over axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.arithmetic import accumulators, floor_root
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.forms import Requant31, Requantization, Rescale16x15, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import CODES, Operand, largest_code, tensor
from edgec.ir.shapes import need, reduced_shape

_DIFFERENCE = 256
_SUMS = (ReduceKind.MEAN, ReduceKind.SUM)
N = TypeVar("N", int, Array)


@dataclass(frozen=True, slots=True)
class QReduce(IntegerOperator):
    """x, over `axes`, per tensor.

    MEAN and SUM: ``y = output(bias + sum (x - zx))`` with one multiplier; the bias is 0 where the
    form has a zero point.  x is int8, or int16 for `Rescale16x15`.
    L1, SUM_SQUARE and L2: likewise of ``sum |x - zx|``, of ``sum (x - zx)**2``, and of the floor of
    ``sqrt(4**root_bits * sum (x - zx)**2)``; x is int8 and the form is `Requant31`.
    MAX and MIN: the largest or smallest code, same quantization on both sides, x int8; `output` is
    None.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    output: Requantization | None = None
    multiplier: int = 0
    bias: int = 0
    root_bits: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x
        if self.output is None:
            select = np.max if self.kind is ReduceKind.MAX else np.min
            return np.asarray(select(x.array, axis=self.axes, keepdims=self.keepdims))
        terms = _term(self.kind, x.centred)
        total = accumulators(np.asarray(terms.sum(axis=self.axes, keepdims=self.keepdims)))
        if self.kind is ReduceKind.L2:
            total = floor_root(accumulators(total << (2 * self.root_bits)))
        return codes(self.output, total + self.bias, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        if self.output is None:
            return {}
        x = inputs.x
        # An int16 tensor has zero point 0.
        span = largest_code(x.dtype) if x.dtype is DType.INT16 else _DIFFERENCE
        total = _term(self.kind, span) * math.prod(x.shape[axis] for axis in self.axes)
        if self.kind is ReduceKind.L2:
            found = {"the square below the root": float(total << (2 * self.root_bits))}
            acc = math.isqrt(total << (2 * self.root_bits))
            return found | self.output.bounds(float(acc), float(abs(self.multiplier)))
        return self.output.bounds(float(total + abs(self.bias)), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        selects = self.kind.selects
        need((self.output is None) is selects, "a maximum or minimum alone needs no rescaling")
        plain = isinstance(self.output, Requant31 | None) or self.kind in _SUMS
        need(plain, "a norm ends in another form than Requant31")
        if self.output is None:
            need_same_codes((inputs.x,), output)
        else:
            need_single(self.output, self.multiplier, self.bias, output)
        if not isinstance(self.output, Rescale16x15):
            need(inputs.x.dtype is DType.INT8, "x is not int8")


def _term(kind: ReduceKind, centred: N) -> N:
    """What an element adds to a sum."""
    if kind is ReduceKind.L1:
        return abs(centred)
    return centred if kind in _SUMS else centred * centred
