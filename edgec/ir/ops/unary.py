"""Functions of one variable."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.ir.ops.elementwise import Elementwise


class UnaryKind(enum.Enum):
    """Element functions of one variable, by ONNX name.

    POW is x to the power of `alpha`; GELU is the exact function, GELU_TANH Gelu with
    approximate = tanh; SWISH is ``x * sigmoid(alpha * x)``, SiLU for alpha = 1.  NOT gives
    int32, of reals or int32: 1 where x is alpha (0 of a mask), else 0.
    """

    SIGMOID = "Sigmoid"
    TANH = "Tanh"
    HARD_SIGMOID = "HardSigmoid"
    HARD_SWISH = "HardSwish"
    LEAKY_RELU = "LeakyRelu"
    ELU = "Elu"
    SOFTPLUS = "Softplus"
    EXP = "Exp"
    ABS = "Abs"
    NEG = "Neg"
    SQRT = "Sqrt"
    RECIPROCAL = "Reciprocal"
    POW = "Pow"
    ERF = "Erf"
    GELU = "Gelu"
    GELU_TANH = "GeluTanh"
    SWISH = "Swish"
    NOT = "Not"
    IDENTITY = "Identity"


@dataclass(frozen=True, slots=True)
class Unary(Elementwise):
    """f(x) elementwise.

    alpha: LeakyRelu slope, Elu and HardSigmoid alpha, Pow exponent, Swish factor, what Not
    compares with; beta: HardSigmoid.
    """

    kind: UnaryKind
    alpha: float = 0.0
    beta: float = 0.0

    @property
    def gives_integers(self) -> bool:
        return self.kind is UnaryKind.NOT

    def evaluate(self, inputs: Elementwise.Inputs[Array]) -> Array | None:
        return inputs.x if self.kind is UnaryKind.IDENTITY else None
