"""Options of a compilation as a whole."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.options.few_bits import LayerBits
from edgec.base.options.front_end import IMAGE, FrontEndOptions
from edgec.base.options.pools import PoolKernelOptions
from edgec.base.options.quant import QuantOptions
from edgec.base.options.sizes import Budget
from edgec.base.options.stream import StreamOptions
from edgec.base.options.tuned import TunedKernels
from edgec.base.rounding import Rounding

if TYPE_CHECKING:
    from edgec.base.samples import Normalize


class App(enum.Enum):
    """The main program of the firmware.

    CONSOLE serves what `edgec run --on device` and the other commands ask for; MLPERF and
    MLPERF_ENERGY serve the runner of MLPerf Tiny.
    """

    CONSOLE = "console"
    MLPERF = "mlperf"
    MLPERF_ENERGY = "mlperf-energy"


class Placement(enum.Enum):
    """Placement of a model's constants while firmware runs.

    FLASH leaves them in flash.  SRAM copies all of them to RAM when the firmware starts.  AUTO
    copies those that flash makes the core wait for, in a part of the RAM that nothing else needs.
    """

    AUTO = "auto"
    FLASH = "flash"
    SRAM = "sram"


class Rows(enum.Enum):
    """Layers that compute a few rows at a time, which keeps a few rows of most tensors in memory.

    AUTO takes them where the arena does not fit the board otherwise; ALWAYS makes the arena as
    small as they can; NEVER computes each layer as a whole.
    """

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class Optimize(enum.Enum):
    """Preference between speed and code size, in generated C and in the compiler's flags.

    SPEED takes the fastest code; BALANCED lets layers share the loops around their products; SIZE
    lets them share the products as well, and takes the smallest machine code for all of it.
    """

    SIZE = "size"
    BALANCED = "balanced"
    SPEED = "speed"


SHORTEST_MAXIMUM = 3
"""A network is compared with itself at one token less, which must still be a sequence."""
LONGEST_MAXIMUM = 4095
"""Attention takes no more keys than this."""


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


@dataclass(frozen=True, slots=True)
class StatePairs:
    """Inputs of a model that take what an output gave in the run before.

    Attributes:
        pairs: output by input.
        automatic: names say which they are.
    """

    pairs: Mapping[str, str] = field(default_factory=dict)
    automatic: bool = True

    @classmethod
    def parse(cls, texts: Sequence[str]) -> StatePairs:
        """Pairs like ``h0=hn``, or ``none`` alone; nothing: names say it.

        Raises:
            ConfigError: not of that form.
        """
        if not texts:
            return cls()
        if list(texts) == ["none"]:
            return cls({}, automatic=False)
        pairs: dict[str, str] = {}
        for text in texts:
            source, separator, target = text.partition("=")
            if not (source and separator and target) or source in pairs:
                raise ConfigError(
                    f"cannot read {text[:60]!r}",
                    where="--state",
                    hint="like --state h0=hn, once for each input; or --state none",
                )
            pairs[source] = target
        return cls(pairs, automatic=False)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of the way from a model file to a real graph.

    Attributes:
        shapes: input name to shape, for models with dynamic dimensions other than the batch.
        state: inputs and outputs that are kept from run to run.
        values: numbers that inputs of an ONNX model are fixed to, by name: one for all elements,
            or as many as the last axis has.
        max_length: let each run choose the length of one dynamic dimension, up to a maximum.
        rounding: whose rounding an integer .tflite file gets; None: TensorFlow Lite Micro's.
        dump_ir: write the graph after each pass into this folder.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    state: StatePairs = field(default_factory=StatePairs)
    values: Mapping[str, tuple[int | float, ...]] = field(default_factory=dict)
    max_length: MaxLength | None = None
    rounding: Rounding | None = None
    dump_ir: Path | None = None


@dataclass(frozen=True, slots=True)
class IntegerOptions(ModelOptions):
    """Options of the way from a model file to an integer graph.

    Attributes:
        quant: post-training quantization.
        weight_bits: layers whose weights get few bits, or are in a pool; of several that name a
            layer the last holds.
    """

    quant: QuantOptions = field(default_factory=QuantOptions)
    weight_bits: tuple[LayerBits, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileOptions(IntegerOptions):
    """Options of `edgec.compile_model`: those of the integer graph, and those of the firmware.

    Attributes:
        build: also build firmware (False: generate sources only).
        verify: run the generated code and compare every tensor with the numpy reference.
        force: replace generated files of an earlier compilation that were edited by hand.
        budget: fail when the firmware takes more than this.
        pool: kernels of layers with pooled weights.
        labels: text file with the names of the classes; None: those that the model's file has.
        app: the main program of the firmware.
        main: the user's own main program, a C file or a folder of them, in place of the console's.
        placement: where constants lie; None: AUTO on boards with tightly coupled memory, FLASH on
            all others.
        optimize: what the generated library and the compiler of the firmware prefer.
        rows: layers that compute a few rows at a time.
        input_rows: the caller hands the input over by rows, so that no whole image is in memory.
        input_passes: times that the caller can hand the rows of one image over, 1 or more.
        pixels: how pixels become the model's numbers, for a function of the C library, and those
            that an MLPerf runner sends; None: as images of calibration were normalized (library),
            as the model's file says, or codes of a model of integers.
        stream: make a network with a window of time one that runs frame by frame.
        front_end: features of sound that are computed before the network; None: none.
        tuned: kernels of layers as they were measured; None: all by estimates.
    """

    build: bool = True
    verify: bool = True
    force: bool = False
    budget: Budget | None = None
    pool: PoolKernelOptions = field(default_factory=PoolKernelOptions)
    labels: Path | None = None
    app: App = App.CONSOLE
    pixels: Normalize | None = None
    main: Path | None = None
    placement: Placement | None = None
    optimize: Optimize = Optimize.SPEED
    rows: Rows = Rows.AUTO
    input_rows: bool = False
    input_passes: int = 1
    stream: StreamOptions | None = None
    front_end: FrontEndOptions | None = None
    tuned: TunedKernels | None = None

    def __post_init__(self) -> None:
        refuse_without_effect(
            [
                Effect(
                    "--main",
                    self.main is not None,
                    self.app is App.CONSOLE,
                    "takes the place of the console's main program",
                    "leave out --main or --app",
                ),
                Effect(
                    "--input-rows",
                    self.input_rows,
                    self.rows is not Rows.NEVER,
                    "lets the first layers compute a few rows at a time",
                    "leave out --input-rows or --rows never",
                ),
                Effect(
                    "--input-rows",
                    self.input_rows,
                    self.front_end is None,
                    "takes rows of the model's own image, not what a front end takes",
                    "leave out --input-rows or --front-end",
                ),
                Effect(
                    "--input-rows",
                    self.input_rows,
                    self.app is App.CONSOLE,
                    "is not what MLPerf's runner asks for: it sends whole inputs",
                    "leave out --input-rows or --app",
                ),
                Effect(
                    "--input-passes",
                    self.input_passes != 1,
                    self.input_rows and self.rows is Rows.AUTO,
                    "lets patches of an image that comes by rows keep a limit of memory",
                    "give --input-rows, without --rows, or leave out --input-passes",
                ),
                Effect(
                    "--stream",
                    self.stream is not None,
                    self.max_length is None,
                    "takes frames of a window of one length",
                    "leave out --stream or --max-length",
                ),
                Effect(
                    "--pixels",
                    self.pixels is not None,
                    self.front_end is None or self.front_end.name != IMAGE,
                    "is said by the camera's front end: scale, mean and std",
                    "leave out --pixels, and give them to --front-end image",
                ),
                Effect(
                    "--stream",
                    self.stream is not None,
                    self.front_end is None or self.front_end.name != IMAGE,
                    "takes frames of a window; a camera gives whole images",
                    "leave out --stream or --front-end",
                ),
                Effect(
                    "--front-end",
                    self.front_end is not None,
                    self.max_length is None and self.app is App.CONSOLE,
                    "takes input of one length, which MLPerf's runner does not send",
                    "leave out --front-end, or --max-length and --app",
                ),
                Effect(
                    "--stream",
                    self.stream is not None,
                    self.app is App.CONSOLE,
                    "is not what MLPerf's runner asks for: it sends whole inputs, or sound (sww01)",
                    "leave out --stream or --app",
                ),
            ]
        )
