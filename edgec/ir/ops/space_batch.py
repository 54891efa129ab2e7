"""Parts of an image as images of their own, and back: how TensorFlow writes dilation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need, padded_shape

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SpaceToBatch(OneInput):
    """x [N, ...] padded by `pads` along the axes after the first, then each block of elements cut.

    Element i of block axis a becomes element ``i // blocks[a]`` of one of the ``prod(blocks)``
    images that its rest chooses; y [prod(blocks) * N, ...].  Gone after `passes.fuse_dilation`.
    """

    REAL_STAGE_ONLY: ClassVar[bool] = True

    blocks: tuple[int, ...]
    pads: Pairs

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        axes = len(self.blocks)
        need(0 < axes < len(inputs.x) and len(self.pads) == axes, "blocks or pads do not fit")
        need(min(self.blocks) > 0, "empty block")
        rest = ((0, 0),) * (len(inputs.x) - axes - 1)
        n, *sizes = padded_shape(inputs.x, ((0, 0), *self.pads, *rest))
        whole = all(size % block == 0 for size, block in zip(sizes, self.blocks, strict=False))
        need(whole, "blocks do not divide the padded image")
        cut = tuple(size // block for size, block in zip(sizes, self.blocks, strict=False))
        return (n * math.prod(self.blocks), *cut, *sizes[axes:])


@dataclass(frozen=True, slots=True)
class BatchToSpace(OneInput):
    """The inverse of `SpaceToBatch`, cropped by `crops`.  Gone after `passes.fuse_dilation`."""

    REAL_STAGE_ONLY: ClassVar[bool] = True

    blocks: tuple[int, ...]
    crops: Pairs

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        axes = len(self.blocks)
        need(0 < axes < len(inputs.x) and len(self.crops) == axes, "blocks or crops do not fit")
        n, *sizes = inputs.x
        need(min(self.blocks) > 0 and n % math.prod(self.blocks) == 0, "blocks do not fit")
        grown = tuple(
            size * block - before - after
            for size, block, (before, after) in zip(sizes, self.blocks, self.crops, strict=False)
        )
        need(min(grown) > 0 and min(min(pair) for pair in self.crops) >= 0, "bad crops")
        return (n // math.prod(self.blocks), *grown, *sizes[axes:])
