"""Parameters of front ends by name, and what the names stand for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.fixedpoint import INT32_MAX
from edgec.base.options.front_end import OPTION, FrontEndOptions, bad_parameter
from edgec.frontends.image import ImageParameters
from edgec.frontends.micro import MicroParameters
from edgec.frontends.sensor import SensorParameters
from edgec.ir.qops.dft import MOST_POINTS, MOST_RADIX, is_computed

_CHOICES = {
    "shape": ("hann", "hamming", "povey", "box"),
    "mel": ("htk", "slaney"),
    "triangles": ("hz", "mel"),
    "log": ("ln", "log2", "log10", "db"),
    "dct": ("ortho", "tf"),
}
"""Words that parameters of text may have."""
_LEAST_RATE, _MOST_RATE = 1000, 192_000


@dataclass(frozen=True, slots=True)
class MelParameters:
    """Logarithms of mel energies, and their cepstrum where it is asked for.

    Samples stand for numbers of -1 to 1.  Frame t has the samples
    ``[t * hop, t * hop + window)``.  ``f = gain * log(scale * energy + added) + bias``.

    Attributes:
        rate: samples a second.
        window, hop: samples of a frame, and from frame to frame.
        fft: points of the DFT, with no prime factor above 13; 0: the least power of 2 that holds
            the window.
        shape: the window's: ``hann``, ``hamming``, ``povey`` (Hann to the power 0.85), ``box``.
        periodic: the window is a period of a longer one, as torchaudio, librosa and TensorFlow
            have it; else it is symmetric.
        emphasis: the share of the sample before that is taken off each one.
        emphasis_within: each frame by itself, whose first sample has itself before it.
        remove_dc: the mean of each frame is taken off its samples first.
        filters: number of filters.
        from_hz, to_hz: the range of the filters; 0: up to half the rate.
        mel: the scale of frequencies: ``htk`` or ``slaney``.
        triangles: whether filters rise and fall evenly over ``hz`` or over ``mel``.
        even_area: filters are divided by half their width in Hz.
        magnitude: filters weigh magnitudes, not powers.
        scale: factor of the energies.
        added: what is added to them, at least 0.
        log: ``ln``, ``log2``, ``log10``, or ``db``, which is 10 log10.
        gain, bias: factor of a logarithm, and what is added to it then.
        low, high: bounds of the features, of logarithms where there is a cepstrum.
        coefficients: how many the cepstrum has, the first ones of a DCT-II; 0: there is none.
        dct: its scale: ``ortho``, an orthonormal matrix, or ``tf``, TensorFlow's.
        lifter: coefficient i is times ``1 + lifter / 2 sin(pi i / lifter)``; 0: it is not.
    """

    NAME: ClassVar[str] = "log-mel"

    rate: int = 16_000
    window: int = 400
    hop: int = 160
    fft: int = 0
    shape: str = "hann"
    periodic: bool = True
    emphasis: float = 0.0
    emphasis_within: bool = False
    remove_dc: bool = False
    filters: int = 40
    from_hz: float = 0.0
    to_hz: float = 0.0
    mel: str = "htk"
    triangles: str = "hz"
    even_area: bool = False
    magnitude: bool = False
    scale: float = 1.0
    added: float = 1e-6
    log: str = "ln"
    gain: float = 1.0
    bias: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    coefficients: int = 0
    dct: str = "ortho"
    lifter: float = 0.0

    def __post_init__(self) -> None:
        for name, words in _CHOICES.items():
            if getattr(self, name) not in words:
                raise bad_parameter(name, getattr(self, name), " or ".join(words))
        points = self.points
        checks = {
            "rate": (_LEAST_RATE <= self.rate <= _MOST_RATE, f"{_LEAST_RATE} to {_MOST_RATE}"),
            "window": (8 <= self.window <= MOST_POINTS, f"8 to {MOST_POINTS} samples"),
            "hop": (1 <= self.hop <= self.window, "1 to the samples of the window"),
            "fft": (
                is_computed(points) and self.window <= points,
                f"{self.window} to {MOST_POINTS}, with no prime factor above {MOST_RADIX}",
            ),
            "emphasis": (0 <= self.emphasis <= 1, "0 to 1"),
            "filters": (1 <= self.filters <= 256, "1 to 256"),
            "from-hz": (0 <= self.from_hz < self.end_hz, "less than to-hz"),
            "to-hz": (self.end_hz <= self.rate / 2, "at most half the rate"),
            "scale": (0 < self.scale < 1e9, "more than 0"),
            "added": (0 <= self.added < 1, "0 to 1"),
            "gain": (0 < self.gain < 1e6, "more than 0"),
            "bias": (abs(self.bias) < 1e6, "less than a million"),
            "high": (self.low < self.high, "more than low"),
            "lifter": (
                self.lifter == 0 or self.coefficients <= self.lifter <= 1000,
                "0, or the coefficients to 1000",
            ),
            "coefficients": (0 <= self.coefficients <= self.filters, "at most the filters"),
        }
        for name, (fits, hint) in checks.items():
            if not fits:
                raise bad_parameter(name, getattr(self, name.replace("-", "_")), hint)

    @property
    def points(self) -> int:
        """Points of the DFT."""
        return self.fft or 1 << (self.window - 1).bit_length()

    @property
    def end_hz(self) -> float:
        """The end of the range of the filters."""
        return self.to_hz or self.rate / 2

    @property
    def before(self) -> int:
        """Samples before a frame that it reads."""
        return 1 if self.emphasis and not self.emphasis_within else 0

    @property
    def features(self) -> int:
        """Numbers of a frame."""
        return self.coefficients or self.filters

    @property
    def idle(self) -> dict[str, str]:
        """Parameters that have no effect beside the others, with the reason."""
        found = {}
        if not self.coefficients:
            why = "there is no cepstrum: give coefficients"
            found = {"dct": why, "lifter": why}
        return found if self.emphasis else {**found, "emphasis-within": "there is no emphasis"}


_SWW = MelParameters(
    window=1024,
    hop=512,
    shape="hamming",
    periodic=False,
    emphasis=0.96875,
    triangles="mel",
    scale=1 / 1024,
    added=0.0,
    log="db",
    gain=1 / 64,
    bias=52 / 64,
    low=0.0,
    high=1.0,
)
_KWS = MelParameters(
    window=480,
    hop=320,
    from_hz=20.0,
    to_hz=4000.0,
    triangles="mel",
    magnitude=True,
    coefficients=10,
    dct="tf",
)
_FBANK = MelParameters(
    shape="povey",
    periodic=False,
    emphasis=0.97,
    emphasis_within=True,
    remove_dc=True,
    filters=23,
    from_hz=20.0,
    triangles="mel",
    added=1.1e-16,
    bias=30 * math.log(2),
)

Parameters = MelParameters | MicroParameters | SensorParameters
P = TypeVar("P", bound="Parameters | ImageParameters")
PRESETS: Mapping[str, Parameters] = {
    "log-mel": MelParameters(),
    "mfcc": MelParameters(coefficients=13),
    "mlperf-sww": _SWW,
    "mlperf-kws": _KWS,
    "kaldi-fbank": _FBANK,
    "kaldi-mfcc": replace(_FBANK, coefficients=13, lifter=22.0),
    "micro": MicroParameters(),
    "sensor": SensorParameters(),
}
"""Front ends by name.  Sources: mlcommons/tiny, training/streaming_wakeword/get_dataset.py and
training/keyword_spotting/get_dataset.py; Kaldi's feat/feature-fbank.h and feature-mfcc.h, without
dither and energy."""


def any_parameters_of(options: FrontEndOptions) -> Parameters | ImageParameters:
    """The parameters of a front end, that of a camera or another one.

    Raises:
        ConfigError: see `parameters_of`.
    """
    if options.name == ImageParameters.NAME:
        return image_parameters_of(options)
    return parameters_of(options)


def image_parameters_of(options: FrontEndOptions) -> ImageParameters:
    """The parameters of a camera.

    Raises:
        ConfigError: there is no such parameter, one is out of range, or without effect.
    """
    return _changed(ImageParameters(), options)


def parameters_of(options: FrontEndOptions) -> Parameters:
    """The parameters of a front end that takes samples.

    Raises:
        ConfigError: no such front end or parameter, a number out of range, or one without effect.
    """
    known = PRESETS.get(options.name)
    if known is None:
        raise ConfigError(
            f"there is no front end {options.name!r}",
            where=OPTION,
            hint=", ".join([*PRESETS, ImageParameters.NAME]),
        )
    return _changed(known, options)


def _changed(known: P, options: FrontEndOptions) -> P:
    """Parameters with those that the user gives in place of others."""
    kinds = {
        each.name.replace("_", "-"): type(getattr(known, each.name))
        for each in dataclasses.fields(known)
    }
    changes: dict[str, Any] = {}
    for name, text in options.values.items():
        if name not in kinds:
            hint = ", ".join(kinds)
            raise ConfigError(f"{options.name} has no parameter {name!r}", where=OPTION, hint=hint)
        changes[name.replace("-", "_")] = _read(name, text, kinds[name])
    found = dataclasses.replace(known, **changes)
    refuse_without_effect(
        Effect(f"{OPTION} {options.name}:{name}", name in options.values, False, why)
        for name, why in found.idle.items()
    )
    return found


def _read(name: str, text: str, kind: type) -> object:
    """A parameter of the kind that its default has."""
    try:
        if kind is bool:
            return {"true": True, "false": False}[text]
        found = kind(text)
    except (KeyError, ValueError):
        words = {bool: "true or false", int: "a whole number", float: "a number"}
        raise bad_parameter(name, text, words.get(kind, "a word")) from None
    if isinstance(found, float) and math.isnan(found):
        raise bad_parameter(name, text, "a number")
    if isinstance(found, int) and abs(found) > INT32_MAX:
        raise bad_parameter(name, text, "a number of 31 bits")
    return found
