"""Scales of frequencies in mel, with the same bits on every computer.

Sources: HTK (2595 log10(1 + f / 700)); Slaney's Auditory Toolbox: linear to 1000 Hz, 15 mel, then
27 steps from 1000 to 6400 Hz.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_functions import LN_10, exp, log

HTK, SLANEY = "htk", "slaney"
_LN_6_4 = 1.8562979903656263


def mel_of(hz: Array, scale: str = HTK) -> Array:
    """Frequencies in mel, float64, any shape.

    Args:
        hz: float64, at least 0.
        scale: `HTK` or `SLANEY`.
    """
    if scale == HTK:
        return np.asarray(2595.0 / LN_10 * log(1.0 + hz / 700.0))
    above = 15.0 + log(np.maximum(hz, 1000.0) / 1000.0) * (27.0 / _LN_6_4)
    return np.where(hz < 1000.0, hz * 3.0 / 200.0, above)


def hertz_of(mel: Array, scale: str = HTK) -> Array:
    """The inverse of `mel_of`."""
    if scale == HTK:
        return np.asarray(700.0 * (exp(mel * (LN_10 / 2595.0)) - 1.0))
    above = 1000.0 * exp((np.maximum(mel, 15.0) - 15.0) * (_LN_6_4 / 27.0))
    return np.where(mel < 15.0, mel * 200.0 / 3.0, above)
