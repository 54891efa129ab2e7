"""Prices of the parts of kernels: fitted on some layers, judged on others.

    python benchmarks/choice_prices.py fit              # all cores: writes choice/prices.toml
    python benchmarks/choice_prices.py judge            # what the choice loses on other layers
    python benchmarks/choice_prices.py fit m4 --keep build/choice    # keeps what it measures
    python benchmarks/choice_prices.py fit --family dense_1x4_dsp    # the prices of one family

Firmware of single layers (`choice_shapes.py`), each with every kernel that could compute it, is
built and run in the emulator.  A price is what a run of a part takes (`KernelFamily.parts`) with
memory that never waits: least squares of relative errors over all layers of a family, none
negative.  The layers are judged with the flash of the board.  Of Cortex-A cores, which have no
cycle model, executed instructions take the place of cycles.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from choice_layers import Layer, graph_of, measure, nodes_of
from choice_shapes import held_out, packed_rows, training

from edgec.commands.tune_search import CLOSE
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.choice.prices import PRICES_FILE, CorePrices, price_tables
from edgec.kernels.common.parts import UNMEASURED, Run
from edgec.kernels.select import kernel_candidates
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
    "a7": "raspberry_pi_2",
    "a53": "raspberry_pi_3",
    "a76": "raspberry_pi_5",
}
"""A board of each core."""
_HEAD = (
    "# Cycles of a run of each part of a kernel.  Scripts of benchmarks/ that write them:\n"
    "# choice_prices.py, camera_prices.py, sound_prices.py, pool_prices.py, pool_neon_prices.py;\n"
    "# int16_prices.py prints `products`.\n"
)
_SWEEPS = 20_000
_STILL = 1e-9
"""The part of the largest price by which no price changes any more in a sweep."""


@dataclass(frozen=True, slots=True)
class Way:
    """A kernel of a layer: its family, its parts, and what it took.

    Attributes:
        family: its name.
        counts: its parts; empty: nobody counts them.
        cycles, ideal: with the flash of the board, and with memory that never waits.
        estimate: cycles, by the prices that edgec has; 0: there is none.
    """

    family: str
    counts: Mapping[str, float]
    cycles: int
    ideal: int
    estimate: float


Taken = dict[str, tuple[int, int]]
"""Cycles with the flash of the board, and with memory that never waits, by name of the kernel."""


def of_family(layers: Sequence[Layer], core: str, family: str) -> list[Layer]:
    """The layers that a family computes on a core; all of them where it is ""."""
    target = Target.of(load_board(BOARDS[core]))

    def computes(layer: Layer) -> bool:
        graph = graph_of([layer])
        found = kernel_candidates(graph, *nodes_of(graph), target)
        return any(each.spec.family == family for each in found)

    return [layer for layer in layers if not family or computes(layer)]


def ways_of(layers: Sequence[Layer], core: str, keep: Path | None) -> dict[str, list[Way]]:
    """The kernels of each layer on a core, the one that `edgec compile` takes first.

    Args:
        layers: to measure.
        core: key of BOARDS.
        keep: folder of what was measured before, by layer and kernel; None: measure all.
    """
    board = load_board(BOARDS[core])
    path = None if keep is None else keep / f"{core}.json"
    known: dict[str, Taken] = {}
    if path is not None and path.exists():
        known = json.loads(path.read_text("utf-8"))
    missing = [layer for layer in dict.fromkeys(layers) if str(layer) not in known]
    for found in measure(missing, board):
        known[str(found[0].layer)] = {
            each.choice.way: (each.counts.cycles, each.counts.ideal_cycles) for each in found
        }
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known, indent=1), "utf-8")
    target = Target.of(board)
    return {
        str(layer): _ways(layer, known[str(layer)], target)
        for layer in layers
        if str(layer) in known
    }


def _ways(layer: Layer, taken: Taken, target: Target) -> list[Way]:
    graph, estimator = graph_of([layer]), Estimator.of(target)
    ways = []
    for each in kernel_candidates(graph, *nodes_of(graph), target):
        parts = each.family.parts(each.spec, Run(estimator.form))
        counts = {} if parts is None or UNMEASURED in parts.counts else parts.counts
        if each.family.price_table != each.family.name or (parts and parts.called):
            counts = {}  # these prices are those of another family
        if each.way in taken:
            ways.append(
                Way(
                    each.spec.family,
                    {part: n for part, n in counts.items() if n},
                    *taken[each.way],
                    estimator.cycles(each.family, each.spec) or 0.0,
                )
            )
    return ways


def fit(found: Sequence[Way]) -> dict[str, dict[str, float]]:
    """Prices of the parts, by family."""
    families: dict[str, list[Way]] = {}
    for way in found:
        if way.counts:
            families.setdefault(way.family, []).append(way)
    return {family: _fitted(families[family]) for family in sorted(families)}


def _fitted(ways: Sequence[Way]) -> dict[str, float]:
    """Least squares of relative errors, by coordinate descent without negative prices."""
    names = sorted({name for way in ways for name in way.counts})
    rows = np.array([[way.counts.get(name, 0.0) / way.ideal for name in names] for way in ways])
    scale = np.abs(rows).max(axis=0)
    rows = rows / scale
    squares, target = rows.T @ rows, rows.sum(axis=0)
    prices = np.zeros(len(names))
    for _ in range(_SWEEPS):
        before = prices.copy()
        for at in range(len(names)):
            rest = target[at] - squares[at] @ prices + squares[at, at] * prices[at]
            prices[at] = max(rest / squares[at, at], 0.0)
        if np.abs(prices - before).max() <= _STILL * prices.max():
            break
    return {name: round(float(n), 2) for name, n in zip(names, prices / scale, strict=True)}


def _table(prices: CorePrices, families: Mapping[str, Mapping[str, float]]) -> str:
    """The prices of a core as TOML."""
    names = ", ".join(f'"{name}"' for name in prices.cores)
    lines = ["[[prices]]", f"cores = [{names}]", f'measured_on = "{prices.measured_on}"']
    if prices.products is not None:
        lines.append("[prices.products]")
        lines += [f"{name} = {rate}" for name, rate in dataclasses.asdict(prices.products).items()]
    for family in sorted(families):
        lines.append(f"[prices.families.{family}]")
        lines += [f'"{part}" = {price}' for part, price in sorted(families[family].items())]
    return "\n".join(lines) + "\n"


def write(changed: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Write the file of prices, with all other tables as they were.

    Args:
        changed: tables of prices by the key of a core, then by name.
    """
    tables = []
    for prices in price_tables():
        more = next((changed[core] for core in prices.cores if core in changed), {})
        tables.append(_table(prices, {**prices.families, **more}))
    PRICES_FILE.write_text(_HEAD + "".join(f"\n{table}" for table in tables), "utf-8")
    price_tables.cache_clear()  # what is written next is added to these


