"""Specifications of kernels that compute without weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.ops import ReduceKind
from edgec.lower.spec_base import Loop, Plain, describe_image, describe_window
from edgec.lower.window import Window


@dataclass(frozen=True, slots=True)
class _Elementwise(Plain):
    """Base of functions of two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        shift: of the rounding at the end.
    """

    loops: tuple[Loop, ...]
    shift: int

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return math.prod(loop.size for loop in self.loops)


@dataclass(frozen=True, slots=True)
class Add(_Elementwise):
    """Sum or difference of two tensors.

    Attributes:
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "add"
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Sum of two tensors, {self.out_elements} elements"


@dataclass(frozen=True, slots=True)
class Mul(_Elementwise):
    """Product of two tensors."""

    family: ClassVar[str] = "mul"

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {self.out_elements} elements"


@dataclass(frozen=True, slots=True)
class Lut(Plain):
    """A function of one element, by table: x, y int8 [count], table int8 [256].

    Attributes:
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "lut"
    count: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Table look-up, {self.count} elements"


@dataclass(frozen=True, slots=True)
class PRelu(Plain):
    """x, y int8 [pixels, channels], slope multipliers int32 [channels]."""

    family: ClassVar[str] = "prelu"
    pixels: int
    channels: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"PRelu [{self.pixels}, {self.channels}]"


@dataclass(frozen=True, slots=True)
class Softmax(Plain):
    """x, y int8 [rows, depth], over depth; table of exponentials int32 [256]."""

    family: ClassVar[str] = "softmax"
    rows: int
    depth: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax over the last axis of [{self.rows}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class MaxPool(Plain):
    """x int8 [height, width, channels], y int8 [out_height, out_width, channels]."""

    family: ClassVar[str] = "max_pool"
    window: Window

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Maximum pool {describe_image(w.height, w.width, w.channels)}, {describe_window(w)}"


@dataclass(frozen=True, slots=True)
class AveragePool(Plain):
    """As `MaxPool`; multipliers int32 [kernel_h * kernel_w + 1], by the number of taps counted.

    Attributes:
        window: geometry.
        counts_padding: every output divides by the same number.
        shift: of the requantization.
    """

    family: ClassVar[str] = "average_pool"
    window: Window
    counts_padding: bool
    shift: int

    @property
    def counts_all(self) -> bool:
        """The divisor is the same everywhere."""
        return self.counts_padding or not (self.window.rows_clipped or self.window.cols_clipped)

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Average pool {describe_image(w.height, w.width, w.channels)}, {describe_window(w)}"


@dataclass(frozen=True, slots=True)
class Reduce(Plain):
    """Mean, sum or maximum over some axes; y is written in raster order.

    Attributes:
        kind: operator.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        shift: of the requantization; 1 and unused for MAX.
    """

    family: ClassVar[str] = "reduce"
    kind: ReduceKind
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    shift: int

    @property
    def is_max(self) -> bool:
        """The maximum, not a sum."""
        return self.kind is ReduceKind.MAX

    @property
    def terms(self) -> int:
        """Elements of x for one of y."""
        return math.prod(loop.size for loop in self.reduced)

    def describe(self) -> str:
        """What the function computes, in words."""
        outputs = math.prod(loop.size for loop in self.kept)
        return f"{self.kind.value} of {self.terms} elements, {outputs} times"


@dataclass(frozen=True, slots=True)
class ArgMax(Plain):
    """x int8 [outer, depth, inner], y int32 [outer, inner].

    Attributes:
        last: of several largest the last, else the first.
        variable: `outer` of a run is an argument.
    """

    family: ClassVar[str] = "arg_max"
    outer: int
    depth: int
    inner: int
    last: bool
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "last" if self.last else "first"
        return f"Index of the {which} maximum over {self.depth}, {self.outer * self.inner} times"
