"""Estimated cycles of public networks on every board, as docs/simulator.md shows them.

    python benchmarks/profile_networks.py
    python benchmarks/profile_networks.py --networks resnet8-qdq dscnn-qdq --boards nucleo_l4r5zi
    python benchmarks/profile_networks.py --out build/networks      # keep the build folders
    python benchmarks/profile_networks.py --networks vww --random-weights   # no constant channels
    python benchmarks/profile_networks.py --placement sram                  # all weights in RAM

By default the four networks of MLPerf Tiny, quantized ones where there are any.  The input
is the pseudo-random one of `edgec profile`; the same build gives the same cycles every time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder, needed_data_folder
from public_data import QDQ_TASKS, TASKS, Array
from random_weights import with_random_weights

from edgec.base.errors import MemoryPlanError
from edgec.base.options import CompileOptions, Optimize, Placement
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.profile import Profile, profile
from edgec.target.board import list_boards

ALL = {**TASKS, **QDQ_TASKS}
OWN = {
    path.stem: path
    for path in sorted((Path(__file__).resolve().parents[1] / "networks").glob("*_cifar10.onnx"))
}
"""Networks of this repository, quantized with random samples: only their shapes matter here."""
DEFAULT = ("resnet8-qdq", "dscnn-qdq", "vww-qdq", "autoencoder")
BOARDS = tuple(b.name for b in list_boards() if b.name.startswith(("nucleo", "rpi")))
OPTIONS = CompileOptions(verify=False, force=True)


@dataclass(frozen=True, slots=True)
class Variant:
    """How the networks are built.

    Attributes:
        random_weights: the weights of float networks are drawn anew.
        placement: where weights lie; None: as the board's default is.
        optimize: what the compiler prefers.
    """

    random_weights: bool = False
    placement: Placement | None = None
    optimize: Optimize = Optimize.SPEED


@dataclass(frozen=True, slots=True)
class Row:
    """One network on one board; `found` is None where it does not fit."""

    network: str
    board: str
    found: Profile | None
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        if self.found is None:
            return (self.network, self.board, "does not fit", *("",) * 7)
        found = self.found
        stalls = found.total.flash_stalls / found.total_cycles
        energy = "" if found.energy is None else f"{found.energy.microjoules / 1e3:.2f}"
        return (
            self.network,
            self.board,
            f"{found.total_cycles / 1e6:.3f}",
            f"{found.ideal_cycles / 1e6:.3f}",
            f"{stalls:.1%}",
            f"{found.total_cycles / found.macs:.2f}",
            f"{found.cycles_per_instruction:.2f}",
            f"{found.time_ms:.2f}",
            energy,
            f"{self.seconds:.1f}",
        )


COLUMNS = (
    *("network", "board", "M cycles", "M ideal", "flash", "cycles/MAC", "CPI", "ms", "mJ"),
    "profile s",
)


def rows(
    networks: Sequence[str], boards: Sequence[str], root: Path, variant: Variant
) -> Iterator[Row]:
    """Compile and profile each pair."""
    for network in networks:
        for board in boards:
            folder = root / f"{network}-{board}"
            try:
                compile_for(network, board, folder, variant)
            except MemoryPlanError:
                yield Row(network, board, None, 0.0)
                continue
            began = time.perf_counter()
            found = profile(folder)
            yield Row(network, board, found, time.perf_counter() - began)


def model_of(network: str) -> tuple[Path, dict[str, Array] | None]:
    """The file of a network of `ALL` or `OWN`, and what calibrates it; None: nothing does."""
    if network in OWN:
        return OWN[network], None
    task = ALL[network]
    data = needed_data_folder()
    path = data / "models" / task.model
    samples = None
    if network not in QDQ_TASKS:
        (name,) = FloatModel(path).input_names
        samples = {name: task.data(data, "calibration").x}
    return path, samples


def compile_for(network: str, board: str, folder: Path, variant: Variant = Variant()) -> None:
    """Firmware of a network for a board."""
    path, samples = model_of(network)
    if variant.random_weights:
        path = with_random_weights(path, folder.with_suffix(".onnx"))
    options = replace(OPTIONS, placement=variant.placement, optimize=variant.optimize)
    compile_model(path, board, calibration=samples, out=folder, options=options)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=ALL, default=DEFAULT)
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--out", type=Path, help="keep the build folders here")
    parser.add_argument(
        "--random-weights", action="store_true", help="draw the weights of float networks anew"
    )
    parser.add_argument(
        "--placement", choices=[each.value for each in Placement], help="where weights lie"
    )
    parser.add_argument(
        "--optimize",
        choices=[each.value for each in Optimize],
        default=Optimize.SPEED.value,
        help="what the compiler prefers; with --out, report.txt of a build has its code bytes",
    )
    add_data_option(parser)
    arguments = parser.parse_args()
    if arguments.random_weights and not QDQ_TASKS.keys().isdisjoint(arguments.networks):
        parser.error("--random-weights is for float networks")
    chosen_data_folder(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        print("| " + " | ".join(COLUMNS) + " |")
        print("|---|---|" + "---:|" * (len(COLUMNS) - 2))
        root = arguments.out or Path(scratch)
        placement = None if arguments.placement is None else Placement(arguments.placement)
        variant = Variant(arguments.random_weights, placement, Optimize(arguments.optimize))
        for row in rows(arguments.networks, arguments.boards, root, variant):
            print("| " + " | ".join(row.cells()) + " |", flush=True)


if __name__ == "__main__":
    main()
