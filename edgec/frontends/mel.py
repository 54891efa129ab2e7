"""Windows, banks of filters and matrices of cepstra: real numbers, and as integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, INT32_MAX, SHIFT_MAX
from edgec.base.mel_scale import hertz_of, mel_of
from edgec.base.options.front_end import OPTION
from edgec.base.portable_functions import LN_2, LN_10, cos, power, real_log2
from edgec.base.tflite_arithmetic import quantized_factor
from edgec.frontends.parameters import MelParameters
from edgec.ir import qops
from edgec.ir.qops.dft import down_bits, quarter_sines
from edgec.ir.qops.log_mel import MOST_UP
from edgec.ir.qops.softmax import LOG_BITS
from edgec.ir.qops.spectrum import POWER_SHIFT, SAMPLE_BITS

_WINDOW_SCALE = INT16_MAX / 2**SAMPLE_BITS
"""Factor of the window of int16, which cannot hold 1."""
_OF_LOG2 = {"ln": LN_2, "log2": 1.0, "log10": LN_2 / LN_10, "db": 10 * LN_2 / LN_10}
_MOST_COARSE, _MOST_SMALL = 6, 5
"""Bits that weights of filters, and the window, may have less than 15."""
_SMALLEST = 1e-10
"""The energy that silence is taken for, where nothing is added to it."""


def window_of(p: MelParameters) -> Array:
    """The window, float64 [W], from 0 to 1."""
    count = p.window if p.periodic else p.window - 1
    turn = cos(2 * np.pi * np.arange(p.window) / count)
    match p.shape:
        case "hann":
            return np.asarray(0.5 - 0.5 * turn)
        case "hamming":
            return np.asarray(0.54 - 0.46 * turn)
        case "povey":
            return power(0.5 - 0.5 * turn, 0.85)
        case _:
            return np.ones(p.window)


def bank_of(p: MelParameters) -> Array:
    """Weights of the bins of each filter, float64 [C, N/2 + 1]: triangles that begin at the
    middle of the one before and end at that of the next; bin 0 has no part where they are even
    over mel, as in TensorFlow.

    Raises:
        ConfigError: a filter has no bin.
    """
    hz = np.arange(p.points // 2 + 1) * (p.rate / p.points)
    low, high = mel_of(np.array([p.from_hz, p.end_hz]), p.mel)
    edges = np.linspace(low, high, p.filters + 2)
    corners = hertz_of(edges, p.mel)
    at, ends = (mel_of(hz, p.mel), edges) if p.triangles == "mel" else (hz, corners)
    rise = (at - ends[:-2, None]) / (ends[1:-1] - ends[:-2])[:, None]
    fall = (ends[2:, None] - at) / (ends[2:] - ends[1:-1])[:, None]
    weights = np.maximum(0.0, np.minimum(rise, fall))
    if p.triangles == "mel":
        weights[:, 0] = 0.0
    if p.even_area:
        weights *= (2 / (corners[2:] - corners[:-2]))[:, None]
    empty = np.flatnonzero(~np.any(_weights(weights), axis=1))
    if len(empty):
        first = int(empty[0])
        raise ConfigError(
            f"filter {first + 1} of {p.filters}, {corners[first]:.0f} to {corners[first + 2]:.0f} "
            f"Hz, has no bin: these are {p.rate / p.points:.1f} Hz apart",
            where=OPTION,
            hint="take fewer filters, a larger fft, or a higher from-hz",
        )
    return np.asarray(weights)


def cepstrum_of(p: MelParameters) -> Array:
    """The matrix of the cepstrum, float64 [coefficients, C]: a DCT-II with a scale.

    Row i is times ``1 + L / 2 sin(pi i / L)`` where there is a lifter L.  Source: S. Young et al.,
    "The HTK Book", section 5.6.
    """
    place = (np.arange(p.filters) + 0.5) * np.pi / p.filters
    found = math.sqrt(2 / p.filters) * cos(np.arange(p.coefficients)[:, None] * place)
    if p.dct == "ortho":
        found[:1] *= math.sqrt(0.5)
    if p.lifter:
        # A sine is the cosine of a quarter turn before it.
        turn = np.arange(p.coefficients) * (np.pi / p.lifter) - np.pi / 2
        found *= (1 + p.lifter / 2 * cos(turn))[:, None]
    return np.asarray(found)


def _weights(bank: Array, largest: int = INT16_MAX) -> Array:
    """Weights of filters in 15 bits, the largest 32767; int64."""
    return np.rint(bank * (largest / max(float(bank.max()), 1e-300))).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class MelTables:
    """A `QLogMel` with its tables.

    Attributes:
        attrs: the operator.
        window, sines, bank, bins: its constants.
        scale: step of its codes, a power of 2.
    """

    attrs: qops.QLogMel
    window: Array
    sines: Array
    bank: Array
    bins: Array
    scale: float


def mel_tables(p: MelParameters) -> MelTables:
    """The integers that compute logarithms of mel energies.

    Raises:
        ConfigError: a filter has no bin, or numbers out of range.
    """
    numbers = LogNumbers(
        hop=p.hop,
        points=p.points,
        magnitude=p.magnitude,
        scale=p.scale,
        added=p.added,
        per_octave=p.gain * _OF_LOG2[p.log],
        bias=p.bias,
        low=p.low,
        high=p.high,
        emphasis=p.emphasis,
        within=p.emphasis_within,
        centred=p.remove_dc,
    )
    return log_mel_tables(window_of(p), bank_of(p), numbers)


@dataclass(frozen=True, slots=True)
class LogNumbers:
    """Numbers of logarithms of energies: ``per_octave * log2(scale * energy + added) + bias``.

    Attributes:
        hop, points, magnitude, scale, added, bias, low, high, emphasis: see `MelParameters`.
        within, centred: its `emphasis_within` and `remove_dc`.
        per_octave: what a doubled energy adds, above 0.
    """

    hop: int
    points: int
    magnitude: bool
    scale: float
    added: float
    per_octave: float
    bias: float
    low: float = -math.inf
    high: float = math.inf
    emphasis: float = 0.0
    within: bool = False
    centred: bool = False


def log_mel_tables(window: Array, bank: Array, p: LogNumbers) -> MelTables:
    """The integers that compute logarithms of weighted energies.

    A sum of `QLogMel` is K times ``scale * energy``, times the power of 2 that its frame was scaled
    by, so the logarithm of K is taken off.

    Args:
        window: float64 [W], from 0 to 1.
        bank: weights of the bins of each filter, float64 [C, N/2 + 1], none below 0.
        p: the numbers.

    Raises:
        ConfigError: numbers out of range.
    """
    order = 1 if p.magnitude else 2
    # A real sample has 30 fraction bits after step 1.
    amplitude = _WINDOW_SCALE * 2.0 ** (2 * SAMPLE_BITS - down_bits(p.points))
    factor = amplitude**order * (INT16_MAX / float(bank.max())) / p.scale
    if not p.magnitude:
        factor /= 2.0**POWER_SHIFT
    coarse, small = _bits_less(p.added * factor, order)
    weights, factor = (
        _weights(bank, INT16_MAX >> coarse),
        factor * (INT16_MAX >> coarse) / INT16_MAX,
    )
    factor /= 2.0 ** (order * small)
    per_octave = p.per_octave
    loudest = p.scale * float(bank.sum(axis=1).max()) * float(len(window)) ** order
    softest = p.added or _SMALLEST
    ends = [per_octave * real_log2(each) + p.bias for each in (softest, loudest + softest)]
    low, high = max(ends[0], p.low), min(ends[1], p.high)
    if low >= high:
        raise ConfigError("no sound reaches the least feature", where=OPTION, hint="lower low")
    scale = 2.0 ** _octaves_up(max(abs(low), abs(high)) / INT16_MAX)
    offset = round((p.bias / per_octave - real_log2(factor)) * 2**LOG_BITS)
    multiplier, shift = _factor(per_octave / scale / 2**LOG_BITS)
    more, more_shift = 0, 0
    if p.added:
        exact = p.added * factor
        more_shift = 31 - math.frexp(exact)[1]
        more = min(round(exact * 2.0**more_shift), INT32_MAX)
    attrs = qops.QLogMel(
        hop=p.hop,
        points=p.points,
        emphasis=round(p.emphasis * 2**SAMPLE_BITS),
        magnitude=p.magnitude,
        more=more,
        more_shift=more_shift,
        offset=offset,
        multiplier=multiplier,
        shift=shift,
        low=max(round(low / scale), INT16_MIN),
        high=min(round(high / scale), INT16_MAX),
        within=p.within,
        centred=p.centred,
    )
    if abs(offset) >= 1 << 24 or order * (SAMPLE_BITS - 1) - more_shift > MOST_UP:
        raise ConfigError(
            "scale, added or bias is too large for 32 bits", where=OPTION, hint="take less"
        )
    first = np.argmax(weights > 0, axis=1)
    count = weights.shape[1] - np.argmax(weights[:, ::-1] > 0, axis=1) - first
    # A filter that weighs nothing has a bin, too.
    count = np.where(np.any(weights > 0, axis=1), count, 1)
    parts = [row[a : a + n] for row, a, n in zip(weights, first, count, strict=True)]
    return MelTables(
        attrs,
        np.rint(window * (INT16_MAX / 2.0**small)).astype(np.int16),
        quarter_sines(p.points),
        np.concatenate(parts).astype(np.int16),
        np.stack([first, count], axis=1).astype(np.int16),
        scale,
    )


def _bits_less(added: float, order: int) -> tuple[int, int]:
    """Bits that the weights of filters, and the window, have less than 15.

    Where the number that is added to sums is large, a quiet frame that is scaled up would leave no
    room for it, and it hides what fine weights say.

    Args:
        added: that number in sums by weights of 15 bits.
        order: exponent of the amplitude.
    """
    room = MOST_UP - order * (SAMPLE_BITS - 1) + 31
    missing = max(math.frexp(added)[1] - room, 0)
    coarse = min(missing, _MOST_COARSE)
    return coarse, min(-(-(missing - coarse) // order), _MOST_SMALL)


def _octaves_up(x: float) -> int:
    """The least exponent of 2 whose power is at least x > 0."""
    part, exponent = math.frexp(x)
    return exponent - 1 if part == 0.5 else exponent


def _factor(real: float) -> tuple[int, int]:
    """A multiplier of 31 bits and a right shift for a factor.

    Raises:
        ConfigError: the factor is out of range.
    """
    shift = 31 - math.frexp(real)[1]
    if not 1 <= shift <= SHIFT_MAX:
        raise ConfigError("gain is out of range", where=OPTION, hint="take one nearer to 1")
    return min(round(real * 2.0**shift), INT32_MAX), shift


@dataclass(frozen=True, slots=True, eq=False)
class CepstrumTables:
    """A `QWindowDot` that makes cepstra of logarithms of mel energies, with its constants.

    Attributes:
        attrs: the operator.
        weights: int16 [coefficients, 1, 1, C].
        scale: step of its codes, a power of 2.
    """

    attrs: qops.QWindowDot
    weights: Array
    scale: float


def cepstrum_tables(p: MelParameters, mel: MelTables) -> CepstrumTables:
    """The integers that compute cepstra; sums of products stay within 31 bits."""
    matrix = cepstrum_of(p)
    reach = max(abs(mel.attrs.low), abs(mel.attrs.high))
    norm = float(np.abs(matrix).sum(axis=1).max())
    step = min(INT16_MAX / float(np.abs(matrix).max()), 2.0**30 / (reach * norm))
    weights = np.rint(matrix * step).astype(np.int16)
    scale = 2.0 ** _octaves_up(reach * mel.scale * norm / INT16_MAX)
    multiplier, shift = quantized_factor(mel.scale / step / scale)
    end = qops.TwoRoundings31((shift,), 0, INT16_MIN, INT16_MAX, DType.INT16)
    return CepstrumTables(qops.QWindowDot(1, end, multiplier), weights[:, None, None, :], scale)
