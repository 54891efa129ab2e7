"""A camera's frame as codes of an image in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.camera import AREA, BIG, BYTES_OF_PIXEL, GRAY, RGB565
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Frame(Plain):
    """x int8 [frame bytes]; codes int8 or int16 [rows, 256]; y of their type [height, width,
    channels]; see `qops.QFrame`.

    Attributes:
        op: the operator, with all other numbers.
        dtype: element type of the codes.
        rows: of the table, one for all channels or one for each.
    """

    family: ClassVar[str] = "frame"
    template: ClassVar[Path] = template_beside(__file__, "frame")
    op: qops.QFrame
    dtype: DType
    rows: int

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
    def is_gray(self) -> bool:
        """Whether the frame has one channel."""
        return self.op.form.pixels == GRAY

    @property
    def pixel(self) -> str:
        """The pixel of the frame at the pointer p, as C writes it."""
        if self.op.form.pixels != RGB565:
            return "(edgec_pixel_t){p[0], p[1], p[2]}"
        first, second = ("p[0]", "p[1]") if self.op.form.order == BIG else ("p[1]", "p[0]")
        return f"edgec_rgb565(((uint32_t){first} << 8) | {second})"

    @property
    def written(self) -> tuple[str, ...]:
        """The codes of a pixel `found`, as C reads them."""
        if self.is_gray:
            return ("codes[found]",)
        if self.op.is_gray:
            return ("codes[edgec_brightness(found)]",)
        rows = ("", "256 + ", "512 + ") if self.rows > 1 else ("", "", "")
        colours = zip(rows, ("red", "green", "blue"), strict=True)
        return tuple(f"codes[{row}found.{colour}]" for row, colour in colours)

    def describe(self) -> str:
        """What the function computes, in words."""
        op, form = self.op, self.op.form
        return (
            f"{form.pixels} frame of {form.width} x {form.height}, {form.crop.width} x "
            f"{form.crop.height} of it as {op.width} x {op.height} x {op.channels} ({op.method})"
        )


def _reduced(size: int, parts: int) -> tuple[int, int]:
    both = gcd(size, parts)
    return size // both, parts // both


def spec(graph: Graph, node: Node, _target: Target) -> Frame:
    """The specification for a QFrame."""
    attrs = node.attrs_as(qops.QFrame)
    codes = graph.constants[attrs.Inputs.of(node.inputs).codes]
    return Frame(attrs, graph.values[node.output].dtype, codes.shape[0])


def overlap(spec: Frame) -> Distances:
    """Each pixel of y is written after those that it covers were read, the first one of which is
    its upper left one; later ones lie below or to the right of it.
    """
    op = spec.op
    tall, wide = op.form.crop.height, op.form.crop.width
    if spec.is_area:
        rows, columns = np.arange(op.height) * tall // op.height, np.arange(op.width) * wide
        columns = columns // op.width
    else:
        rows = (2 * np.arange(op.height) + 1) * tall // (2 * op.height)
        columns = (2 * np.arange(op.width) + 1) * wide // (2 * op.width)
    read = spec.first + rows[:, None] * spec.row_bytes + columns * spec.pixel_bytes
    written = np.arange(read.size).reshape(read.shape) * (op.channels * spec.dtype.size_bytes)
    return (max(int((written - read).max()), 0), None)


FAMILY = KernelFamily(
    spec_type=Frame,
    operators=(qops.QFrame,),
    spec=spec,
    overlap=overlap,
    constant_stem="pixels",
)
