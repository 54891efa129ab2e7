"""Spectra of sound and logarithms of mel energies, on a batch of samples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product
from edgec.base.portable_functions import cos, log, sin
from edgec.floatrun.operands import Rule
from edgec.ir import ops
from edgec.ir.operator import OperatorTable

RULES = OperatorTable[Rule]()


@RULES.entry(ops.Spectrum)
def _spectrum(attrs: ops.Spectrum, inputs: ops.Spectrum.Inputs[Array]) -> Array:
    real, imaginary = _parts(inputs.x, inputs.window[0], attrs.hop, attrs.points)
    return np.stack([real, imaginary], axis=-1)


@RULES.entry(ops.LogMel)
def _log_mel(attrs: ops.LogMel, inputs: ops.LogMel.Inputs[Array]) -> Array:
    real, imaginary = _parts(inputs.x, inputs.window[0], attrs.hop, attrs.points)
    power = real * real + imaginary * imaginary
    energy = _weighed(np.sqrt(power) if attrs.magnitude else power, inputs.bank[0])
    found = log(np.maximum(energy + attrs.added, attrs.least))
    return np.asarray(attrs.gain * found + attrs.bias)


def _weighed(weight: Array, bank: Array) -> Array:
    """``weight @ bank`` of [..., F] and [F, C], bin after bin.

    A product by whole numbers would lose bins that are seventy decibels below the loudest one.
    """
    total = np.zeros((*weight.shape[:-1], bank.shape[1]))
    for index, row in enumerate(bank):
        used = np.flatnonzero(row)
        if len(used):
            total[..., used] += weight[..., index, None] * row[used]
    return total


def _parts(x: Array, window: Array, hop: int, points: int) -> tuple[Array, Array]:
    """Real and imaginary parts of the spectra of x [N, 1, L], float64 [N, 1, T, F] each."""
    frames = np.lib.stride_tricks.sliding_window_view(x, len(window), axis=-1)[..., ::hop, :]
    windowed = np.ascontiguousarray(frames) * window
    cosines, sines = _waves(len(window), points)
    return quick_product(windowed, cosines), quick_product(windowed, sines)


@lru_cache(maxsize=4)
def _waves(width: int, points: int) -> tuple[Array, Array]:
    """Cosines and sines less than 0 of all bins, float64 [W, F] each."""
    steps = np.arange(width)[:, None] * np.arange(points // 2 + 1) % points
    angle = 2 * np.pi / points * steps
    return np.asarray(cos(angle)), np.asarray(-sin(angle))
