"""Tables of the front end of TensorFlow Lite Micro.

Source: tensorflow/lite/experimental/microfrontend/lib: window_util.c, filterbank_util.c,
pcan_gain_control_util.c, and kiss_fft.  Its numbers of 32-bit floats are kept, so that the integers
are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX
from edgec.base.options.front_end import OPTION
from edgec.base.portable_functions import LN_2, cos, log, power, sin
from edgec.ir.qops.micro_features import GAINS, LOGS, POINTS, TURNS

_F = np.float32
_HOPS = (160, 320)
_LN_2_HIGH, _LN_2_LOW = _F(6.9313812256e-01), _F(9.0580006145e-06)
_ROOT_2 = 1.414214015007019
"""The least of 32 bits whose logarithm is taken from the octave above; source: s_log1pf.c."""
_LOG1P_TERMS = tuple(
    _F(term)
    for term in (
        *(1.4798198640e-01, 1.5313838422e-01, 1.8183572590e-01, 2.2222198546e-01),
        *(2.8571429849e-01, 4.0000000596e-01, 6.6666668653e-01),
    )
)
_STRENGTH, _OFFSET, _GAIN_BITS, _INPUT_BITS = _F(0.95), _F(80.0), 21, 7


@dataclass(frozen=True, slots=True)
class MicroParameters:
    """The front end of TensorFlow Lite Micro at 16 kHz: windows of 30 ms.

    Attributes:
        hop: samples from frame to frame: 160 or 320.
        filters: number of filters.
        from_hz, to_hz: the range of the filters.
    """

    rate: ClassVar[int] = 16_000
    window: ClassVar[int] = 480
    before: ClassVar[int] = 0
    idle: ClassVar[Mapping[str, str]] = {}
    scale: ClassVar[float] = 0.0390625
    """Step of the features, as `pymicro-features` and microWakeWord have it."""

    hop: int = 160
    filters: int = 40
    from_hz: float = 125.0
    to_hz: float = 7500.0

    def __post_init__(self) -> None:
        if self.hop not in _HOPS:
            raise ConfigError(f"hop cannot be {self.hop}", where=OPTION, hint="160 or 320")
        if not 1 <= self.filters <= 128:
            raise ConfigError(f"filters cannot be {self.filters}", where=OPTION, hint="1 to 128")
        if not 0 <= self.from_hz < self.to_hz <= 7900:
            raise ConfigError(
                f"from-hz cannot be {self.from_hz}, with to-hz {self.to_hz}",
                where=OPTION,
                hint="from 0 to 7900, the first one less",
            )

    @property
    def features(self) -> int:
        """Numbers of a frame."""
        return self.filters

    def tables(self) -> dict[str, Array]:
        """The constants of `QMicroFeatures` by the names of its operands.

        Raises:
            ConfigError: a filter has no bin.
        """
        bank, bins = self._bank()
        logs = np.arange(LOGS) / 128
        turns = _F(2 * math.pi / self.window) * (np.arange(self.window, dtype=_F) + _F(0.5))
        # Cosines of 32 bits, as the library has them.
        turned = cos(turns.astype(np.float64)).astype(_F)
        window = np.floor((_F(0.5) - _F(0.5) * turned).astype(np.float64) * 4096 + 0.5)
        return {
            "window": window.astype(np.int16),
            "waves": _waves(),
            "bank": bank,
            "bins": bins,
            "gains": _gains(),
            "logs": np.rint((log(1 + logs) / LN_2 - logs) * 65536).astype(np.int16),
        }

    def _bank(self) -> tuple[Array, Array]:
        """Weights and bins of the filters: each rises over the bins of the band before its middle,
        and falls over those of the band after it.
        """
        step = _F(0.5 * self.rate / (POINTS // 2))
        low, high = _mel(_F(self.from_hz)), _mel(_F(self.to_hz))
        spacing = _F(_F(high - low) / _F(self.filters + 1))
        middles = [_F(low + _F(spacing * _F(i + 1))) for i in range(self.filters + 1)]
        mels = [_mel(_F(_F(i) * step)) for i in range(POINTS // 2 + 1)]
        begin = int(1.5 + float(_F(self.from_hz) / step))
        bands: list[tuple[int, list[int], list[int]]] = []
        for number, middle in enumerate(middles):
            end = begin
            while mels[end] <= middle:
                end += 1
            width = _F(middle - (middles[number - 1] if number else low))
            parts = [_F(_F(middle - mels[i]) / width) for i in range(begin, end)]
            rising = [math.floor(float(part * _F(4096)) + 0.5) for part in parts]
            falling = [math.floor((1.0 - float(part)) * 4096 + 0.5) for part in parts]
            bands.append((begin, rising, falling))
            begin = end
        bank, bins = [], []
        for number in range(self.filters):
            (first, _, falling), (_, rising, _) = bands[number], bands[number + 1]
            if not any((*falling, *rising)):
                raise ConfigError(
                    f"filter {number + 1} of {self.filters} has no bin",
                    where=OPTION,
                    hint="take fewer filters, or a higher from-hz",
                )
            bank += falling + rising
            bins.append((first, len(falling) + len(rising)))
        return np.array(bank, np.int16), np.array(bins, np.int16)


def _mel(hz: np.floating) -> np.floating:
    """Frequency in mel, 32 bits."""
    return _F(_F(1127.0) * _log1p(_F(_F(hz) / _F(700.0))))


def _log1p(x: np.floating) -> np.floating:
    """``ln(1 + x)`` of 32 bits, 0 <= x < 2^20, with the roundings of fdlibm's s_log1pf.c.

    The C library of GNU before 2.41, with which `pymicro-features` makes its filters on Linux, has
    these bits; a correctly rounded logarithm gives other weights.
    """
    if x < _F(2.0**-15):
        return _F(x - _F(_F(x * x) * _F(0.5)))
    octaves, f, lost = 0, x, _F(0)
    if x >= _F(0.41422):
        u = _F(1 + x)
        part, octaves = math.frexp(float(u))
        octaves -= 1
        lost = _F((1 - _F(u - x) if octaves > 0 else x - _F(u - 1)) / u)
        f = _F(2 * part - 1)
        if f >= _F(_ROOT_2 - 1):
            octaves += 1
            f = _F(part - 1)
    half = _F(_F(_F(0.5) * f) * f)
    whole, rest = _F(octaves * _LN_2_HIGH), _F(octaves * _LN_2_LOW)
    if abs(f) < _F(2.0**-20):
        low = _F(half * _F(1 - _F(_F(2 / 3) * f)))
        return _F(whole - _F(_F(low - _F(rest + lost)) - f))
    s = _F(f / _F(2 + f))
    z = _F(s * s)
    series = _F(0)
    for term in _LOG1P_TERMS:
        series = _F(z * _F(term + series))
    found = _F(s * _F(half + series))
    if octaves == 0:
        return _F(f - _F(half - found))
    return _F(whole - _F(_F(half - _F(found + _F(rest + lost))) - f))


def _waves() -> Array:
    """Powers of the roots of unity of the butterflies, then those of the bins."""
    half = POINTS // 2
    turns = -2 * np.pi * np.arange(TURNS) / half
    bins = -np.pi * (np.arange(1, half // 2 + 1) / half + 0.5)
    phase = np.concatenate([turns, bins])
    both = np.stack([cos(phase), sin(phase)], axis=1)
    return np.floor(0.5 + INT16_MAX * both).astype(np.int16)


def _gain(x: int) -> int:
    """The gain for a noise, at most 32767."""
    real = _F(x) / _F(1 << _INPUT_BITS)
    base, exponent = float(_F(real + _OFFSET)), -float(_STRENGTH)
    gain = _F(1 << _GAIN_BITS) * _F(power(np.array([base]), exponent)[0])
    return INT16_MAX if gain > INT16_MAX else int(_F(gain + _F(0.5)))


def _gains() -> Array:
    """Parabolas through three gains of each octave; the first two gains alone."""
    found = np.zeros(4 * 32 + 4, np.int64)
    found[6], found[7] = _gain(0), _gain(1)
    for octave in range(2, 33):
        x0 = 1 << (octave - 1)
        ends = (x0, x0 + (x0 >> 1), x0 + (x0 - 1) if octave == 32 else 2 * x0)
        y0, y1, y2 = (_gain(x) for x in ends)
        bend = 4 * (y1 - y0) - (y2 - y0)
        found[4 * octave : 4 * octave + 3] = y0, bend, (y2 - y0) - bend
    return found[6 : 6 + GAINS].astype(np.int16)
