"""The tables of TensorFlow Lite's functions of 16-bit numbers, computed as its kernels do.

Source: TensorFlow Lite, kernels/internal/common.h (sigmoid_table_uint16, gen_lut) and
micro/kernels/softmax_common.cc.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, round_half_up, saturate
from edgec.base.portable_functions import exp
from edgec.ir import qops

_SEGMENTS = qops.LOOKUP_ENTRIES - 1
_STEPS_OF_SIGMOID = 24.0
"""Entries of the sigmoid's table in 1."""
_UNIT = np.float32(1 << 15)


def sigmoid_table() -> Array:
    """``logistic(i / 24)`` in 0.16, saturated; uint16 [256].

    Entries are raised by half of what a straight line between them lacks at its middle; the last
    one is the limit.
    """
    x = np.arange(qops.Logistic.COUNT, dtype=np.float64)
    here, between, there = (_logistic(x + offset) for offset in (0.0, 0.5, 1.0))
    entries = here - ((here + there) / 2.0 - between) / 2.0
    rounded = round_half_up(entries)
    rounded[-1] = 2**16 - 1
    return frozen(rounded, np.uint16)


def _logistic(entry: Array) -> Array:
    return np.asarray(2.0**16 / (1.0 + exp(-entry / _STEPS_OF_SIGMOID)))


def exponentials() -> Array:
    """The exponential function of -10 to 0; int16 [513]."""
    return _interpolated(lambda x: exp(x.astype(np.float64)), -10.0, 0.0)


def reciprocals() -> Array:
    """``1 / (1 + x)`` of 0 to 1; int16 [513]."""
    return _interpolated(lambda x: np.float32(1) / (np.float32(1) + x), 0.0, 1.0)


def _interpolated(function: Callable[[Array], Array], low: float, high: float) -> Array:
    """Entries between which a straight line is nearest to the function in Q0.15; float32 steps."""
    step = np.float32((np.float32(high) - np.float32(low)) / np.float32(_SEGMENTS))
    places = np.float32(low) + np.arange(_SEGMENTS, dtype=np.float32) * step
    next_places = np.float32(low) + np.arange(1, _SEGMENTS + 1, dtype=np.float32) * step
    here, between, there = (
        function(x).astype(np.float32) * _UNIT
        for x in (places, places + step / np.float32(2), next_places)
    )
    line = _away((there + _away(here)) / np.float32(2))
    error = line - _away(between)
    entries = _away(here) - _away(error / np.float32(2))
    last = _away(function(np.array([high], np.float32)).astype(np.float32) * _UNIT)
    return frozen(saturate(np.concatenate([entries, last]), INT16_MIN, INT16_MAX), np.int16)


def _away(x: Array) -> Array:
    """Nearest whole numbers, halves away from zero; float32."""
    return np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)
