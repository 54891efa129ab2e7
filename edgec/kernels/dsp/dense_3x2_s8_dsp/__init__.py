"""Convolutions and matrix products on cores with the DSP extension: three rows by two filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import FILTERS, WORD, Dense, interleaved, padded_depth
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

ROWS = 3
"""Rows of x whose sums are computed together."""

_PAIR_BYTES = 4


@dataclass(frozen=True, slots=True)
class Dense3x2(Dense):
    """Convolution of one group, or matrix product of several rows, three rows at a time.

    x int8 [height, width, channels], weights as `dense_weights.interleaved` gives them, y int8
    [out_height, out_width, out_channels].
    """

    family: ClassVar[str] = "dense_3x2_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_3x2_s8_dsp")

    @property
    def words(self) -> int:
        """Words of weights of one filter, an even number."""
        return padded_depth(self.depth) // WORD

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return -(-self.out_channels // FILTERS) * FILTERS * WORD * self.words

    @property
    def widens_runs(self) -> bool:
        """Rows of the window are widened where they lie; else they are gathered first."""
        return self.window.channels % WORD == 0 and self.window.columns_are_runs

    @property
    def fills(self) -> bool:
        """Windows may hold padding."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def pads_depth(self) -> bool:
        """The last words hold more than weights."""
        return self.words * WORD != self.depth

    @property
    def odd(self) -> bool:
        """The last filter has no partner."""
        return self.out_channels % FILTERS == 1

    @property
    def codes_at(self) -> int:
        """Place in scratch of the results that a residual is added to, or of the residual."""
        widened = self.words * ROWS * 2 * _PAIR_BYTES
        return widened + (0 if self.widens_runs else self.words * WORD)

    @property
    def scratch_bytes(self) -> int:
        """Three widened windows, one that is not, and three rows of results or residual."""
        codes = ROWS * self.out_channels
        if self.rescale16 is not None and self.rescale16.residual:
            return self.codes_at + codes * self.rescale16.out_bytes
        return self.codes_at + (0 if self.residual_shift is None else codes)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("three")


_CODE_BYTES = 700


def parts(spec: Dense3x2, _run: Run) -> Parts:
    """Counts of a call; only fixed lengths and multipliers of 31 bits were measured."""
    blocks = -(-spec.rows // ROWS)
    rows = blocks * ROWS
    source = "runs" if spec.widens_runs else "patch"
    by_row = spec.window.kernel_h if spec.widens_runs else spec.window.taps
    tiles = blocks * -(-spec.out_channels // FILTERS)
    counts: dict[str, float] = {
        "call": 1,
        "block": blocks,
        f"row of {source}": rows,
        f"run of {source}": rows * by_row,
        f"word of a row of {source}": rows * spec.words,
        "byte of a patch": 0 if spec.widens_runs else rows * spec.depth,
        "tile": tiles,
        "word of a tile": tiles * spec.words,
        "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    if spec.rescale16 is not None or spec.variable:
        counts[UNMEASURED] = 1
    return Parts(
        counts, _CODE_BYTES, WeightReads(spec.stored_bytes, blocks, numbers_of(spec.out_channels))
    )


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a product of several rows, on a core with the DSP extension.

    A single row would leave two rows of three idle, and gain nothing from widening in advance.
    Windows that are too large when widened are left to the plain kernel, which gathers bytes.
    """
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    return found.window.out_pixels > 1 and found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense3x2:
    """The specification for a convolution of one group or a matrix product, of either form."""
    filters = graph.shape(plain_inputs(node).w)[0]
    return Dense3x2(dense_window(graph, node), filters, *end_of(graph, node))


def overlap(spec: Dense3x2) -> Distances:
    """The windows of three rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * spec.out_bytes, ROWS))


def arguments(graph: Graph, node: Node, _spec: Dense3x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two."""
    return weighted_arguments(graph, node, pool, _pack)


def _pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
    return interleaved(weights), bias, multiplier


FAMILY = KernelFamily(
    spec_type=Dense3x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    parts=parts,
)
