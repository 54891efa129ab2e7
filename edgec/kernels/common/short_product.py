"""Fewest 32-bit products that requantize an accumulator by a multiplier of 31 bits exactly.

`edgec/arithmetic/short_products.h` makes a product of 32 by 32 bits of parts, for cores on which
the whole one takes long or does not exist.  What is exact there follows from the accumulators that
the weights of a layer allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import accumulator_range, form_of, plain_inputs
from edgec.kernels.common.form_ends import tflite31
from edgec.kernels.common.layer_end import End
from edgec.target.target import Target

_HALF = 1 << 16
_LEAST_SHIFT = 32
"""Shift that leaves the high word as it is."""
_WORD = 32
_OUTSIDE = 256
"""A distance from the zero point that no code of int8 has."""


@dataclass(frozen=True, slots=True)
class ShortProduct:
    """Method of multiplying an accumulator by its multiplier: `edgec/arithmetic/short_products.h`.

    Attributes:
        count: products of 32 bits that give the result: 4 or 3 of halves, or 2 of a multiplier
            that is cut at the bit `split`; 0: the product that serves any accumulator.
        bits: with 2, bits that an accumulator is limited to; 0: all have fewer.
        split: with 2, bits of the lower part of the multiplier.
    """

    count: int = 0
    bits: int = 0
    split: int = 0

    @property
    def call(self) -> str:
        """The function that requantizes by a `Requant31`, with its first arguments."""
        return {
            0: "edgec_requantize_s8(",
            2: f"edgec_requantize_split_s8({self.bits}, {self.split}, ",
            3: "edgec_requantize_by_s8(3, ",
            4: "edgec_requantize_by_s8(4, ",
        }[self.count]


ANY = ShortProduct()


def product_of(graph: Graph, node: Node, target: Target) -> ShortProduct:
    """The fewest products that are exact for a layer with weights."""
    form = form_of(node.attrs)
    multiplier = np.abs(graph.constants[plain_inputs(node).multiplier].array.astype(np.int64))
    if isinstance(form, qops.Rescale16x15):
        return ANY
    largest = np.maximum(*map(np.abs, accumulator_range(graph, node)))
    if target.has_long_multiply:
        return _split(largest, multiplier, form) if isinstance(form, qops.Requant31) else ANY
    four = ShortProduct(4)
    if isinstance(form, qops.Requant31):
        if _fits_three(largest, multiplier, form):
            return ShortProduct(3)
        return four if form.shift >= _LEAST_SHIFT and _fits_four(largest, multiplier) else ANY
    if isinstance(form, qops.Offset31):
        return four if _fits_four(largest, multiplier) else ANY
    if (
        isinstance(form, qops.TwoRoundings31)
        and tflite31(graph, node, form).end == "two_roundings31"
    ):
        return four if _fits_four(2 * largest, multiplier) else ANY
    return ANY


def with_product(end: End, product: ShortProduct) -> End:
    """The end of a layer whose accumulators are multiplied so."""
    if end.tflite31 is None:
        return end
    return end._replace(tflite31=replace(end.tflite31, products=product.count))


def _split(acc: Array, multiplier: Array, form: qops.Requant31) -> ShortProduct:
    """Two products, of accumulators limited to some bits where more would give no other code."""
    for bits in (0, *range(_WORD - 1, 1, -1)):
        limit = 1 << max(bits - 1, 0)  # accumulators become at most limit - 1
        far = multiplier * (limit - 1) >> form.shift >= _OUTSIDE + abs(form.zero_point)
        if bits and not np.all((acc < limit) | far):
            break
        largest = np.minimum(acc, limit) if bits else acc
        for split in range(1, min(form.shift, _WORD)):
            if _fits_two(largest, multiplier, form, split):
                return ShortProduct(2, bits, split)
    return ANY


def _fits_two(acc: Array, multiplier: Array, form: qops.Requant31, split: int) -> bool:
    """Two products and their sum, with zero point and half step added, stay within 32 bits."""
    rest = form.shift - split
    if not 1 <= rest <= _WORD - 2:
        return False
    start = (abs(form.zero_point) << rest) + (1 << (rest - 1))
    low = acc * (1 << (split - 1))
    total = acc * ((multiplier >> split) + 1) + (low >> split) + 1 + start
    rounded = multiplier + (1 << (split - 1))
    return bool(np.all(np.maximum.reduce([low, total, rounded]) <= INT32_MAX))


def _fits_three(acc: Array, multiplier: Array, form: qops.Requant31) -> bool:
    """`edgec_short_product`, with zero point and half step added, stays within 32 bits."""
    rest = form.shift - 16
    if not 1 <= rest <= _WORD - 2:
        return False
    start = (abs(form.zero_point) << rest) + (1 << (rest - 1))
    parts = acc * _above(multiplier) + _above(acc) * _HALF + _HALF + start
    return bool(np.all(parts <= INT32_MAX))


def _fits_four(acc: Array, multiplier: Array) -> bool:
    """The middle of `edgec_near_product` stays within 32 bits."""
    middle = _above(acc) * _HALF + _HALF + _HALF * _above(multiplier) + _HALF // 2
    return bool(np.all(middle <= INT32_MAX))


def _above(values: Array) -> Array:
    """A bound of the magnitude of the upper halves of numbers of either sign."""
    return values // _HALF + 1
