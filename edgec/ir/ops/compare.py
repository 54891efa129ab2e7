"""Comparison of two tensors."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.ops.arithmetic import Arithmetic


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
