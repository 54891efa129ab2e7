"""Integer operators of transformers: 32 bits from end to end.

A graph that holds one of these operators uses them for all of its layers: its requantization is
`Rescale16x15`, never the 31-bit multiplier of `ir.qops`.  Of `ir.qops` it may hold only operators
without that multiplier: QAdd, QLut, QMaxPool, QReshape, QTranspose, QSlice, QConcat, QPad,
QResizeNearest, QResizeLinear, QArgMax.  Those that move codes also move int16.

Notation as in `ir.qops`.  Every product, sum, shift and rounding addition below is one of 32-bit
integers and stays within +-(2^31 - 1) for any input; ``>>`` is arithmetic (floor).
``quant.intervals`` proves it for each operator of a graph, `interp` checks it while it runs.
``sat16(v) = min(max(v, -32768), 32767)``; ``bitlen(v)`` is the number of bits of v >= 0, 0 for 0.

The *stream* is the tensor that the residual additions carry along: zero point 0, one scale for all
of it, so that an addition needs no rescaling.  It is int16, or, to save memory, int8 from -127 on
with a scale ``s * 2**k[c]`` for each channel c of the last axis, 0 <= k[c] <= 7: additions add
codes of one scale as before, and what mixes channels reads ``x << k[c]``, numbers of the scale s.
Source of the powers of two: Lin et al., "FQ-ViT", IJCAI 2022.

An int8 value between two operators here may be quantized per channel of its last axis (scale and
zero point): factors folded into the weights around it.  Its readers take raw codes, the zero points
are in their biases.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.dtypes import DType
from edgec.ir.integer import IntegerOperator
from edgec.ir.ops import ReduceKind
from edgec.ir.shapes import Pads2D, Pair

TABLE_SIZE = 1024
"""Entries of the table of an element function fused into a requantization."""
ATTENTION_SHIFT = 21
"""Right shift of the normalised output of attention."""
DISTANCE_BITS = 11
"""Fraction bits of a distance in octaves."""
DISTANCE_SHIFT = 15
"""Right shift of a logit's distance times its multiplier."""
MOST_CHANNEL_SHIFT = 7
"""Largest k of a stream of int8."""
ATTENTION_MIN = -127
"""Least code of attention's output: products of codes without -128 are faster on cores with DSP."""
SUM_BITS = 24
"""Bits of a sum of exponentials that a product with int8 leaves within 32."""
SUM_MARGIN = 1 << 16
"""What such a sum stays below 2^24, for its rounding and that of the division."""
HEAD_COLUMNS = 4
"""Columns of the parameters of attention heads."""


@dataclass(frozen=True, slots=True)
class Rescale16x15:
    """Requantization by a 16 by 15 bit product.

    ``a = sat16(rshr(acc, pre_shift))``; ``y = min(max(rshr(a * multiplier, shift), low), high)``.

    There is no zero point to add: the accumulator's bias holds it.

    Bounds: ``|acc| + 2**(pre_shift-1) < 2**31``, 0 <= pre_shift <= 16; |multiplier| <= 32767, so
    |a * multiplier| < 2^30; 1 <= shift <= 30.  The
    error of these two roundings is measured in docs/transformers.md.

    Attributes:
        pre_shift: p.
        shift: s.
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.
    """

    pre_shift: int
    shift: int
    low: int
    high: int
    dtype: DType = DType.INT8


@dataclass(frozen=True, slots=True)
class QGemm16x15(IntegerOperator):
    """x int8 [..., K], weight int8 const [N, K], bias int32 const [N], multiplier int16 const [N],
    table int8 const [1024] (only with `table`), residual of the stream [..., N] (only with
    `residual`; value or constant); y [..., N].

    ``acc = bias[n] + sum_k x * weight[n, k]``: raw codes, the zero points of x are in the bias.

    * plain: ``y = output(acc)``.
    * table: the output has low = -512, high = 511; ``y = table[output(acc) + 512]``, int8.
    * residual: y of the stream is ``min(max(rshr(a * multiplier[n], shift) + residual, low),
      high)``.

    Never both of table and residual.
    """

    output: Rescale16x15
    table: bool = False
    residual: bool = False


