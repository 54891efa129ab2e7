"""What sums of vectors cost in cycles: one layer with one to four terms, kernel by kernel.

    python benchmarks/pool_term_cycles.py [m4 m0plus] [--terms 1 2 3 4]

The layer is a 3x3 convolution of 10x10x32 to 24 filters, random weights from a pool of 32 vectors
of 8, activations of 8 bits, for the direct kernel of 3.  Of each family the kernel with the fewest
cycles is shown.  Firmware is built and run in the emulator with memory that never waits.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from pool_layers import BOARDS, Layer, measure
from pool_shapes import every_kernel

from edgec.base.limits import MAX_TERMS
from edgec.kernels.weightpool.decision import PoolFamily
from edgec.target.board import Board, load_board

LAYER = Layer(10, 32, 24, 3, 1, 32, 8, None)
BITS = {PoolFamily.RESPONSES: 8, PoolFamily.DECODE: 8, PoolFamily.DIRECT: 3}


def fewest_cycles(board: Board, terms: int) -> dict[PoolFamily, int]:
    """The cycles of the fastest kernel of each family."""
    layers = [
        layer
        for layer in every_kernel(replace(LAYER, terms=terms), (8, 3), board)
        if layer.config is not None and layer.bits == BITS[layer.config.family]
    ]
    found: dict[PoolFamily, int] = {}
    for each in measure(layers, board):
        assert each.layer.config is not None
        family = each.layer.config.family
        found[family] = min(each.cycles, found.get(family, each.cycles))
    return found


def main() -> None:
    """Print a Markdown table, in thousands of cycles."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(BOARDS)
    parser.add_argument("cores", nargs="*", default=["m4", "m0plus"], help=f"of {names}")
    counts = range(1, MAX_TERMS + 1)
    parser.add_argument("--terms", nargs="+", type=int, choices=counts, default=list(counts))
    args = parser.parse_args()
    print(f"| core, kernel | {' | '.join(map(str, args.terms))} |")
    print("|---|" + "---:|" * len(args.terms))
    for core in args.cores:
        cycles = [fewest_cycles(load_board(BOARDS[core]), terms) for terms in args.terms]
        for family in cycles[0]:
            row = " | ".join(f"{each[family] / 1000:,.0f}" for each in cycles)
            print(f"| {core}, {family.value} | {row} |", flush=True)


if __name__ == "__main__":
    main()
