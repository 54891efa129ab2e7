"""Layers in patches: bytes of the arena, multiply-accumulates and cycles, beside published figures.

    python benchmarks/patches.py
    python benchmarks/patches.py --networks mcunet_vww80_float.onnx --board nucleo_f446re

The image comes by rows, as often as there are patches (`--input-rows --input-passes 20`), and the
arena is to be as small as the best published one (`--budget ram=`): msf-CNN (NeurIPS 2025), which
counts activations without the image and gives the factor of multiply-accumulates.  A line has both
figures of theirs, then the arena and factor of the build, how often the image is handed over, and
cycles of `edgec profile` more than layer by layer.  The networks are those of `rows.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterable
from pathlib import Path

from data_folder import add_data_option, data_folder
from rows import Builds, file_of

from edgec.base.errors import EdgecError
from edgec.base.options import Placement, Rows

PUBLISHED: dict[str, tuple[tuple[int, float], ...]] = {
    "mcunet_vww80_float.onnx": ((26_128, 1.11), (17_760, 1.30), (13_376, 1.35), (12_000, 1.96)),
    "mobilenetv2_035_144": ((21_288, 1.30), (15_340, 1.38), (7_887, 1.68)),
}
"""Bytes and factors of multiply-accumulates by network."""
_PASSES = 20


def main() -> None:
    """Print a line for each published figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    parser.add_argument("--board", default="nucleo_l4r5zi")
    parser.add_argument("--placement", type=Placement, choices=list(Placement))
    add_data_option(parser)
    options = parser.parse_args()
    data = Path(options.data_dir) if options.data_dir else data_folder()
    print_table(options.networks, options.board, options.placement, data)


def print_table(
    networks: Iterable[str], board: str, placement: Placement | None, data: Path | None
) -> None:
    """Print a line for each published figure.

    Args:
        networks: keys of `PUBLISHED`.
        board: name of the board.
        placement: where constants lie; None: where the board's usual place is.
        data: folder with the files of networks that have no random weights; None: there is none.
    """
    titles = f"{'published':>10}{'MACs':>6}{'arena':>9}{'MACs':>6}{'passes':>8}{'cycles':>9}"
    print(f"{'network, in patches':42}{titles}")
    for name in networks:
        with tempfile.TemporaryDirectory() as folder:
            model = file_of(name, Path(folder), data)
            if model is None:
                print(f"{name:42} not there: give its folder with --data")
                continue
            builds = Builds(model, board, placement)
            whole, cycles = builds.made(rows=Rows.NEVER)
            for limit, factor in PUBLISHED[name]:
                line = f"{name:42}{limit:10,}{factor:6.2f}"
                with contextlib.suppress(EdgecError):
                    made, own = builds.limited(limit, input_rows=True, input_passes=_PASSES)
                    ways, more = made.report.rows, made.program.macs / whole.program.macs
                    passes = 1 if ways is None else ways.input_passes
                    line += f"{made.program.arena_bytes:9,}{more:6.2f}{passes:8}"
                    line += f"{own / cycles - 1:+9.1%}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
