"""Specification of the depthwise convolution over images of few columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.dsp.planes import PLANES
from edgec.kernels.dsp.streamed import WORD_BYTES, StreamedDepthwise
from edgec.kernels.family import template_beside


@dataclass(frozen=True, slots=True)
class DepthwiseNarrow(StreamedDepthwise):
    """Depthwise convolution of 3 to 6 columns of outputs: `edgec/narrow.h`.

    Strides are 1 with one pixel of padding around the image, or 2 with one or no column before it
    and as many rows above it.
    """

    family: ClassVar[str] = "depthwise_narrow"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_narrow")
    manner: ClassVar[str] = ", a row of sums at a time"

    @property
    def outputs(self) -> int:
        """Columns of outputs."""
        return self.window.out_width

    @property
    def words(self) -> int:
        """Pairs of pixels of a row."""
        return -(-self.window.width // 2)

    @property
    def odd(self) -> int:
        """1: the last of these pairs has one pixel."""
        return self.window.width % 2

    @property
    def below(self) -> int:
        """1: the last windows end one row below the image."""
        w = self.window
        last = (w.out_height - 1) * w.stride_h - w.pad_top + w.kernel_h - 1
        return int(last >= w.height)

    @property
    def length(self) -> int:
        """Bytes in the planes from where the first windows begin to the last ones."""
        return (self.window.out_height - 1) * self.window.stride_h * self._row_bytes

    @property
    def take_name(self) -> str:
        """The end of the name of the function that takes images of this width apart, in C."""
        return str(self.window.width)

    @property
    def rows_name(self) -> str:
        """The end of the name of the function of all layers that have this form, in C."""
        return f"{self.form_name}_{self.left}_{self.outputs}_{self.below}_{self.high_shift}"

    @property
    def strip(self) -> int:
        """All rows of outputs."""
        return self.window.out_height

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return self.window.height * self._row_bytes

    @property
    def _row_bytes(self) -> int:
        return PLANES * self.words * WORD_BYTES
