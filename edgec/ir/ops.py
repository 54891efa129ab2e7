"""Real-valued operators: what a graph holds from import to quantization.

Names and meanings are ONNX's, with these differences, so that later stages have one form to
handle:

* Spatial operators (`Conv`, `ConvTranspose`, `MaxPool`, `AveragePool`, `Resize`) are
  two-dimensional and **channels last**: x is [N, H, W, C].  The importer puts `Transpose` nodes
  around them, and the layout pass cancels these; one-dimensional ones get H = 1 through `Reshape`.
* Convolution weights are [O, KH, KW, I/group]; `Gemm` weights are [N, K] (``y = x @ w.T + b``).
* Axes are non-negative, pads explicit (auto_pad and ceil_mode are resolved), shapes static.
* `Div` is `Mul` by a `Reciprocal`; `Einsum` and the `Attention` of opset 23 become `MatMul`s.
* Integers that the network computes with, token ids and attention masks, are int32; booleans are
  int32, 0 for false.
* `Relu`, `Relu6` and `Clip` are `Clip`; element functions of one variable are `Unary`; global
  pooling and the Reduce family are `Reduce`; `Split` becomes `Slice`s; `Flatten`, `Squeeze`,
  `Unsqueeze` become `Reshape`; `DepthToSpace` becomes `Reshape`, `Transpose`, `Reshape`.

Each class states its inputs.  "const" inputs must be `Constant`s.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from edgec.ir.length import shortened
from edgec.ir.real import RealOperator
from edgec.ir.shapes import Pads2D, Pair


@dataclass(frozen=True, slots=True)
class Conv(RealOperator):
    """x [N, H, W, I], weight const [O, KH, KW, I/group], bias const [O] or ""."""

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1


@dataclass(frozen=True, slots=True)
class ConvTranspose(RealOperator):
    """x [N, H, W, I], weight const [O, KH, KW, I/group], bias const [O] or "".

    Output size: ``(H-1)*stride + (KH-1)*dilation + 1 + output_padding - top - bottom``.
    """

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1
    output_padding: Pair = (0, 0)


@dataclass(frozen=True, slots=True)
class Gemm(RealOperator):
    """x [..., K], weight const [N, K], bias const [N] or ""; y [..., N]."""


@dataclass(frozen=True, slots=True)
class Add(RealOperator):
    """a + b, numpy broadcasting; either may be a constant."""


@dataclass(frozen=True, slots=True)
class Sub(RealOperator):
    """a - b, numpy broadcasting; either may be a constant."""


@dataclass(frozen=True, slots=True)
class Mul(RealOperator):
    """a * b, numpy broadcasting; either may be a constant."""


@dataclass(frozen=True, slots=True)
class Clip(RealOperator):
    """min(max(x, low), high); Relu is Clip(0, inf)."""

    low: float = float("-inf")
    high: float = float("inf")


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
class Unary(RealOperator):
    """f(x) elementwise.

    alpha: LeakyRelu slope, Elu and HardSigmoid alpha, Pow exponent, Swish factor, what Not
    compares with; beta: HardSigmoid.
    """

    kind: UnaryKind
    alpha: float = 0.0
    beta: float = 0.0


@dataclass(frozen=True, slots=True)
class PRelu(RealOperator):
    """x [..., C], slope const [C] (or [1]): x >= 0 ? x : slope * x."""


@dataclass(frozen=True, slots=True)
class Softmax(RealOperator):
    """Over the last axis."""


@dataclass(frozen=True, slots=True)
class LayerNormalization(RealOperator):
    """x [..., C], gamma const [C], beta const [C] or ""; over the last axis.

    ``(x - mean) / sqrt(variance + epsilon) * gamma + beta``, the variance divided by C.
    """

    epsilon: float = 1e-5


@dataclass(frozen=True, slots=True)
class RMSNormalization(RealOperator):
    """x [..., C], gamma const [C]; ``x / sqrt(mean(x * x) + epsilon) * gamma``, last axis."""

    epsilon: float = 1e-5


@dataclass(frozen=True, slots=True)
class MatMul(RealOperator):
    """scale * (a @ b) of two values: a [..., M, K], b [..., K, N]; leading axes broadcast.

    transpose_a: a is stored [..., K, M]; transpose_b: b is stored [..., N, K].
    """

    transpose_a: bool = False
    transpose_b: bool = False
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Attention(RealOperator):
    """Scaled dot-product attention, heads side by side in the last axis.

    q [..., N, heads*D], k [..., M, heads*D], v [..., M, heads*E], bias "" or broadcastable to
    [..., heads, N, M], keys "" or int32 broadcastable to [..., M]; y [..., N, heads*E].  The
    leading axes of q, k and v are equal.  Per head ``softmax(scale * q @ k.T + bias) @ v`` over
    the keys whose entry of `keys` is not 0; at least one is not.
    """

    heads: int
    scale: float


@dataclass(frozen=True, slots=True)
class Embedding(RealOperator):
    """ids int32 [...], table const [V, C]; y [..., C] are rows of the table, 0 <= id < V."""


@dataclass(frozen=True, slots=True)
class Where(RealOperator):
    """condition (0: false), a, b, numpy broadcasting; any may be a constant."""


@dataclass(frozen=True, slots=True)
class Cast(RealOperator):
    """int32 to float32."""


@dataclass(frozen=True, slots=True)
class Expand(RealOperator):
    """x repeated along axes of length 1, numpy broadcasting to `shape`."""

    shape: tuple[int, ...]

    def shortened(self, axis: int, less: int) -> Expand:
        return Expand(shortened(self.shape, axis, less))


@dataclass(frozen=True, slots=True)
class MaxPool(RealOperator):
    """x [N, H, W, C]; padding never wins."""

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)


@dataclass(frozen=True, slots=True)
class AveragePool(RealOperator):
    """x [N, H, W, C]; the divisor is KH*KW if count_include_pad, else the taps inside the image."""

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    count_include_pad: bool = False


class ReduceKind(enum.Enum):
    """What `Reduce` computes."""

    MEAN = "ReduceMean"
    SUM = "ReduceSum"
    MAX = "ReduceMax"


@dataclass(frozen=True, slots=True)
class Reduce(RealOperator):
    """Over `axes` (ascending, non-empty); keepdims keeps them with length 1."""

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool = True


@dataclass(frozen=True, slots=True)
class BatchNormalization(RealOperator):
    """x [..., C], scale, bias, mean, variance const [C]; folded or turned into `Conv` by a pass."""

    epsilon: float = 1e-5


@dataclass(frozen=True, slots=True)
class Reshape(RealOperator):
    """Same elements in row-major order, new shape."""

    shape: tuple[int, ...]

    def shortened(self, axis: int, less: int) -> Reshape:
        return Reshape(shortened(self.shape, axis, less))


@dataclass(frozen=True, slots=True)
class Transpose(RealOperator):
    """y = x.transpose(perm)."""

    perm: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice(RealOperator):
    """One (start, step, size) per axis of x: y[i] = x[start + i * step], all resolved."""

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    def shortened(self, axis: int, less: int) -> Slice:
        return replace(self, sizes=shortened(self.sizes, axis, less))


@dataclass(frozen=True, slots=True)
class Concat(RealOperator):
    """Along `axis`; inputs may be constants."""

    axis: int


class PadMode(enum.Enum):
    """ONNX Pad modes."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    EDGE = "edge"


