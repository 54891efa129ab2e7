"""From how many zeros on sparse weights pay: products of a matrix with one vector.

    python benchmarks/sparse_rows.py               # Cortex-M0+, M3, M4, M7, M33, A7, A53, A76
    python benchmarks/sparse_rows.py m4

A layer of 128 filters of depth 256, as autoencoders and gates of recurrent layers have them, reads
each weight once.  Firmware has the layer with each kernel that could compute it, dense ones and the
one that skips zeros: cycles with memory that never waits, on Cortex-A instructions, and bytes of
weights, for a weight of the whole matrix.  "Taken" is what `edgec compile` takes with the flash
of the board.

`sparse_rows.c` has another form, for two of four neighbours that are not zero, which edgec has no
kernel for: it gives sums alone, compared with numpy's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bare_code import TARGETS, BareProgram
from choice_layers import Layer, Measured, measure
from choice_prices import BOARDS

from edgec.base.dtypes import Array
from edgec.kernels.generic.sparse_rows import SparseRows
from edgec.target.board import load_board

_SOURCE = Path(__file__).with_suffix(".c")
_ROWS, _DEPTH = 128, 256
_WEIGHTS = _ROWS * _DEPTH
_ZEROS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


def pairs_of(weights: Array) -> tuple[Array, Array]:
    """Places uint8 and weights int8 of a matrix that has two of four neighbours in every row."""
    fours = weights.reshape(-1, 4)
    places = np.argsort(fours == 0, axis=1, kind="stable")[:, :2]
    return (
        (places[:, 0] | places[:, 1] << 2).astype(np.uint8),
        np.take_along_axis(fours, places, axis=1).reshape(-1),
    )


def two_of_four(core: str) -> tuple[float, float]:
    """Cycles or instructions, and bytes, for a weight of the whole matrix.

    Raises:
        SystemExit: the sums are not numpy's.
    """
    rng = np.random.default_rng(1)
    x = rng.integers(-128, 128, _DEPTH).astype(np.int8)
    fours = rng.integers(1, 128, (_ROWS * _DEPTH // 4, 4)).astype(np.int8)
    fours[np.arange(len(fours))[:, None], rng.random(fours.shape).argsort(axis=1)[:, :2]] = 0
    weights = fours.reshape(_ROWS, _DEPTH)
    places, values = pairs_of(weights)
    program = BareProgram([_SOURCE], TARGETS[core])
    at, arguments = program.buffers, []
    for array in (x, places, values):
        program.write(at, array.tobytes())
        arguments.append(at)
        at += -(-array.nbytes // 16) * 16
    program.call("two_of_four_rows", *arguments, _DEPTH // 4, _ROWS, at)
    sums = np.frombuffer(program.read(at, 4 * _ROWS), np.int32)
    if not np.array_equal(sums, weights.astype(np.int32) @ x.astype(np.int32)):
        raise SystemExit(f"{core}: other sums than numpy's")
    # Two groups of places would share a byte.
    return program.cost() / weights.size, (places.nbytes / 2 + values.nbytes) / weights.size


def show(core: str) -> None:
    """A Markdown table of one core."""
    board = load_board(BOARDS[core])
    unit = "cycles" if board.linux is None else "instructions"
    print(
        f"\n| {core}: zeros | dense, {unit} a weight | without zeros | both with the flash "
        "| bytes | taken |"
    )
    print("|---|---:|---:|---:|---:|---|", flush=True)
    # One layer a build: flash holds its weights as each kernel has them.
    for zeros in _ZEROS:
        (found,) = measure([Layer(1, 1, _DEPTH, _ROWS, zeros=zeros)], board)
        sparse = next(each for each in found if isinstance(each.choice.spec, SparseRows))
        dense = min((each for each in found if each is not sparse), key=_ideal)
        stored = sparse.choice.spec.stored_bytes / _WEIGHTS
        taken = "sparse" if found[0] is sparse else "dense"
        # The dense one that would be taken need not be the one that is fastest without waits.
        others = min(each.counts.cycles for each in found if each is not sparse)
        flash = f"{others / _WEIGHTS:.2f}, {sparse.counts.cycles / _WEIGHTS:.2f}"
        print(
            f"| {zeros:.0%} | {_ideal(dense):.2f} | {_ideal(sparse):.2f} | {flash} | {stored:.2f} "
            f"| {taken} |",
            flush=True,
        )
    if core in TARGETS:
        cost, stored = two_of_four(core)
        print(f"| two of four | | {cost:.2f} | | {stored:.2f} | |", flush=True)


def _ideal(measured: Measured) -> float:
    return measured.counts.ideal_cycles / _WEIGHTS


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help="which cores")
    for core in parser.parse_args(arguments).cores:
        if core not in BOARDS:
            parser.error(f"{core} is no core of {', '.join(BOARDS)}")
        show(core)


if __name__ == "__main__":
    main()
