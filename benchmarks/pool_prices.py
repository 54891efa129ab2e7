"""Prices of the operations of kernels with a weight pool: fitted on some layers, judged on others.

    python benchmarks/pool_prices.py fit                # all cores: writes the tables of prices
    python benchmarks/pool_prices.py judge --docs       # errors on other layers, into the docs
    python benchmarks/pool_prices.py networks           # errors on networks/*.pool.onnx
    python benchmarks/pool_prices.py fit m4 --keep build/prices    # keeps what it measures

Firmware of single layers (`pool_shapes.py`) is built and run in the emulator with memory that never
waits.  Half of the prices follow from the cycle model of the core (`pool_derived.py`), half are
fitted to the cycles of the training layers: least squares of relative errors, none negative.  Of
Cortex-A cores, which have no cycle model, executed instructions take the place of cycles.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from choice_prices import write as write_tables
from pool_derived import derived
from pool_judge import table_of, write_docs
from pool_judge_networks import networks_table
from pool_layers import BOARDS, Layer, Measured, measure
from pool_operations import (
    FITTED,
    PRICES_FILE,
    Operations,
    operations_of,
    part_prices,
    stored_prices,
)
from pool_shapes import held_out, spec_of, training

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import Run
from edgec.kernels.registry import family_of
from edgec.kernels.weightpool.events import TABLE, Event
from edgec.target.board import Board, load_board
from edgec.target.cores import Core
from edgec.target.target import Target

_SWEEPS = 5_000
SERVED = {
    "m0plus": (Core.CORTEX_M0, Core.CORTEX_M0PLUS),
    "m3": (Core.CORTEX_M3,),
    "m4": (Core.CORTEX_M4,),
    "m7": (Core.CORTEX_M7,),
    "m33": (Core.CORTEX_M33,),
    "a7": (Core.CORTEX_A7, Core.CORTEX_A8),
    "a53": (Core.CORTEX_A53, Core.CORTEX_A72, Core.CORTEX_A76),
}
"""Cores that take the prices of the one that was measured."""


def measured(layers: Sequence[Layer], core: str, keep: Path | None) -> list[Measured]:
    """Cycles of layers on a core.

    Args:
        layers: to measure.
        core: key of BOARDS.
        keep: folder of cycles that were measured before, by layer; None: measure all.
    """
    board = load_board(BOARDS[core])
    layers = list(dict.fromkeys(layers))
    path = None if keep is None else keep / f"{core}.json"
    known: dict[str, int] = json.loads(path.read_text("utf-8")) if path and path.exists() else {}
    found = measure([layer for layer in layers if repr(layer) not in known], board)
    known |= {repr(each.layer): each.cycles for each in found}
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=1), "utf-8")
    specs = ((layer, spec_of(layer, board)) for layer in layers)
    return [Measured(layer, spec, known[repr(layer)]) for layer, spec in specs if spec is not None]


def operations(found: Sequence[Measured], board: Board) -> Array:
    """Operations of each layer, float64 [layers, operations]."""
    form = KernelForm.of(Target.of(board))
    taken = {event: dataclasses.astuple(each) for event, each in operations_of(form).items()}
    rows = np.zeros((len(found), len(dataclasses.fields(Operations))))
    for at, layer in enumerate(found):
        parts = family_of(layer.spec).parts(layer.spec, Run(form, layer.layer.bits))
        for part, number in parts.counts.items() if parts else ():
            rows[at] += number * np.array(taken[Event(part)], float)
    return rows


def fit(found: Sequence[Measured], board: Board) -> Operations:
    """Prices with the least squares of relative errors; those that are derived are given."""
    names = [field.name for field in dataclasses.fields(Operations)]
    given = derived(board)
    # Layers with expanded weights have the prices of their own families (`choice_prices.py`).
    found = [each for each in found if each.layer.config is not None]
    prices = np.array([given.get(name, 1.0) for name in names])
    rows = operations(found, board) / np.array([each.cycles for each in found])[:, None]
    squares, target = rows.T @ rows, rows.sum(0)
    free = [names.index(name) for name in FITTED]
    if not all(squares[at, at] > 0 for at in free):
        raise InternalError("an operation occurs in no layer of the training set")
    for _ in range(_SWEEPS):  # coordinate descent: least squares without negative prices
        for at in free:
            rest = target[at] - squares[at] @ prices + squares[at, at] * prices[at]
            prices[at] = max(rest / squares[at, at], 0.0)
    return Operations(*(round(float(price), 2) for price in prices))


def write(changed: dict[str, Operations]) -> None:
    """Write what operations take, and what the parts of kernels take by that."""
    prices = stored_prices() | changed
    lines = ["# Written by benchmarks/pool_prices.py: cycles of an operation on each core."]
    for core, each in prices.items():
        lines += ["", f"[{core}]"]
        lines += [f"{name} = {price}" for name, price in dataclasses.asdict(each).items()]
    PRICES_FILE.write_text("\n".join(lines) + "\n", "utf-8")
    write_tables(
        {
            served.price_key: {TABLE: part_prices(core, each)}
            for core, each in changed.items()
            for served in SERVED[core]
        }
    )


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fit", "judge", "networks"])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--keep", type=Path, help="folder for what is measured, to use it again")
    parser.add_argument("--docs", action="store_true", help="put the table into the docs")
    args = parser.parse_args()
    boards = {core: load_board(BOARDS[core]) for core in args.cores}
    if args.what == "fit":
        write(
            {
                core: fit(measured(training(board), core, args.keep), board)
                for core, board in boards.items()
            }
        )
        return
    if args.what == "networks":
        text = networks_table(_timed(args.cores))
    else:
        text = _judged(boards, args.keep)
    print(text)
    if args.docs:
        write_docs("networks" if args.what == "networks" else "judged", text)


def _timed(cores: Sequence[str]) -> list[str]:
    """Cores that have a cycle model."""
    return [core for core in cores if not SERVED[core][0].is_cortex_a]


def _judged(boards: Mapping[str, Board], keep: Path | None) -> str:
    found = {core: measured(held_out(board), core, keep) for core, board in boards.items()}
    return table_of(found, boards)


if __name__ == "__main__":
    main()
