"""Convolutions and matrix products of bit planes with NEON: four rows by four filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.binary import WORD_BYTES
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.planes import OPERATORS, PlaneFunction, plane_arguments, plane_fields
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.binary_4x4_neon import Packed4x4
from edgec.kernels.neon.layer import has_full_range
from edgec.kernels.neon.weights import LANES, ROWS
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Plane4x4(PlaneFunction, Packed4x4):
    """Gathers and packs the windows of four pixels, then counts bits with four filters at a time,
    plane by plane: `edgec/dense/plane_4x4_neon.h`.
    """

    family: ClassVar[str] = "plane_4x4_neon"
    template: ClassVar[Path] = template_beside(__file__, "plane_4x4_neon")
    full_range: bool = False

    @property
    def packed_words(self) -> int:
        """Words of a row that is packed: those of a plane."""
        return self.plane_words

    @property
    def rows_bytes(self) -> int:
        """Bytes of four packed windows, all planes."""
        return self.x_planes * self.packed_bytes

    @property
    def filters_bytes(self) -> int:
        """Bytes of four packed filters, all planes."""
        return self.w_planes * self.packed_bytes

    @property
    def split_at(self) -> int:
        """Place of the planes of a gathered window, one after another; a multiple of 16."""
        return self.rows_bytes + (self.gathered_bytes if self.is_split else 0)

    @property
    def gathered_bytes(self) -> int:
        """Bytes that are kept for a gathered window."""
        return -(-self.words * WORD_BYTES // LANES) * LANES

    @property
    def spread(self) -> tuple[tuple[int, int, int], ...]:
        """Places of each plane: in a split window, in packed rows, and there of its half."""
        starts = [plane * self.packed_bytes for plane in range(self.x_planes)]
        return tuple((p * self.plane_bytes, at, at + self.half_at) for p, at in enumerate(starts))

    @property
    def plane_bytes(self) -> int:
        """Bytes of a plane of a window."""
        return self.plane_words * WORD_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual of four rows, or their codes; a multiple of 16."""
        return self.split_at + self.gathered_bytes

    @property
    def masks_bytes(self) -> int:
        """Bytes of the codes of four pixels, a byte for each bit."""
        return self.y_planes * self.mask_bytes

    @property
    def scratch_bytes(self) -> int:
        """Packed windows, one that is not, and the residual of four rows or their codes."""
        return self.added_at + (self.masks_bytes if self.gives_signs else self.residual_bytes)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("four rows at a time")


def accepts(_graph: Graph, _node: Node, target: Target) -> bool:
    """On cores with NEON."""
    return target.has_neon


def spec(graph: Graph, node: Node, _target: Target) -> Plane4x4:
    """The specification for a layer of planes."""
    return Plane4x4(**plane_fields(graph, node), full_range=has_full_range(node))


def overlap(spec: Plane4x4) -> Distances:
    """The windows of four rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.bytewise, spec.pixel_bytes, ROWS))


def arguments(graph: Graph, node: Node, spec: Plane4x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four, plane by plane within four."""

    def pack(words: Array) -> Array:
        filters, planes, _ = words.shape
        padded = np.pad(words, ((0, -filters % ROWS), (0, 0), (0, 0)))
        groups = padded.reshape(-1, ROWS, planes, spec.plane_words).swapaxes(1, 2)
        return spec.packed_filters(groups.reshape(-1, spec.plane_words))

    return plane_arguments(graph, node, spec, pool, pack, ROWS)


def parts(spec: Plane4x4, _run: Run) -> Parts:
    """Tiles of four pixels and filters, the last ones filled up; gathered windows."""
    blocks = -(-spec.window.out_pixels // ROWS)
    pixels, tiles = blocks * ROWS, blocks * spec.stored_filters // ROWS
    pairs = tiles * spec.x_planes * spec.w_planes
    vectors = pixels * spec.vectors * spec.x_planes
    return Parts(
        {
            **spec.gathered(pixels),
            "split word": pixels * spec.words if spec.is_split else 0,
            "vector of a pixel": vectors,
            "added vector": vectors if spec.slope else 0,
            "tile of codes": 0 if spec.gives_signs else tiles,
            "threshold of a tile": tiles * len(spec.ends),
            "pair of planes": pairs,
            "vector of a tile": pairs * spec.vectors,
            "half of a tile": pairs if spec.half_bytes else 0,
            "word of planes": blocks * spec.out_words * spec.y_planes,
            "addition": tiles if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Plane4x4,
    operators=OPERATORS,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
