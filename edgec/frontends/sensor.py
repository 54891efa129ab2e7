"""Windows of samples of sensors: parameters, and the integers that compute their features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX, SHIFT_MAX, SHIFT_MIN
from edgec.base.options.front_end import NONE, OPTION, bad_parameter
from edgec.base.portable_functions import LN_2, LN_10, cos, real_log2
from edgec.frontends.butterworth import coefficients, sections
from edgec.ir import qops
from edgec.ir.qops.dft import MOST_POINTS, MOST_RADIX, down_bits, is_computed, quarter_sines
from edgec.ir.qops.sensor_features import (
    KURTOSIS_BITS,
    MOST_AXES,
    MOST_SAMPLES,
    SKEW_BITS,
    STATISTICS,
    fine_bits,
)
from edgec.ir.qops.softmax import LOG_BITS
from edgec.ir.qops.spectrum import POWER_SHIFT
from edgec.ir.qparams import QuantParams

_FULL = 2.0**15
_MOST_ORDER, _MOST_BANDS, _MOST_DECIMATION = 8, 64, 256
_MOST_SKEWNESS, _MOST_KURTOSIS = 8.0, 256.0
"""Bounds of these two in the codes of the front end itself."""
_DECIBEL_STEP = 2.0**-7
_MOST_RATE = 1e6


@dataclass(frozen=True, slots=True)
class SensorParameters:
    """Features of windows of samples, of one or more axes in turn.

    Filters run over all samples since the last reset, then every `decimate`-th result of an axis is
    kept, then windows are taken.  Features stand axis by axis: its statistics, then its bands.

    Attributes:
        rate: samples of an axis a second.
        axes: how many there are, whose samples come in turn: x, y, z, x, y, z ...
        window, hop: samples of an axis in a window, and from window to window, before decimation.
        full_scale: the number that a sample of 32768 stands for.
        low_pass, high_pass: cutoffs in Hz, where filters have half the power; 0: no such filter.
        order: order of each filter, a Butterworth filter.
        decimate: samples of an axis for each one that is kept.
        statistics: names of `STATISTICS` with + between them; ``none``.
        bands: limits in Hz of bands, the upper one excluded, like ``0.5-2+2-5``; ``none``.
        fft: points of the DFT, with no prime factor above 13; 0: the samples of a window, or else
            the least power of 2 that holds them.
        floor: the least power of a band, as a part of the square of the full scale.
    """

    before: ClassVar[int] = 0

    rate: float = 100.0
    axes: int = 3
    window: int = 200
    hop: int = 100
    full_scale: float = 1.0
    low_pass: float = 0.0
    high_pass: float = 0.0
    order: int = 4
    decimate: int = 1
    statistics: str = "mean+std+rms+min+max+skewness+kurtosis+crossings"
    bands: str = NONE
    fft: int = 0
    floor: float = 1e-9

    def __post_init__(self) -> None:
        every, end = self.decimate, self.rate / 2
        if not 1 <= every <= _MOST_DECIMATION:
            raise bad_parameter("decimate", every, f"1 to {_MOST_DECIMATION}")
        checks = {
            "rate": (0 < self.rate <= _MOST_RATE, f"above 0, at most {_MOST_RATE:g}"),
            "axes": (1 <= self.axes <= MOST_AXES, f"1 to {MOST_AXES}"),
            "window": (
                self.window % every == 0 and 8 <= self.width <= MOST_SAMPLES,
                f"8 to {MOST_SAMPLES} times decimate, a multiple of it",
            ),
            "hop": (
                1 <= self.hop <= self.window and self.hop % every == 0,
                "a multiple of decimate, at most the window",
            ),
            "full-scale": (1e-6 <= self.full_scale <= 1e6, "1e-6 to 1e6"),
            "low-pass": (0 <= self.low_pass < end, f"less than half the rate, {end:g} Hz"),
            "high-pass": (0 <= self.high_pass < end, f"less than half the rate, {end:g} Hz"),
            "order": (1 <= self.order <= _MOST_ORDER, f"1 to {_MOST_ORDER}"),
            "floor": (1e-15 <= self.floor < 1, "1e-15 to 1"),
        }
        for name, (fits, hint) in checks.items():
            if not fits:
                raise bad_parameter(name, getattr(self, name.replace("-", "_")), hint)
        if every > 1 and not 0 < self.low_pass < end / every:
            hint = f"low-pass below {end / every:g}, half the rate that is left"
            raise bad_parameter("decimate", f"{every} without a low pass", hint)
        if self.low_pass and self.high_pass >= self.low_pass:
            raise bad_parameter("high-pass", self.high_pass, "less than low-pass")
        if not self.names and not self.limits:
            raise bad_parameter("statistics", NONE, "there are no bands either")
        if self.limits and not (self.width <= self.points and is_computed(self.points)):
            hint = f"{self.width} to {MOST_POINTS}, with no prime factor above {MOST_RADIX}"
            raise bad_parameter("fft", self.fft, hint)

    @property
    def width(self) -> int:
        """Samples of an axis in a window, after decimation."""
        return self.window // self.decimate

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order of `STATISTICS`.

        Raises:
            ConfigError: one is unknown or there twice.
        """
        given = [] if self.statistics == NONE else self.statistics.split("+")
        for name in given:
            if name not in STATISTICS or given.count(name) > 1:
                raise bad_parameter("statistics", self.statistics, "+".join(STATISTICS))
        return tuple(name for name in STATISTICS if name in given)

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Limits of the bands in Hz.

        Raises:
            ConfigError: they cannot be read, or lie beyond half of the rate that is left.
        """
        if self.bands == NONE:
            return ()
        end = self.rate / self.decimate / 2
        found = []
        for text in self.bands.split("+"):
            low, _, high = text.partition("-")
            try:
                pair = float(low), float(high)
            except ValueError:
                raise bad_parameter("bands", self.bands, "limits in Hz, like 0.5-2+2-5") from None
            if not 0 <= pair[0] < pair[1] <= end:
                raise bad_parameter("bands", self.bands, f"limits that rise, from 0 to {end:g} Hz")
            found.append(pair)
        if len(found) > _MOST_BANDS:
            raise bad_parameter("bands", f"{len(found)} bands", f"{_MOST_BANDS} at most")
        return tuple(found)

    @property
    def points(self) -> int:
        """Points of the DFT; 0: there are no bands."""
        if not self.limits:
            return 0
        width = self.width
        return self.fft or (width if is_computed(width) else 1 << (width - 1).bit_length())

    @property
    def features(self) -> int:
        """Numbers of a window."""
        return self.axes * (len(self.names) + len(self.limits))

    @property
    def idle(self) -> dict[str, str]:
        """Parameters that have no effect beside the others, with the reason."""
        found: dict[str, str] = {}
        if not self.limits:
            found |= dict.fromkeys(("fft", "floor"), "there are no bands: give bands")
        if not self.has_filter:
            found["order"] = "there is no filter: give low-pass or high-pass"
        return found

    @property
    def samples(self) -> QuantParams:
        """The numbers that codes of samples stand for."""
        return QuantParams.per_tensor(self.full_scale / _FULL, 0, DType.INT16)

    @property
    def has_filter(self) -> bool:
        """Whether samples are filtered, so that features depend on all of them."""
        return self.low_pass > 0 or self.high_pass > 0

    def filters(self) -> tuple[Array, Array]:
        """The sections of the filters, the high pass first: float64 and int32 [S, 5].

        Raises:
            ConfigError: a cutoff is too low for integers.
        """
        real, codes = [], []
        for name, cutoff, high in (
            ("high-pass", self.high_pass, True),
            ("low-pass", self.low_pass, False),
        ):
            if cutoff:
                found = sections(cutoff / self.rate, self.order, high=high)
                real.append(found)
                codes.append(coefficients(found, name, cutoff))
        return np.concatenate(real), np.concatenate(codes)


@dataclass(frozen=True, slots=True, eq=False)
class SensorTables:
    """A `QSensorFeatures` with its tables.

    Attributes:
        attrs: the operator.
        tables: its constants by the names of its operands.
        scales: float64 [F], steps of codes where they are its own.
    """

    attrs: qops.QSensorFeatures
    tables: dict[str, Array]
    scales: Array


def window_of(width: int) -> Array:
    """The window of spectra, one period of Hann's: float64 [W]."""
    return np.asarray(0.5 - 0.5 * cos(2 * np.pi * np.arange(width) / width))


