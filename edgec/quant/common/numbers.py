"""The numbers of `QNorm` and of a head of `QAttention` from the real ones they stand for.

The proof that no operator overflows 32 bits, from its real shapes and numbers.

Every operator states the bounds of its own products, sums, shifts and rounding additions for any
input, whatever the order of summation (`ir.qops`).  They are recomputed from the finished graph,
independently of the code that chose the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    ceil_log2,
    floor_log2,
    round_half_up,
)
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops import IntegerOperator

LOGIT_BITS = 26
"""Fraction bits of kappa, the octaves between neighbouring logits."""
MOST_OCTAVES = 8.0
"""Largest kappa."""
LEAST_RATIO, MOST_RATIO = 1 / 8, 32.0
"""Bounds of the scale of v over the scale of attention's output."""
EXPONENTIAL_BITS = 15
"""The most that int16 holds."""
MOST_WHOLE_KEYS = 511
"""Most keys whose exponentials of 15 bits fit whatever they are."""
_CLAMP_OCTAVES = 1.6
"""Octaves beyond the bits of an exponential at which it is 0 (docs/transformers.md, Attention)."""
_MOST_GAMMA_SHIFT = 21
_EPSILON_BITS = 29
_MOST_EPSILON_SHIFT = 15


@dataclass(frozen=True, slots=True, eq=False)
class RealNorm:
    """A norm in real numbers.

    Attributes:
        centred: LayerNormalization, not RMSNormalization.
        gamma, beta: float64 [C].
        epsilon: what is added to the variance.
        x_scale: scale of the stream.
        y_scale, y_zero: parameters of the output, [C].
        dtype: element type of the output, INT8 or INT16.
        bounds: least and greatest code of the output; None: -127 and 127, or all of int16.
    """

    centred: bool
    gamma: Array
    beta: Array
    epsilon: float
    x_scale: float
    y_scale: Array
    y_zero: Array
    dtype: DType = DType.INT8
    bounds: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NormNumbers:
    """A norm in integers: the operator and its constants."""

    attrs: qops.QNorm
    gamma: Array
    beta: Array


def norm_numbers(norm: RealNorm, where: str) -> NormNumbers:
    """The integer form of a norm.

    Args:
        norm: in real numbers.
        where: the node, for messages.

    Raises:
        QuantizationError: its numbers do not fit 32 bits.
    """
    channels = len(norm.gamma)
    factors = norm.gamma * math.sqrt(channels) / norm.y_scale
    offsets = norm.beta / norm.y_scale + norm.y_zero
    shift = _norm_shift(factors, offsets, where)
    epsilon, least = _epsilon(norm, channels, where)
    whole = (-INT8_MAX, INT8_MAX) if norm.dtype is DType.INT8 else (INT16_MIN, INT16_MAX)
    low, high = norm.bounds or whole
    square = (ceil_log2(channels) + 1) // 2
    attrs = qops.QNorm(norm.centred, epsilon, least, square, shift, low, high, norm.dtype)
    gamma = round_half_up(factors * 2.0 ** (shift - 15))
    # The half is that of the output's rounding.
    beta = round_half_up((offsets + 0.5) * 2.0**shift)
    return NormNumbers(
        attrs, frozen(np.clip(gamma, -INT16_MAX, INT16_MAX), np.int16), frozen(beta, np.int32)
    )


def _norm_shift(factors: Array, offsets: Array, where: str) -> int:
    """The largest shift for which gamma has 15 bits and its sum with beta fits 32."""
    largest = max(float(np.abs(factors).max()), 2.0**-20)
    for shift in range(min(30 - math.frexp(largest)[1], _MOST_GAMMA_SHIFT), 0, -1):
        products = qops.UNIT_BOUND * np.abs(factors) * 2.0 ** (shift - 15)
        if (products + (np.abs(offsets) + 1) * 2.0**shift).max() < 2.0**31 - 2.0**17:
            return shift
    raise QuantizationError(
        "the factors of this norm do not fit 32 bits",
        where=where,
        hint="its output scale is far too small; recalibrate",
    )


