"""Why the codes of a tensor are noisy, and the figure that shows it."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.qparams import QuantParams
from edgec.quant.common.report import Cause

_CLIPPED = 0.001
"""Share of values beyond the codes from which clipping is named as the cause."""
_FEW_LEVELS = 4.0
"""Steps below which the spread of a tensor leaves few codes for most of its values."""
_ONE_CHANNEL = 8.0
"""Reach of a channel over that of the median one, from which it has the range for itself."""


def cause_of_codes(values: Array, quant: QuantParams) -> tuple[Cause, str]:
    """The cause of the noise of a tensor's codes, and its figure in words.

    Args:
        values: what the float network computes, float64 [S, ..., C].
        quant: parameters of the codes, per tensor or with shapes that fit `values`.
    """
    steps = values / np.asarray(quant.scale) + np.asarray(quant.zero_point)
    limits = np.iinfo(quant.dtype.numpy)
    beyond = float(((steps < limits.min - 0.5) | (steps > limits.max + 0.5)).mean())
    if beyond > _CLIPPED:
        return Cause.CLIPPED, f"{beyond:.1%} of its values are beyond its codes"
    reach = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    median = float(np.median(reach))
    if len(reach) > 1 and 0.0 < median < float(reach.max()) / _ONE_CHANNEL:
        worst, ratio = int(reach.argmax()), float(reach.max()) / median
        return Cause.CHANNEL, f"channel {worst} reaches {ratio:.0f} times as far as the median one"
    spread = float(steps.std())
    if spread < _FEW_LEVELS:
        return Cause.LEVELS, f"most of its values lie within {2 * spread:.1f} steps"
    return Cause.RANGE, ""
