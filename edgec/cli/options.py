"""Options that commands share, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.options import (
    App,
    Effort,
    MaxLength,
    Observer,
    Optimize,
    Placement,
    PoolKernelOptions,
    Precision,
    QuantSettings,
    Residual,
)
from edgec.base.rounding import Rounding
from edgec.cli.help import INPUT, OUTPUT, POOLS, QUANTIZATION, TRANSFORMERS, show_all
from edgec.cli.values import board_names

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Float or quantized model: .onnx or .tflite.", rich_help_panel=INPUT
    ),
]
BoardOption = Annotated[
    str,
    typer.Option(
        "--board",
        metavar="BOARD",
        help="Board name (edgec boards) or a board's .toml file.",
        autocompletion=board_names,
        rich_help_panel=INPUT,
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by edgec compile.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel=OUTPUT)
]
STDIN = Path("-")
"""The input that stands for what is piped into a command."""
OUT = ("-o", "--out", "--output")
"""The names of the option for what a command writes, alike in all commands."""
Run = Annotated[
    bool,
    typer.Option(
        "--run",
        help="Build and run what a project or board file of another user names.",
        rich_help_panel=INPUT,
    ),
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Show everything, and log what is done.")
]
HelpAll = Annotated[
    bool,
    typer.Option("--help-all", is_eager=True, callback=show_all, help="Show all options and exit."),
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="host|emulator|device",
        help="host: the C, compiled for this computer; emulator: firmware.elf itself; device: the "
        "board that is plugged in and holds this build (edgec flash).",
    ),
]
PortOption = Annotated[
    str | None,
    typer.Option(
        "--port",
        metavar="PORT|URL",
        help="With --on device: the board's serial port, like /dev/ttyACM0, COM3 or "
        "socket://localhost:4000 (default: that of the one board that is plugged in).",
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape",
        metavar="NAME=1,3,32,32",
        help="Shape of an input with dynamic dimensions.",
        rich_help_panel=INPUT,
    ),
]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="IN=OUT|none",
        help="Keep the output OUT from run to run: input IN takes it in the next one. Once for "
        "each pair (default: pairs that names say, like h0 and hn); none: keep nothing.",
        rich_help_panel=INPUT,
    ),
]
ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="NAME=16000",
        help="Fix an input to a number, or to one for each element of its last axis (1,0,2.5): a "
        "sample rate that chooses between branches. The network then has no such input.",
        rich_help_panel=INPUT,
    ),
]
MaxLengthOption = Annotated[
    str | None,
    typer.Option(
        "--max-length",
        metavar="[NAME=]128",
        help="For transformers and recurrent networks: let each run choose the length of the "
        "dynamic dimension NAME, up to this maximum (NAME is not needed if there is only one). "
        "Shorter runs take less time. In C: edgec_<model>_run_length.",
        rich_help_panel=TRANSFORMERS,
    ),
]
DEFAULTS = QuantSettings()
ObserverOption = Annotated[
    Observer | None,
    typer.Option(
        help="How activation ranges are chosen from calibration data; not for transformers "
        f"(default: {DEFAULTS.observer.value}).",
        rich_help_panel=QUANTIZATION,
    ),
]
Percentile = Annotated[
    float | None,
    typer.Option(
        help="For --observer percentile: percentage of the values that a range must hold "
        f"(default: {DEFAULTS.percentile}).",
        rich_help_panel=QUANTIZATION,
    ),
]
Equalize = Annotated[
    bool | None,
    typer.Option(
        "--equalize/--no-equalize",
        help="Scale channels between layers where it pays; not for transformers "
        "(default: if calibration data are given).",
        rich_help_panel=QUANTIZATION,
    ),
]
BiasCorrection = Annotated[
    bool | None,
    typer.Option(
        "--bias-correction/--no-bias-correction",
        help="Correct each layer's mean output error (default: if calibration data are given).",
        rich_help_panel=QUANTIZATION,
    ),
]
ResidualOption = Annotated[
    Residual | None,
    typer.Option(
        "--residual",
        help="For transformers: element type of the residual stream. int8 takes half the memory of "
        f"int16 and costs accuracy (default: {DEFAULTS.residual.value}).",
        rich_help_panel=TRANSFORMERS,
    ),
]
EffortOption = Annotated[
    Effort | None,
    typer.Option(
        "--effort",
        help="How integer weights are found. fast: each rounded to the nearest. normal, best: by "
        "the error of what their layer computes, on up to 64 or 256 samples (default: "
        f"{DEFAULTS.effort.value}, from 16 calibration samples on).",
        rich_help_panel=QUANTIZATION,
    ),
]
PrecisionOption = Annotated[
    Precision | None,
    typer.Option(
        "--precision",
        help="Element type of activations. auto: int16 for the fewest tensors that --target-db "
        f"or --max-drop asks for (default: {DEFAULTS.precision.value}).",
        rich_help_panel=QUANTIZATION,
    ),
]
Int16Option = Annotated[
    list[str] | None,
    typer.Option(
        "--int16",
        metavar="TENSOR",
        help="For --precision auto: a tensor with int16 codes, once for each; others are int8.",
        rich_help_panel=QUANTIZATION,
    ),
]
WeightBitsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight-bits",
        metavar="LAYER=BITS",
        help="Give the weights of a layer 4, 3 or 2 bits, ternary, or pool64 (a pool of 64 "
        "vectors): a name or a pattern, repeatable. Chosen by the error of the layer's output.",
        rich_help_panel=QUANTIZATION,
    ),
]
FitOption = Annotated[
    str | None,
    typer.Option(
        "--fit",
        metavar="flash=64K,ram=32K,ms=20[,drop=0.5][,db=30]",
        help="Choose precision, rows, placement and code for the least noise within these limits.",
        rich_help_panel=OUTPUT,
    ),
]
TargetDb = Annotated[
    float | None,
    typer.Option(
        "--target-db",
        help="For --precision auto: signal to noise ratio in dB that every output must have on the "
        f"calibration data (default: {DEFAULTS.target_db:g}, without --max-drop).",
        rich_help_panel=QUANTIZATION,
    ),
]
RoundingOption = Annotated[
    Rounding | None,
    typer.Option(
        "--rounding",
        help="For integer .tflite files. tflm: as TensorFlow Lite Micro. edgec: one rounding "
        f"a layer, a little faster (default: {Rounding.TFLM.value}).",
        rich_help_panel=QUANTIZATION,
    ),
]
AppOption = Annotated[
    App,
    typer.Option(
        "--app",
        help="Main program of the firmware. console: what edgec run --on device and a terminal "
        "talk to; mlperf: what the runner of MLPerf Tiny talks to; mlperf-energy: the same with "
        "time stamps by a pin (docs/mlperf.md).",
        rich_help_panel=OUTPUT,
    ),
]
PlacementOption = Annotated[
    Placement | None,
    typer.Option(
        "--placement",
        help="Where weights lie. flash: in flash; sram: all in RAM, copied at start-up; auto: in "
        "RAM those that flash makes the core wait for, in three quarters of the RAM that is free "
        "(default: auto on boards with tightly coupled memory, flash on others).",
        rich_help_panel=OUTPUT,
    ),
]
OptimizeOption = Annotated[
    Optimize,
    typer.Option(
        "--optimize",
        help="What the generated library and its compiler prefer. size: layers share functions; "
        "up to 42 % less code for up to 8 % more time with MLPerf Tiny's networks. balanced: "
        "layers share loops, but not products; up to 21 % less code, up to 3 % more time.",
        rich_help_panel=OUTPUT,
    ),
]
MainOption = Annotated[
    Path | None,
    typer.Option(
        "--main",
        metavar="FILE.c",
        help="Your own main program in place of the console's: a C file, or a folder of them "
        "(docs/projects.md).",
        rich_help_panel=OUTPUT,
    ),
]
MemoryOption = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="flash|sram|ideal",
        help="Where code and weights are assumed to be. flash: as on the board; sram: in RAM; "
        "ideal: in memory without wait states.",
    ),
]
POOL_DEFAULTS = PoolKernelOptions()
ActivationBits = Annotated[
    str,
    typer.Option(
        "--activation-bits",
        metavar="1..8|auto",
        help="Bits of an activation that layers with pooled weights use; fewer are faster. auto: "
        "for each layer as few as the calibration data allow.",
        rich_help_panel=POOLS,
    ),
]
MaxDrop = Annotated[
    float | None,
    typer.Option(
        "--max-drop",
        help="Percentage points of decisions that may change on the calibration data. For "
        "--precision auto, in place of --target-db: against the float model. For --activation-bits "
        f"auto: against 8 bits (default: {POOL_DEFAULTS.max_drop}).",
        rich_help_panel=QUANTIZATION,
    ),
]
RuntimeBits = Annotated[
    bool,
    typer.Option(
        "--runtime-bits",
        help="Let the width of activations be lowered while the firmware runs. In C: "
        "edgec_<model>_set_activation_bits.",
        rich_help_panel=POOLS,
    ),
]
PoolKernels = Annotated[
    list[str] | None,
    typer.Option(
        "--pool-kernel",
        metavar="[PATTERN=]KERNEL",
        help="Kernel of the layers with pooled weights whose name matches PATTERN (without "
        "PATTERN: of all): responses, direct, decode or expand. Repeatable; the last match holds. "
        "Default: the one that edgec estimates to be the fastest.",
        rich_help_panel=POOLS,
    ),
]
PoolTable = Annotated[
    str | None,
    typer.Option(
        "--pool-table",
        metavar="32K",
        help="Table space: the most SRAM that a layer with pooled weights may work in (its table "
        "of responses, list and sums, or its decoded filters). Default: as much as fits.",
        rich_help_panel=POOLS,
    ),
]


NormalizeOption = Annotated[
    str | None,
    typer.Option(
        "--normalize",
        metavar="scale=1/255[,mean=...,std=...]",
        help="How pixels of 0 to 255, or recordings of -1 to 1, become the model's numbers: "
        "(v * scale - mean) / std; several means and deviations are separated by colons.",
        rich_help_panel=INPUT,
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Text file with the name of a class on each line (default: those that the model file "
        "has).",
        rich_help_panel=OUTPUT,
    ),
]
VIEWS_HELP = (
    "Ways in which the images are varied, in turn from epoch to epoch: the teacher is asked once "
    "for each, which is faster with a large one (default: anew in each epoch)."
)
RENEW_HELP = (
    "With --views: draw one of them anew each time that all have been seen, so that images never "
    "stop changing, and ask the teacher for it."
)
DATA_FORMATS = ".npz, .npy, .csv, .wav, or a folder of images or recordings (docs/samples.md)."


def check_port(port: str | None, on: str) -> None:
    """Refuse a serial port where nothing is run on a board."""
    refuse_without_effect(
        [
            Effect(
                "--port",
                port is not None,
                on == "device",
                f"on {on} no port is used",
                "add --on device",
            )
        ]
    )


def port_words(port: str | None) -> tuple[str, ...]:
    """The option that names a serial port, for the next command."""
    return () if port is None else ("--port", port)


def max_length_of(text: str | None) -> MaxLength | None:
    """The maximum that a text like `128` or `NAME=128` says."""
    return None if text is None else MaxLength.parse(text)
