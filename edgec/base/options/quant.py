"""Options of quantization, and seeds of random numbers."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, fields, replace

from edgec.base.errors import ConfigError


class Observer(enum.Enum):
    """Estimator of an activation's range from calibration data."""

    MINMAX = "minmax"
    PERCENTILE = "percentile"
    MSE = "mse"
    ENTROPY = "entropy"


class Residual(enum.Enum):
    """Element type of the residual stream of a transformer.

    INT8 halves its memory: a power of two for each channel keeps what int8 can.
    """

    INT16 = "int16"
    INT8 = "int8"


class Precision(enum.Enum):
    """Element type of activations.

    AUTO gives int16 codes to the fewest tensors that the accuracy of the outputs asks for.
    """

    INT8 = "int8"
    INT16 = "int16"
    AUTO = "auto"


class Effort(enum.Enum):
    """Effort of the search for the integer weights of a network with calibration data.

    FAST rounds each weight to its nearest code.  NORMAL chooses codes by the error of what layers
    compute, on up to 64 samples, BEST on up to 256.
    """

    FAST = "fast"
    NORMAL = "normal"
    BEST = "best"


MOST_TARGET_DB = 90.0
"""Highest signal to noise ratio in dB that int16 codes could reach."""
DEFAULT_TARGET_DB = 30.0
"""Signal to noise of every output that `Precision.AUTO` aims at."""


def check_drop(points: float) -> None:
    """Refuse percentage points that are none.

    Raises:
        ConfigError: not 0 to 100.
    """
    if not 0 <= points <= 100:
        raise ConfigError(
            f"{points:g} percentage points are no drop",
            where="--max-drop",
            hint="give 0 to 100, e.g. 0.5",
        )


@dataclass(frozen=True, slots=True)
class QuantSettings:
    """Settings of post-training quantization, all decided.

    The defaults were chosen with benchmarks/accuracy.py (six networks, validation data, output
    signal-to-noise in the mean and least agreement with the float class): MSE with bias correction
    has 30.3 dB and 98.75 %, min-max alone 28.5 dB and 98.5 %, min-max with correction 29.4 dB and
    99.25 %, percentile 99.99 with correction 28.8 dB, entropy 21 dB and 94 %.  Min-max is nearly as
    good on clean data but follows a single outlier.  Equalization is done only where it is
    estimated to pay: it gains 2 dB and more where channels are uneven (visual wake words).

    Attributes:
        observer: range estimator of activations.
        percentile: percentage of the values that a range holds, for the PERCENTILE observer.
        equalize: scales of channels, folded into the weights around them (`quant.cnn.balance`).
        bias_correction: correct the mean output error of each layer (same paper).
        synthetic_range: what a model's input elements are assumed to lie in when there is no
            calibration data; then the ranges are the extremes and biases stay as they are.
        synthetic_samples: number of such samples.
        residual: element type of a transformer's residual stream.
        precision: element type of activations; weights have int8 codes always.
        target_db: for AUTO: signal to noise ratio that every output must have; None: none.
        max_drop: for AUTO: percentage points of decisions that may be others than those of the
            float network on the calibration data; None: any number.
        effort: how much is tried for the integer weights.
        int16: for AUTO: the tensors that have int16 codes, by name; (): they are chosen.
    """

    observer: Observer = Observer.MSE
    percentile: float = 99.99
    equalize: bool = True
    bias_correction: bool = True
    synthetic_range: tuple[float, float] = (-1.0, 1.0)
    synthetic_samples: int = 32
    residual: Residual = Residual.INT16
    precision: Precision = Precision.INT8
    target_db: float | None = DEFAULT_TARGET_DB
    max_drop: float | None = None
    effort: Effort = Effort.NORMAL
    int16: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuantOptions:
    """Options of post-training quantization as the user gave them; None: the default may hold.

    An option that is asked for and has no effect on a network is an error
    (`quant.effects`).

    The attributes are those of `QuantSettings`.
    """

    observer: Observer | None = None
    percentile: float | None = None
    equalize: bool | None = None
    bias_correction: bool | None = None
    synthetic_range: tuple[float, float] = (-1.0, 1.0)
    synthetic_samples: int = 32
    residual: Residual | None = None
    precision: Precision | None = None
    target_db: float | None = None
    max_drop: float | None = None
    effort: Effort | None = None
    int16: tuple[str, ...] = ()

    def settings(self) -> QuantSettings:
        """The options, with defaults for what was not asked for."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        found = QuantSettings(**{k: value for k, value in given.items() if value is not None})
        # A limit of lost decisions is a goal already.
        only_drop = self.max_drop is not None and self.target_db is None
        return replace(found, target_db=None) if only_drop else found

    def __post_init__(self) -> None:
        if self.percentile is not None and not 50.0 < self.percentile <= 100.0:
            raise ConfigError(
                f"{self.percentile:g} % is no share of values to keep",
                where="--percentile",
                hint="give a percentage above 50 and up to 100",
            )
        if self.target_db is not None and not 0.0 < self.target_db <= MOST_TARGET_DB:
            raise ConfigError(
                f"{self.target_db:g} dB are no accuracy of outputs",
                where="--target-db",
                hint=f"give more than 0 and up to {MOST_TARGET_DB:g}, e.g. {DEFAULT_TARGET_DB:g}",
            )
        if self.max_drop is not None:
            check_drop(self.max_drop)
        low, high = self.synthetic_range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ConfigError(f"[{low:g}, {high:g}] is no range", where="synthetic_range")


LARGEST_SEED = 2**32 - 1
"""Largest seed that every random number generator accepts."""


def check_seed(seed: int) -> None:
    """Refuse a number that is no seed.

    Raises:
        ConfigError: not 0 to `LARGEST_SEED`.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(
            "the number is too small" if seed < 0 else "the number is too large",
            where="--seed",
            hint=f"give 0 to {LARGEST_SEED}",
        )
