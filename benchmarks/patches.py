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

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from rows import Builds, print_chosen, print_lines

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
    print_chosen(__doc__, PUBLISHED, print_table)


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
    print_lines(networks, board, placement, data, _lines)


def _lines(name: str, builds: Builds) -> Iterator[str]:
    """Compile and profile a network within each published arena."""
    whole, cycles = builds.made(rows=Rows.NEVER)
    for limit, factor in PUBLISHED[name]:
        line = f"{name:42}{limit:10,}{factor:6.2f}"
        with contextlib.suppress(EdgecError):
            made, own = builds.limited(limit, input_rows=True, input_passes=_PASSES)
            ways, more = made.report.rows, made.program.macs / whole.program.macs
            passes = 1 if ways is None else ways.input_passes
            line += f"{made.program.arena_bytes:9,}{more:6.2f}{passes:8}{own / cycles - 1:+9.1%}"
        yield line


if __name__ == "__main__":
    main()
