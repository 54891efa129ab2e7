"""Layers with pooled weights, expanded in plain C a few filters at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import POOLED, is_int8_layer
from edgec.kernels.common.overlap import by_pixel, by_row, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.weightpool.arguments import own_width
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig, default_config
from edgec.kernels.weightpool.decoded import (
    Decoded,
    batch_of,
    decoded_arguments,
    decoded_parts,
    is_pooled,
    planned_fields,
    rescale16_fields,
)
from edgec.kernels.weightpool.events import TABLE, Event
from edgec.kernels.weightpool.plain import BLOCK, POOL_WORD_BYTES
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PooledDecode(Decoded):
    """Expands the indices of a batch of filters, then computes their outputs for all pixels.

    Indices are stored as [filter, tap, vector, term].

    Attributes:
        batch: filters expanded at a time; a multiple of `block`, or all.
    """

    family: ClassVar[str] = "pooled_decode"
    template: ClassVar[Path] = template_beside(__file__, "pooled_decode")

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels

    @property
    def block(self) -> int:
        """Filters computed together."""
        return min(BLOCK, self.out_channels)

    @property
    def rest(self) -> int:
        """Filters that are left after the last full block."""
        return self.out_channels % self.block

    @property
    def reads_rows(self) -> bool:
        """Windows are rows of x as they lie in memory; else they are gathered."""
        return self.window.is_pointwise or self.window.is_whole_image

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def needs_patch(self) -> bool:
        """Windows are copied before their products."""
        return self.rounds or not self.reads_rows

    @property
    def numbers_bytes(self) -> int:
        """The start of the scratch memory: numbers of the batch that are made first."""
        return POOL_WORD_BYTES * self.number_words

    @property
    def patch_words(self) -> int:
        """Words of the patch."""
        return -(-self.depth // POOL_WORD_BYTES)

    @property
    def patch_start(self) -> int:
        """Place of the patch, after the numbers and the expanded filters int8 [batch, depth]."""
        filters = -(-self.batch * self.depth // POOL_WORD_BYTES) * POOL_WORD_BYTES
        return self.numbers_bytes + filters

    @property
    def scratch_bytes(self) -> int:
        """Numbers, filters and patch."""
        return self.patch_start + (POOL_WORD_BYTES * self.patch_words if self.needs_patch else 0)

    def describe(self) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        return self._describe(f"{self.batch} filters decoded at a time")


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """A layer of a transformer, or one for which no planner has decided and that is not scaled."""
    if isinstance(node.attrs, POOLED):
        return default_config(graph, node).family is PoolFamily.DECODE
    return is_pooled(graph, node)


def spec(graph: Graph, node: Node, _target: Target) -> PooledDecode:
    """The specification for a layer of a transformer, or with the default decision."""
    if isinstance(node.attrs, POOLED):
        return pooled_decode(graph, node, default_config(graph, node))
    return _with_batch(rescale16_fields(graph, node))


def planned(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledDecode | None:
    """The specification for a layer for which the planner has decided."""
    if decision.family is not PoolFamily.DECODE or decision.dsp:
        return None
    return pooled_decode(graph, node, decision)


def pooled_decode(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledDecode:
    """`PooledDecode` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the node's responses are scaled.
    """
    return _with_batch(planned_fields(graph, node, decision), decision.batch)


def _with_batch(fields: dict[str, Any], asked: int | None = None) -> PooledDecode:
    window, filters = fields["window"], fields["out_channels"]
    depth = window.taps * window.channels
    return PooledDecode(**fields, batch=batch_of(filters, depth, min(BLOCK, filters), asked))


def overlap(spec: PooledDecode) -> Distances:
    """Like `Gemm` where rows are read as they lie, and like `Conv2D` where they are copied."""
    if spec.batch < spec.out_channels:
        # The next batch of filters reads all of x again.
        return with_ending(spec, None, None)
    each = spec.out_bytes
    if spec.needs_patch:
        return with_ending(spec, by_pixel(spec.window, spec.out_channels * each))
    last = (spec.rest or spec.block) * each
    rows = spec.window.out_pixels
    return with_ending(spec, by_row(rows, spec.depth, spec.out_channels * each, last))


def parts(spec: PooledDecode, _run: Run) -> Parts:
    """Weights expanded, then a loop for one pixel at a time."""
    batches = -(-spec.out_channels // spec.batch)
    windows = spec.window.out_pixels * batches
    found: dict[str, float] = {
        Event.EXPAND: spec.out_channels * spec.filter_indices,
        Event.MAC: spec.macs,
        Event.FILTERS_4: spec.window.out_pixels * -(-spec.out_channels // spec.block),
        Event.OUTPUT: spec.out_elements,
    }
    if spec.rounds:
        found[Event.ROUND_WORD] = windows * spec.patch_words
    if spec.needs_patch:
        found[Event.COPY] = windows * _runs(spec)
        found[Event.COPY_BYTE] = windows * spec.depth
    return decoded_parts(spec, found)


def _runs(spec: PooledDecode) -> int:
    """Pieces in which a window is copied."""
    if spec.reads_rows:
        return 1
    return spec.window.kernel_h if spec.copies_runs else spec.window.taps


FAMILY = KernelFamily(
    spec_type=PooledDecode,
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
