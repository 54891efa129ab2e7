"""Sums, products and extremes of two tensors, with numpy broadcasting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir.graph import Tensor, Value
from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator, check_int8_constants
from edgec.ir.shapes import broadcast


@dataclass(frozen=True, slots=True)
class Arithmetic(RealOperator):
    """An operation on pairs of elements."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """The two operands; either may be a constant."""

        a: T
        b: T

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def evaluate(self, inputs: Inputs[Array]) -> Array:
        raise InternalError(f"{self.op} does not say what it computes")

    def verify_annotated(self, inputs: Inputs[Tensor], output: Value) -> None:
        check_int8_constants(inputs)


@dataclass(frozen=True, slots=True)
class Add(Arithmetic):
    """a + b."""

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.asarray(inputs.a + inputs.b)


@dataclass(frozen=True, slots=True)
class Sub(Arithmetic):
    """a - b."""

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.asarray(inputs.a - inputs.b)


@dataclass(frozen=True, slots=True)
class Mul(Arithmetic):
    """a * b."""

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.asarray(inputs.a * inputs.b)


@dataclass(frozen=True, slots=True)
class SquaredDifference(Arithmetic):
    """(a - b)**2."""

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        difference = inputs.a - inputs.b
        return np.asarray(difference * difference)


@dataclass(frozen=True, slots=True)
class Div(Arithmetic):
    """a / b; the importer writes it as a product with `Reciprocal`, which patterns know."""

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.asarray(inputs.a / inputs.b)


@dataclass(frozen=True, slots=True)
class Maximum(Arithmetic):
    """The larger of a and b."""

    ENDS_IN_CLAMP: ClassVar[bool] = False
    MOVES_CODES: ClassVar[bool] = True

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.maximum(inputs.a, inputs.b)


@dataclass(frozen=True, slots=True)
class Minimum(Arithmetic):
    """The smaller of a and b."""

    ENDS_IN_CLAMP: ClassVar[bool] = False
    MOVES_CODES: ClassVar[bool] = True

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return np.minimum(inputs.a, inputs.b)
