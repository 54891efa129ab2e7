"""Specifications of a transformer's kernels without weights that end in `spec_narrow.Narrow`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.lower.spec_base import Loop, Plain
from edgec.lower.spec_narrow import Narrow, stored_type


@dataclass(frozen=True, slots=True)
class Rescale(Plain):
    """Requantization of single elements.

    Attributes:
        count: elements.
        dtype: of x, INT8 or INT16.
        narrow: how an element is stored.
        variable: the elements of a run are an argument.
        channels: elements that have a shift of their own, again and again; 0: none has.
        before: it is a left shift of x; else it is added to the last shift.
    """

    family: ClassVar[str] = "rescale"
    count: int
    dtype: DType
    narrow: Narrow
    variable: bool = False
    channels: int = 0
    before: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Rescaling of {self.count} elements from {self.dtype.value}"


@dataclass(frozen=True, slots=True)
class NarrowMul(Plain):
    """Product of two int8 tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        narrow: how a product is stored.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "narrow_mul"
    loops: tuple[Loop, ...]
    narrow: Narrow
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {math.prod(loop.size for loop in self.loops)} elements"


@dataclass(frozen=True, slots=True)
class NarrowReduce(Plain):
    """Mean or sum over some axes; y is written in raster order.

    Attributes:
        dtype: of x, INT8 or INT16.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        narrow: how a sum is stored.
        variable: the turns of the outermost loop over y are an argument.
    """

    family: ClassVar[str] = "narrow_reduce"
    dtype: DType
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    narrow: Narrow
    variable: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    def describe(self) -> str:
        """What the function computes, in words."""
        terms = math.prod(loop.size for loop in self.reduced)
        outputs = math.prod(loop.size for loop in self.kept)
        return f"Sum of {terms} elements of {self.dtype.value}, {outputs} times"


@dataclass(frozen=True, slots=True)
class MatMul:
    """Products of pairs of int8 matrices; y is written in raster order.

    Attributes:
        outer: loops over the pairs, with strides of a and b.
        rows, depth, columns: of one pair.
        a_strides: elements of a between rows and along the depth.
        b_strides: elements of b along the depth and between columns.
        narrow: how a sum is stored.
    """

    family: ClassVar[str] = "matmul"
    outer: tuple[Loop, ...]
    rows: int
    depth: int
    columns: int
    a_strides: tuple[int, int]
    b_strides: tuple[int, int]
    narrow: Narrow

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        pairs = math.prod(loop.size for loop in self.outer)
        return pairs * self.rows * self.depth * self.columns

    def describe(self) -> str:
        """What the function computes, in words."""
        pairs = math.prod(loop.size for loop in self.outer)
        return f"{pairs} matrix products [{self.rows}, {self.depth}] by {self.columns} columns"


@dataclass(frozen=True, slots=True)
class StreamAdd(Plain):
    """Sum of two tensors of a stream with broadcasting, saturated; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        variable: the turns of the outermost loop are an argument.
        dtype: of a, b and y, INT16 or INT8.
    """

    family: ClassVar[str] = "stream_add"
    loops: tuple[Loop, ...]
    variable: bool = False
    dtype: DType = DType.INT16

    @property
    def c_type(self) -> str:
        """C type of an element."""
        return stored_type(self.dtype)

    @property
    def is_wide(self) -> bool:
        """Elements are int16."""
        return self.dtype is DType.INT16

    def describe(self) -> str:
        """What the function computes, in words."""
        count = math.prod(loop.size for loop in self.loops)
        return f"Sum of two {self.dtype.value} tensors, {count} elements"
