"""Specification of the depthwise convolution in bands of six columns of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.dsp.planes import PLANES
from edgec.kernels.dsp.streamed import WORD_BYTES, StreamedDepthwise
from edgec.kernels.family import template_beside

BAND = 6
"""Columns of outputs whose sums are in registers together."""
LARGEST_WHOLE = 24
"""Most rows of an image of which planes hold all, so that outputs can take its place."""
_STRIP = 4
"""Rows of outputs made from one set of planes, where these do not hold the whole image."""


@dataclass(frozen=True, slots=True)
class DepthwiseBands(StreamedDepthwise):
    """Depthwise convolution of columns of outputs that are bands: `edgec/bands.h`.

    Strides are 1 with one pixel of padding around the image, or 2 with one column after it and one
    row below it.
    """

    family: ClassVar[str] = "depthwise_bands"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_bands")
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
