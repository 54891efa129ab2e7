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


@dataclass(frozen=True, slots=True)
class Depthwise3x3ManyColumns(DepthwiseByChannel):
    """Depthwise convolution of columns of outputs that are bands:
    `edgec/depthwise/depthwise_3x3_many_columns_s8_dsp.h`.

    Strides are 1 with one pixel of padding around the image, or 2 with one column after it and one
    row below it.
    """

    family: ClassVar[str] = "depthwise_3x3_many_columns_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_3x3_many_columns_s8_dsp")
    manner: ClassVar[str] = ", six sums at a time"

    @property
    def rows(self) -> int:
        """Rows of the planes: the same for all layers of a stride, to share a function."""
        return LARGEST_WHOLE + 2 if self.is_whole else 2 * _STRIP + 1

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        rows = self.window.out_height
        return rows if self.is_whole else min(_STRIP, rows)

    @property
    def rows_name(self) -> str:
        """The end of the name of the function of all layers that have this form, in C."""
        return f"{self.form_name}_{self.high_shift}"

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return (self.window.width // 2 + 1) * (PLANES * self.rows + 1) * WORD_BYTES


_CODE_BYTES = 1700


def parts(spec: Depthwise3x3ManyColumns, _run: Run) -> Parts:
    """Counts of a call; rows and columns of the planes outside the image are cleared before."""
    w = spec.window
    tops = range(0, w.out_height, spec.strip)
    firsts = [top * w.stride_h - spec.left for top in tops]
    read = [(min(spec.strip, w.out_height - top) - 1) * w.stride_h + w.kernel_h for top in tops]
    inside = [
        min(first + rows, w.height) - max(first, 0)
        for first, rows in zip(firsts, read, strict=True)
    ]
    taken = spec.fours * sum(inside)
    columns = w.width // 2 + 1
    kind = f"by {w.stride_h}"
    counts: dict[str, float] = {
        "call": 1,
        "strip": len(tops),
        "four channels": len(tops) * spec.fours,
        f"row taken, {kind}": taken,
        f"pair of pixels taken, {kind}": taken * (w.width // 2 + spec.left),
        "channel of a strip": len(tops) * w.channels,
        "row of outputs": w.channels * w.out_height,
        f"band, {kind}": w.channels * w.out_height * (w.out_width // BAND),
        "word cleared": PLANES * (2 * columns if spec.left else spec.rows + columns),
    }
    return Parts(counts, _CODE_BYTES, spec.stream_reads(len(tops)))


_LEAST_BANDS = 2


def serves(window: Window) -> bool:
    """Whether `Depthwise3x3ManyColumns` computes windows of 3x3 taps with this geometry."""
    bands, rest = divmod(window.out_width, BAND)
    if rest or bands < _LEAST_BANDS:
        return False
    whole = is_padded_by_one(window) and window.height <= LARGEST_WHOLE
    return whole or is_halved(window)


FAMILY = depthwise_family(Depthwise3x3ManyColumns, serves, parts)