def judged(found: Mapping[str, Mapping[str, Sequence[Way]]]) -> str:
    """What the choice loses on each core, and how far estimates are off: Markdown."""
    lines = [
        f"| core | layers | over {CLOSE:.0%} | worst | cycles lost | error of estimates, median |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for core, layers in found.items():
        gaps, lost, total, errors = [], 0, 0, []
        for ways in layers.values():
            # Of each family its own loop: in one firmware layers of a depth share that of another.
            families = {way.family: way.cycles for way in reversed(ways)}
            best = min(families.values())
            gaps.append(ways[0].cycles / best - 1)
            lost += ways[0].cycles - best
            total += ways[0].cycles
            errors += [abs(way.estimate / way.cycles - 1) for way in ways if way.estimate]
        over = sum(gap > CLOSE for gap in gaps)
        lines.append(
            f"| {core} | {len(gaps)} | {over} | {max(gaps):.1%} | {lost / total:.2%} "
            f"| {np.median(errors):.1%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fit", "judge"])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--keep", type=Path, help="folder for what is measured, to use it again")
    parser.add_argument("--family", default="", help="fit or judge only layers of this family")
    args = parser.parse_args()
    found = {}
    for core in args.cores:
        layers = training() if args.what == "fit" else held_out()
        if args.what == "fit" and load_board(BOARDS[core]).linux is not None:
            layers += packed_rows()
        found[core] = ways_of(of_family(layers, core, args.family), core, args.keep)
    if args.what == "fit":
        write(
            {
                load_board(BOARDS[core]).core.price_key: fit(
                    [
                        way
                        for ways in each.values()
                        for way in ways
                        if args.family in ("", way.family)
                    ]
                )
                for core, each in found.items()
            }
        )
    else:
        print(judged(found))


if __name__ == "__main__":
    main()
