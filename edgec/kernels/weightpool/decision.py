"""The planner's decision about a layer with pooled weights.

The kernel of a layer with pooled weights for which no planner has decided.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs, pooled_inputs
from edgec.kernels.weightpool.geometry import fits_lanes
from edgec.kernels.weightpool.tables import ResponseKind

READY_INDEX_BITS = 16
"""`index_bits` of lists of table offsets that need no decoding (`PooledConv` only)."""


class PoolFamily(enum.Enum):
    """Kernels for pooled layers; the value is the kernel's `family`."""

    RESPONSES = "pooled_conv"
    RESPONSES_NEON = "pooled_conv_neon"
    DECODE = "pooled_decode"
    DIRECT = "pooled_direct"


@dataclass(frozen=True, slots=True)
class PoolKernelConfig:
    """The kernel of one pooled layer.

    Attributes:
        family: kind of the kernel; the other fields are for `RESPONSES` if they say nothing else.
        chunk_groups: groups of input channels whose responses are in the table at a time.
        lanes: output rows that one 32-bit word of the table serves, 1 or 2.
        builder: how the responses are built.
        index_bits: bits of a stored index: the pool's own `index_bits` (packed), 8 (bytes, for
            pools of up to 256 vectors), or `READY_INDEX_BITS`.  All families.
        keep_rows: the table holds all rows of a chunk, not only those of one output row: larger,
            a little faster.
        tables_in_ram: copy the pool or its look-up table to scratch memory first.
        batch: filters expanded at a time, of `DECODE`; None: as many as little memory holds.
        dsp: `DECODE` for a core with the DSP extension.
        band: rows of outputs that are computed together, of `RESPONSES_NEON`; None: all.
        vectors: vectors of eight positions that are added up together there, at most: as many as
            the registers hold sums of.
        runtime_bits: the width of activations is an argument of the kernel.  All families.
        short: biases and multipliers have 16 bits each (`short_numbers`), which needs a width that
            is fixed, and numbers that are exact in this form.  All families.
    """

    family: PoolFamily
    chunk_groups: int = 1
    lanes: int = 2
    builder: ResponseKind = ResponseKind.MULTIPLY
    index_bits: int = 8
    keep_rows: bool = False
    tables_in_ram: bool = False
    batch: int | None = None
    dsp: bool = False
    band: int | None = None
    vectors: int = 4
    runtime_bits: bool = False
    short: bool = False


_BYTE_SIZES = 256
"""Pools of up to this many vectors have indices of a byte."""


def default_config(graph: Graph, node: Node) -> PoolKernelConfig:
    """A kernel that serves the node, with little memory."""
    size = graph.shape(pooled_inputs(node).pool)[0]
    index_bits = 8 if size <= _BYTE_SIZES else (size - 1).bit_length()
    if pooled_attrs(node).rounding.response_shift == 0:
        return PoolKernelConfig(PoolFamily.DECODE, index_bits=index_bits)
    lanes = 2 if fits_lanes(graph, node) else 1
    return PoolKernelConfig(PoolFamily.RESPONSES, lanes=lanes, index_bits=index_bits)
