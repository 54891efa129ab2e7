"""Sums, products and extremes of two tensors, with numpy broadcasting.

Comparison of two tensors.

Choice between two tensors.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir.graph import Tensor, Value
from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import NO_LABEL, RealOperator, check_int8_constants
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


class CompareKind(enum.Enum):
    """Relation of a to b, by ONNX name; those that are missing are these, turned or negated."""

    EQUAL = "Equal"
    LESS = "Less"
    LESS_OR_EQUAL = "LessOrEqual"


@dataclass(frozen=True, slots=True)
class Compare(Arithmetic):
    """int32: 1 where a is so related to b, else 0.  Both are real numbers, or both int32.

    Constants are float32 in either case.
    """

    ENDS_IN_CLAMP: ClassVar[bool] = False

    kind: CompareKind

    @property
    def gives_integers(self) -> bool:
        return True

    def evaluate(self, inputs: Arithmetic.Inputs[Array]) -> Array:
        return compared(self.kind, inputs.a, inputs.b)

    def verify_annotated(self, inputs: Arithmetic.Inputs[Tensor], output: Value) -> None:
        """Constants that int32 numbers are compared with stay float32."""


def compared(kind: CompareKind, a: Array, b: Array) -> Array:
    """The relation of the elements of two arrays, which broadcast; int32, 1 or 0."""
    match kind:
        case CompareKind.EQUAL:
            truth = a == b
        case CompareKind.LESS:
            truth = a < b
        case CompareKind.LESS_OR_EQUAL:
            truth = a <= b
    return np.asarray(truth).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Where(RealOperator):
    """``condition ? a : b``, numpy broadcasting; a and b are real numbers, or both int32.

    Constants are float32 in either case.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """condition (0: false) and what it chooses from; any may be a constant."""

        condition: T
        a: T
        b: T

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.condition, broadcast(inputs.a, inputs.b))

    def labelled(self, inputs: Inputs[Array]) -> Array | None:
        a, b, _ = np.broadcast_arrays(inputs.a, inputs.b, inputs.condition)
        clash = (a != NO_LABEL) & (b != NO_LABEL) & (a != b)
        return None if clash.any() else np.maximum(a, b)