@dataclass(frozen=True, slots=True)
class QConv16x15(IntegerOperator):
    """x int8 [N, H, W, I], weight int8 const [O, KH, KW, I/group], then as `QGemm16x15`; residual
    [N, OH, OW, O].

    ``acc = bias[o] + sum (x - zx) * weight`` over the taps inside the image, x quantized per
    tensor.
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Rescale16x15
    table: bool = False
    residual: bool = False


@dataclass(frozen=True, slots=True)
class QMatMul16x15(IntegerOperator):
    """a int8 [..., M, K], b int8 [..., K, N] (transpose_a, transpose_b as `ops.MatMul`), leading
    axes broadcast; y [..., M, N].

    ``y = output(bias + sum_k (a - za) * (b - zb))`` with one multiplier; both per tensor.
    """

    output: Rescale16x15
    multiplier: int
    bias: int = 0
    transpose_a: bool = False
    transpose_b: bool = False


@dataclass(frozen=True, slots=True)
class QMul16x15(IntegerOperator):
    """a, b int8 with numpy broadcasting (constants are int8 with quant), per tensor.

    ``y = output(bias + (a - za) * (b - zb))`` with one multiplier.
    """

    output: Rescale16x15
    multiplier: int
    bias: int = 0


@dataclass(frozen=True, slots=True)
class QReduce16x15(IntegerOperator):
    """x int8 or int16, over `axes`, per tensor; MEAN or SUM.

    ``y = output(bias + sum (x - zx))`` with one multiplier.
    """

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    output: Rescale16x15
    multiplier: int
    bias: int = 0


@dataclass(frozen=True, slots=True)
class QRescale16x15(IntegerOperator):
    """x int8 or int16, raw codes: ``y = output(bias + x)`` with one multiplier.

    Between the stream and an int8 tensor, in either direction.  With `before` or `after`, never
    both, k int8 const [C] is a second input, that of the stream of int8:

    * before: x is of the stream, ``y = output(bias + (x << k[c]))``.
    * after: y is, ``y = min(max(rshr(a * multiplier, shift + k[c]), low), high)``; shift + k[c] is
      30 at most.
    """

    output: Rescale16x15
    multiplier: int
    bias: int = 0
    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True)
class QAdd16(IntegerOperator):
    """a, b of the stream with numpy broadcasting (a constant has a quant), all three of one scale.

    ``y = sat16(a + b)``, or of int8 ``y = min(max(a + b, -127), 127)``.
    """

    dtype: DType = DType.INT16


@dataclass(frozen=True, slots=True)
class QEmbedding(IntegerOperator):
    """ids int32 [...], table int8 or int16 const [V, C]; y of the stream [..., C].

    ``y = sat16(table[min(max(id, 0), V-1), c] * multiplier)``, 1 <= multiplier <= 32767; of int8
    the table is int8 and the multiplier 1.
    """

    multiplier: int = 1
    dtype: DType = DType.INT16


@dataclass(frozen=True, slots=True)
class QIsEqual(IntegerOperator):
    """x int32: ``y = 1 if x == value else 0``, int32.

    Makes masks of token ids and of other masks.
    """

    value: int = 0


@dataclass(frozen=True, slots=True)
class QSoftmax16x15(IntegerOperator):
    """Softmax over the last axis of x int8 [..., C]; y int8, scale 1/256, zero point -128.

    With D, E, S, x and B of `QAttention` for ``L[j] = x[j]``:

        R    = (2^30 + B // 2) // B                          2^14 <= R <= 2^15
        y[j] = min(rshr(E[j] * R, x + 7) - 128, 127)

    Bounds: those of `QAttention`, with C for M; then 8 <= x + 7 <= 30.
    """

    distance_multiplier: int
    distance_limit: int
    exp_bits: int


@dataclass(frozen=True, slots=True)
class QNorm(IntegerOperator):
    """LayerNormalization (`centred`) or RMSNormalization over the last axis.

    x int16 [..., C], zero point 0; gamma int16 const [C], beta int32 const [C]; y int8 or int16
    [..., C].  2 <= C <= 32767.  With `shifted`, x is int8 of the stream and k int8 const [C] a
    fourth input: ``x[c] << k[c]`` stands for x[c] below.  A row of x at a time:

        total = sum_c x[c]
        w[c]  = C * x[c] - total                        (RMS: w[c] = x[c])
        m     = bitlen(max_c (w[c] ^ (w[c] >> 31)))     so that -2^m <= w[c] < 2^m
        q     = max(m - 15, 0)
        p     = max(m - 15 + square_shift, least_shift)
        S     = sum_c rshr(w[c], p)**2                  <= 2^30
        e     = rshr(epsilon, 2 * (p - least_shift))    (0 where that shift is above 30)
        T     = max(S + e, 1)                           < 2^31
        j     = the greatest j >= 0 with T * 4**j < 2^31
        r     = the integer nearest to sqrt(T * 4**j)   23170 <= r <= 46341
        R     = (2^30 + r // 2) // r                    23170 <= R <= 46342
        s     = 15 - j + p - q                          0 <= s <= 30
        half  = (2**(s-1) if s > 0 else 0) + (R >> 1 if q > 0 else 0)
        v[c]  = w[c] >> q                               -32768 <= v <= 32767
        u[c]  = (v[c] * R + half) >> s                  |u| <= 33280: u / 2^15 = w / sqrt(sum w**2)
        y[c]  = min(max((u[c] * gamma[c] + beta[c]) >> shift, low), high)

    ``square_shift = ceil(log2(C) / 2)``.  sqrt(C) is in gamma; beta holds the zero point and the
    half of its rounding.  ``C * x - total`` is the exact centred value times C, whatever C.  (v is
    a floor; the R >> 1 puts it back to the middle.)

    Bounds: |w| <= 65535 * C; |v * R| + half < 2^31; |u * gamma| + |beta| < 2^31.

    Attributes:
        centred: subtract the mean.
        epsilon: the epsilon of the variance in units of S at p = least_shift; 0..2^29.
        least_shift: 0..15.
        square_shift: see above.
        shift: 1..30.
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.
        shifted: see above.
    """

    centred: bool
    epsilon: int
    least_shift: int
    square_shift: int
    shift: int
    low: int
    high: int
    dtype: DType = DType.INT8
    shifted: bool = False


@dataclass(frozen=True, slots=True)
class QAttention(IntegerOperator):
    """Softmax attention, token-major, heads side by side; one query row of a head at a time.

    q int8 [..., N, CQ] (value or constant), k int8 [..., M, CK], v int8 [..., M, CV], heads int32
    const [heads, 4], keys int32 [..., M] (only with `keys`), steps int32 const [heads, U] and
    places int16 const [P, N, M] (only with `bias`), P the product B of the leading axes, or 1; y
    int8 [..., N, heads*value_width].  Leading axes of q, k, v are equal.  q, k and v may be columns
    of one tensor: head h reads

        q[i, q_start + h*width + d], k[j, k_start + h*width + d], v[j, v_start + h*value_width + e]

    with d < width, e < value_width.  Raw codes; q and v have zero point 0 there, that of k cancels.
    Columns of heads: (distance_multiplier, distance_limit, numerator, output_shift).  For a row i
    of head h, over the keys j (with `keys`: only those whose entry is not 0):

        L[j] = sum_d q * k           (with `bias`, of row b of B: + steps[h, places[b or 0, i, j]])
        D[j] = min(max_j L[j] - L[j], distance_limit)
        t    = rshr(D[j] * distance_multiplier, 15)          octaves, Q5.11
        i, f = (t & 2047) >> 6, t & 63
        c    = EXP[i] - rshr((EXP[i] - EXP[i + 1]) * f, 6)
        E[j] = rshr(c, (t >> 11) + 15 - exp_bits)            0 <= E < 2^exp_bits + 1
        S    = sum_j E[j]
        A[e] = sum_j E[j] * v                                |A| <= 128 * S

    where, with `narrowed`, a row of many large E first loses bits until A fits:

        n    = max(bitlen(S + 2^16) - 24, 0)                 0 <= n <= 4
        E[j] = rshr(E[j], n)                                 and S is the sum of these

    with ``EXP[i] = round(32767 * 2**(-i/32))``, 33 entries.  Then one division a row:

        x    = bitlen(S) - 1                                 2^x <= S < 2^(x+1)
        B    = S >> (x - 15) if x >= 15 else S << (15 - x)   2^15 <= B < 2^16
        R    = (numerator + B // 2) // B                     2^13 <= R <= 2^15
        a[e] = sat16(rshr(A[e], x - 15 + output_shift))
        y[e] = min(max(rshr(a[e] * R, 21), -127), 127)

    A row without any key gives 0.  Both operands of E * v fit int16 (E <= 32767).

    With kappa = octaves a logit unit, at most 8: distance_multiplier = kappa * 2^26,
    distance_limit the least distance of exp_bits + 1.6 octaves or more, at most 2*128*128*width
    without a bias.
    With c = scale of v over scale of y: 1/8 <= c < 32, output_shift = 8 - floor(log2 c), numerator
    = c * 2^(21 + output_shift), in [2^29, 2^30).

    Bounds: 128*128*width < 2^30; max_j L[j] - L[j] < 2^31 with all L below 2^31 (steps are not
    positive); distance_limit * distance_multiplier + 2^14 < 2^31; exp_bits is 15
    for M <= 511; for M <= 4095 it is 15 with `narrowed`; then |A| + 2^(x-16+output_shift) < 2^31.
    """

    heads: int
    width: int
    value_width: int
    q_start: int
    k_start: int
    v_start: int
    exp_bits: int
    keys: bool = False
    bias: bool = False
    narrowed: bool = False


TRANSFORMER = (
    *(QGemm16x15, QConv16x15, QMatMul16x15, QMul16x15, QReduce16x15, QRescale16x15),
    *(QAdd16, QEmbedding, QNorm, QAttention, QIsEqual, QSoftmax16x15),
)
"""Every operator of this module."""
