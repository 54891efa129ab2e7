"""Prices of the parts of a camera's frame: fitted on some frames, judged on others.

    python benchmarks/camera_prices.py fit       # all cores: writes choice/prices.toml
    python benchmarks/camera_prices.py judge     # estimates beside cycles, of other frames

Firmware of many frames at once is built and run in the emulator on noise.  A price is what a run of
a part takes with memory that never waits, as in choice_prices.py; the judge has the flash of the
board, and none of the frames of the fit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from built import firmware_of
from choice_prices import BOARDS, Way, fit, write
from profile_networks import OPTIONS

from edgec.base.camera import BIG, CameraForm, middle
from edgec.base.dtypes import DType
from edgec.commands.compile_facts import placement_report, share_of
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.parts import Run
from edgec.kernels.select import select_kernels
from edgec.lower.placed import lowered
from edgec.profile.pricing import Pricer
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.timing.core import core_model

_FAMILY = "frame"
_CORES = [core for core in BOARDS if core.startswith("m")]
Case = tuple[str, int, int, int, int, int, str]
"""Pixels, columns and rows of the frame, those of the image, its channels, how it is resized."""
_FORMATS = ("gray", "rgb888", "rgb565", "yuyv")


def _training() -> list[Case]:
    found: list[Case] = []
    for pixels in _FORMATS:
        channels = 1 if pixels == "gray" else 3
        for width, height, to in ((40, 30, 12), (24, 24, 12), (24, 24, 20)):
            found.append((pixels, width, height, to, to, channels, "nearest"))
        sizes = (
            (40, 30, 12),
            (36, 36, 12),
            (32, 32, 24),
            (48, 32, 16),
            (30, 24, 19),
            (46, 34, 11),
            (24, 24, 15),
            (36, 36, 21),
        )
        for width, height, to in sizes:
            found.append((pixels, width, height, to, to, channels, "area"))
        found.append((pixels, 34, 34, 23, 23, channels, "area"))
    found += [
        ("rgb565", 40, 30, 12, 12, 1, "area"),
        ("rgb888", 32, 32, 16, 16, 1, "nearest"),
        ("yuyv", 40, 30, 15, 15, 1, "area"),
        ("gray", 30, 30, 20, 20, 3, "area"),
    ]
    return found


TRAINING = _training()
JUDGED: list[Case] = [
    ("rgb565", 100, 80, 32, 32, 3, "area"),
    ("rgb565", 100, 80, 48, 48, 3, "nearest"),
    ("rgb888", 72, 72, 24, 24, 3, "area"),
    ("gray", 160, 120, 96, 96, 1, "area"),
    ("uyvy", 80, 60, 48, 48, 3, "area"),
    ("yuyv", 80, 60, 28, 28, 1, "area"),
    ("rgb565", 80, 60, 28, 28, 1, "area"),
    ("bgr888", 64, 64, 28, 28, 3, "area"),
    ("gray", 80, 60, 32, 32, 1, "nearest"),
]
"""Frames that no price is fitted to."""


def graph_of(cases: Sequence[Case]) -> Graph:
    """Frames side by side, int8 [1, bytes], each with its image [1, rows, columns, channels]."""
    builder, rng = GraphBuilder("frames"), np.random.default_rng(3)
    quant = QuantParams.per_tensor(1.0, 0, DType.INT8)
    for at, (pixels, width, height, to_width, to_height, channels, method) in enumerate(cases):
        crop = middle(height, width, to_height, to_width)
        form = CameraForm(height, width, pixels, BIG, crop)
        x = builder.value(Value(f"x{at}", (1, form.frame_bytes), DType.INT8, quant))
        codes = rng.integers(-128, 128, (channels, 256)).astype(np.int8)
        table = builder.constant(f"codes{at}", codes)
        shape = (1, to_height, to_width, channels)
        y = builder.value(Value(f"y{at}", shape, DType.INT8, quant))
        attrs = qops.QFrame(form, *shape[1:], method)
        builder.node(y, attrs, qops.QFrame.Inputs(x, table), (y,))
        builder.inputs.append(x)
        builder.outputs.append(y)
    return builder.build()


def measured(cases: Sequence[Case], core: str) -> list[Way]:
    """What the kernels of some frames take on a core, in the order of the frames."""
    board, graph = load_board(BOARDS[core]), graph_of(cases)
    target = Target.of(board)
    choices = select_kernels(graph, target)
    share = share_of(OPTIONS, board)
    made = lowered(graph, choices, board, share)
    rng = np.random.default_rng(1)
    frames = [rng.integers(-128, 128, graph.shape(name)).astype(np.int8) for name in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(made.program, board, Path(name), placement_report(made, share, board))
        pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
        calls = [call.step for call in made.program.calls()]
        run = trace_inference(elf, board, frames, calls=calls, pace=pricer.pace)
    kernels = [made.program.kernels[step.kernel] for step in made.program.steps]
    estimator, ways = Estimator.of(target), []
    for place, kernel in enumerate(kernels):
        if kernel.spec.family != _FAMILY:
            continue
        counts = pricer.price(run.trace.segments[place]).total
        choice = next(each for each in choices if each.spec == kernel.spec)
        parts = choice.family.parts(kernel.spec, Run(estimator.form))
        assert parts is not None
        estimate = estimator.cycles(choice.family, kernel.spec) or 0.0
        numbers = {part: n for part, n in parts.counts.items() if n}
        ways.append(Way(_FAMILY, numbers, counts.cycles, counts.ideal_cycles, estimate))
    return ways


def _judge(cores: Sequence[str]) -> None:
    print("| frame | image | core | estimate | cycles | error |\n|---|---|---|---:|---:|---:|")
    worst = 0.0
    for core in cores:
        for case, way in zip(JUDGED, measured(JUDGED, core), strict=True):
            error = way.estimate / way.cycles - 1
            worst = max(worst, abs(error))
            pixels, width, height, to_width, to_height, channels, method = case
            image = f"{to_width} x {to_height} x {channels}, {method}"
            cells = f"{way.estimate:,.0f} | {way.cycles:,} | {error:+.1%}"
            print(f"| {pixels} {width} x {height} | {image} | {core} | {cells} |", flush=True)
    print(f"\nthe largest error is {worst:.1%}")


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fit", "judge"])
    parser.add_argument("cores", nargs="*", default=_CORES, help=f"of {', '.join(_CORES)}")
    args = parser.parse_args()
    if args.what == "judge":
        _judge(args.cores)
        return
    for core in args.cores:
        ways = measured(TRAINING, core)
        prices = fit(ways)
        write({load_board(BOARDS[core]).core.price_key: prices})
        found = prices[_FAMILY]
        sums = [sum(found[part] * n for part, n in way.counts.items()) for way in ways]
        gaps = [abs(n / way.ideal - 1) for n, way in zip(sums, ways, strict=True)]
        print(f"{core}: {np.median(gaps):.1%} in the median, {max(gaps):.1%} at most", flush=True)


if __name__ == "__main__":
    main()
