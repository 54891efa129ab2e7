"""A camera's frame as the codes of an image: crop, resize, and a code for each byte."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.camera import (
    AREA,
    BIG,
    BYTES_OF_PIXEL,
    LITTLE,
    MOST_PIXELS,
    MOST_SIDE,
    NEAREST,
    YUV,
    CameraForm,
)
from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import CODES, Operand, table, value
from edgec.ir.shapes import need

_BYTES = 256


@dataclass(frozen=True, slots=True)
class QFrame(IntegerOperator):
    """x int8 [1, B], the bytes of a frame, in two's complement; codes int8 or int16 const
    [1, 256] or [C, 256]; y in the type of the codes [1, height, width, C].

    The image of `CameraForm.image`, blue first where that is asked for; ``y[..., c] =
    codes[c][pixel]``, or of the only row, where the codes have one.

    Attributes:
        form: the frame.
        height, width: rows and columns of y.
        channels: C, 1 or 3.
        method: `NEAREST` or `AREA`.
        blue_first: channels are blue, green and red, in place of red, green and blue.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        codes: T = field(metadata=table(*CODES))

    form: CameraForm
    height: int
    width: int
    channels: int
    method: str
    blue_first: bool = False

    @property
    def taken(self) -> int:
        """Channels of the frame's pixels that are read: Y alone for gray of Y, U and V."""
        return self.channels if self.form.is_yuv else self.form.channels

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        form, crop = self.form, self.form.crop
        need(form.pixels in BYTES_OF_PIXEL and form.order in (BIG, LITTLE), "unknown pixels")
        need(self.method in (NEAREST, AREA), f"no way to resize is called {self.method}")
        sides = (form.height, form.width, self.height, self.width)
        need(all(1 <= side <= MOST_SIDE for side in sides), "a side of another size")
        need(inputs.x == (1, form.frame_bytes), "x is another frame")
        need(min(crop.height, crop.width) >= 1 and min(crop.top, crop.left) >= 0, "no crop")
        fits = crop.top + crop.height <= form.height and crop.left + crop.width <= form.width
        need(fits, "the crop is no part of the frame")
        need(crop.height * crop.width <= MOST_PIXELS, "the crop has too many pixels")
        need(self.channels in (1, 3), "y has other channels")
        need(form.pixels not in YUV or form.width % 2 == 0, "half a pair of pixels")
        need(not self.blue_first or self.channels == 3, "gray has no first colour")
        need(inputs.codes in ((1, _BYTES), (self.channels, _BYTES)), "codes of other channels")
        return (1, self.height, self.width, self.channels)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        frames = inputs.x.array.view(np.uint8)
        found = self.form.image(frames, self.height, self.width, self.channels, self.method)
        found = found[..., ::-1] if self.blue_first else found
        codes = inputs.codes.array
        rows = np.arange(self.channels) if len(codes) > 1 else np.zeros(self.channels, np.int64)
        return np.asarray(codes[rows, found])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(output.dtype is inputs.codes.dtype, "codes of another type than y")
