"""Options that commands share, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.base.errors import ConfigError
from edgec.base.options import MaxLength, Observer, PoolKernelOptions, QuantSettings, Residual

Model = Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="Float or QDQ int8 ONNX model.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by edgec compile.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
On = Annotated[
    str, typer.Option("--on", help="host: the same C, native; emulator: the very firmware.elf.")
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape", metavar="NAME=1,3,32,32", help="Shape of an input with dynamic dimensions."
    ),
]
MaxLengthOption = Annotated[
    str | None,
    typer.Option(
        "--max-length",
        metavar="[NAME=]128",
        help="For transformers: let each run choose the length of the dynamic dimension NAME (of "
        "the only one), up to this: edgec_<model>_run_length. Time goes with the length.",
    ),
]
DEFAULTS = QuantSettings()
ObserverOption = Annotated[
    Observer | None,
    typer.Option(
        help="How activation ranges are chosen from calibration data; not for transformers "
        f"[default: {DEFAULTS.observer.value}]."
    ),
]
Percentile = Annotated[
    float | None,
    typer.Option(
        help=f"For --observer percentile: kept share in percent [default: {DEFAULTS.percentile}]."
    ),
]
Equalize = Annotated[
    bool | None,
    typer.Option(
        "--equalize/--no-equalize",
        help="Cross-layer equalization of weights; not for transformers [default: no].",
    ),
]
BiasCorrection = Annotated[
    bool | None,
    typer.Option(
        "--bias-correction/--no-bias-correction",
        help="Correct each layer's mean output error [default: where there are calibration data].",
    ),
]
ResidualOption = Annotated[
    Residual | None,
    typer.Option(
        "--residual",
        help="For transformers: element type of the residual stream. int8 takes half the memory of "
        f"int16 and costs accuracy [default: {DEFAULTS.residual.value}].",
    ),
]
MemoryOption = Annotated[
    str,
    typer.Option(
        "--memory",
        help="flash: as the board runs it; sram: code and weights in RAM; ideal: no wait states.",
    ),
]
POOL_DEFAULTS = PoolKernelOptions()
ActivationBits = Annotated[
    str,
    typer.Option(
        "--activation-bits",
        metavar="1..8|auto",
        help="Bits that layers with pooled weights see of an activation; fewer are faster. auto: "
        "per layer, as few as --calibration data allow.",
    ),
]
MaxDrop = Annotated[
    float | None,
    typer.Option(
        "--max-drop",
        help="For --activation-bits auto: percentage points of equal decisions that may be lost "
        f"[default: {POOL_DEFAULTS.max_drop}].",
    ),
]
RuntimeBits = Annotated[
    bool,
    typer.Option(
        "--runtime-bits",
        help="The width can be lowered while the firmware runs: edgec_<model>_set_activation_bits.",
    ),
]
PoolKernels = Annotated[
    list[str] | None,
    typer.Option(
        "--pool-kernel",
        metavar="[PATTERN=]KERNEL",
        help="Kernel of layers with pooled weights: responses, direct, decode or expand; of all, "
        "or of those that PATTERN matches. Repeatable, the last match holds. Default: planned.",
    ),
]
PoolTable = Annotated[
    str | None,
    typer.Option(
        "--pool-table",
        metavar="32K",
        help="Table space: most SRAM that a layer with pooled weights works in (its table of "
        "responses, list and sums, or decoded filters). Default: as much as fits.",
    ),
]


def max_length_of(text: str | None) -> MaxLength | None:
    """`[NAME=]128` as a maximum."""
    return None if text is None else MaxLength.parse(text)


def shapes_of(texts: list[str] | None) -> dict[str, tuple[int, ...]]:
    """`NAME=1,3,32,32` options as a mapping."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts or []:
        name, separator, sizes = text.rpartition("=")
        try:
            shape = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            shape = ()
        if not separator or not name or not shape or min(shape) < 1:
            raise ConfigError(
                f"cannot read the shape {text!r}", where="--shape", hint="like --shape x=1,3,32,32"
            )
        shapes[name] = shape
    return shapes
