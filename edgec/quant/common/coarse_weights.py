"""Weights that a training left on few numbers: ternary, binary, or codes of 4 bits as reals.

A layer that was trained with weights of few bits comes as real numbers that are whole multiples of
one step for each output channel.  With this step for a scale the codes are exact and small, so that
they take 2 to 4 bits in flash (`kernels.packed`).  127 steps for the largest weight would keep
neither.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array

_LOW, _HIGH = -8, 7
"""Codes of 4 bits."""
_LEAST_INPUTS = 16
"""Weights of a filter: with fewer, a bias in such coarse steps would cost accuracy."""
_LEAST_WEIGHTS = 256
"""Weights of a layer: fewer bits are of no use to smaller ones."""
_NEAR = 1e-5
"""Relative distance from a whole number: batch norms were folded in float32."""


def coarse_steps(weight: Array) -> Array | None:
    """The largest step of each output channel of which all its weights are multiples.

    Args:
        weight: real numbers [O, ...].

    Returns:
        float64 [O], 0 for a channel of zeros; None where a channel needs codes beyond -8 to 7, all
        are zeros, or the layer is too small to gain by it.
    """
    rows = np.asarray(weight, np.float64).reshape(len(weight), -1)
    if rows.shape[1] < _LEAST_INPUTS or rows.size < _LEAST_WEIGHTS:
        return None
    sizes = np.abs(rows)
    largest = sizes.max(axis=1)
    if not largest.any() or not np.isfinite(largest).all():
        return None
    present = np.where(sizes > _NEAR * largest[:, None], sizes, np.inf)
    least = np.where(largest > 0, present.min(axis=1), 1.0)
    steps = np.where(largest > 0, np.nan, 0.0)
    for code in range(1, -_LOW + 1):  # the least weight may be any code
        step = least / code
        codes = np.rint(np.clip(rows / step[:, None], 2 * _LOW, 2 * _HIGH))
        near = np.abs(rows - codes * step[:, None]) <= _NEAR * largest[:, None]
        within = (codes >= _LOW) & (codes <= _HIGH)
        found = (near & within).all(axis=1) & np.isnan(steps)
        steps = np.where(found, step, steps)
    return None if np.isnan(steps).any() else steps
