"""Fully connected layers on cores with the DSP extension: one row by four filters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of, plain_inputs
from edgec.kernels.common.code_range import has_room_for_any_code
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import (
    WORD,
    flipped_words,
    joined_filters,
    odd_sums,
    paired_words,
)
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window, is_gemm
from edgec.kernels.dsp.dense_4x2_s8_dsp import other_loops
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import sums_of, unrolled
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

FILTERS = 4
"""Filters of an accumulator tile."""

WIDENED_BYTES = 8
"""Bytes of four values of x, widened to two words of int16 pairs."""

_BATCH = 8
_LEAST_OF_INT8 = -128
_SUM_BYTES = 4
_SUM_BITS = 8 * _SUM_BYTES
_START_BYTES = 8
"""Bytes of the initial value of the sums, padded so that the widened row is aligned to eight."""

_MOST_IN_SMALL_CACHES = 8
"""Words in a turn of the loop, 66 bytes each, where 1 KB of cache holds a turn: each turn may wait
for a prefetch of what follows it before it reads weights from flash: few long ones are better."""
_MOST_OF_SHORT = 4
_LONG = 32
"""Words of a filter from which on the longer code is worth its bytes."""


@dataclass(frozen=True, slots=True)
class Dense1x4(LayerFunction):
    """Product of a vector with constant weights, four filters at a time:
    `edgec/dense/dense_1x4_dsp.h`, of int16 `edgec/dense/dense_1x4_pairs_dsp.h`.

    x int8 or int16 [depth]; y [units].  Where x is int8, weights are as `flipped_words` gives them
    for four filters, biases with `odd_sums` (`kernels.common.dense`); else as `joined_filters`
    does, or `paired_words` where the core issues two instructions.

    Attributes:
        depth, units: shapes.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        typed: element types and end, where x or y is int16.
        dual_issue: the core issues a load together with a product.
        roomy: see `dense_4x2_s8_dsp.spec.unrolled`.
        turn: words in one turn of the loop, where that was measured; None: by `roomy`.
    """

    family: ClassVar[str] = "dense_1x4_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x4_dsp")
    flips_signs: ClassVar[bool] = True
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    dual_issue: bool = False
    roomy: bool = False
    typed: TypedEnd | None = field(default=None, metadata=LATER)
    turn: int | None = field(default=None, metadata=LATER)

    def with_turn(self, turn: int) -> Self:
        """The specification with as many words in a turn of the loop."""
        return replace(self, turn=turn)

    @property
    def joins(self) -> bool:
        """Two filters lie in one (`joined_filters`)."""
        return self.reads_int16 and not self.dual_issue

    @property
    def in_place(self) -> bool:
        """The row is read where it lies: it has full words only, and all sums fit into scratch."""
        return self.joins and not self.rest and self.fours <= _BATCH + self.words // 2

    @property
    def copy(self) -> str:
        """Function that puts the row into scratch."""
        return "copy1" if self.reads_int16 else "widen1"

    @property
    def row(self) -> str:
        """The row that the products take, in C: without a first value where sums start at 0."""
        return "row + 1" if self.joins and not self.in_place else "row"

    @property
    def sums(self) -> str:
        """Name of the function of the products."""
        words = f"{'s16_' if self.reads_int16 else ''}{self.words}"
        return f"row_sums_{sums_of(words, self.turn)}"

    @property
    def sums_guard(self) -> str:
        """Name of the macro that says that the function is there."""
        return self.sums.upper()

    @property
    def words(self) -> int:
        """Words of weights of one filter."""
        return -(-self.depth // WORD)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return self.fours * self.four_bytes

    @property
    def full_words(self) -> int:
        """Words of x, without the one that is not full."""
        return self.depth // WORD

    @property
    def rest(self) -> int:
        """Values of x after its last full word."""
        return self.depth % WORD

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        most = _MOST_IN_SMALL_CACHES if self.words >= _LONG else _MOST_OF_SHORT
        return self.turn or unrolled(self.words, roomy=self.roomy, most_in_small_caches=most)

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // FILTERS)

    @property
    def four_bytes(self) -> int:
        """Bytes of the weights of four filters."""
        return FILTERS * WORD * self.words

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return self.fours if self.in_place else min(_BATCH, self.fours)

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, after the widened row."""
        if self.in_place:
            return 0
        return _START_BYTES + self.words * WIDENED_BYTES

    @property
    def scratch_bytes(self) -> int:
        """The widened row, unless it is read where it lies, and the sums of a batch."""
        return self.sums_at + self.batch * FILTERS * _SUM_BYTES

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


