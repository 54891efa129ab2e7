"""Products with weights of which most are zero: only the others are stored and multiplied.

A row of activations is read where the weights say, so neither SIMD nor a tile of filters helps.
`benchmarks/sparse_rows.py` shows from which share of zeros on this pays; the estimate of cycles
chooses, or the bytes of weights where small code is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import by_row, with_ending
from edgec.kernels.common.packing import LEAST_SAVED_BYTES
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window, is_gemm
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.packed.codes import code_bits, packed_bytes
from edgec.target.target import Target

COLUMNS = 256
"""Columns of a part of a row: as many as a byte can tell apart."""
_WORD = 4
_PAIR = 2
_SUM_BITS = 32
_CODE_BYTES = 220
_LEAST_SAVED_SHARE = 8
"""The part of a layer's bytes, one in so much, that it must save there: with few zeros a product
takes three times as long as with all weights."""


@dataclass(frozen=True, slots=True)
class SparseRows(LayerFunction):
    """Matrix product with constant weights of which most are zero.

    x int8 or int16 [rows, depth]; weights as `stored` gives them; y int8 or int16 [rows, units].

    Attributes:
        rows, depth, units: shapes.
        words: of weights.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16, tflite31, typed: other ends, see `LayerFunction`.
    """

    family: ClassVar[str] = "sparse_rows"
    scratch_name: ClassVar[str | None] = None
    template: ClassVar[Path] = template_beside(__file__, "sparse_rows")
    rows: int
    depth: int
    units: int
    words: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def counts(self) -> int:
        """Parts of all filters; each has a byte with the number of its words."""
        return self.units * parts_of(self.depth)

    @property
    def first_count(self) -> int:
        """Place of these bytes, after the words."""
        return _WORD * self.words

    @property
    def sum(self) -> str:
        """C function of the products of a part."""
        return f"edgec_sparse_sum_s{8 * self.x_dtype.size_bytes}"

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return self.first_count + self.counts

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those with zeros among them."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        shapes = f"[{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"
        return f"Matrix product {shapes}, without weights that are zero"


def parts_of(depth: int) -> int:
    """Parts of a row of `depth` columns."""
    return -(-depth // COLUMNS)


def stored(weights: Array) -> Array:
    """Weights as the kernel reads them (`edgec/dense/sparse_rows.h`).

    Args:
        weights: int8 [units, ...].

    Returns:
        int8 [n]: the words, then how many of them each part of each filter has.
    """
    counts, words = [], []
    for row in weights.reshape(len(weights), -1):
        for first in range(0, len(row), COLUMNS):
            part = row[first : first + COLUMNS]
            columns = np.flatnonzero(part)
            missing = len(columns) % _PAIR
            places = np.pad(columns, (0, missing)).astype(np.uint8).reshape(-1, _PAIR)
            values = np.pad(part[columns], (0, missing)).reshape(-1, _PAIR)
            counts.append(len(places))
            words.append(np.concatenate([places.view(np.int8), values], axis=1))
    return np.concatenate(
        [*(each.ravel() for each in words), np.array(counts, np.uint8).view("i1")]
    )


def words_of(weights: Array) -> int:
    """Words that `stored` makes of weights int8 [units, ...]."""
    rows = weights.reshape(len(weights), -1) != 0
    starts = range(0, rows.shape[1], COLUMNS)
    found = [np.count_nonzero(rows[:, first : first + COLUMNS], axis=1) for first in starts]
    return int(sum((-(-counts // _PAIR)).sum() for counts in found))


def computes(graph: Graph, node: Node, _target: Target) -> bool:
    """A product, or a convolution that is one, whose weights take less room without their zeros."""
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    typed = typed_end(graph, node)
    narrow = typed is None or typed.sum_bits <= _SUM_BITS
    return narrow and _saved_bytes(graph, node) > 0


def _saved_bytes(graph: Graph, node: Node) -> int:
    """Bytes that the weights take less than with their zeros; of pooled weights 0."""
    constant = graph.constants[plain_inputs(node).w]
    if constant.pooled is not None:
        return 0
    weights = constant.array
    bits = code_bits(weights)
    dense = weights.size if bits is None else packed_bytes(weights.size, bits)
    counts = len(weights) * parts_of(weights.size // len(weights))
    return dense - _WORD * words_of(weights) - counts


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether small code is preferred, and the layer saves enough of it."""
    if not target.takes_few_kernels or not computes(graph, node, target):
        return False
    weights = graph.constants[plain_inputs(node).w].array
    least = max(LEAST_SAVED_BYTES, weights.size // _LEAST_SAVED_SHARE)
    return _saved_bytes(graph, node) >= least


def spec(graph: Graph, node: Node, _target: Target) -> SparseRows:
    """The specification for an operator that `computes` accepts."""
    window = dense_window(graph, node)
    weights = graph.constants[plain_inputs(node).w].array
    return SparseRows(
        window.out_pixels,
        window.taps * window.channels,
        len(weights),
        words_of(weights),
        *end_of(graph, node),
        typed=typed_end(graph, node),
    )


def overlap(spec: SparseRows) -> Distances:
    """A row of x is read for each unit: only the last output of a row is unwritten then."""
    each, read = spec.out_bytes, spec.depth * spec.x_dtype.size_bytes
    return with_ending(spec, by_row(spec.rows, read, spec.units * each, each))


def arguments(
    graph: Graph, node: Node, _spec: SparseRows, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights without zeros; biases take the zero point of x with those that are there."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return stored(weights), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


def parts(spec: SparseRows, _run: Run) -> Parts:
    """Counts of a call; nobody has measured the ends of 16 by 15 bits, or multipliers of 15."""
    kind = "wide " if spec.reads_int16 else ""
    counts: dict[str, float] = {
        "call": 1,
        "part": spec.rows * spec.counts,
        f"{kind}word": spec.rows * spec.words,
        "wide output" if spec.typed is not None else "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    if spec.rescale16 is not None or (spec.typed is not None and spec.typed.has_shifts):
        counts[UNMEASURED] = 1
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.stored_bytes, spec.rows, numbers_of(spec.units)),
    )


FAMILY = KernelFamily(
    spec_type=SparseRows,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=has_plain_c,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    computes=computes,
    arguments=arguments,
    parts=parts,
    saves_flash_of_small=True,
)
