"""Comparison of codes that two implementations rounded from real numbers.

Both may be right and differ by 1 where the real number lies between two codes: float32 sums decide
such ties by their last digits, which depend on the processor.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array

NEAR = 1e-3
"""Distance from a tie, in steps, within which codes may differ by 1."""


def assert_same_codes(found: Array, wanted: Array, steps: Array) -> None:
    """Check that codes are equal, but for ties.

    Args:
        found, wanted: integers of one shape.
        steps: the real numbers that they are rounded from, in steps, computed in float64.
    """
    assert found.shape == wanted.shape == steps.shape
    gap = np.abs(found.astype(np.int64) - wanted.astype(np.int64))
    to_tie = np.abs(steps - np.floor(steps) - 0.5)
    wrong = (gap > 1) | ((gap == 1) & (to_tie > NEAR))
    assert not wrong.any(), (
        f"{np.count_nonzero(wrong)} of {wrong.size} codes differ: {found[wrong][:8]} for "
        f"{wanted[wrong][:8]}, rounded from {steps[wrong][:8]}"
    )
