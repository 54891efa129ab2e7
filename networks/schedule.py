"""The learning rate of each step of a training."""

from __future__ import annotations

import math

MOST_KEPT = 0.998
"""What an average of weights keeps at most in each step."""
_SHARE = 10
"""Averages of weights reach back over a tenth of a short run's steps."""


def average_decay(steps: int) -> float:
    """What a moving average of the weights keeps in each step of a run."""
    return max(min(MOST_KEPT, 1 - _SHARE / steps), 0.0)


def one_cycle(step: int, steps: int, peak: float) -> float:
    """One cycle: linear up over the first fifth, then a half cosine down to 0."""
    up = max(1, steps // 5)
    if step < up:
        return peak * (step + 1) / up
    return peak * 0.5 * (1 + math.cos(math.pi * (step - up) / max(1, steps - up)))


_WARM_STEPS = 300
_HELD = 0.6


def held(step: int, steps: int, peak: float) -> float:
    """Linear up over 300 steps, the peak until three fifths of the run, then linear down to 0.

    Until then runs of different lengths do the same.  Source: the trapezoidal schedule of Hägele et
    al., "Scaling Laws and Compute-Optimal Training Beyond Fixed Training Durations", 2024.
    """
    fall = (steps - step) / (steps - held_steps(steps))
    return peak * min(1.0, (step + 1) / _WARM_STEPS, fall)


def held_steps(steps: int) -> int:
    """Steps before the rate of `held` falls."""
    return int(steps * _HELD)
