"""Functions of one variable."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.ir.ops.elementwise import Elementwise


class UnaryKind(enum.Enum):
    """Element functions of one variable, by ONNX name.

    POW is x to the power of `alpha`; GELU is the exact function, GELU_TANH Gelu with
    approximate = tanh; SWISH is ``x * sigmoid(alpha * x)``, SiLU for alpha = 1.  NOT gives
    int32, of reals or int32: 1 where x is alpha (0 of a mask), else 0.  RSQRT is one over the
    square root; MOD is the rest of a division by `alpha` with the sign of x (fmod = 1); ROUND
    takes halves to the even number.
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
    LOG = "Log"
    RSQRT = "Rsqrt"
    SIN = "Sin"
    COS = "Cos"
    TAN = "Tan"
    SINH = "Sinh"
    COSH = "Cosh"
    ASIN = "Asin"
    ACOS = "Acos"
    ATAN = "Atan"
    ASINH = "Asinh"
    ACOSH = "Acosh"
    ATANH = "Atanh"
    SIGN = "Sign"
    FLOOR = "Floor"
    CEIL = "Ceil"
    ROUND = "Round"
    MOD = "Mod"
    MISH = "Mish"
    SELU = "Selu"
    CELU = "Celu"
    THRESHOLDED_RELU = "ThresholdedRelu"
    SHRINK = "Shrink"
    SOFTSIGN = "Softsign"
    NOT = "Not"
    IDENTITY = "Identity"


_TITLES: Mapping[UnaryKind, str] = MappingProxyType(
    {UnaryKind.GELU_TANH: "Gelu", UnaryKind.NOT: "Not or Equal"}
)
"""Names in messages, where the file has another name than the kind."""


@dataclass(frozen=True, slots=True)
class Unary(Elementwise):
    """f(x) elementwise.

    alpha: LeakyRelu slope, alpha of Elu, HardSigmoid, Selu, Celu and ThresholdedRelu, Pow exponent,
    Swish factor, Mod divisor, Shrink lambd, what Not compares with; beta: that of HardSigmoid,
    Selu gamma, Shrink bias.
    """

    kind: UnaryKind
    alpha: float = 0.0
    beta: float = 0.0

    @property
    def title(self) -> str:
        return _TITLES.get(self.kind, self.kind.value)

    @property
    def gives_integers(self) -> bool:
        return self.kind is UnaryKind.NOT

    def evaluate(self, inputs: Elementwise.Inputs[Array]) -> Array | None:
        return inputs.x if self.kind is UnaryKind.IDENTITY else None