_CODE_BYTES = 300
_WORD_CODE_BYTES = {DType.INT8: 72, DType.INT16: 88}
"""Code of a word in a turn of the loop by the type of x: `edgec/dense/dense_1x4_dsp.h`."""


def parts(spec: Dense1x4, _run: Run) -> Parts:
    """Counts of a call; nobody has measured the ends of 16 by 15 bits, or multipliers of 15."""
    turns = spec.words // spec.unrolled
    kind = "joined " if spec.joins else "wide " if spec.reads_int16 else ""
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        f"{kind}word of the row": 0 if spec.in_place else spec.words,
        "rest of the row": 1 if spec.rest else 0,
        f"{kind}four filters": spec.fours,
        f"{kind}word of four filters": spec.fours * spec.words,
        "turn": spec.fours * turns if turns > 1 else 0,
        "wide output" if spec.typed is not None else "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    loop = (spec.unrolled + spec.words % spec.unrolled) * _WORD_CODE_BYTES[spec.x_dtype]
    if spec.rescale16 is not None or (spec.typed is not None and spec.typed.has_shifts):
        counts[UNMEASURED] = 1
    return Parts(
        counts, _CODE_BYTES + loop, WeightReads(spec.stored_bytes, 1, numbers_of(spec.units))
    )


_ROOMY_BYTES = 2048
"""The code of a loop of sixteen words, and what is around it: `dense/dense_1x4_dsp.h`."""
_READ_AHEAD = 16
"""Bytes after the weights that a core with two issue slots reads."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row, also a pointwise convolution of one pixel, on a core with DSP."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes
    one_row = dense_window(graph, node).out_pixels == 1
    return one_row and small and _fits(graph, node, found)


def _fits(graph: Graph, node: Node, spec: Dense1x4) -> bool:
    """Rows of int16 have no arithmetic that needs more room than their sums; filters may not."""
    if spec.joins:
        return int(graph.constants[plain_inputs(node).w].array.min()) > _LEAST_OF_INT8
    return spec.reads_int16 or has_room_for_any_code(graph, node)


def spec(graph: Graph, node: Node, target: Target) -> Dense1x4:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    return Dense1x4(
        window.taps * window.channels,
        graph.shape(plain_inputs(node).w)[0],
        *end_of(graph, node),
        typed=_typed(graph, node, target),
        dual_issue=target.dual_issue,
        # Where branches cost nothing, a short loop only takes less time to read from flash.
        roomy=not target.dual_issue and target.runs_from_cache(_ROOMY_BYTES),
    )


def _typed(graph: Graph, node: Node, target: Target) -> TypedEnd | None:
    """The end of int16; a core that issues two instructions compares as fast as it saturates."""
    typed, form = typed_end(graph, node), form_of(node.attrs)
    if typed is None or not isinstance(form, qops.Requant31) or target.dual_issue:
        return typed
    return dataclasses.replace(typed, even=(form.low, form.high) == (-INT16_MAX, INT16_MAX))


def overlap(spec: Dense1x4) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(graph: Graph, node: Node, spec: Dense1x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four, as the type of x wants them."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        if spec.joins:
            words = joined_filters(weights)
        elif spec.reads_int16:
            words = paired_words(weights, FILTERS)
        else:
            words, bias = flipped_words(weights, FILTERS), bias + odd_sums(weights)
        if spec.dual_issue:
            words = np.pad(words.ravel(), (0, _READ_AHEAD))
        return words, bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


def types(graph: Graph, node: Node) -> bool:
    """Layers of int8 and int16 whose sums are int32."""
    typed = typed_end(graph, node)
    return has_plain_c(graph, node) and (typed is None or typed.sum_bits <= _SUM_BITS)


FAMILY = KernelFamily(
    spec_type=Dense1x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    variants=other_loops,
    arguments=arguments,
    parts=parts,
)
