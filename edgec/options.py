"""Options of a compilation, as frozen data."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from edgec.errors import ConfigError


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
class CompileOptions:
    """Options of `edgec.compile_model`.

    Attributes:
        shapes: input name to shape, for models with dynamic dimensions other than the batch.
        quant: post-training quantization.
        build: also build firmware (False: generate sources only).
        verify: run the generated code and compare every tensor with the numpy reference.
        force: replace generated files of an earlier compilation that were edited by hand.
        dump_ir: write the graph after each pass into this folder.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    quant: QuantOptions = QuantOptions()
    build: bool = True
    verify: bool = True
    force: bool = False
    dump_ir: Path | None = None
