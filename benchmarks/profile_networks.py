"""Estimated cycles of public networks on every board, as docs/simulator.md shows them.

    python benchmarks/profile_networks.py
    python benchmarks/profile_networks.py --networks resnet8-qdq dscnn-qdq --boards nucleo_l4r5zi
    python benchmarks/profile_networks.py --out build/networks      # keep the build folders

By default the four networks of MLPerf Tiny, quantized ones where there are any.  The input
is the pseudo-random one of `edgec profile`; the same build gives the same cycles every time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder, needed_data_folder
from public_data import QDQ_TASKS, TASKS

from edgec.base.errors import MemoryPlanError
from edgec.base.options import CompileOptions
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.profile import Profile, profile
from edgec.target.board import list_boards

ALL = {**TASKS, **QDQ_TASKS}
DEFAULT = ("resnet8-qdq", "dscnn-qdq", "vww-qdq", "autoencoder")
BOARDS = tuple(b.name for b in list_boards() if b.name.startswith(("nucleo", "rpi")))
OPTIONS = CompileOptions(verify=False, force=True)


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


def rows(networks: Sequence[str], boards: Sequence[str], root: Path) -> Iterator[Row]:
    """Compile and profile each pair."""
    for network in networks:
        for board in boards:
            folder = root / f"{network}-{board}"
            try:
                compile_for(network, board, folder)
            except MemoryPlanError:
                yield Row(network, board, None, 0.0)
                continue
            began = time.perf_counter()
            found = profile(folder)
            yield Row(network, board, found, time.perf_counter() - began)


def compile_for(network: str, board: str, folder: Path) -> None:
    """Firmware of a network for a board."""
    task = ALL[network]
    data = needed_data_folder()
    path = data / "models" / task.model
    samples = None
    if network not in QDQ_TASKS:
        (name,) = FloatModel(path).input_names
        samples = {name: task.data(data, "calibration").x}
    compile_model(path, board, calibration=samples, out=folder, options=OPTIONS)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", choices=ALL, default=DEFAULT)
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--out", type=Path, help="keep the build folders here")
    add_data_option(parser)
    arguments = parser.parse_args()
    chosen_data_folder(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        print("| " + " | ".join(COLUMNS) + " |")
        print("|---|---|" + "---:|" * (len(COLUMNS) - 2))
        for row in rows(arguments.networks, arguments.boards, arguments.out or Path(scratch)):
            print("| " + " | ".join(row.cells()) + " |", flush=True)


if __name__ == "__main__":
    main()
