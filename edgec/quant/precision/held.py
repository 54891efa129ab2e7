"""Calibration samples apart: those that a network is fitted to, and those that it is judged by.

Scales, the rounding of weights and biases suit the samples that they were found on better than
others, so a figure from these samples promises too much.  The samples are dealt out in parts: each
part judges a fit to all the others, so every sample judges, and none a fit that has seen it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array

LEAST_SAMPLES = 8
"""With fewer samples none can be spared."""
_FEW, _MANY = 4, 2
"""Parts: a fit to three quarters is nearly that to all; a fit to half of many samples, too."""
_PLENTY = 64


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Calibration samples for two uses; graph input name to [N, ...].

    Attributes:
        fitted: those that a network is fitted to.
        judged: those that it is judged by.
    """

    fitted: Mapping[str, Array]
    judged: Mapping[str, Array]


def folds(data: Mapping[str, Array]) -> tuple[Fold, ...]:
    """The uses of the samples, each of which judges once; none for too few samples.

    Args:
        data: graph input name to [N, ...].
    """
    count = len(next(iter(data.values())))
    if count < LEAST_SAMPLES:
        return ()
    parts = _FEW if count < _PLENTY else _MANY
    turns = np.arange(count) % parts
    return tuple(Fold(_of(data, turns != part), _of(data, turns == part)) for part in range(parts))


def _of(data: Mapping[str, Array], chosen: Array) -> dict[str, Array]:
    return {name: array[chosen] for name, array in data.items()}
