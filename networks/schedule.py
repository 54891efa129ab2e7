"""The learning rate of each step of a training."""

from __future__ import annotations

import math

_MOST_KEPT = 0.998
_SHARE = 10
"""Averages of weights reach back over a tenth of a short run's steps."""


def average_decay(steps: int) -> float:
    """What a moving average of the weights keeps in each step of a run."""
    return max(min(_MOST_KEPT, 1 - _SHARE / steps), 0.0)


def one_cycle(step: int, steps: int, peak: float) -> float:
    """One cycle: linear up over the first fifth, then a half cosine down to 0."""
    up = max(1, steps // 5)
    if step < up:
        return peak * (step + 1) / up
    return peak * 0.5 * (1 + math.cos(math.pi * (step - up) / max(1, steps - up)))
