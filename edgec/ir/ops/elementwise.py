"""Base classes of operators with one operand, and of functions of each element or channel.

Functions of one variable.

Limits of values.

Change of element type.

Leaky ReLU whose slopes are trained.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops.arithmetic import Arithmetic
from edgec.ir.real import RealOperator, alike_along, check_int32
from edgec.ir.shapes import check_per_channel


@dataclass(frozen=True, slots=True)
class OneInput(RealOperator):
    """An operator with one operand."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """The only operand."""

        x: T

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x


@dataclass(frozen=True, slots=True)
class Elementwise(OneInput):
    """A function of each element."""

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        return inputs.x


@dataclass(frozen=True, slots=True)
class OnImages(OneInput):
    """An operator on rows and columns of x [N, H, W, C], for each channel alone."""

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array | None:
        found = alike_along(inputs.x, (1, 2))
        shape = self.infer_shape(OneInput.Inputs(inputs.x.shape))
        return None if found is None else np.broadcast_to(found, shape)


class UnaryKind(enum.Enum):
    """Element functions of one variable, by ONNX name.

    POW is x to the power of `alpha`; GELU is the exact function, GELU_TANH Gelu with
    approximate = tanh; SWISH is ``x * sigmoid(alpha * x)``, SiLU for alpha = 1.  NOT gives
    int32, of reals or int32: 1 where x is alpha (0 of a mask), else 0.  RSQRT is one over the
    square root; MOD is the rest of a division by `alpha` with the sign of x (fmod = 1); ROUND
    takes halves to the even number; BINARIZE is 1 where x >= 0, else -1 (SIGN has 0 at 0);
    COMPOSED is a function made of others, its `steps`.
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
    BINARIZE = "Binarize"
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
    COMPOSED = "Composed"


_TITLES: Mapping[UnaryKind, str] = MappingProxyType(
    {
        UnaryKind.GELU_TANH: "Gelu",
        UnaryKind.NOT: "Not or Equal",
        UnaryKind.BINARIZE: "Sign or Where",
        UnaryKind.COMPOSED: "A function of functions",
    }
)
"""Names in messages, where the file has another name than the kind."""


@dataclass(frozen=True, slots=True)
class Step:
    """One function within a composition of functions.

    Attributes:
        attrs: its operator.
        operands: 0 for the variable of the composition, k for the result of step k - 1, None for
            `number`.
        number: the constant operand.
    """

    attrs: Unary | Clip | Arithmetic
    operands: tuple[int | None, ...]
    number: float = 0.0


@dataclass(frozen=True, slots=True)
class Unary(Elementwise):
    """f(x) elementwise.

    alpha: LeakyRelu slope, alpha of Elu, HardSigmoid, Selu, Celu and ThresholdedRelu, Pow exponent,
    Swish factor, Mod divisor, Shrink lambd, what Not compares with; beta: that of HardSigmoid,
    Selu gamma, Shrink bias; steps: the functions of COMPOSED, whose result is the last one's.
    """

    kind: UnaryKind
    alpha: float = 0.0
    beta: float = 0.0
    steps: tuple[Step, ...] = ()

    @property
    def title(self) -> str:
        return _TITLES.get(self.kind, self.kind.value)

    @property
    def gives_integers(self) -> bool:
        return self.kind is UnaryKind.NOT

    def evaluate(self, inputs: Elementwise.Inputs[Array]) -> Array | None:
        return inputs.x if self.kind is UnaryKind.IDENTITY else None


@dataclass(frozen=True, slots=True)
class Clip(Elementwise):
    """min(max(x, low), high); Relu is Clip(0, inf)."""

    low: float = float("-inf")
    high: float = float("inf")

    def evaluate(self, inputs: Elementwise.Inputs[Array]) -> Array:
        return np.clip(inputs.x, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Cast(OneInput):
    """int32 to float32."""

    def verify(self, inputs: OneInput.Inputs[Tensor], output: Value) -> None:
        check_int32(inputs.x)


@dataclass(frozen=True, slots=True)
class PRelu(RealOperator):
    """x [..., C]: x >= 0 ? x : slope * x."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x, slope const [C] (or [1])."""

        x: T
        slope: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"slope"})
    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_channel(inputs.x, inputs.slope)
        return inputs.x
