"""Layers with pooled weights on cores with the DSP extension, expanded a few filters at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import POOLED, is_int8_layer
from edgec.kernels.common.dense import FILTERS, WORD
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.window import dense_window
from edgec.kernels.dsp.dense_3x2_s8_dsp import ROWS, Dense3x2
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.weightpool.arguments import own_width
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.decoded import (
    Decoded,
    batch_of,
    decoded_arguments,
    decoded_parts,
    is_pooled,
    planned_fields,
    rescale16_fields,
    serves_dsp,
)
from edgec.kernels.weightpool.events import TABLE, Event
from edgec.kernels.weightpool.plain import POOL_WORD_BYTES
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class VectorPart:
    """The first `weights` weights of a vector, put among those of two filters: `interleaved`.

    Attributes:
        weights: a multiple of 4.
    """

    weights: int

    @property
    def words(self) -> tuple[tuple[int, int], ...]:
        """(bytes from the first weight of the filter, bytes from the first one of the vector)."""
        return tuple((FILTERS * first, first) for first in range(0, self.weights, WORD))

    @property
    def step(self) -> int:
        """Bytes that the weights of both filters take."""
        return FILTERS * self.weights


@dataclass(frozen=True, slots=True)
class PooledDecodeDsp(Decoded):
    """`PooledDecode` into the order of weights of `Dense3x2`, and from there on like that one.

    Input channels are a multiple of 4.  Indices are stored as [filter, tap, vector, term].

    Attributes:
        batch: filters expanded at a time; a multiple of 2, or all.
    """

    family: ClassVar[str] = "pooled_decode_dsp"
    template: ClassVar[Path] = template_beside(__file__, "pooled_decode_dsp")

    @property
    def dense(self) -> Dense3x2:
        """The loops; the scratch memory begins with theirs."""
        return Dense3x2(self.window, self.out_channels, self.shift)

    @property
    def whole_vector(self) -> VectorPart:
        """Part that is copied of a vector that is used in whole."""
        return VectorPart(self.group)

    @property
    def last_vector(self) -> VectorPart:
        """Part that is copied of the last vector of a tap, if it is used in part."""
        return VectorPart(self.last)

    @property
    def has_gaps(self) -> bool:
        """There are weights that no vector gives."""
        return self.dense.pads_depth or self.dense.odd

    @property
    def filters_start(self) -> int:
        """Place of the expanded filters int8 [batch / 2, words, 2, 4], after the windows."""
        return self.dense.scratch_bytes

    @property
    def filters_bytes(self) -> int:
        """The expanded filters."""
        return -(-self.batch // FILTERS) * FILTERS * WORD * self.dense.words

    @property
    def numbers_start(self) -> int:
        """Place of the numbers of the batch that are made first."""
        return self.filters_start + self.filters_bytes

    @property
    def scratch_bytes(self) -> int:
        """Windows, filters and numbers."""
        return self.numbers_start + POOL_WORD_BYTES * self.number_words

    def describe(self) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        return self._describe(f"{self.batch} filters decoded at a time, three rows at a time")


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A layer of a transformer on such a core, where vectors fall on whole words."""
    if not target.has_dsp or not is_pooled(graph, node):
        return False
    window = dense_window(graph, node)
    return window.channels % WORD == 0 and window.out_pixels > 1


def spec(graph: Graph, node: Node, _target: Target) -> PooledDecodeDsp:
    """The specification for a layer of a transformer."""
    return _with_batch(rescale16_fields(graph, node))


def planned(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledDecodeDsp | None:
    """The specification for a layer for which the planner has decided."""
    if decision.family is not PoolFamily.DECODE or not decision.dsp:
        return None
    return pooled_decode_dsp(graph, node, decision)


def pooled_decode_dsp(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledDecodeDsp:
    """`PooledDecodeDsp` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the node's responses are scaled, or its channels are no multiple of 4.
    """
    fields = planned_fields(graph, node, decision)
    if not serves_dsp(graph, node):
        raise LoweringError("the DSP kernel takes multiples of 4 channels", where=node.name)
    return _with_batch(fields, decision.batch)


def _with_batch(fields: dict[str, Any], asked: int | None = None) -> PooledDecodeDsp:
    window, filters = fields["window"], fields["out_channels"]
    depth = window.taps * window.channels
    return PooledDecodeDsp(**fields, batch=batch_of(filters, depth, min(FILTERS, filters), asked))


def overlap(spec: PooledDecodeDsp) -> Distances:
    """Like `Dense3x2` in one batch; the next batch of filters reads all of x again."""
    if spec.batch < spec.out_channels:
        return with_ending(spec, None, None)
    row = spec.out_channels * spec.out_bytes
    return with_ending(spec, by_blocks(spec.window, row, ROWS), None)


def parts(spec: PooledDecodeDsp, _run: Run) -> Parts:
    """Weights expanded, then a loop for three rows at a time, which are widened for each batch."""
    dense = spec.dense
    blocks = -(-dense.window.out_pixels // ROWS)
    tiles = blocks * -(-dense.out_channels // FILTERS)
    read = blocks * ROWS * -(-spec.out_channels // spec.batch)
    return decoded_parts(
        spec,
        {
            Event.TILE_MAC: tiles * ROWS * FILTERS * dense.depth,
            Event.TILE: tiles,
            Event.WIDEN_ROUND if spec.rounds else Event.WIDEN: read * dense.depth / 4,
            Event.COPY: read * dense.window.kernel_h,
            Event.OUTPUT: dense.out_elements,
            Event.EXPAND: spec.out_channels * spec.filter_indices,
        },
    )


FAMILY = KernelFamily(
    spec_type=PooledDecodeDsp,
    operators=(*POOLED, qops.QGemm, qops.QConv),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=decoded_arguments,
    planned=planned,
    runtime_bits=own_width,
    parts=parts,
    prices=TABLE,
    saves_flash=True,
)
