"""Fully connected layers on Cortex-M cores without the DSP extension: one row by four filters.

A product with two weights in a word is two products; for several rows `dense_5x2_s8_m0` is faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MIN, INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import by_column
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, reads_int8, typed_end
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads, numbers_of, unmeasured
from edgec.kernels.common.short_product import ANY, ShortProduct, product_of, with_product
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    accumulator_start,
    weighted_arguments,
)
from edgec.kernels.common.window import dense_window, is_gemm
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

FILTERS = 4
"""Filters whose sums are computed together."""

TURN = 4
"""Activations in one turn of the loop."""

MOST_DEPTH = 1 << 16
"""Activations whose sums of products of 16 bits stay below 2^32."""

_WORD_BYTES = 4
_SUM_BITS = 32
_BATCH = 8
"""Groups of filters whose sums are computed in one call."""


@dataclass(frozen=True, slots=True)
class Dense1x4M0(LayerFunction):
    """Product of a vector with constant weights, four filters at a time:
    `edgec/dense/dense_1x4_s8_m0.h`.

    x int8 [depth]; weights int8 [ceil(units / 4), padded_depth, 4], with the signs flipped; y
    [units].

    Attributes:
        depth, units: shapes.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        typed: element types and end, where y is int16.
        product: how a sum is multiplied by a multiplier of 31 bits.
    """

    family: ClassVar[str] = "dense_1x4_s8_m0"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x4_s8_m0")
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)
    product: ShortProduct = field(default=ANY, kw_only=True)

    @property
    def padded_depth(self) -> int:
        """Activations and weights of a filter as stored, a multiple of `TURN`."""
        return -(-self.depth // TURN) * TURN

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // FILTERS)

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return min(_BATCH, self.fours)

    @property
    def scratch_bytes(self) -> int:
        """The words of the row, and the sums of a batch."""
        return (self.padded_depth + self.batch * FILTERS) * _WORD_BYTES

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.units * self.depth

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return f"Matrix product [1, {self.depth}] by [{self.units}, {self.depth}], four at a time"


_CODE_BYTES = 600


def parts(spec: Dense1x4M0, _run: Run) -> Parts:
    """Counts of a call; nobody has measured other ends than a multiplier of 31 bits."""
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        "activation": spec.padded_depth,
        "four filters": spec.fours,
        "product of four filters": spec.fours * spec.padded_depth,
        ("output" if spec.typed is None else "wide output"): spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    } | unmeasured(spec)
    stored = spec.fours * FILTERS * spec.padded_depth
    return Parts(counts, _CODE_BYTES, WeightReads(stored, 1, numbers_of(spec.units)))


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row, also a pointwise convolution of one pixel, where SIMD is missing."""
    if not target.is_cortex_m or target.has_dsp or target.has_mve:
        return False
    if getattr(node.attrs, "group", 1) != 1:
        return False
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes and found.depth <= MOST_DEPTH
    return small and dense_window(graph, node).out_pixels == 1 and _has_room(graph, node)


def _has_room(graph: Graph, node: Node) -> bool:
    """Whether the biases with what they hold more fit int32."""
    weights = graph.constants[plain_inputs(node).w].array
    start = accumulator_start(graph, node) + _more(weights)
    return bool(np.all(np.abs(start) <= INT32_MAX))


def _more(weights: Array) -> Array:
    """Constant terms of each filter's sum: int64 [O], the last two terms of
    `edgec/dense/dense_1x4_s8_m0.h`.
    """
    rows = weights.reshape(len(weights), -1).astype(np.int64)
    return np.asarray(INT8_MIN * (rows - INT8_MIN).sum(axis=1) + INT8_MIN**2 * rows.shape[1])


def spec(graph: Graph, node: Node, target: Target) -> Dense1x4M0:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    typed = typed_end(graph, node)
    product = ANY if typed is not None else product_of(graph, node, target)
    return Dense1x4M0(
        window.taps * window.channels,
        graph.shape(plain_inputs(node).w)[0],
        *with_product(end_of(graph, node), product),
        typed=typed,
        product=product,
    )


def overlap(spec: Dense1x4M0) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(graph: Graph, node: Node, spec: Dense1x4M0, pool: ConstantPool) -> tuple[Params, ...]:
    """Four filters at a time, one weight of each in turn, the signs flipped."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = by_column(weights, FILTERS, spec.padded_depth)
        return columns ^ np.int8(INT8_MIN), bias + _more(weights), multiplier

    return weighted_arguments(graph, node, pool, pack)


def types(graph: Graph, node: Node) -> bool:
    """Layers of int8, whose outputs may be int16, with sums of int32."""
    typed = typed_end(graph, node)
    if typed is None:
        return reads_int8(graph, node)
    return has_plain_c(graph, node) and typed.x is DType.INT8 and typed.sum_bits <= _SUM_BITS


FAMILY = KernelFamily(
    spec_type=Dense1x4M0,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
