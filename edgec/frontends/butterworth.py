"""Cascades of biquads for Butterworth low and high passes, as integers.

Source: the bilinear transform of Butterworth's prototype, its cutoff warped before; sections in the
form of R. Bristow-Johnson's "Cookbook formulae for audio equalizer biquad filter coefficients".
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options.front_end import OPTION
from edgec.base.portable_functions import cos, sin
from edgec.ir.qops.biquad import COEFFICIENT_BITS, is_stable

_MOST_ERROR = 2.0**-10
"""Largest relative error of the square of a cutoff, by the rounding of coefficients."""
_MOST_GAIN_ERROR = 2.0**-9
"""Largest relative error of the gain of a low pass where it lets all through."""


def sections(cutoff: float, order: int, *, high: bool) -> Array:
    """The sections of a filter, float64 [S, 5]: b0, b1, b2, a1, a2; the least resonant first.

    Args:
        cutoff: as a part of the rate of the samples, 0 to 0.5, both excluded.
        order: at least 1.
        high: a high pass, not a low pass.
    """
    k = float(sin(np.array([math.pi * cutoff]))[0] / cos(np.array([math.pi * cutoff]))[0])
    found = []
    if order % 2:
        gain = 1 / (1 + k)
        b = (gain, -gain) if high else (k * gain, k * gain)
        found.append((*b, 0.0, (k - 1) * gain, 0.0))
    for pair in reversed(range(order // 2)):
        # One over the resonance.
        width = 2 * float(sin(np.array([math.pi * (2 * pair + 1) / (2 * order)]))[0])
        gain = 1 / (1 + k * width + k * k)
        b0 = gain if high else k * k * gain
        a = (2 * (k * k - 1) * gain, (1 - k * width + k * k) * gain)
        found.append((b0, (-2 if high else 2) * b0, b0, *a))
    return np.array(found)


def coefficients(found: Array, name: str, value: float) -> Array:
    """Sections as integers of 29 fraction bits, int32 [S, 5].

    Of the numerator b0 alone is rounded: b1 and b2 are its exact multiples, so that the zeros stay
    where they are, and a high pass lets nothing of a constant through.

    Args:
        found: what `sections` gave.
        name, value: the parameter that they are for, for messages.

    Raises:
        ConfigError: a section is not stable as integers, or its cutoff or gain would be another
            one.
    """
    codes = np.rint(found * 2.0**COEFFICIENT_BITS).astype(np.int64)
    codes[:, 1:3] = codes[:, :1] * np.rint(found[:, 1:3] / found[:, :1]).astype(np.int64)
    for row, real in zip(codes, found, strict=True):
        passed, poles = int(row[:3].sum()), int(row[3] + row[4])
        kept = poles / 2.0**COEFFICIENT_BITS + 1
        is_held = is_stable(int(row[3]), int(row[4])) and (
            abs(kept / (1 + float(real[3] + real[4])) - 1) <= _MOST_ERROR
        )
        # A high pass has no gain for a constant, nothing that could be wrong.
        gain = passed / 2.0**COEFFICIENT_BITS
        if not is_held or (passed and abs(gain - kept) > _MOST_GAIN_ERROR * kept):
            raise ConfigError(
                f"{name} cannot be {value:g}: integers of 32 bits do not hold so low a cutoff",
                where=OPTION,
                hint="take a higher one, or a lower rate (decimate in a front end of its own)",
            )
    return codes.astype(np.int32)
