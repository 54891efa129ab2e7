"""Fully connected layers on Cortex-M cores without the DSP extension: a row of int16 by four
filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import by_column
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window, is_gemm
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

FILTERS = 4
"""Filters whose sums are computed together."""

TURN = 8
"""Values of a row in one turn of the loop."""

_WORD_BYTES = 4
_VALUE_BYTES = 2
_BATCH = 8
"""Groups of filters whose sums are computed in one call, at least."""
_SUM_BITS = 32
_FLIPPED = np.array([-128, -128, -128, 0], np.int8)


@dataclass(frozen=True, slots=True)
class Dense1x4S16M0(LayerFunction):
    """Product of a vector with constant weights, four filters at a time:
    `edgec/dense/dense_1x4_s16_m0.h`.

    x int16 [depth]; weights int8 [ceil(units / 4), padded_depth, 4], with the signs of the first
    three flipped; y [units].

    Attributes:
        depth, units: shapes.
        shift: right shift with a multiplier of 31 bits.
        residual_shift, rescale16, tflite31: None, as layers of int16 have another end.
        typed: element types and end.
    """

    family: ClassVar[str] = "dense_1x4_s16_m0"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x4_s16_m0")
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = None
    typed: TypedEnd | None = None

    @property
    def padded_depth(self) -> int:
        """Values of the row and weights of a filter as stored, a multiple of `TURN`."""
        return -(-self.depth // TURN) * TURN

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // FILTERS)

    @property
    def in_place(self) -> bool:
        """The row is read where it lies: it is full, and the sums take no more scratch than it."""
        room = _BATCH + self.depth * _VALUE_BYTES // (FILTERS * _WORD_BYTES)
        return self.depth == self.padded_depth and self.fours <= room

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return self.fours if self.in_place else min(_BATCH, self.fours)

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, after the row."""
        return 0 if self.in_place else self.padded_depth * _VALUE_BYTES

    @property
    def scratch_bytes(self) -> int:
        """The row, unless it is read where it lies, and the sums of a batch."""
        return self.sums_at + self.batch * FILTERS * _WORD_BYTES

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


_CODE_BYTES = 650


def parts(spec: Dense1x4S16M0, _run: Run) -> Parts:
    """Counts of a call; nobody has measured multipliers of 15 bits."""
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        "value": spec.padded_depth,
        "copied value": 0 if spec.in_place else spec.padded_depth,
        "four filters": spec.fours,
        "product of four filters": spec.fours * spec.padded_depth,
        "output": spec.out_elements,
    }
    stored = spec.fours * FILTERS * spec.padded_depth
    if spec.typed is not None and spec.typed.has_shifts:
        counts[UNMEASURED] = 1
    return Parts(counts, _CODE_BYTES, WeightReads(stored, 1, numbers_of(spec.units)))


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row, also a pointwise convolution of one pixel, where SIMD is missing."""
    if not target.is_cortex_m or target.has_dsp or target.has_mve:
        return False
    if getattr(node.attrs, "group", 1) != 1:
        return False
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    small = spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes
    return small and dense_window(graph, node).out_pixels == 1


def spec(graph: Graph, node: Node, _target: Target) -> Dense1x4S16M0:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    return Dense1x4S16M0(
        window.taps * window.channels,
        graph.shape(plain_inputs(node).w)[0],
        *end_of(graph, node),
        typed=typed_end(graph, node),
    )


def overlap(spec: Dense1x4S16M0) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(
    graph: Graph, node: Node, spec: Dense1x4S16M0, pool: ConstantPool
) -> tuple[Params, ...]:
    """Four filters at a time, one weight of each in turn, the signs of the first three flipped."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = by_column(weights, FILTERS, spec.padded_depth)
        return columns ^ _FLIPPED, bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


def types(graph: Graph, node: Node) -> bool:
    """Layers of int16 whose sums are int32."""
    typed = typed_end(graph, node)
    if typed is None or not has_plain_c(graph, node):
        return False
    return typed.x is DType.INT16 and typed.sum_bits <= _SUM_BITS


FAMILY = KernelFamily(
    spec_type=Dense1x4S16M0,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
