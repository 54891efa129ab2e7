"""Integer operators: what a graph holds from quantization to lowering.  All numbers are final.

This file is the definition of edgec's integer arithmetic.  `interp.kernels_np` (numpy) and the C
templates both implement it, and the tests compare them bit for bit.

Notation.  Tensors are int8 unless said otherwise.  ``zx``, ``zy`` are the zero points in
``graph.values[...].quant``; constants hold everything else.  ``rshr`` and ``requantize`` are those
of `edgec.base.fixedpoint`; ``clamp(v) = min(max(v, act_min), act_max)``.  "table", "multiplier" and
"bias" inputs are int32 constants unless said otherwise.  Accumulators are int32; the quantizer
guarantees that they do not overflow for any int8 input, for any order of summation.

Reading outside the image (padding) contributes a real zero, that is nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.integer import IntegerOperator
from edgec.ir.length import shortened
from edgec.ir.ops import PadMode, ReduceKind
from edgec.ir.shapes import Pads2D, Pair


@dataclass(frozen=True, slots=True)
class AddParams:
    """The integer addition, alone (`QAdd`) or at the end of a convolution.

    ``y = clamp(zy + rshr((a - a_zero_point) * a_multiplier + (b - b_zero_point) * b_multiplier,
    shift))``.  All of it fits int32: ``255 * (|a_multiplier| + |b_multiplier|) + 2**(shift-1) <
    2**31``.  A subtraction has a negative b_multiplier.
    """

    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    b_multiplier: int
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QConv(IntegerOperator):
    """x [N, H, W, I], weight int8 const [O, KH, KW, I/group], bias [O], multiplier [O],
    residual [N, OH, OW, O] (only with `residual`).

    ``acc = bias[o] + sum (x - zx) * weight``; ``t = clamp(z + requantize(acc, multiplier[o],
    shift))`` with ``z = y_zero_point``.  Without `residual` y = t.  With it y is the `AddParams`
    sum of a = t and b = residual: exactly a `QConv` followed by a `QAdd`, without the tensor
    between them.  (So `y_zero_point` is the zero point of t, not of the output.)

    Depthwise: group == I and I/group == 1; O may be a multiple of I.
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX
    residual: AddParams | None = None


@dataclass(frozen=True, slots=True)
class QConvTranspose(IntegerOperator):
    """Inputs as `QConv` (no residual).  ``acc[oy, ox, o] = bias[o] + sum`` over all (iy, ky) with
    ``oy = iy * stride - top + ky * dilation`` (same for x) of ``(x - zx) * weight[o, ky, kx, i]``.
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output_padding: Pair
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QGemm(IntegerOperator):
    """x [..., K], weight int8 const [N, K], bias [N], multiplier [N]; y [..., N].

    ``y = clamp(y_zero_point + requantize(bias[n] + sum_k (x - zx) * weight[n, k], multiplier[n],
    shift))``.
    """

    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class Pooling:
    """How a pooled operator sees its input and rounds its *responses*.

    Attributes:
        activation_bits: b, 1..8: activations are rounded to multiples of 2^(8-b).
        response_shift: k, 0..15: responses are rounded to multiples of 2^k.

    With the code q of an activation, ``u = q + 128`` and ``half = 2**(7-b)`` (0 for b = 8),

        t(q) = (min(u + half, 255) >> (8-b)) << (8-b)

    and the response of pool vector s to group g of an input pixel is

        r[g, s] = rshr(sum_j (t(x[g*G + j]) - t(zx)) * pool[s, j], k)

    Channels beyond the last count as zx, and so does padding: both contribute nothing.  The
    accumulator is ``acc = bias[o] + 2**k * sum r[g, index[o, ky, kx, g]]`` over taps and groups.
    With b = 8 and k = 0 it is that of the expanded weights, exactly.

    A width chosen at run time replaces b; k stays.  The lowering pass proves for k > 0 that the sum
    of responses fits int16 for any input and any width.
    """

    activation_bits: int = 8
    response_shift: int = 0


@dataclass(frozen=True, slots=True)
class QPooledConv(IntegerOperator):
    """x [N, H, W, I], pool int8 const [S, G], indices uint16 const [O, KH, KW, ceil(I/G)], bias
    [O], multiplier [O], residual [N, OH, OW, O] (only with `conv.residual`).

    A `QConv` of group 1 whose accumulator is that of `Pooling`.
    """

    conv: QConv
    pooling: Pooling


@dataclass(frozen=True, slots=True)
class QPooledGemm(IntegerOperator):
    """x [..., K], pool int8 const [S, G], indices uint16 const [N, ceil(K/G)], bias [N],
    multiplier [N]; y [..., N].

    A `QGemm` whose accumulator is that of `Pooling`.
    """

    gemm: QGemm
    pooling: Pooling


@dataclass(frozen=True, slots=True)
class QAdd(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8 with quant): see `AddParams`.

    Also subtraction.
    """

    params: AddParams


