"""Operators that take several elements to one, or compare those of a row."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput, OnImages
from edgec.ir.real import alike_along
from edgec.ir.shapes import Pads2D, Pair, need, pool_shape, reduced_shape


class ReduceKind(enum.Enum):
    """Function that `Reduce` computes, by ONNX name."""

    MEAN = "ReduceMean"
    SUM = "ReduceSum"
    MAX = "ReduceMax"
    MIN = "ReduceMin"
    L1 = "ReduceL1"
    L2 = "ReduceL2"
    SUM_SQUARE = "ReduceSumSquare"

    @property
    def selects(self) -> bool:
        """Whether the result is one of the elements, so that codes stay what they are."""
        return self in (ReduceKind.MAX, ReduceKind.MIN)


@dataclass(frozen=True, slots=True)
class Reduce(OneInput):
    """Over `axes` (ascending, non-empty); keepdims keeps them with length 1."""

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool = True

    @property
    def title(self) -> str:
        return self.kind.value

    @property
    def ends_in_clamp(self) -> bool:
        return not self.kind.selects

    @property
    def moves_codes(self) -> bool:
        return self.kind.selects

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY if self.keepdims else Freedom.FIXED

    def in_frame(self, frame: Perm) -> Reduce:
        return replace(self, axes=tuple(sorted(frame.index(axis) for axis in self.axes)))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array | None:
        found = alike_along(inputs.x, self.axes)
        return found if found is None or self.keepdims else found.squeeze(self.axes)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        # The mean has a form that gets along with any length (`passes.pooling`).
        return axis in self.axes and self.kind is not ReduceKind.MEAN


@dataclass(frozen=True, slots=True)
class AveragePool(OnImages):
    """x [N, H, W, C]; the divisor is KH*KW if count_include_pad, else the taps inside the image."""

    ENDS_IN_CLAMP: ClassVar[bool] = True

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    count_include_pad: bool = False

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class MaxPool(OnImages):
    """x [N, H, W, C]; padding never wins."""

    MOVES_CODES: ClassVar[bool] = True

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class ArgMax(OneInput):
    """Index of the largest element along `axis`; y int64 in ONNX, int32 here.

    Ties: the first, or the last if select_last_index.  With `smallest`, that of the smallest
    element (ONNX's ArgMin).
    """

    axis: int
    keepdims: bool = True
    select_last_index: bool = False
    smallest: bool = False

    @property
    def gives_integers(self) -> bool:
        return True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY if self.keepdims else Freedom.FIXED

    def in_frame(self, frame: Perm) -> ArgMax:
        return replace(self, axis=frame.index(self.axis))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return reduced_shape(inputs.x, (self.axis,), self.keepdims)


@dataclass(frozen=True, slots=True)
class TopK(OneInput):
    """The `k` largest (or smallest) elements along the last axis, the most extreme first.

    With `indices` where they are instead, int32.  Of equal elements the first comes first.
    """

    k: int
    largest: bool = True
    indices: bool = False

    @property
    def gives_integers(self) -> bool:
        return self.indices

    @property
    def moves_codes(self) -> bool:
        return not self.indices

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(bool(inputs.x) and 0 < self.k <= inputs.x[-1], "k does not fit the last axis")
        return (*inputs.x[:-1], self.k)

    def labelled(self, inputs: OneInput.Inputs[Array]) -> Array | None:
        found = alike_along(inputs.x, (inputs.x.ndim - 1,))
        return None if found is None else np.repeat(found, self.k, axis=-1)


@dataclass(frozen=True, slots=True)
class Softmax(OneInput):
    """``exp(beta * x) / sum(exp(beta * x))`` over the last axis.

    Attributes:
        beta: one over the temperature, > 0.  It is 1 wherever values have no scales yet: there a
            product before the operator says the same, and every rewrite understands it.
    """

    beta: float = 1.0

    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST


@dataclass(frozen=True, slots=True)
class LogSoftmax(OneInput):
    """``x - log(sum(exp(x)))`` over the last axis."""

    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST
