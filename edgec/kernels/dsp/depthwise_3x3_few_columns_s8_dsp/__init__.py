"""Depthwise convolutions of 3x3 windows over images of few columns on cores with DSP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise import PLANES, WORD_BYTES, DepthwiseByChannel
from edgec.kernels.dsp.depthwise_family import depthwise_family, is_halved, is_padded_by_one
from edgec.kernels.family import template_beside


@dataclass(frozen=True, slots=True)
class Depthwise3x3FewColumns(DepthwiseByChannel):
    """Depthwise convolution of 3 to 6 columns of outputs:
    `edgec/depthwise/depthwise_3x3_few_columns_s8_dsp.h`.

    Strides are 1 with one pixel of padding around the image, or 2 with one or no column before it
    and as many rows above it.
    """

    family: ClassVar[str] = "depthwise_3x3_few_columns_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_3x3_few_columns_s8_dsp")
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


_CODE_BYTES = 1000


def parts(spec: Depthwise3x3FewColumns, _run: Run) -> Parts:
    """Counts of a call; rows and columns of windows outside the image are left out."""
    w = spec.window
    taken = spec.fours * w.height
    rows = w.channels * w.out_height
    window_rows = w.channels * (w.out_height * w.kernel_h - spec.left - spec.below)
    # Two products an output, but one where a column of its window lies outside.
    outside = 2 if w.stride_h == 1 and not spec.odd else 1
    counts: dict[str, float] = {
        "call": 1,
        "four channels": spec.fours,
        "row taken": taken,
        "pair of pixels taken": taken * spec.words,
        "channel": w.channels,
        "row of outputs": rows,
        "output": rows * spec.outputs,
        "row of windows": window_rows,
        "pair of pixels of a row of windows": window_rows * spec.words,
        "product of a row of windows": window_rows * (2 * spec.outputs - outside),
    }
    return Parts(counts, _CODE_BYTES, spec.stream_reads(1))


_OUTPUTS = range(3, 7)
"""Columns of outputs whose sums, with all that they need, fit the registers."""


def serves(window: Window) -> bool:
    """Whether `Depthwise3x3FewColumns` computes windows of 3x3 taps with this geometry."""
    by_one, halved = is_padded_by_one(window), is_halved(window)
    return window.out_width in _OUTPUTS and (by_one or halved or _is_halved_from_outside(window))


def _is_halved_from_outside(window: Window) -> bool:
    out = (window.out_height, window.out_width)
    halves = out == (-(-window.height // 2), -(-window.width // 2))
    return window.stride_h == 2 and (window.pad_top, window.pad_left) == (1, 1) and halves


FAMILY = depthwise_family(Depthwise3x3FewColumns, serves, parts)
