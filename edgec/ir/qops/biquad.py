"""A cascade of biquads over samples of one or more axes, and every n-th of their results."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import Operand, numbers, table, value
from edgec.ir.shapes import need

FINE_BITS = 13
"""Fraction bits of a sample within the cascade."""
COEFFICIENT_BITS = 29
"""Fraction bits of coefficients."""
MOST_SECTIONS = 8
_MOST = 1 << 30
"""Bound of the results of a section; samples reach a quarter of it."""


@dataclass(frozen=True, slots=True)
class QBiquad(IntegerOperator):
    """x int16 [1, L A], samples of A axes in turn; state int32 [1, A (2 + 3 S)]; coefficients int32
    const [S, 5]: b0, b1, b2, a1, a2, 29 fraction bits.  Outputs y int16 [1, L A / every] and the
    state after the last sample.

    The state of an axis: the two samples before, then of each section its two results before and
    the rest of the last one.  Of each sample u: ``v = u << 13``; in each section, with p, q what it
    read before, y1, y2 what it gave before, and its rest r:

        ``s = b0 v + b1 p + b2 q - a1 y1 - a2 y2 + r``;
        the new result is ``clamp(s >> 29, +-2^30)``, the new rest ``s mod 2^29``;

    the result is what the next section reads.  ``y = saturate16((v + 2^12) >> 13)`` of the samples
    0, `every`, 2 `every` ... of each axis.  The rest that is handed on keeps the error of rounding
    away from low frequencies, where poles of low cutoffs would amplify it.

    Attributes:
        axes: A.
        every: samples of an axis for each one that is kept.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        state: T = field(metadata=value(DType.INT32))
        coefficients: T = field(metadata=table(DType.INT32))

    axes: int
    every: int

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shapes(self, inputs: Inputs[Shape]) -> tuple[Shape, ...]:
        need(len(inputs.x) == 2 and inputs.x[0] == 1, "x must be [1, L]")
        need(self.axes >= 1 and self.every >= 1, "no axis, or no sample is kept")
        need(inputs.x[1] % (self.axes * self.every) == 0, "x is no number of samples that are kept")
        need(len(inputs.coefficients) == 2 and inputs.coefficients[1] == 5, "no five coefficients")
        sections = inputs.coefficients[0]
        need(1 <= sections <= MOST_SECTIONS, f"{sections} sections")
        need(inputs.state == (1, state_size(self.axes, sections)), "a state of another size")
        return (1, inputs.x[1] // self.every), inputs.state

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return inputs.x[1] * 5 * inputs.coefficients[0]

    def compute_outputs(self, inputs: Inputs[Operand]) -> tuple[Array, ...]:
        sections = [tuple(int(each) for each in row) for row in inputs.coefficients.array]
        samples = inputs.x.array[0].reshape(-1, self.axes)
        states = inputs.state.array[0].reshape(self.axes, -1)
        found = np.empty_like(samples)
        after = np.empty_like(states)
        for axis in range(self.axes):
            line = [int(each) for each in samples[:, axis]]
            state = [int(each) for each in states[axis]]
            found[:, axis] = [_filtered(each, state, sections) for each in line]
            after[axis] = state
        return found[:: self.every].reshape(1, -1), after.reshape(1, -1)

    def verify_outputs(self, inputs: Inputs[Tensor], outputs: tuple[Value, ...]) -> None:
        y, state = outputs
        need((y.dtype, state.dtype) == (DType.INT16, DType.INT32), "outputs of other types")
        rows = numbers(inputs.coefficients)
        need(bool(np.all(np.abs(rows) <= 1 << (COEFFICIENT_BITS + 1))), "a coefficient beyond 2")
        need(all(is_stable(int(a1), int(a2)) for *_, a1, a2 in rows), "a section is not stable")


def state_size(axes: int, sections: int) -> int:
    """Numbers of the state."""
    return axes * (2 + 3 * sections)


def is_stable(a1: int, a2: int) -> bool:
    """Whether both poles of ``1 + a1 / z + a2 / z^2`` lie within the unit circle.

    Source: the triangle of stability, |a2| < 1 and |a1| < 1 + a2, here in exact integers.
    """
    one = 1 << COEFFICIENT_BITS
    return abs(a2) < one and abs(a1) < one + a2


def _filtered(sample: int, state: list[int], sections: list[tuple[int, ...]]) -> int:
    """One sample of an axis through the cascade; the state is changed."""
    v = sample << FINE_BITS
    p, q = state[0], state[1]
    state[1], state[0] = state[0], v
    for place, (b0, b1, b2, a1, a2) in enumerate(sections):
        at = 2 + 3 * place
        y1, y2 = state[at], state[at + 1]
        total = b0 * v + b1 * p + b2 * q - a1 * y1 - a2 * y2 + state[at + 2]
        state[at + 2] = total & ((1 << COEFFICIENT_BITS) - 1)
        v = min(max(total >> COEFFICIENT_BITS, -_MOST), _MOST)
        state[at], state[at + 1] = v, y1
        p, q = y1, y2
    return min(max((v + (1 << (FINE_BITS - 1))) >> FINE_BITS, INT16_MIN), INT16_MAX)
