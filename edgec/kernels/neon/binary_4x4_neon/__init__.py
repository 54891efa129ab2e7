"""Convolutions and matrix products of signs with NEON: four rows by four filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import WORD_BITS
from edgec.kernels.common.binary import (
    OPERATORS,
    WORD_BYTES,
    BinaryFunction,
    BitFunction,
    binary_arguments,
    binary_fields,
)
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.dense_4x4_s8_neon.tile import Tile
from edgec.kernels.neon.layer import NeonLayer, has_full_range
from edgec.kernels.neon.weights import LANES, ROWS, padded_rows
from edgec.target.target import Target

_HALF = LANES // 2
_SPARE_BYTES = 8
"""Four elements that may be loaded after the last residual."""


class Packed4x4(BitFunction, NeonLayer):
    """A layer of packed rows and filters of bits: whole vectors of four, then halves."""

    __slots__ = ()

    @property
    def packed_words(self) -> int:
        """Words of a row that is packed: those of a window."""
        return self.words

    @property
    def vectors(self) -> int:
        """Whole vectors of a row."""
        return -(-self.packed_words * WORD_BYTES // _HALF) // 2

    @property
    def half_bytes(self) -> int:
        """Bytes of a row after its whole vectors: half a vector, or none."""
        return _HALF if self.packed_words * WORD_BYTES > self.vectors * LANES else 0

    @property
    def row_bytes(self) -> int:
        """Bytes of a packed row."""
        return self.vectors * LANES + self.half_bytes

    @property
    def packed_bytes(self) -> int:
        """Bytes of four packed rows, or filters."""
        return ROWS * self.row_bytes

    @property
    def half_at(self) -> int:
        """Place of the first row's half in four packed rows."""
        return ROWS * self.vectors * LANES

    @property
    def mask_bytes(self) -> int:
        """Bytes of the signs of four pixels, a byte each, where the layer ends in signs."""
        return self.out_words * WORD_BITS * ROWS

    @property
    def residual_bytes(self) -> int:
        """Bytes of the residual of four rows, and what may be loaded after it."""
        return ROWS * self.out_channels + _SPARE_BYTES if self.adds else 0

    @property
    def stored_filters(self) -> int:
        """Filters, filled up to fours."""
        return padded_rows(self.out_channels)

    @property
    def rest(self) -> int:
        """Filters after the last full block."""
        return self.out_channels % ROWS

    @property
    def tile(self) -> Tile:
        """Rows whose outputs a function stores."""
        return Tile(ROWS)

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of the function of four rows besides parameters: C parameter and argument."""
        return self.tile_extras("extra")

    def packed_filters(self, words: Array) -> Array:
        """Words of rows, uint32 [rows, packed_words], four by four as kernels read them."""
        octets = words.reshape(len(words), -1).astype("<u4").view(np.uint8)
        missing = (0, -len(octets) % ROWS), (0, self.row_bytes - octets.shape[1])
        groups = np.pad(octets, missing).reshape(-1, ROWS, self.row_bytes)
        whole = groups[..., : self.half_at // ROWS].reshape(len(groups), ROWS, self.vectors, LANES)
        parts = (whole.transpose(0, 2, 1, 3), groups[..., self.half_at // ROWS :])
        stored = np.concatenate([part.reshape(len(groups), -1) for part in parts], axis=1)
        return stored.view("<u4").astype(np.uint32)


@dataclass(frozen=True, slots=True)
class Binary4x4(BinaryFunction, Packed4x4):
    """Gathers and packs the windows of four pixels, then counts bits with four filters at a time:
    `edgec/dense/binary_4x4_neon.h`.
    """

    family: ClassVar[str] = "binary_4x4_neon"
    template: ClassVar[Path] = template_beside(__file__, "binary_4x4_neon")
    full_range: bool = False

    @property
    def patch_bytes(self) -> int:
        """Bytes of a gathered window."""
        return self.words * WORD_BYTES

    @property
    def added_at(self) -> int:
        """Place of what is after four packed windows and one that is not; a multiple of 16."""
        return self.packed_bytes + -(-self.patch_bytes // LANES) * LANES

    @property
    def scratch_bytes(self) -> int:
        """Packed windows, a gathered one, and the residual of four rows or their signs."""
        return self.added_at + (self.mask_bytes if self.gives_signs else self.residual_bytes)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("four rows at a time")


def accepts(_graph: Graph, _node: Node, target: Target) -> bool:
    """On cores with NEON."""
    return target.has_neon


def spec(graph: Graph, node: Node, _target: Target) -> Binary4x4:
    """The specification for a layer of signs."""
    return Binary4x4(**binary_fields(graph, node), full_range=has_full_range(node))


def overlap(spec: Binary4x4) -> Distances:
    """The windows of four rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.bytewise, spec.pixel_bytes, ROWS))


def arguments(graph: Graph, node: Node, spec: Binary4x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four."""
    return binary_arguments(graph, node, spec, pool, spec.packed_filters, ROWS)


def parts(spec: Binary4x4, _run: Run) -> Parts:
    """Tiles of four pixels and filters, the last ones filled up; gathered windows."""
    blocks = -(-spec.window.out_pixels // ROWS)
    pixels, tiles = blocks * ROWS, blocks * spec.stored_filters // ROWS
    return Parts(
        {
            **spec.gathered(pixels),
            "vector of a pixel": pixels * spec.vectors,
            "tile of signs" if spec.gives_signs else "tile of codes": tiles,
            "vector of a tile": tiles * spec.vectors,
            "half of a tile": tiles if spec.half_bytes else 0,
            "word of signs": blocks * spec.out_words if spec.gives_signs else 0,
            "addition": tiles if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Binary4x4,
    operators=OPERATORS,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
