"""Cycles of single layers of many shapes beside a floor of the core, and those far above it.

    python benchmarks/shapes.py                                     # all, some 10 minutes a core
    python benchmarks/shapes.py --cores m4 m0plus --kinds depthwise1d --limit 6
    python benchmarks/shapes.py --arithmetic int16 16x8 tflm packed      # others than int8

Arithmetics: `int8`; `int16` activations; `16x8`, the same in the form of TensorFlow Lite's files;
`tflm`, the two roundings of TensorFlow Lite Micro; `packed`, weights of four bits.

The floor of a layer is the work of a plain arrangement by the tables of the core, with memory that
never waits (`Rates`); cycles are those of the same memory.  It is a yardstick and no proof: a
kernel that widens fewer operands falls below it.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import onnx
from shape_layers import KINDS, TRANSFORMER_KINDS, Shape, shapes_of
from shape_models import model_of
from shape_rounding import rounded_twice, sixteen_by_eight

from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.commands.compile import compile_model
from edgec.profile import profile
from edgec.target.board import load_board
from edgec.timing.types import MemoryMode

_LAYERS_A_BUILD = 12
_FAR = 2.5
"""Times its floor from which on a layer is named."""
_WORST = 10
_ARENA_PART = 3
"""Inputs and outputs of a build take at most a third of the arena that the board has room for."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Cycles of the work that layers need on a core, from its technical reference manual.

    Attributes:
        board: runs the layers.
        dense: of a multiply-accumulate of a layer whose inputs meet many filters.
        depthwise: of one whose inputs meet one filter.
        byte: of an element that is read and widened, where no filter but its own needs it.
        end: of an output: requantization, bounds and the store.
        why: where they come from.
    """

    board: str
    dense: float
    depthwise: float
    byte: float
    end: float
    why: str


RATES = {
    "m0plus": Rates(
        *("nucleo_g0b1re", 2.0, 2.0, 2.0, 8.0),
        "MULS 1 and ADDS 1; LDRSB 2; MULS, ADDS, ASRS, two compares, STRB 2",
    ),
    "m3": Rates(
        *("nucleo_f207zg", 2.0, 2.0, 1.0, 8.0),
        "MLA 2; LDRSB 1 after another load; SMULL 4, shift, ADD, SSAT, STRB",
    ),
    "m4": Rates(
        *("nucleo_l4r5zi", 1.06, 0.5, 1.0, 4.0),
        "dense: 4 rows by 2 filters in registers, for 32 products 6 LDR, 12 SXTB16, 16 SMLAD; "
        "depthwise: SMLAD; byte: a quarter of LDR, two SXTB16 and PKH; SMMLA, ASR, SSAT, STRB",
    ),
    "m7": Rates(
        *("nucleo_h7a3zi_q", 0.53, 0.5, 0.5, 2.0),
        "as the M4, two instructions a cycle, of them one multiplication",
    ),
    "m33": Rates(*("nucleo_u575zi_q", 1.06, 0.5, 1.0, 4.0), "as the M4"),
}
ARITHMETICS = ("int8", "int16", "16x8", "tflm", "packed")
WIDE = ("int16", "16x8")
FORMS = {"tflm": rounded_twice, "16x8": sixteen_by_eight}


@dataclass(frozen=True, slots=True)
class Row:
    """A layer on a core."""

    core: str
    arithmetic: str
    shape: Shape
    kernel: str
    cycles: int
    floor: float

    @property
    def times(self) -> float:
        """Cycles over the floor."""
        return self.cycles / self.floor

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        count, unit = (self.shape.macs, "MAC") if self.shape.macs else (self.shape.y, "element")
        return (
            *(self.core, self.arithmetic, self.shape.kind, str(self.shape), self.kernel),
            f"{self.cycles:,}",
            f"{self.cycles / count:.2f} a {unit}",
            f"{self.floor / count:.2f}",
            f"{self.times:.1f}",
        )


_COLUMNS = (*("core", "arithmetic", "kind", "layer", "kernel", "cycles", "rate", "floor", "times"),)


def floor_of(shape: Shape, rates: Rates) -> float:
    """Cycles that the layer takes at least, by the rates of a core."""
    own = shape.kind in ("depthwise1d", "depthwise2d")
    read = 0 if shape.macs and not own else shape.x_elements
    rate = rates.depthwise if own else rates.dense
    return shape.macs * rate + read * rates.byte + shape.y * rates.end


def measured(shapes: Sequence[Shape], core: str, arithmetic: str) -> Iterator[Row]:
    """Build and trace layers side by side; a batch that the board cannot hold is halved."""
    try:
        yield from _measured(shapes, core, arithmetic)
    except EdgecError as error:
        if len(shapes) == 1:
            print(f"{core}: {shapes[0]}: {error.what.splitlines()[0]}", flush=True)
            return
        half = len(shapes) // 2
        yield from measured(shapes[:half], core, arithmetic)
        yield from measured(shapes[half:], core, arithmetic)


def _measured(shapes: Sequence[Shape], core: str, arithmetic: str) -> list[Row]:
    rates = RATES[core]
    made, samples = model_of(shapes, arithmetic == "packed")
    options = CompileOptions(verify=False)
    if arithmetic in WIDE:
        options = replace(options, quant=QuantOptions(precision=Precision.INT16))
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "shapes.onnx", Path(name) / "out"
        onnx.save(made, path)
        form = FORMS.get(arithmetic)
        model = None if form is None else form(path, samples, options)
        compile_model(
            path, rates.board, calibration=samples, out=out, options=options, quantized=model
        )
        found = profile(out, memory=MemoryMode.IDEAL)
    cycles = [0] * len(shapes)
    kernels = [""] * len(shapes)
    for layer in found.layers:
        number = next((n for n in range(len(shapes)) if _is_of(n, layer.sources)), None)
        if number is not None:
            cycles[number] += layer.counts.cycles
            kernels[number] = kernels[number] or layer.kernel
    return [
        Row(core, arithmetic, shape, kernels[number], cycles[number], floor_of(shape, rates))
        for number, shape in enumerate(shapes)
        if cycles[number]
    ]


def is_transformer(shape: Shape) -> bool:
    """Whether the network of the layer is quantized as a transformer."""
    return shape.kind in TRANSFORMER_KINDS


def _is_of(number: int, sources: Sequence[str]) -> bool:
    """Whether a step computes one of the nodes of a layer."""
    name = f"layer_{number}"
    return any(source == name or source.startswith(f"{name}_") for source in sources)


def batches(shapes: Sequence[Shape], core: str, element_bytes: int) -> Iterator[list[Shape]]:
    """Layers that are built together."""
    arena = load_board(RATES[core].board).arena_limit_bytes
    room = None if arena is None else arena // _ARENA_PART
    batch: list[Shape] = []
    used = 0
    for shape in shapes:
        size = (shape.x_elements + shape.y) * element_bytes
        other = bool(batch) and is_transformer(batch[0]) != is_transformer(shape)
        full = other or (room is not None and used + size > room)
        if batch and (full or len(batch) == _LAYERS_A_BUILD):
            yield batch
            batch, used = [], 0
        batch.append(shape)
        used += size
    if batch:
        yield batch


def table(rows: Sequence[Row]) -> str:
    """Rows of Markdown."""
    cells = [_COLUMNS, ("---",) * 5 + ("---:",) * 4, *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(each)} |" for each in cells)


def worst(rows: Sequence[Row]) -> list[Row]:
    """The layers farthest above their floor, each on the core where it is worst."""
    found: dict[Shape, Row] = {}
    for row in sorted(rows, key=lambda row: -row.times):
        found.setdefault(row.shape, row)
    return list(found.values())[:_WORST]


def main() -> None:
    """Parse the command line, measure, print what is far above its floor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", nargs="+", choices=RATES, default=list(RATES))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--limit", type=int, help="most layers of a kind, spread over its list")
    parser.add_argument("--arithmetic", nargs="+", choices=ARITHMETICS, default=["int8"])
    parser.add_argument("--all", action="store_true", help="print every layer")
    arguments = parser.parse_args()
    if arguments.limit is not None and arguments.limit < 1:
        parser.error(f"--limit takes 1 or more, not {arguments.limit}")
    logging.basicConfig(level=logging.ERROR)
    shapes = shapes_of(arguments.kinds, arguments.limit)
    print("| core | arithmetic | kind | layers | median times floor | worst | over 2.5 |")
    print("|---|---|---|---:|---:|---:|---:|")
    rows: list[Row] = []
    for core in arguments.cores:
        for arithmetic in arguments.arithmetic:
            size = 2 if arithmetic in WIDE else 1
            own: list[Row] = []
            for batch in batches(shapes, core, size):
                own += measured(batch, core, arithmetic)
            for kind in arguments.kinds:
                times = sorted(row.times for row in own if row.shape.kind == kind)
                if times:
                    far = sum(each > _FAR for each in times)
                    middle = times[len(times) // 2]
                    print(
                        f"| {core} | {arithmetic} | {kind} | {len(times)} | {middle:.1f} | "
                        f"{times[-1]:.1f} | {far} |",
                        flush=True,
                    )
            rows += own
    rows.sort(key=lambda row: -row.times)
    far_rows = [row for row in rows if row.times > _FAR]
    print(f"\n{len(far_rows)} of {len(rows)} layers take more than {_FAR} times their floor")
    print(table(rows if arguments.all else worst(far_rows)))
    for core in arguments.cores:
        print(f"floor of {core}: {RATES[core].why}")


if __name__ == "__main__":
    main()
