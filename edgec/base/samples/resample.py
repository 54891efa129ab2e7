"""Sound at another rate: a polyphase filter in integers, so the bits are the same everywhere.

Output m is the sound at the time ``m / wanted``: a sum of samples around it, weighed by a sinc that
ends in a Kaiser window.  Source: Crochiere and Rabiner, Multirate Digital Signal Processing, 1983.
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.base.portable_functions import sin

_ZEROS = 32
"""Zeros of the sinc on each side."""
_PASS = 0.93
"""The end of the pass band as a share of the lower half rate."""
_BETA = 9.0
"""Form of the Kaiser window: what is cut off lies 90 dB below."""
_WEIGHT_BITS = 20
_BLOCK = 1 << 16
"""Outputs computed at once."""
_TERMS = 60
"""Terms of the series of a Bessel function, the last far below the precision of float64."""


def resampled_length(count: int, given: int, wanted: int) -> int:
    """The number of samples that `count` samples become at another rate."""
    return -(-count * wanted // given)


def resampled(sound: Array, given: int, wanted: int) -> Array:
    """Sound at another rate, with silence before and after it.

    Args:
        sound: int16 [L].
        given: samples a second that it has, more than 0.
        wanted: samples a second of the result, more than 0.

    Returns:
        int16 [`resampled_length`]; what is beyond 16 bits is clipped.
    """
    if given == wanted:
        return sound
    common = math.gcd(given, wanted)
    up, down = wanted // common, given // common
    weights = _weights(up, down)
    taps = weights.shape[1]
    padded = np.pad(sound.astype(np.int64), (taps // 2 - 1, taps // 2 + 1))
    count = resampled_length(len(sound), given, wanted)
    found = np.empty(count, np.int16)
    for start in range(0, count, _BLOCK):
        time = np.arange(start, min(start + _BLOCK, count), dtype=np.int64) * down
        first, phase = time // up, time % up
        sums = np.zeros(len(time), np.int64)
        for tap in range(taps):
            sums += padded[first + tap] * weights[phase, tap]
        rounded = (sums + (1 << (_WEIGHT_BITS - 1))) >> _WEIGHT_BITS
        found[start : start + len(time)] = np.clip(rounded, INT16_MIN, INT16_MAX)
    return found


def _weights(up: int, down: int) -> Array:
    """Weights of the samples around each of `up` places between two samples, int64 [up, taps]."""
    width = max(1.0, down / up)
    half = math.ceil(_ZEROS * width)
    # Distance of a sample from the place, in samples; the place lies after sample half - 1.
    places = np.arange(up)[:, None] / up
    away = np.arange(2 * half)[None, :] - (half - 1) - places
    cut = _PASS / width
    angle = np.pi * cut * away
    near = np.abs(angle) < 1e-9
    wave = np.where(near, 1.0, sin(angle) / np.where(near, 1.0, angle))
    inside = np.maximum(1.0 - (away / half) ** 2, 0.0)
    weights = wave * _bessel(_BETA * np.sqrt(inside))
    weights /= _summed(weights)[:, None]
    return np.asarray(np.rint(weights * (1 << _WEIGHT_BITS)).astype(np.int64))


def _summed(weights: Array) -> Array:
    """Sums of rows, added from the first column to the last on every computer."""
    total = np.zeros(len(weights))
    for column in weights.T:
        total = total + column
    return total


def _bessel(x: Array) -> Array:
    """The modified Bessel function of order 0, by its series: sum of ((x / 2)^k / k!)^2."""
    term, total = np.ones_like(x), np.ones_like(x)
    for k in range(1, _TERMS):
        term = term * (x / (2 * k)) ** 2
        total = total + term
    return total
