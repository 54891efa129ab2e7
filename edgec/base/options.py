"""Options of a compilation, as frozen data."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from edgec.base.effect import Effect, refuse_without_effect
from edgec.base.errors import ConfigError
from edgec.base.rounding import Rounding

if TYPE_CHECKING:
    from edgec.base.samples import Normalize


class Progress(Protocol):
    """A function that is told what is being done, and how much of it is finished."""

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """Say that `text` is being done; `done` of `total` pieces are finished (0: not known)."""


def no_progress(text: str, done: int = 0, total: int = 0) -> None:
    """A `Progress` that nobody watches."""


class App(enum.Enum):
    """The main program of the firmware.

    CONSOLE serves what `edgec run --on device` and the other commands ask for; MLPERF and
    MLPERF_ENERGY serve the runner of MLPerf Tiny.
    """

    CONSOLE = "console"
    MLPERF = "mlperf"
    MLPERF_ENERGY = "mlperf-energy"


class Observer(enum.Enum):
    """How an activation range is chosen from calibration data."""

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


MOST_TARGET_DB = 90.0
"""What int16 codes could hold at best."""
DEFAULT_TARGET_DB = 30.0
"""Signal to noise of every output that `Precision.AUTO` aims at."""


@dataclass(frozen=True, slots=True)
class QuantSettings:
    """How to quantize.

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
        residual: element type of a transformer's residual stream.
        precision: element type of activations; weights have int8 codes always.
        target_db: for AUTO: signal to noise ratio that every output must have.
    """

    observer: Observer = Observer.MSE
    percentile: float = 99.99
    equalize: bool = True
    bias_correction: bool = True
    synthetic_range: tuple[float, float] = (-1.0, 1.0)
    residual: Residual = Residual.INT16
    precision: Precision = Precision.INT8
    target_db: float = DEFAULT_TARGET_DB


@dataclass(frozen=True, slots=True)
class QuantOptions:
    """What the user asks of post-training quantization; None: the default may hold.

    An option that is asked for and has no effect on a network is an error
    (`quant.effects`).

    The attributes are those of `QuantSettings`.
    """

    observer: Observer | None = None
    percentile: float | None = None
    equalize: bool | None = None
    bias_correction: bool | None = None
    synthetic_range: tuple[float, float] = (-1.0, 1.0)
    residual: Residual | None = None
    precision: Precision | None = None
    target_db: float | None = None

    def settings(self) -> QuantSettings:
        """The options, with defaults for what was not asked for."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return QuantSettings(**{k: value for k, value in given.items() if value is not None})

    def __post_init__(self) -> None:
        if self.percentile is not None and not 50.0 < self.percentile <= 100.0:
            raise ConfigError(
                f"a percentile of {self.percentile:g} keeps too little",
                hint="give the share of values to keep in percent, above 50 and up to 100",
            )
        if self.target_db is not None and not 0.0 < self.target_db <= MOST_TARGET_DB:
            raise ConfigError(
                f"{self.target_db:g} dB are no accuracy of outputs",
                where="--target-db",
                hint=f"give more than 0 and up to {MOST_TARGET_DB:g}, e.g. {DEFAULT_TARGET_DB:g}",
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


class PoolKernel(enum.Enum):
    """How a layer of pooled weights is computed."""

    RESPONSES = "responses"
    DIRECT = "direct"
    DECODE = "decode"
    EXPAND = "expand"


@dataclass(frozen=True, slots=True)
class PoolKernelRule:
    """The user's choice of kernel for some layers.

    Attributes:
        pattern: pattern of the names of layers or of the model's nodes, with ``*`` and ``?``.
        kernel: the kernel that computes these layers.
    """

    pattern: str
    kernel: PoolKernel

    @classmethod
    def parse(cls, text: str) -> PoolKernelRule:
        """A rule like ``responses`` (all layers) or ``block1*=decode``.

        Raises:
            ConfigError: not of that form.
        """
        pattern, separator, kind = text.rpartition("=")
        kinds = [kernel.value for kernel in PoolKernel]
        if kind not in kinds or (separator and not pattern):
            raise ConfigError(
                f"cannot read {text[:60]!r}",
                where="--pool-kernel",
                hint=f"give {', '.join(kinds)}, or PATTERN=KERNEL like 'block1*=decode'",
            )
        return cls(pattern or "*", PoolKernel(kind))


MAX_ACTIVATION_BITS = 8
DEFAULT_MAX_DROP = 0.5


@dataclass(frozen=True, slots=True)
class PoolKernelOptions:
    """How layers with pooled weights are computed; nothing else is touched by it.

    Attributes:
        activation_bits: bits that such a layer sees of each activation, 1 to 8; "auto": for each
            layer as few as the calibration data allow.
        max_drop: for "auto": percentage points of class agreement with 8 bits (of output energy,
            for a model that names no class) that may be lost on the calibration data.
        runtime_bits: the width can be lowered while the firmware runs.
        rules: kernels that the user chose; the last rule whose pattern matches a layer holds.
        table_bytes: table space, the most SRAM that the kernel of one layer works in (its table of
            responses, list of offsets and sums, or its decoded filters); None: as much as fits.
    """

    activation_bits: int | Literal["auto"] = MAX_ACTIVATION_BITS
    max_drop: float = DEFAULT_MAX_DROP
    runtime_bits: bool = False
    rules: tuple[PoolKernelRule, ...] = ()
    table_bytes: int | None = None

    def __post_init__(self) -> None:
        bits = self.activation_bits
        if bits != "auto" and not 1 <= bits <= MAX_ACTIVATION_BITS:
            raise ConfigError(
                f"{bits} is no width of activations",
                where="--activation-bits",
                hint=f"give 1 to {MAX_ACTIVATION_BITS}, or auto",
            )
        if not 0 <= self.max_drop <= 100:
            raise ConfigError(
                f"{self.max_drop:g} percentage points are no drop",
                where="--max-drop",
                hint="give 0 to 100, e.g. 0.5",
            )
        if self.table_bytes is not None and self.table_bytes < 1:
            raise ConfigError("a table needs memory", where="--pool-table", hint="like 32K")

    @classmethod
    def parse(
        cls,
        activation_bits: str,
        max_drop: float | None,
        runtime_bits: bool,
        rules: Sequence[str],
        table: str | None,
    ) -> PoolKernelOptions:
        """The options of the command line; None: not given.

        Raises:
            ConfigError: one of them cannot be read.
        """
        if activation_bits != "auto" and not re.fullmatch("[0-9]{1,3}", activation_bits):
            raise ConfigError(
                f"cannot read {activation_bits[:40]!r}",
                where="--activation-bits",
                hint=f"give 1 to {MAX_ACTIVATION_BITS}, or auto",
            )
        refuse_without_effect(
            [
                Effect(
                    "--max-drop",
                    max_drop is not None,
                    activation_bits == "auto",
                    "nothing is chosen by it",
                    "it belongs to --activation-bits auto",
                )
            ]
        )
        return cls(
            activation_bits="auto" if activation_bits == "auto" else int(activation_bits),
            max_drop=DEFAULT_MAX_DROP if max_drop is None else max_drop,
            runtime_bits=runtime_bits,
            rules=tuple(PoolKernelRule.parse(rule) for rule in rules),
            table_bytes=None if table is None else parse_bytes(table, "--pool-table"),
        )


def parse_bytes(text: str, where: str) -> int:
    """A size like ``32K``; K, M and G are 1024 bytes and powers of that.

    Raises:
        ConfigError: not of that form.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ConfigError(f"cannot read the size {text[:40]!r}", where=where, hint="like 32K")
    return int(found[1]) * _UNITS[found[2].upper()]


_BYTES = re.compile(r"([0-9]{1,10})([KkMm]?)")
_SIZE = re.compile(r"([0-9]{1,10})([KkMmGg]?)")
_BUDGET_PATTERNS = {
    "flash": _BYTES,
    "ram": _BYTES,
    "ms": re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"),
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class MaxLength:
    """A dynamic dimension of the inputs whose length each run chooses.

    Attributes:
        maximum: the longest run.
        name: name of the dimension in the model; "": the only one besides the batch.
    """

    maximum: int
    name: str = ""

    def __post_init__(self) -> None:
        if not SHORTEST_MAXIMUM <= self.maximum <= LONGEST_MAXIMUM:
            raise ConfigError(
                f"{self.maximum} is no maximum length",
                where="--max-length",
                hint=f"give {SHORTEST_MAXIMUM} to {LONGEST_MAXIMUM} tokens",
            )

    @classmethod
    def parse(cls, text: str) -> MaxLength:
        """A maximum like ``128`` or ``seq=128``.

        Raises:
            ConfigError: not of that form.
        """
        name, separator, size = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,9}", size) or (separator and not name):
            raise ConfigError(
                f"cannot read {text[:60]!r}", where="--max-length", hint="like 128, or seq=128"
            )
        return cls(int(size), name)


SHORTEST_MAXIMUM = 3
"""A network is compared with itself at one token less, which must still be a sequence."""
LONGEST_MAXIMUM = 4095
"""Attention takes no more keys than this."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of `edgec.compile_model`.

    Attributes:
        shapes: input name to shape, for models with dynamic dimensions other than the batch.
        max_length: let each run choose the length of one dynamic dimension, up to a maximum.
        quant: post-training quantization.
        build: also build firmware (False: generate sources only).
        verify: run the generated code and compare every tensor with the numpy reference.
        force: replace generated files of an earlier compilation that were edited by hand.
        dump_ir: write the graph after each pass into this folder.
        budget: fail when the firmware takes more than this.
        pool: kernels of layers with pooled weights.
        rounding: whose rounding an integer .tflite file gets; None: TensorFlow Lite Micro's.
        app: the main program of the firmware.
        pixels: how the pixels that an MLPerf runner sends become the model's numbers; None: as the
            model's file says, or codes of a model of integers.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    quant: QuantOptions = QuantOptions()
    build: bool = True
    verify: bool = True
    force: bool = False
    dump_ir: Path | None = None
    budget: Budget | None = None
    pool: PoolKernelOptions = PoolKernelOptions()
    max_length: MaxLength | None = None
    rounding: Rounding | None = None
    app: App = App.CONSOLE
    pixels: Normalize | None = None


@dataclass(frozen=True, slots=True)
class WeightPoolOptions:
    """Options of weight-pool compression (`edgec compress`).

    Attributes:
        size: number of vectors in the pool, S.
        group: number of weights in a vector, G: 4, 8 or 16.
        layers: patterns (``*``, ``?``) of names of layers, weights or the model's nodes; what
            matches is pooled, the rest is not.  Empty: every layer for which it pays.
        signed: the second half of the pool is the negative of the first: an index then holds a
            sign, and only half of the responses have to be computed.
        rounds: times that assignments and pool are refined in turn.
        range_bits: width of activations for which the ranges of the ReLUs before pooled layers are
            chosen; 8 leaves them as they are.
        seed: seed of the clustering.
    """

    size: int = 64
    group: int = 8
    layers: tuple[str, ...] = ()
    signed: bool = False
    rounds: int = 3
    range_bits: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.size <= 1024 or (self.signed and self.size % 2):
            even = "even " if self.signed else ""
            raise ConfigError(
                f"a pool cannot have {self.size} vectors",
                where="--pool-size",
                hint=f"give an {even}number from 2 to 1024; 64 is usual"
                if even
                else "give a number from 2 to 1024; 64 is usual",
            )
        if self.group not in (4, 8, 16):
            raise ConfigError(
                f"a vector cannot have {self.group} weights",
                where="--group",
                hint="give 4, 8 or 16; 8 is usual",
            )
        if self.rounds < 1:
            raise ConfigError(f"{self.rounds} rounds are too few", hint="give 1 or more")
        if not 1 <= self.range_bits <= 8:
            raise ConfigError(f"{self.range_bits} bits of activations", hint="give 1 to 8")