def bins_of(p: SensorParameters) -> Array:
    """The first bin of each band and how many it has, int64 [B, 2].

    Raises:
        ConfigError: a band has no bin.
    """
    apart = p.rate / p.decimate / p.points
    hz = np.arange(p.points // 2 + 1) * apart
    found = []
    for low, high in p.limits:
        within = np.flatnonzero((hz >= low) & (hz < high))
        if not len(within):
            raise ConfigError(
                f"band {low:g}-{high:g} Hz has no bin: these are {apart:.3g} Hz apart",
                where=OPTION,
                hint="take a wider band, a longer window, or a larger fft",
            )
        found.append((within[0], len(within)))
    return np.array(found, np.int64)


def sensor_tables(p: SensorParameters, codes: QuantParams | None = None) -> SensorTables:
    """The integers that compute features.

    Args:
        p: the parameters.
        codes: what codes of features stand for, one for all or one for each; None: its own int16
            codes.

    Raises:
        ConfigError: a band without a bin, or numbers out of range.
    """
    names, unit = p.names, p.full_scale / _FULL
    root = 2.0 ** fine_bits(p.width)
    fine_kurtosis = 2.0**-KURTOSIS_BITS
    # By name: the unit of a result, what is added to it, the largest feature.
    known = {
        "mean": (unit / p.width, 0, p.full_scale),
        "std": (unit / p.width / root, 0, p.full_scale),
        "rms": (unit / p.width / root, 0, p.full_scale),
        "min": (unit, 0, p.full_scale),
        "max": (unit, 0, p.full_scale),
        "skewness": (2.0**-SKEW_BITS, 0, min(math.sqrt(p.width), _MOST_SKEWNESS)),
        "kurtosis": (fine_kurtosis, -3 << KURTOSIS_BITS, min(float(p.width), _MOST_KURTOSIS)),
        "crossings": (1.0, 0, _FULL),
        "mean-crossings": (1.0, 0, _FULL),
    }
    rows = [known[name] for name in names]
    tables: dict[str, Array] = {}
    floor = 0
    if p.limits:
        window = np.rint(window_of(p.width) * INT16_MAX)
        tables["window"] = window.astype(np.int16)
        tables["sines"] = quarter_sines(p.points)
        tables["bins"] = bins_of(p).astype(np.int16)
        # The power of the real samples is this times the sum of bins.
        factor = 2 / (p.points * float((window * window).sum())) * (unit / p.width) ** 2
        octaves = real_log2(factor) + POWER_SHIFT + 2 * down_bits(p.points)
        floor = round((real_log2(p.floor * p.full_scale**2) - octaves) * 2**LOG_BITS)
        decibels = 10 * LN_2 / LN_10 / 2**LOG_BITS
        band = (decibels, round(octaves * 2**LOG_BITS), _DECIBEL_STEP * _FULL)
        rows += [band] * len(p.limits)
    rows = rows * p.axes
    scales = np.array([2.0 ** math.ceil(math.log2(most / _FULL)) for *_, most in rows])
    if codes is None:
        given, zeros, dtype = scales, np.zeros(len(rows), np.int64), DType.INT16
    else:
        given = np.broadcast_to(np.array(codes.scale), len(rows))
        zeros = np.broadcast_to(np.array(codes.zero_point), len(rows))
        dtype = codes.dtype
    ends = [
        (offset, *_factor(own / scale), zero)
        for (own, offset, _), scale, zero in zip(rows, given, zeros, strict=True)
    ]
    tables["ends"] = np.array(ends, np.int64).astype(np.int32)
    attrs = qops.QSensorFeatures(
        p.axes, p.width, p.hop // p.decimate, names, p.points, floor, dtype
    )
    return SensorTables(attrs, tables, scales)


def _factor(real: float) -> tuple[int, int]:
    """A multiplier of at most 31 bits and a right shift for a factor.

    Raises:
        ConfigError: it is out of range.
    """
    shift = min(31 - math.frexp(real)[1], SHIFT_MAX)
    multiplier = min(round(math.ldexp(real, shift)), INT32_MAX) if shift >= SHIFT_MIN else 0
    if not multiplier:
        hint = "take a full-scale that samples reach, or leave out features that never change"
        raise ConfigError("a feature's range is out of range", where=OPTION, hint=hint)
    return multiplier, shift
