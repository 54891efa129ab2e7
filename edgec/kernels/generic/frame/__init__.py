"""A camera's frame as codes of an image in plain C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.camera import AREA, BGR888, BIG, BYTES_OF_PIXEL, RGB565, RGB888, UYVY, YUV, YUYV
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.parts import Parts, Run, TableReads
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_CODE_BYTES = 300
"""The function on a core with Thumb-2, by its size in the firmware."""
_TABLE = 256
_SOURCES = {RGB888: "bytes", BGR888: "bytes", YUYV: "YUV", UYVY: "YUV"}
_MOST, _MOST_SUM, _MOST_SHIFT = 255, (1 << 16) - 1, 31
_CHANNELS = ("first", "second", "third")
_MOST_UNROLLED, _MOST_COLUMNS = 16, 4
"""Columns of the frame, and of y, that are computed without a loop."""


@dataclass(frozen=True, slots=True)
class Frame(Plain):
    """x int8 [frame bytes]; codes int8 or int16 [rows, 256]; y of their type [height, width,
    channels]; see `qops.QFrame`.

    Attributes:
        op: the operator, with all other numbers.
        dtype: element type of the codes.
        rows: of the table, one for all channels or one for each.
        unrolled: `AREA` reads the columns of a few pixels of y by code without a loop.
    """

    family: ClassVar[str] = "frame"
    template: ClassVar[Path] = template_beside(__file__, "frame")
    op: qops.QFrame
    dtype: DType
    rows: int
    unrolled: bool = False

    @property
    def code_type(self) -> str:
        """The type of a code in C."""
        return "int8_t" if self.dtype is DType.INT8 else "edgec_s16_t"

    @property
    def pixel_bytes(self) -> int:
        """Bytes of a pixel of the frame."""
        return BYTES_OF_PIXEL[self.op.form.pixels]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the frame."""
        return self.pixel_bytes * self.op.form.width

    @property
    def first(self) -> int:
        """Byte of the frame at which the crop begins."""
        crop = self.op.form.crop
        return crop.top * self.row_bytes + crop.left * self.pixel_bytes

    @property
    def tall(self) -> tuple[int, int]:
        """Rows of the crop for how many rows of y, the least such numbers."""
        return _reduced(self.op.form.crop.height, self.op.height)

    @property
    def wide(self) -> tuple[int, int]:
        """Columns of the crop for how many columns of y, the least such numbers."""
        return _reduced(self.op.form.crop.width, self.op.width)

    @property
    def is_area(self) -> bool:
        """Whether pixels are means."""
        return self.op.method == AREA

    @property
    def count(self) -> int:
        """Parts of pixels of the frame in a pixel of y."""
        return self.tall[0] * self.wide[0]

    @property
    def kind(self) -> str:
        """Of sums: ``gray``, of one channel; ``pixel``, of three below 2^16; ``wide_pixel``."""
        if self.op.taken == 1:
            return "gray"
        return "pixel" if _MOST * self.count <= _MOST_SUM else "wide_pixel"

    @property
    def sum_type(self) -> str:
        """The type of sums of pixels in C."""
        return "uint32_t" if self.kind == "gray" else f"edgec_{self.kind}_t"

    @property
    def zero(self) -> str:
        """The sum of no pixels, as C writes it."""
        zeros = {"gray": "0U", "pixel": "{0U, 0U}", "wide_pixel": "{0U, 0U, 0U}"}
        return zeros[self.kind]

    @property
    def add(self) -> str:
        """The function that adds a pixel some times."""
        return f"edgec_add_{self.kind}"

    @property
    def found_type(self) -> str:
        """The type of a pixel of y in C, before it is a code."""
        return "uint32_t" if self.kind == "gray" else "edgec_wide_pixel_t"

    @property
    def cuts_rows(self) -> bool:
        """Whether a row of the frame may be a part of two rows of y."""
        return self.tall[1] > 1

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of y that are computed together, from 0."""
        return tuple(range(self.wide[1]))

    @property
    def pixel(self) -> str:
        """The pixel of the frame at the pointer p, in the type of sums, as C writes it."""
        return self._pixel(0)

    def _pixel(self, number: int) -> str:
        """The pixel a number of columns to the right of the one at the pointer p."""
        if self.kind == "gray":
            return f"p[{number * self.pixel_bytes + self.first_read}]"
        return self._colours(number, wide=self.kind == "wide_pixel")

    def _colours(self, number: int, *, wide: bool) -> str:
        """A pixel of three channels."""
        form, at = self.op.form, number * self.pixel_bytes
        if form.pixels == RGB565:
            first, second = (at, at + 1) if form.order == BIG else (at + 1, at)
            word = f"(uint32_t)p[{first}] << 8 | p[{second}]"
            return f"edgec_{'wide_' if wide else ''}rgb565({word})"
        if form.pixels in YUV:
            found = f"edgec_{form.pixels}(frame, {f'p + {at}' if at else 'p'})"
        else:
            order = (2, 1, 0) if form.pixels == BGR888 else (0, 1, 2)
            found = f"edgec_pixel({', '.join(f'p[{at + byte}]' for byte in order)})"
        return f"edgec_wide_pixel({found})" if wide else found

    @property
    def shares(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of each column of the frame among those that become some whole ones of y: the columns
        that it is part of, and how many times.
        """
        wide, columns = self.wide

        def part(at: int, to: int) -> int:
            return min((at + 1) * columns, (to + 1) * wide) - max(at * columns, to * wide)

        parts = [[(to, part(at, to)) for to in range(columns)] for at in range(wide)]
        return tuple(tuple(each for each in row if each[1] > 0) for row in parts)

    @property
    def first_read(self) -> int:
        """The first byte of a pixel that is read, where one channel is read."""
        return YUV[self.op.form.pixels][0] if self.op.form.is_yuv else 0

    @property
    def read_columns(self) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
        """The pixel of each column of the frame, as C writes it, with its `shares`."""
        return tuple((self._pixel(at), shares) for at, shares in enumerate(self.shares))

    @property
    def mean(self) -> str:
        """The pixel of y of the sum `sum`, as C writes it."""
        return self._mean("sum")

    @property
    def means(self) -> tuple[str, ...]:
        """The pixels of y of the sums of `columns`, as C writes them."""
        return tuple(self._mean(f"sum{to}") for to in self.columns)

    def _mean(self, name: str) -> str:
        """The pixel of y whose sum has a name, as C writes it."""
        factor, shift = reciprocal(self.count)
        return self._found(f"edgec_mean_{self.kind}({name}, TALL * WIDE, {factor}U, {shift}U)")

    @property
    def nearest(self) -> str:
        """The pixel of y that is the one at the pointer p, as C writes it."""
        return self.pixel if self.kind == "gray" else self._found(self._colours(0, wide=True))

    def _found(self, pixel: str) -> str:
        """A pixel with its colours, where these are red, green and blue."""
        has_colours = self.op.form.is_yuv and self.kind != "gray"
        return f"edgec_rgb_of_yuv({pixel})" if has_colours else pixel

    @property
    def written(self) -> tuple[str, ...]:
        """The codes of a pixel `found`, as C reads them."""
        channels = ["found"] * self.op.channels
        if self.kind != "gray":
            names = ("third", "second", "first") if self.op.blue_first else _CHANNELS
            channels = [f"found.{name}" for name in names]
            if self.op.channels == 1:
                channels = ["edgec_brightness(found)"]
        rows = ("", "256 + ", "512 + ") if self.rows > 1 else ("", "", "")
        return tuple(f"codes[{row}{found}]" for row, found in zip(rows, channels, strict=False))

    def describe(self) -> str:
        """What the function computes, in words."""
        op, form = self.op, self.op.form
        return (
            f"{form.pixels} frame of {form.width} x {form.height}, {form.crop.width} x "
            f"{form.crop.height} of it as {op.width} x {op.height} x {op.channels} ({op.method})"
        )


