"""Specifications of kernels that move data: copies, padding and resizing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.ops import PadMode
from edgec.lower.spec_base import Loop, Plain, describe_image


@dataclass(frozen=True, slots=True)
class StridedCopy(Plain):
    """Transpose or slice: y is written in raster order, in runs of `run_bytes`.

    Attributes:
        start_bytes: of the first run in x.
        loops: strides of x, in bytes.
        run_bytes: contiguous bytes copied at once.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "strided_copy"
    start_bytes: int
    loops: tuple[Loop, ...]
    run_bytes: int
    variable: bool = False

    @property
    def out_bytes(self) -> int:
        """Bytes of y."""
        return self.run_bytes * math.prod(loop.size for loop in self.loops)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Strided copy of {self.out_bytes} bytes in runs of {self.run_bytes}"


@dataclass(frozen=True, slots=True)
class ConcatPart:
    """One input of a concatenation.

    Attributes:
        run_bytes: bytes of a run; those of the longest run of the model where it varies.
        varies: the bytes of a run are an argument.
    """

    run_bytes: int
    varies: bool


@dataclass(frozen=True, slots=True)
class Concat(Plain):
    """y[i] = parts[0][i], parts[1][i], ... for i in [0, outer).

    Attributes:
        outer: times that one run of each part is copied.
        run_bytes: bytes of a run, by part.
        variable: `outer` of a run of the model is an argument, or with
        variable_part: the run of this part.
    """

    family: ClassVar[str] = "concat"
    outer: int
    run_bytes: tuple[int, ...]
    variable: bool = False
    variable_part: int | None = None

    @property
    def repeats_vary(self) -> bool:
        """`outer` of a run of the model is an argument."""
        return self.variable and self.variable_part is None

    @property
    def parts(self) -> tuple[ConcatPart, ...]:
        """The inputs, in order."""
        return tuple(
            ConcatPart(run, part == self.variable_part) for part, run in enumerate(self.run_bytes)
        )

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Concatenation of {len(self.run_bytes)} tensors, {self.outer} times"


@dataclass(frozen=True, slots=True)
class PadAxis:
    """One padded axis: `before` new entries, then the `size` of x; `out_size` in all."""

    size: int
    before: int
    out_size: int


@dataclass(frozen=True, slots=True)
class NumberedAxis(PadAxis):
    """A `PadAxis` and its number among all axes."""

    number: int


@dataclass(frozen=True, slots=True)
class Pad(Plain):
    """Padding of the leading axes; what lies behind the last padded axis is copied in runs.

    Attributes:
        mode: what the new entries hold.
        axes: all axes up to the last padded one.
        run_bytes: contiguous bytes behind them.
        value: int8 code of the new entries, in CONSTANT mode.
    """

    family: ClassVar[str] = "pad"
    mode: PadMode
    axes: tuple[PadAxis, ...]
    run_bytes: int
    value: int

    @property
    def is_constant(self) -> bool:
        """New entries hold one value."""
        return self.mode is PadMode.CONSTANT

    @property
    def is_reflect(self) -> bool:
        """New entries mirror x at its border, which is not repeated."""
        return self.mode is PadMode.REFLECT

    @property
    def last_axis(self) -> int:
        """Number of the last axis."""
        return len(self.axes) - 1

    @property
    def numbered_axes(self) -> tuple[NumberedAxis, ...]:
        """The axes with their numbers, in order."""
        return tuple(
            NumberedAxis(axis.size, axis.before, axis.out_size, number)
            for number, axis in enumerate(self.axes)
        )

    def describe(self) -> str:
        """What the function computes, in words."""
        shape = [axis.out_size for axis in self.axes]
        return f"Padding ({self.mode.value}) to {shape} runs of {self.run_bytes} bytes"


@dataclass(frozen=True, slots=True)
class _Resize(Plain):
    """Base of resizes: x int8 [height, width, channels], tables of source rows and columns."""

    method: ClassVar[str]
    width: int
    channels: int
    out_height: int
    out_width: int

    def describe(self) -> str:
        """What the function computes, in words."""
        shape = describe_image(self.out_height, self.out_width, self.channels)
        return f"{self.method} resize to {shape}"


@dataclass(frozen=True, slots=True)
class ResizeNearest(_Resize):
    """Tables: rows int32 [out_height], cols int32 [out_width]."""

    family: ClassVar[str] = "resize_nearest"
    method: ClassVar[str] = "Nearest"


@dataclass(frozen=True, slots=True)
class ResizeLinear(_Resize):
    """Tables: rows int32 [out_height, 3], cols int32 [out_width, 3]."""

    family: ClassVar[str] = "resize_linear"
    method: ClassVar[str] = "Linear"
