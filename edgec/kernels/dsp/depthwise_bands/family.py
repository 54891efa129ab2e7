"""Depthwise convolutions of 3x3 windows over images of many columns on cores with DSP."""

from __future__ import annotations

from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise_bands.parts import parts
from edgec.kernels.dsp.depthwise_bands.spec import BAND, LARGEST_WHOLE, DepthwiseBands
from edgec.kernels.dsp.streamed_family import is_halved, is_padded_by_one, streamed_family

_LEAST_BANDS = 2


def serves(window: Window) -> bool:
    """Whether `DepthwiseBands` computes windows of 3x3 taps with this geometry."""
    bands, rest = divmod(window.out_width, BAND)
    if rest or bands < _LEAST_BANDS:
        return False
    whole = is_padded_by_one(window) and window.height <= LARGEST_WHOLE
    return whole or is_halved(window)


FAMILY = streamed_family(DepthwiseBands, serves, parts)
