"""Operators that move elements without computing."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.layout import Freedom, Perm, picked
from edgec.ir.length import shortened
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.real import NO_LABEL, RealOperator, check_int8_constants
from edgec.ir.shapes import broadcast, concat_shape, need, padded_shape


@dataclass(frozen=True, slots=True)
class Reshape(OneInput):
    """Same elements in row-major order, new shape."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    shape: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(math.prod(self.shape) == math.prod(inputs.x), "the number of elements changes")
        return tuple(self.shape)

    def shortened(self, axis: int, less: int) -> Reshape:
        return Reshape(shortened(self.shape, axis, less))

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        return self.evaluate(inputs)

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        return inputs.x.reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Slice(OneInput):
    """One (start, step, size) per axis of x: y[i] = x[start + i * step], all resolved."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Slice:
        return Slice(*(picked(each, frame) for each in (self.starts, self.steps, self.sizes)))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        ranges = (self.starts, self.steps, self.sizes)
        need(all(len(r) == len(inputs.x) for r in ranges), "one range per axis is needed")
        for size, start, step, count in zip(inputs.x, *ranges, strict=True):
            last = start + (count - 1) * step
            need(count > 0 and 0 <= start < size and 0 <= last < size, "range outside the tensor")
        return tuple(self.sizes)

    def shortened(self, axis: int, less: int) -> Slice:
        return replace(self, sizes=shortened(self.sizes, axis, less))

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        return self.evaluate(inputs)

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        ranges = zip(self.starts, self.steps, self.sizes, strict=True)
        # An open mesh of indices is right for negative steps, too.
        return inputs.x[np.ix_(*(start + step * np.arange(size) for start, step, size in ranges))]


@dataclass(frozen=True, slots=True)
class Concat(RealOperator):
    """Along `axis`."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Tensors to join, in order; any may be a constant."""

        parts: tuple[T, ...] = ()

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    axis: int

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Concat:
        return replace(self, axis=frame.index(self.axis))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return concat_shape(inputs.parts, self.axis)

    def verify_annotated(self, inputs: Inputs[Tensor], output: Value) -> None:
        check_int8_constants(inputs)

    def labelled(self, inputs: Inputs[Array]) -> Array:
        return self.evaluate(inputs)

    def evaluate(self, inputs: Inputs[Array]) -> Array:
        return np.concatenate(inputs.parts, axis=self.axis)


@dataclass(frozen=True, slots=True)
class Expand(OneInput):
    """x repeated along axes of length 1, numpy broadcasting to `shape`."""

    KEEPS_INTEGERS: ClassVar[bool] = True

    shape: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        fits = broadcast(inputs.x, self.shape) == self.shape
        need(fits, "x does not broadcast to the shape")
        return self.shape

    def shortened(self, axis: int, less: int) -> Expand:
        return Expand(shortened(self.shape, axis, less))

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        return np.broadcast_to(inputs.x, self.shape)


class PadMode(enum.Enum):
    """ONNX Pad modes."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    EDGE = "edge"


@dataclass(frozen=True, slots=True)
class Pad(OneInput):
    """(before, after) per axis, non-negative."""

    MOVES_CODES: ClassVar[bool] = True

    pads: tuple[tuple[int, int], ...]
    mode: PadMode = PadMode.CONSTANT
    value: float = 0.0

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def in_frame(self, frame: Perm) -> Pad:
        return replace(self, pads=picked(self.pads, frame))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        if self.mode is PadMode.REFLECT:
            fits = all(max(pair) < size for size, pair in zip(inputs.x, self.pads, strict=False))
            need(fits, "reflection wider than the tensor")
        return padded_shape(inputs.x, self.pads)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        if self.mode is not PadMode.CONSTANT:
            return np.pad(inputs.x, self.pads, mode=self.mode.value)
        return np.pad(inputs.x, self.pads, constant_values=NO_LABEL)

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array | None:
        if self.mode is not PadMode.CONSTANT:
            return None
        return np.pad(inputs.x, self.pads, constant_values=self.value)


@dataclass(frozen=True, slots=True)
class Transpose(OneInput):
    """y = x.transpose(perm)."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    perm: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(sorted(self.perm) == list(range(len(inputs.x))), "perm is not a permutation")
        return picked(inputs.x, self.perm)

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array:
        return self.evaluate(inputs)

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        return np.transpose(inputs.x, self.perm)


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
