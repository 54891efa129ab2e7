"""Prices of the kernel with a weight pool for NEON: fitted on some layers, judged on others.

    python benchmarks/pool_neon_prices.py fit              # Cortex-A53 and A7: writes their prices
    python benchmarks/pool_neon_prices.py judge a53        # errors on other layers

Layers are built as in `pool_prices.py`, and executed instructions counted.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

from choice_prices import Way, fit, write
from pool_layers import BOARDS, Layer, Measured, measure
from pool_prices import SERVED

from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import Run
from edgec.kernels.registry import family_of
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.neon.spec import vectors_of
from edgec.target.board import Board, load_board
from edgec.target.target import Target

CORES = ("a53", "a7")


def layers(board: Board, shapes: Iterator[tuple[int, ...]]) -> Iterator[Layer]:
    """Layers of some shapes, kernels of which take some rows and groups of channels at a time."""
    for size, channels, filters, kernel, stride, pool, bits, chunk, band, group in shapes:
        config = PoolKernelConfig(
            PoolFamily.RESPONSES_NEON,
            chunk_groups=chunk,
            lanes=1,
            index_bits=(pool - 1).bit_length(),
            band=band,
            vectors=vectors_of(Target.of(board)),
        )
        added = (size + filters) % 3 == 0
        yield Layer(size, channels, filters, kernel, stride, pool, bits, config, group, added)


def training() -> Iterator[tuple[int, ...]]:
    """Shapes that prices are fitted to: size, channels, filters, kernel, stride, pool, bits, ..."""
    yield from (
        (16, 64, 64, 3, 1, 64, 8, 1, 8, 8), (16, 64, 64, 3, 1, 64, 4, 2, 4, 8),
        (8, 128, 128, 3, 1, 64, 8, 4, 8, 8), (8, 128, 96, 3, 1, 64, 4, 2, 8, 8),
        (16, 64, 128, 3, 2, 64, 8, 2, 4, 8), (16, 64, 128, 1, 2, 64, 8, 4, 8, 8),
        (12, 32, 48, 1, 1, 32, 8, 4, 12, 8), (10, 48, 33, 5, 1, 32, 6, 1, 5, 8),
        (20, 24, 32, 3, 1, 128, 8, 1, 2, 8), (7, 64, 64, 3, 1, 64, 8, 2, 7, 16),
        (9, 20, 24, 3, 1, 16, 8, 5, 9, 4), (32, 16, 16, 3, 1, 64, 8, 1, 4, 8),
        (24, 16, 40, 3, 1, 32, 3, 1, 8, 8), (4, 256, 64, 3, 1, 64, 8, 8, 4, 8),
        (6, 96, 31, 3, 1, 24, 7, 6, 6, 16), (32, 64, 8, 1, 1, 8, 8, 4, 8, 8),
        (8, 64, 8, 1, 1, 8, 8, 8, 8, 8), (5, 64, 8, 3, 1, 8, 8, 8, 5, 8),
        (28, 8, 12, 3, 1, 16, 8, 1, 14, 4),
    )  # fmt: skip


def held_out() -> Iterator[tuple[int, ...]]:
    """Other shapes, which no price is chosen by."""
    sizes = ((14, 40, 56, 7), (11, 72, 100, 11), (18, 32, 24, 6))
    for (size, channels, filters, band), (kernel, stride), bits in itertools.product(
        sizes, ((3, 1), (1, 1), (3, 2)), (8, 5)
    ):
        out = -(-size // stride)
        yield size, channels, filters, kernel, stride, 48, bits, 1, band if stride == 1 else out, 8


def _ways(found: list[Measured], board: Board) -> Iterator[Way]:
    target = Target.of(board)
    form, estimator = KernelForm.of(target), Estimator.of(target)
    for each in found:
        family = family_of(each.spec)
        parts = family.parts(each.spec, Run(form, each.layer.bits))
        estimate = estimator.cycles(family, each.spec, each.layer.bits)
        counts = {} if parts is None else parts.counts
        yield Way(family.name, counts, each.cycles, each.cycles, estimate or 0.0)


def main() -> None:
    """Fit or judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fit", "judge"])
    parser.add_argument("cores", nargs="*", default=list(CORES), help=f"of {', '.join(CORES)}")
    args = parser.parse_args()
    if unknown := [core for core in args.cores if core not in CORES]:
        parser.error(f"no core {unknown[0]!r}: take {' or '.join(CORES)}")
    for core in args.cores:
        board = load_board(BOARDS[core])
        shapes = training() if args.what == "fit" else held_out()
        ways = list(_ways(measure(list(layers(board, shapes)), board), board))
        if args.what == "fit":
            tables = fit(ways)
            write({served.price_key: tables for served in SERVED[core]})
            continue
        errors = sorted(abs(way.estimate / way.cycles - 1) for way in ways if way.estimate)
        if errors:
            print(f"{core}: median {errors[len(errors) // 2]:.1%}, worst {errors[-1]:.1%}")


if __name__ == "__main__":
    main()
