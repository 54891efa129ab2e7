"""Depthwise convolutions of 3x3 windows over images of many columns on cores with DSP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise import PLANES, WORD_BYTES, DepthwiseByChannel
from edgec.kernels.dsp.depthwise_family import depthwise_family, is_halved, is_padded_by_one
from edgec.kernels.family import template_beside

BAND = 6
"""Columns of outputs whose sums are in registers together."""
LARGEST_WHOLE = 24
"""Most rows of an image of which planes hold all, so that outputs can take its place."""
_STRIP = 4
"""Rows of outputs made from one set of planes, where these do not hold the whole image."""
_MOST_INSIDE = 4
"""Most rows of outputs where all rows of windows are in the image, of which planes hold all."""


@dataclass(frozen=True, slots=True)
class Depthwise3x3ManyColumns(DepthwiseByChannel):
    """Depthwise convolution of columns of outputs that are bands:
    `edgec/depthwise/depthwise_3x3_many_columns_s8_dsp.h`.

    Strides are 1 with one pixel of padding around the image, or 2 with one column after it and one
    row below it.  Or the image has all rows of the windows, as parts of images that run in turns
    do, and one column of padding on both sides or, at stride 2, on one of them.
    """

    family: ClassVar[str] = "depthwise_3x3_many_columns_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_3x3_many_columns_s8_dsp")
    manner: ClassVar[str] = ", six sums at a time"

    @property
    def is_inside(self) -> bool:
        """The image has all rows of the windows."""
        return not self.window.rows_clipped

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.window.stride_h == 1 and not self.is_inside

    @property
    def rows(self) -> int:
        """Rows of the planes; but for parts of images, all layers of a stride share a function."""
        if self.is_inside:
            return self.window.height
        return LARGEST_WHOLE + 2 if self.is_whole else 2 * _STRIP + 1

    @property
    def rest(self) -> int:
        """Columns of outputs after the last whole band."""
        return self.window.out_width % BAND

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        rows = self.window.out_height
        return rows if self.is_whole or self.is_inside else min(_STRIP, rows)

    @property
    def rows_name(self) -> str:
        """The end of the name of the function of all layers that have this form, in C."""
        inside = f"_{self.rows}_{self.rest}" if self.is_inside else ""
        return f"{self.form_name}_{self.high_shift}{inside}"

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return (self.window.width // 2 + 1) * (PLANES * self.rows + 1) * WORD_BYTES


_CODE_BYTES = 1700


def parts(spec: Depthwise3x3ManyColumns, _run: Run) -> Parts:
    """Counts of a call; rows and columns of the planes outside the image are cleared before."""
    w = spec.window
    tops = range(0, w.out_height, spec.strip)
    firsts = [top * w.stride_h - w.pad_top for top in tops]
    read = [(min(spec.strip, w.out_height - top) - 1) * w.stride_h + w.kernel_h for top in tops]
    inside = [
        min(first + rows, w.height) - max(first, 0)
        for first, rows in zip(firsts, read, strict=True)
    ]
    taken = spec.fours * sum(inside)
    columns = w.width // 2 + 1
    kind = f"by {w.stride_h}"
    bands = w.channels * w.out_height * -(-w.out_width // BAND)
    cleared = (spec.rows if not spec.left else 0) + (2 * columns if w.pad_top else 0)
    cleared += columns if w.rows_clipped and not w.pad_top else 0
    counts: dict[str, float] = {
        "call": 1,
        "strip": len(tops),
        "four channels": len(tops) * spec.fours,
        f"row taken, {kind}": taken,
        f"pair of pixels taken, {kind}": taken * (w.width // 2 + spec.left),
        "channel of a strip": len(tops) * w.channels,
        "row of outputs": w.channels * w.out_height,
        f"band, {kind}": bands,
        "word cleared": PLANES * cleared,
    }
    return Parts(counts, _CODE_BYTES, spec.stream_reads(len(tops)))


_LEAST_BANDS = 2


def serves(window: Window) -> bool:
    """Whether `Depthwise3x3ManyColumns` computes windows of 3x3 taps with this geometry."""
    bands, rest = divmod(window.out_width, BAND)
    if is_inside(window):
        return not rest % 2 and bands > 0 and window.width >= _LEAST_COLUMNS
    if rest or bands < _LEAST_BANDS:
        return False
    whole = is_padded_by_one(window) and window.height <= LARGEST_WHOLE
    return whole or is_halved(window)


_LEAST_COLUMNS = 8
"""The function takes at least two pairs of pixels that are both inside apart."""


def is_inside(window: Window) -> bool:
    """All rows of few windows are in the image, and no others; columns are padded."""
    read = (window.out_height - 1) * window.stride_h + window.kernel_h
    few = not window.rows_clipped and window.height == read and window.out_height <= _MOST_INSIDE
    if window.stride_h == 1:
        return few and window.pad_left == 1 and window.width == window.out_width
    return few and window.pad_left in {0, 1} and window.width == 2 * window.out_width


FAMILY = depthwise_family(Depthwise3x3ManyColumns, serves, parts)
