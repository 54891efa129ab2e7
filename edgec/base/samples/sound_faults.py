"""Recordings that tell little: silent ones, clipped ones, and ones that are too short."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX

_QUIET = 33
"""A peak 60 dB below full scale."""
_CLIPPED_SHARE = 1000
"""One sample of this many may be at full scale, as in a recording divided by its peak."""
_SILENT_END = 4
"""A recording may end in silence for one part of this many."""


def is_silent(sound: Array) -> Array:
    """Find recordings, int16 [N, L], that stay 60 dB below full scale; bool [N]."""
    wide = sound.astype(np.int32)
    return np.asarray(wide.max(axis=1) - wide.min(axis=1) < 2 * _QUIET)


def sound_faults(sound: Array, rate: int) -> tuple[str, ...]:
    """Sentences on what is wrong with recordings; none where they are sound.

    Args:
        sound: int16 [N, L].
        rate: samples a second.
    """
    silent = is_silent(sound)
    loud = np.abs(sound.astype(np.int32)) >= INT16_MAX
    clipped = loud.sum(axis=1) * _CLIPPED_SHARE > sound.shape[1]
    last = sound.shape[1] - np.argmax(sound[:, ::-1] != 0, axis=1)
    short = (sound.shape[1] - last) * _SILENT_END > sound.shape[1]
    seconds = sound.shape[1] / rate
    words = (
        (silent, "silent: they stay 60 dB below full scale"),
        (clipped, f"clipped: more than 1 sample in {_CLIPPED_SHARE} is at full scale"),
        (
            short & ~silent,
            f"shorter than the {seconds:.2f} s that a result takes, with silence at their end",
        ),
    )
    return tuple(_sentence(found, text) for found, text in words if found.any())


def _sentence(found: Array, text: str) -> str:
    first = int(np.flatnonzero(found)[0]) + 1
    return f"of {len(found)} recordings {int(found.sum())} are {text}; the first is number {first}"