def _epsilon(norm: RealNorm, channels: int, where: str) -> tuple[int, int]:
    """Epsilon in units of the sum of squares, and the shift of w at which it is that."""
    units = _epsilon_sum(norm.epsilon, channels, centred=norm.centred)
    units /= norm.x_scale * norm.x_scale
    least = 0
    if units > 0:
        least = max(0, (ceil_log2(units) - _EPSILON_BITS + 1) // 2)
    if least > _MOST_EPSILON_SHIFT:
        raise QuantizationError("epsilon is far larger than what the stream holds", where=where)
    return int(round_half_up(units * 4.0**-least)), least


def _epsilon_sum(epsilon: float, channels: int, *, centred: bool) -> float:
    """Epsilon in the place where a norm adds it to its sum of squares, for a scale of 1."""
    # sum w^2 = C^3 * variance / scale^2 for w = C * (x - mean), C * mean(x^2) / scale^2 for RMS.
    return epsilon * float(channels) ** (3 if centred else 1)


def least_norm_scale(epsilon: float, channels: int, *, centred: bool) -> float:
    """The least scale of the stream with which a norm can say its epsilon."""
    bits = _EPSILON_BITS + 2 * _MOST_EPSILON_SHIFT - 1
    return math.sqrt(_epsilon_sum(epsilon, channels, centred=centred) * 2.0**-bits)


def exponential_bits(keys: int, where: str) -> int:
    """Bits of an exponential so that a row's sums fit 32 bits whatever it is.

    Raises:
        QuantizationError: there are too many keys.
    """
    for bits in (15, 14, 13, 12):
        if keys < 1 << (24 - bits):
            return bits
    raise QuantizationError(f"{keys} keys are too many for 32-bit sums (4095 at most)", where=where)


def attention_bits(keys: int, where: str) -> tuple[int, bool]:
    """Bits of an exponential of attention, and whether rows of large sums must lose some.

    Raises:
        QuantizationError: there are too many keys.
    """
    exponential_bits(keys, where)
    return EXPONENTIAL_BITS, keys > MOST_WHOLE_KEYS


def head_numbers(
    kappa: float, ratio: float, width: int, bits: int, where: str, biased: bool = False
) -> tuple[int, int, int, int]:
    """The four numbers of a head, in the order of `QAttention`.

    Args:
        kappa: octaves between neighbouring logits.
        ratio: scale of v over scale of the output.
        width: columns of q and k for a head.
        bits: bits of an exponential.
        where: the node, for messages.
        biased: logits may be farther apart than the products of queries and keys can be.

    Raises:
        QuantizationError: a number is beyond what the operator can say.
    """
    if not 0 < kappa <= MOST_OCTAVES or 128 * 128 * width >= 2**30:
        raise QuantizationError(
            f"neighbouring logits are {kappa:.3g} octaves apart",
            where=where,
            hint="the queries and keys are too large for int8; recalibrate",
        )
    if not LEAST_RATIO <= ratio < MOST_RATIO:
        raise QuantizationError(
            f"the output of attention has {ratio:.3g} times the resolution of its values",
            where=where,
            hint="calibrate with inputs that are more alike those it will see",
        )
    most = INT32_MAX if biased else 2 * 128 * 128 * width
    multiplier, limit = distance_numbers(kappa, bits, most)
    shift = 8 - floor_log2(ratio)
    numerator = int(round_half_up(ratio * 2.0 ** (qops.ATTENTION_SHIFT + shift)))
    return multiplier, limit, min(numerator, 2**30 - 1), shift


def distance_numbers(kappa: float, bits: int, most: int) -> tuple[int, int]:
    """The multiplier and the limit of distances between logits.

    Args:
        kappa: octaves between neighbouring logits; `MOST_OCTAVES` if it is more.
        bits: bits of an exponential.
        most: the largest distance.
    """
    multiplier = max(int(round_half_up(min(kappa, MOST_OCTAVES) * 2.0**LOGIT_BITS)), 1)
    return multiplier, min(math.ceil((bits + _CLAMP_OCTAVES) * 2.0**LOGIT_BITS / multiplier), most)


def check_intervals(graph: Graph) -> None:
    """Check every operator.

    Args:
        graph: INTEGER stage.

    Raises:
        QuantizationError: an intermediate of the operator it names could exceed +-(2^31 - 1).
    """
    for node in graph.nodes:
        for what, bound in bounds_of(graph, node).items():
            if bound > INT32_MAX:
                raise QuantizationError(
                    f"{what} could reach {bound:.4g}, beyond 32 bits",
                    where=node.name,
                    hint="the layer is too wide, or its scales too far apart; recalibrate",
                )


def bounds_of(graph: Graph, node: Node) -> dict[str, float]:
    """Bounds of the intermediates of a node by what they are; empty where nothing can overflow.

    Args:
        graph: INTEGER stage.
        node: a node of the graph.
    """
    attrs = node.attrs_as(IntegerOperator)
    return attrs.bounds(attrs.Inputs.of(graph.tensors(node)))