def reciprocal(count: int) -> tuple[int, int]:
    """A factor and a shift that divide by a number.

    ``n * factor >> shift == n // count`` for all n that are sums of `count` bytes and half of it
    more, with products below 2^32.  With ``factor = (2^shift + e) / count`` the product is
    ``n / count + n e / (count 2^shift)``, which stays below the next whole number as long as
    ``n e < 2^shift``.

    Args:
        count: at least 1.

    Returns:
        The factor and the shift; (0, 0) where there are none.
    """
    most = _MOST * count + count // 2
    for shift in range(_MOST_SHIFT + 1):
        factor = -(-(1 << shift) // count)
        if most * (factor * count - (1 << shift)) < 1 << shift and most * factor < 1 << 32:
            return factor, shift
    return 0, 0


def _reduced(size: int, parts: int) -> tuple[int, int]:
    both = gcd(size, parts)
    return size // both, parts // both


def spec(graph: Graph, node: Node, target: Target) -> Frame:
    """The specification for a QFrame."""
    attrs = node.attrs_as(qops.QFrame)
    codes = graph.constants[attrs.Inputs.of(node.inputs).codes]
    found = Frame(attrs, graph.values[node.output].dtype, codes.shape[0])
    (wide, columns), little = found.wide, target.unrolls_little
    fits = found.is_area and wide <= _MOST_UNROLLED and columns <= _MOST_COLUMNS
    return replace(found, unrolled=fits and not little)


def overlap(spec: Frame) -> Distances:
    """Each pixel of y is written after those that it covers were read, the first one of which is
    its upper left one, with the pixel of its pair; later ones lie below or to the right of it.
    Where some columns are computed at a time, pixels are read earlier.
    """
    op = spec.op
    tall, wide = op.form.crop.height, op.form.crop.width
    if spec.is_area:
        rows, columns = np.arange(op.height) * tall // op.height, np.arange(op.width) * wide
        columns = columns // op.width
    else:
        rows = (2 * np.arange(op.height) + 1) * tall // (2 * op.height)
        columns = (2 * np.arange(op.width) + 1) * wide // (2 * op.width)
    places = columns * spec.pixel_bytes + (spec.first_read if spec.kind == "gray" else 0)
    if op.form.is_yuv and spec.kind != "gray":
        # U of its pair lies before the Y of the second pixel, and of UYVY before that of the first.
        second = (op.form.crop.left + columns) % 2
        places = places - second * (spec.pixel_bytes - YUV[op.form.pixels][1])
    read = spec.first + rows[:, None] * spec.row_bytes + places
    written = np.arange(read.size).reshape(read.shape) * (op.channels * spec.dtype.size_bytes)
    return (max(int((written - read).max()), 0), None)


def _read(size: int, parts: int) -> int:
    """How many pixels of a side lie in its parts, those in two of them counted twice."""
    at = np.arange(parts)
    return int((-(-(at + 1) * size // parts) - at * size // parts).sum())


def parts(spec: Frame, _run: Run) -> Parts:
    """Counts of a call: pixels that are read, by their format and the kind of their sums, parts of
    them that are added, and pixels of y.
    """
    op, crop = spec.op, spec.op.form.crop
    pixels = op.height * op.width
    source = _SOURCES.get(op.form.pixels, op.form.pixels)
    source = "gray" if spec.kind == "gray" else source
    counts: dict[str, int] = {"call": 1, "row": op.height, "code": pixels * op.channels}
    if not spec.is_area:
        counts[f"nearest {source}"] = pixels
        counts["part of a step"] = pixels if spec.wide[1] > 1 else 0
    else:
        rows = _read(crop.height, op.height)
        if spec.unrolled:
            counts[f"column of {source}"] = rows * crop.width
            added = rows * op.width // spec.wide[1] * sum(len(each) for each in spec.shares)
            counts[f"part of {spec.kind}"] = added
        else:
            counts[f"pixel of {source}, {spec.kind}"] = rows * _read(crop.width, op.width)
        counts[f"row of {spec.kind}"] = rows * op.width if spec.tall[1] > 1 else 0
        counts["row of the frame"] = rows * op.width // (spec.wide[1] if spec.unrolled else 1)
        way = "mean" if reciprocal(spec.count)[0] else "division"
        counts[way] = pixels * op.taken
    if spec.kind != "gray":
        counts["colours of YUV"] = pixels if op.form.is_yuv else 0
        counts["brightness"] = pixels if op.channels == 1 else 0
    size = spec.rows * _TABLE * spec.dtype.size_bytes
    table = TableReads(pixels * op.channels, 1, size)
    return Parts({name: float(n) for name, n in counts.items()}, _CODE_BYTES, table=table)


FAMILY = KernelFamily(
    spec_type=Frame,
    operators=(qops.QFrame,),
    spec=spec,
    overlap=overlap,
    constant_stem="pixels",
    parts=parts,
)
