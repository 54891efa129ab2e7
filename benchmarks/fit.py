"""`compile --fit` on networks and boards: prediction beside build, and beside random choices.

    python benchmarks/fit.py                                     # examples, four boards
    python benchmarks/fit.py --data-dir FOLDER --networks resnet8 dscnn --boards nucleo_f446re
    python benchmarks/fit.py --data-dir FOLDER --networks mobilenetv2_cifar10   # of networks/

The limit of time lies between the int8 and the int16 build: `--tight` of the way; RAM is that of
the larger one and 2 %, and flash has room.  Random choices (200) have each tensor int16 with a
chance of their own.  The noise of all of them that are within the limits by prices is measured, and
the best one is built, too.  Seconds are of the processor, of this process and of those that it
starts: two cores share them in part.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from public_data import TASKS, Task, normalised

from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions, FitLimits
from edgec.fit.program.problem import Figures
from edgec.fit.search import Point, Search
from edgec.ir.graph import Graph
from edgec.target.board import load_board
from edgec.workflow.integer import real_model

BOARDS = ("nucleo_g0b1re", "nucleo_f446re", "nucleo_f767zi", "nucleo_u575zi_q")
"""M0+, M4, M7, M33."""
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NETWORKS = EXAMPLES.parent / "networks"
_RANDOM = 200
_SAMPLES = 64


def network(name: str, options: argparse.Namespace) -> tuple[Path, Mapping[str, np.ndarray]]:
    """File and calibration samples of a network."""
    if name.startswith("digits"):
        with np.load(EXAMPLES / "digits_calibration.npz") as data:
            return EXAMPLES / f"{name}.onnx", {key: data[key] for key in data.files}
    folder = chosen_data_folder(options)
    own = NETWORKS / f"{name}.onnx"
    task = Task(own.name, normalised) if own.exists() else TASKS[name]
    path = own if own.exists() else folder / "models" / task.model
    graph: Graph = real_model(path, None, CompileOptions()).imported
    (only,) = graph.inputs
    return path, {only: task.data(folder, "calibration").x[:_SAMPLES]}


def seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def shown(figures: Figures | None, measured: Figures) -> str:
    """Prediction of a build, and by how much it is off."""
    if figures is None:
        return "built first"
    parts = [
        f"{name} {getattr(figures, key) / getattr(measured, key) - 1:+.1%}"
        for name, key in (("cycles", "cycles"), ("flash", "flash_bytes"), ("RAM", "ram_bytes"))
    ]
    return ", ".join(parts) + f", {figures.decibels - measured.decibels:+.1f} dB"


def limits_of(
    path: Path, board_name: str, samples: Mapping[str, np.ndarray], tight: float
) -> FitLimits:
    """Limits between the int8 and the int16 build of a network on a board.

    Args:
        path: the model.
        board_name: the board.
        samples: calibration data.
        tight: where the limit of time lies between the two, 0 to 1.
    """
    board = load_board(board_name)
    search = Search(path, board, samples, CompileOptions(), FitLimits.parse("ms=1000000"))
    tensors = search.pricing.tensors
    ends = [search.built(Point(search.settings[0], each)).figures for each in ((), tensors)]
    cycles = ends[0].cycles + tight * (ends[1].cycles - ends[0].cycles)
    return FitLimits(
        # More than a tenth is left, where code need not be small.
        flash_bytes=int(1.15 * max(each.flash_bytes for each in ends)),
        ram_bytes=int(1.02 * max(each.ram_bytes for each in ends)),
        time_ms=cycles * 1e3 / board.clock_hz,
    )


def line(name: str, board_name: str, options: argparse.Namespace) -> None:
    """Fit a network to a board, and hold random choices against the result."""
    path, samples = network(name, options)
    board = load_board(board_name)
    limits = limits_of(path, board_name, samples, options.tight)
    start = seconds()
    search = Search(path, board, samples, CompileOptions(), limits)
    found = search.run()
    taken = seconds() - start
    measured = found.measured
    print(
        f"{name} on {board_name}: {measured.cycles:,.0f} of {search.bounds.cycles:,.0f} cycles, "
        f"{measured.flash_bytes:,.0f} bytes, {measured.decibels:.1f} dB, "
        f"{len(found.point.int16)} of {found.tensors} int16; off: "
        f"{shown(found.predicted, measured)}; {found.builds} builds, {taken:.0f} s",
        flush=True,
    )
    start = seconds()
    search.best(search.bounds, search.aim)
    solved = seconds() - start
    dice, fitting, unpriced = random.Random(1), list[Point](), 0
    problems = {each: search.pricing.problem(each) for each in search.settings}
    for _ in range(_RANDOM):
        chance, setting = dice.random(), dice.choice(search.settings)
        int16 = tuple(each for each in search.pricing.tensors if dice.random() < chance)
        figures = problems[setting].figures(int16)
        unpriced += figures is None
        if figures is not None and replace(figures, noise=0.0).excess(search.bounds) <= 0.0:
            fitting.append(Point(setting, int16))
    print(f"    solved in {solved:.1f} s; of {_RANDOM} random choices {len(fitting)} ", end="")
    print(f"fit by prices, {unpriced} have none; ", end="", flush=True)
    noises = search.pricing.noises
    for point in sorted(fitting, key=lambda each: noises.measured(frozenset(each.int16))):
        best = search.built(point).figures
        if best.excess(search.bounds) <= 0.0:
            print(f"the best has {best.decibels:.1f} dB, {best.cycles:,.0f} cycles", flush=True)
            return
    print("no build of one is within the limits", flush=True)


def main() -> None:
    """Print two lines for each network and board."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--networks", nargs="+", default=["digits_resnet", "digits_vit"])
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--tight", type=float, default=0.5)
    add_data_option(parser)
    options = parser.parse_args()
    for name in options.networks:
        for board in options.boards:
            try:
                line(name, board, options)
            except EdgecError as error:
                print(f"{name} on {board}: {error}", flush=True)


if __name__ == "__main__":
    main()