@dataclass(frozen=True, slots=True)
class Pad(RealOperator):
    """(before, after) per axis, non-negative."""

    pads: tuple[tuple[int, int], ...]
    mode: PadMode = PadMode.CONSTANT
    value: float = 0.0


class ResizeMode(enum.Enum):
    """ONNX Resize modes that are supported."""

    NEAREST = "nearest"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class Resize(RealOperator):
    """x [N, H, W, C] to [N, OH, OW, C], separable; source positions resolved at import.

    Output row i is ``(1 - row_weights[i]) * x[row_low[i]] + row_weights[i] * x[row_high[i]]`` and
    likewise for columns.  NEAREST has all weights 0 and high == low.
    """

    mode: ResizeMode
    row_low: tuple[int, ...]
    row_high: tuple[int, ...]
    row_weights: tuple[float, ...]
    col_low: tuple[int, ...]
    col_high: tuple[int, ...]
    col_weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ArgMax(RealOperator):
    """Index of the largest element along `axis`; y int64 in ONNX, int32 here.

    Ties: the first, or the last if select_last_index.
    """

    axis: int
    keepdims: bool = True
    select_last_index: bool = False


@dataclass(frozen=True, slots=True)
class QuantizeLinear(RealOperator):
    """x real; y = the codes, held as a Value with `quant` set and an integer dtype."""


@dataclass(frozen=True, slots=True)
class DequantizeLinear(RealOperator):
    """x = a Value with an integer dtype and `quant` set; y real."""
