"""Options of a compilation, as frozen data."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from edgec.errors import ConfigError


class Progress(Protocol):
    """Told what is being done and how far it is."""

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """`text`: what; `done` of `total` pieces of it are finished, unless `total` is 0."""


def no_progress(text: str, done: int = 0, total: int = 0) -> None:
    """A `Progress` that nobody watches."""


class Observer(enum.Enum):
    """How an activation range is chosen from calibration data."""

    MINMAX = "minmax"
    PERCENTILE = "percentile"
    MSE = "mse"
    ENTROPY = "entropy"


@dataclass(frozen=True, slots=True)
class QuantOptions:
    """Options of post-training quantization.

    The defaults were chosen with benchmarks/accuracy.py (six networks, validation data, output
    signal-to-noise in the mean and least agreement with the float class): MSE with bias correction
    has 30.3 dB and 98.75 %, min-max alone 28.5 dB and 98.5 %, min-max with correction 29.4 dB and
    99.25 %, percentile 99.99 with correction 28.8 dB, entropy 21 dB and 94 %.  Min-max is nearly as
    good on clean data but follows a single outlier.  Equalization gains 4 dB where channels are
    uneven (visual wake words) and costs 2 to 4 dB on keyword spotting and the autoencoder: weights
    have a scale per channel without it.

    Attributes:
        observer: range estimator of activations.
        percentile: kept share of values in percent, for the PERCENTILE observer.
        equalize: cross-layer equalization (Nagel et al., ICCV 2019).
        bias_correction: correct the mean output error of each layer (same paper).
        synthetic_range: what a model's input elements are assumed to lie in when there is no
            calibration data; then the ranges are the extremes and biases stay as they are.
    """

    observer: Observer = Observer.MSE
    percentile: float = 99.99
    equalize: bool = False
    bias_correction: bool = True
    synthetic_range: tuple[float, float] = (-1.0, 1.0)

    def __post_init__(self) -> None:
        if not 50.0 < self.percentile <= 100.0:
            raise ConfigError(
                f"a percentile of {self.percentile:g} keeps too little",
                hint="give the share of values to keep in percent, above 50 and up to 100",
            )
        low, high = self.synthetic_range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ConfigError(f"[{low:g}, {high:g}] is no range", where="synthetic_range")


@dataclass(frozen=True, slots=True)
class Budget:
    """What firmware may take at most; None: no limit.

    Attributes:
        flash_bytes: code and weights.
        ram_bytes: variables, arena and reserved stack.
        time_ms: one inference at the board's clock, as `edgec profile` estimates it.
    """

    flash_bytes: int | None = None
    ram_bytes: int | None = None
    time_ms: float | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """A budget like ``flash=256K,ram=64K,ms=50``; K and M are 1024 and 1024 * 1024 bytes.

        Raises:
            ConfigError: not of that form.
        """
        limits: dict[str, int | float] = {}
        for part in text.split(","):
            key, _, value = part.strip().partition("=")
            pattern = _BUDGET_PATTERNS.get(key)
            found = pattern.fullmatch(value) if pattern else None
            if found is None or key in limits or float(found[1]) <= 0:
                hint = "like flash=256K,ram=64K,ms=50"
                raise ConfigError(f"cannot read {part[:40]!r}", where="--budget", hint=hint)
            limits[key] = float(value) if key == "ms" else int(found[1]) * _UNITS[found[2].upper()]
        flash, ram, time_ms = (limits.get(key) for key in _BUDGET_PATTERNS)
        return cls(
            None if flash is None else int(flash), None if ram is None else int(ram), time_ms
        )


_BYTES = re.compile(r"([0-9]{1,10})([KkMm]?)")
_BUDGET_PATTERNS = {
    "flash": _BYTES,
    "ram": _BYTES,
    "ms": re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"),
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of `edgec.compile_model`.

    Attributes:
        shapes: input name to shape, for models with dynamic dimensions other than the batch.
        quant: post-training quantization.
        build: also build firmware (False: generate sources only).
        verify: run the generated code and compare every tensor with the numpy reference.
        force: replace generated files of an earlier compilation that were edited by hand.
        dump_ir: write the graph after each pass into this folder.
        budget: fail when the firmware takes more than this.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    quant: QuantOptions = QuantOptions()
    build: bool = True
    verify: bool = True
    force: bool = False
    dump_ir: Path | None = None
    budget: Budget | None = None
