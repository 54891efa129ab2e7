"""Where zeros among weights pay: products of a matrix with one vector, beside edgec's dense kernel.

    python benchmarks/sparse_rows.py               # Cortex-M4, M0+, A53
    python benchmarks/sparse_rows.py m4

A layer of 128 filters of depth 256, as autoencoders and gates of recurrent layers have them, reads
each weight once.  `sparse_rows.c` has two forms of it: weights that are not zero
with a byte for the gap before each, and two of four neighbours with two bits for the place of each.
They give sums alone; the dense layer is that of `edgec compile`, with the requantization of its
outputs.  Cycles with memory that never waits, on Cortex-A instructions, and bytes of weights, for a
weight of the whole matrix.  Sums are compared with numpy's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bare_code import TARGETS, BareProgram
from few_bits import Layer, costs, of_codes
from pool_layers import BOARDS

from edgec.base.dtypes import Array
from edgec.ir import QuantParams
from edgec.target.board import load_board

_SOURCE = Path(__file__).with_suffix(".c")
_ROWS, _DEPTH = 128, 256
_SHARES = (0.5, 0.25, 0.2, 0.15, 0.1, 0.05)
"""Parts of the weights that are not zero."""
_MOST_GAP = 255


def gaps_of(weights: Array) -> tuple[Array, Array, Array]:
    """Gaps uint8, weights int8 and counts uint16 of the rows of a matrix, int8 [rows, depth]."""
    gaps: list[int] = []
    values: list[int] = []
    counts = []
    for row in weights:
        first, at = len(values), 0
        for place in np.flatnonzero(row):
            while place - at > _MOST_GAP:
                gaps.append(_MOST_GAP)
                values.append(0)
                at += _MOST_GAP
            gaps.append(int(place) - at)
            values.append(int(row[place]))
            at = int(place)
        counts.append(len(values) - first)
    return np.array(gaps, np.uint8), np.array(values, np.int8), np.array(counts, np.uint16)


def pairs_of(weights: Array) -> tuple[Array, Array]:
    """Places uint8 and weights int8 of a matrix that has two of four neighbours in every row."""
    fours = weights.reshape(-1, 4)
    places = np.argsort(fours == 0, axis=1, kind="stable")[:, :2]
    return (
        (places[:, 0] | places[:, 1] << 2).astype(np.uint8),
        np.take_along_axis(fours, places, axis=1).reshape(-1),
    )


class _Runner:
    """Calls a function with arrays and compares the sums."""

    def __init__(self, core: str) -> None:
        self._target = TARGETS[core]
        self._program = BareProgram([_SOURCE], self._target)

    def cycles(self, name: str, x: Array, weights: Array, *arrays: Array, counts: bool) -> float:
        """Cycles or instructions for a weight of the whole matrix."""
        at, places = self._program.buffers, []
        for array in (x, *arrays):
            self._program.write(at, array.tobytes())
            places.append(at)
            at += -(-array.nbytes // 16) * 16
        sizes = (_ROWS,) if counts else (_DEPTH // 4, _ROWS)
        self._program.call(name, *places, *sizes, at)
        sums = np.frombuffer(self._program.read(at, 4 * _ROWS), np.int32)
        if not np.array_equal(sums, weights.astype(np.int32) @ x.astype(np.int32)):
            raise SystemExit(f"{name}: other sums than numpy's")
        return self._program.cost() / weights.size


def show(core: str) -> None:
    """A Markdown table of one core."""
    rng = np.random.default_rng(1)
    x = rng.integers(-128, 128, _DEPTH).astype(np.int8)
    runner = _Runner(core)
    board = load_board(BOARDS[core])
    layer = Layer(1, _DEPTH, _ROWS, 1, 1)
    dense = costs(of_codes(layer, QuantParams.per_tensor(0.05, 3)), board)["y"] / layer.macs
    unit = "instructions" if TARGETS[core].is_a64 else "cycles"
    print(f"\n| {core}: weights that are not zero | {unit} a weight | bytes a weight |")
    print("|---|---:|---:|")
    print(f"| dense kernel | {dense:.2f} | 1.00 |")
    for share in _SHARES:
        weights = rng.integers(1, 128, (_ROWS, _DEPTH)).astype(np.int8)
        weights[rng.random(weights.shape) >= share] = 0
        gaps, values, counts = gaps_of(weights)
        cost = runner.cycles("sparse_rows", x, weights, gaps, values, counts, counts=True)
        stored = (gaps.nbytes + values.nbytes + counts.nbytes) / weights.size
        print(f"| {share:.0%}, anywhere | {cost:.2f} | {stored:.2f} |", flush=True)
    weights = rng.integers(1, 128, (_ROWS * _DEPTH // 4, 4)).astype(np.int8)
    weights[np.arange(len(weights))[:, None], rng.random(weights.shape).argsort(axis=1)[:, :2]] = 0
    matrix = weights.reshape(_ROWS, _DEPTH)
    places, values = pairs_of(matrix)
    cost = runner.cycles("two_of_four_rows", x, matrix, places, values, counts=False)
    # Two groups of places would share a byte.
    stored = (places.nbytes / 2 + values.nbytes) / matrix.size
    print(f"| two of four | {cost:.2f} | {stored:.2f} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=["m4", "m0plus", "a53"], help="which cores")
    for core in parser.parse_args(arguments).cores:
        if core not in TARGETS or core not in BOARDS:
            parser.error(f"{core} is no core of {', '.join(sorted(set(TARGETS) & set(BOARDS)))}")
        show(core)


if __name__ == "__main__":
    main()
