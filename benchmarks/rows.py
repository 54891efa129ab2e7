"""Layers in turns of a few rows: bytes of the arena, and cycles, with and without.

    python benchmarks/rows.py                         # all networks that are there
    python benchmarks/rows.py --networks mobilenetv2_035_144 --board nucleo_f446re

MLPerf Tiny's networks and MCUNet are taken from the folder in EDGEC_DATA_DIR (docs/data.md), the
MobileNets have random weights (`large_networks.py`).  "bound" is the least that chains of layers
could take if no kernel needed working memory, "at most" about a tenth more.  For both ways, with
the image in memory and handed over by rows (`--input-rows`), a line has the smallest arena, and the
arena and the cycles of the fastest build within "at most" (`--budget ram=`), or of the smallest one
where none is.  Cycles are those of `edgec profile` on the firmware, more than layer by layer.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_folder import add_data_option, data_folder
from large_networks import NETWORKS, write_network

import edgec
from edgec.base.errors import EdgecError
from edgec.base.options import Budget, CompileOptions, Placement, Rows
from edgec.commands.compile import CompileResult
from edgec.profile.run import profile
from edgec.target.board import load_board
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES

LIMITS: dict[str, tuple[tuple[int, int], tuple[int, int] | None]] = {
    "mcunet_vww80_float.onnx": ((22_732, 25_000), (19_248, 21_500)),
    "mlperf_mobilenetv1_025_vww96_int8.tflite": ((28_512, 31_500), (14_592, 16_500)),
    "mobilenetv1_025": ((152_544, 162_000), (49_648, 55_000)),
    "mobilenetv2_035_144": ((66_816, 72_000), (28_944, 32_000)),
    "mobilenetv2_035": ((157_696, 170_000), (53_984, 60_000)),
    "mlperf_resnet8_cifar10_int8.tflite": ((15_360, 18_000), None),
    "mlperf_resnet8_large_cifar10_int8.tflite": ((38_400, 44_000), None),
}
"""Network to "bound" and "at most" with the image in memory and where it comes by rows: the least
bytes of any partition into chains, by a dynamic program over partitions, with windows of as many
rows as layers read and nothing computed twice."""


def main() -> None:
    """Print a line for each network."""
    print_chosen(__doc__, LIMITS, print_table)


def print_chosen(
    text: str | None,
    networks: Iterable[str],
    table: Callable[[Iterable[str], str, Placement | None, Path | None], None],
) -> None:
    """Print a table for the networks and the board of the command line.

    Args:
        text: of the help.
        networks: those that there are.
        table: prints it, like `print_table`.
    """
    form, names = argparse.RawDescriptionHelpFormatter, list(networks)
    parser = argparse.ArgumentParser(description=text, formatter_class=form)
    parser.add_argument("--networks", nargs="+", choices=names, default=names)
    parser.add_argument("--board", default="nucleo_l4r5zi")
    parser.add_argument("--placement", type=Placement, choices=list(Placement))
    add_data_option(parser)
    options = parser.parse_args()
    data = Path(options.data_dir) if options.data_dir else data_folder()
    table(options.networks, options.board, options.placement, data)


def print_table(
    networks: Iterable[str], board: str, placement: Placement | None, data: Path | None
) -> None:
    """Print a line for each network.

    Args:
        networks: keys of `LIMITS`.
        board: name of the board.
        placement: where constants lie; None: where the board's usual place is.
        data: folder with the files of networks that have no random weights; None: there is none.
    """
    way = f"{'smallest':>10}{'bound':>9}{'at most':>9}{'arena':>9}{'cycles':>8}"
    print(f"{'network':42}{'whole':>9}{'cycles':>13}{way}{way}   (second: by rows)")
    print_lines(networks, board, placement, data, _lines)


def print_lines(
    networks: Iterable[str],
    board: str,
    placement: Placement | None,
    data: Path | None,
    lines: Callable[[str, Builds], Iterator[str]],
) -> None:
    """Print the lines of each network that is there.

    Args:
        networks: names of files, or of networks with random weights.
        board: name of the board.
        placement: where constants lie; None: where the board's usual place is.
        data: folder with the files; None: there is none.
        lines: those of a network, by its name.
    """
    for name in networks:
        with tempfile.TemporaryDirectory() as folder:
            model = file_of(name, Path(folder), data)
            if model is None:
                print(f"{name:42} not there: give its folder with --data-dir")
                continue
            for line in lines(name, Builds(model, board, placement)):
                print(line, flush=True)


def file_of(name: str, folder: Path, data: Path | None) -> Path | None:
    """The network's file, made where it has random weights."""
    if name in NETWORKS:
        path = folder / f"{name}.onnx"
        write_network(name, path)
        return path
    found = None if data is None else Path(data) / "models" / name
    return found if found is not None and found.exists() else None


@dataclass(frozen=True)
class Builds:
    """Builds of a network."""

    model: Path
    board: str
    placement: Placement | None

    def made(self, **options: Any) -> tuple[CompileResult, int]:
        """A build, and the cycles of a run."""
        with tempfile.TemporaryDirectory() as folder:
            own = CompileOptions(placement=self.placement, verify=False, **options)
            made = edgec.compile_model(
                self.model, self.board, out=Path(folder) / "out", options=own
            )
            return made, profile(made.folder).total_cycles

    def limited(self, arena_bytes: int, **options: Any) -> tuple[CompileResult, int]:
        """The fastest build with such an arena.

        Raises:
            EdgecError: there is none.
        """
        memory = load_board(self.board).memory
        assert memory is not None
        budget = Budget(ram_bytes=arena_bytes + memory.stack_bytes + CONSOLE_VARIABLE_BYTES)
        return self.made(rows=Rows.AUTO, budget=budget, **options)

    def within(self, arena_bytes: int, *, input_rows: bool) -> tuple[CompileResult, int]:
        """The fastest build with such an arena, or the smallest one where there is none."""
        with contextlib.suppress(EdgecError):
            return self.limited(arena_bytes, input_rows=input_rows)
        return self.made(rows=Rows.ALWAYS, input_rows=input_rows)


def _lines(name: str, builds: Builds) -> Iterator[str]:
    """Compile and profile a network each way."""
    whole, cycles = builds.made(rows=Rows.NEVER)
    cells = f"{name:42}{whole.program.arena_bytes:9,}{cycles:13,}"
    for input_rows, limits in zip((False, True), LIMITS[name], strict=True):
        if limits is not None:
            made, own = builds.within(limits[1], input_rows=input_rows)
            ways = made.report.rows
            smallest = ways.front[0].arena_bytes if ways else made.program.arena_bytes
            sizes = f"{smallest:10,}{limits[0]:9,}{limits[1]:9,}{made.program.arena_bytes:9,}"
            cells += f"{sizes}{own / cycles - 1:+8.1%}"
    yield cells


if __name__ == "__main__":
    main()