@dataclass(frozen=True, slots=True)
class QMul(IntegerOperator):
    """a, b with numpy broadcasting (constants are int8 with quant).

    ``y = clamp(zy + requantize((a - za) * (b - zb), multiplier, shift))``.
    """

    multiplier: int
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QLut(IntegerOperator):
    """x, table int8 const [256]: ``y = table[x + 128]``.  Every element function of one variable,
    rescaling included.
    """


@dataclass(frozen=True, slots=True)
class QPRelu(IntegerOperator):
    """x [..., C], slope_multiplier int32 const [C].

    ``y = clamp(zy + requantize(x - zx, x >= zx ? multiplier : slope_multiplier[c], shift))``.
    """

    multiplier: int
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QSoftmax(IntegerOperator):
    """x [..., N], table int32 const [256]; over the last axis.

    ``E[i] = table[max(x) - x[i]]`` with ``table[d] = round(2**k * exp(-scale_x * d))`` and k such
    that the sum of N entries stays below 2^31; ``D = max(requantize(sum E, multiplier, shift), 1)``
    (the sum in output steps); ``y[i] = clamp(zy + (E[i] + D // 2) // D)``, unsigned 32-bit
    division.
    """

    multiplier: int
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QMaxPool(IntegerOperator):
    """x [N, H, W, C]; maximum of the taps inside the image; same quantization on both sides."""

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair


@dataclass(frozen=True, slots=True)
class QAveragePool(IntegerOperator):
    """x [N, H, W, C], multiplier [KH*KW + 1].

    ``y = clamp(zy + requantize(sum (x - zx), multiplier[count], shift))``; the sum runs over the
    taps inside the image and count is their number (KH*KW everywhere if count_include_pad).  A
    count of 0 gives zy.
    """

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    count_include_pad: bool
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QReduce(IntegerOperator):
    """x, over `axes`.

    MEAN and SUM: ``y = clamp(zy + requantize(sum (x - zx), multiplier, shift))``.
    MAX: the maximum, same quantization on both sides (multiplier and shift unused).
    """

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    multiplier: int = 0
    shift: int = 1
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX


@dataclass(frozen=True, slots=True)
class QReshape(IntegerOperator):
    """x in row-major order with a new shape; never copies (the planner makes it an alias)."""

    shape: tuple[int, ...]

    def shortened(self, axis: int, less: int) -> QReshape:
        return QReshape(shortened(self.shape, axis, less))


@dataclass(frozen=True, slots=True)
class QTranspose(IntegerOperator):
    """y = x.transpose(perm)."""

    perm: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QSlice(IntegerOperator):
    """y[i...] = x[start + i * step ...]; see `ops.Slice`."""

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    def shortened(self, axis: int, less: int) -> QSlice:
        return replace(self, sizes=shortened(self.sizes, axis, less))


@dataclass(frozen=True, slots=True)
class QConcat(IntegerOperator):
    """Along `axis`; all inputs (constants are int8) and the output share one quantization."""

    axis: int


@dataclass(frozen=True, slots=True)
class QPad(IntegerOperator):
    """(before, after) per axis; `value` is an int8 code (CONSTANT mode)."""

    pads: tuple[tuple[int, int], ...]
    mode: PadMode
    value: int


@dataclass(frozen=True, slots=True)
class QResizeNearest(IntegerOperator):
    """x [N, H, W, C], rows int32 const [OH], cols int32 const [OW].

    ``y[i, j] = x[rows[i], cols[j]]``.
    """


@dataclass(frozen=True, slots=True)
class QResizeLinear(IntegerOperator):
    """x [N, H, W, C], rows int32 const [OH, 3], cols int32 const [OW, 3], each (low, high, weight).

    Weights are in [0, 2048] (11 fraction bits):
    ``y = rshr((2048-wr)*((2048-wc)*x[rl,cl] + wc*x[rl,ch]) + wr*((2048-wc)*x[rh,cl] + wc*x[rh,ch]),
    22)``; same quantization on both sides.
    """


@dataclass(frozen=True, slots=True)
class QArgMax(IntegerOperator):
    """x int8, y int32: index of the largest code along `axis`, first or last on ties."""

    axis: int
    keepdims: bool
    select_last_index: bool
