"""Depthwise convolutions of 3x3 windows over images of few columns on cores with DSP."""

from __future__ import annotations

from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise_narrow.parts import parts
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow
from edgec.kernels.dsp.streamed_family import is_halved, is_padded_by_one, streamed_family

_OUTPUTS = range(3, 7)
"""Columns of outputs whose sums, with all that they need, fit the registers."""


def serves(window: Window) -> bool:
    """Whether `DepthwiseNarrow` computes windows of 3x3 taps with this geometry."""
    by_one, halved = is_padded_by_one(window), is_halved(window)
    return window.out_width in _OUTPUTS and (by_one or halved or _is_halved_from_outside(window))


def _is_halved_from_outside(window: Window) -> bool:
    out = (window.out_height, window.out_width)
    halves = out == (-(-window.height // 2), -(-window.width // 2))
    return window.stride_h == 2 and (window.pad_top, window.pad_left) == (1, 1) and halves


FAMILY = streamed_family(DepthwiseNarrow, serves, parts)
