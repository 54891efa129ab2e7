"""Layers that run in turns of a few rows, in a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowsPoint:
    """One way to run layers in turns.

    Attributes:
        arena_bytes: the arena, without copies of weights.
        cycles: estimate for a run, from prices; None where nobody has measured the core.
        layers: layers that run in turns.
        chains: loops that they form.
        rows: the fewest and the most rows that one of them computes each time; 0: none does.
        macs: multiply-accumulates of a run.
        patches: the most strips that layers are computed in, one by one; 1: none are.
        groups: the most groups of channels that a layer is computed in, likewise.
    """

    arena_bytes: int
    cycles: int | None
    layers: int
    chains: int
    rows: tuple[int, int]
    macs: int = 0
    patches: int = 1
    groups: int = 1


@dataclass(frozen=True, slots=True)
class RowsReport:
    """The ways that were compared.

    Attributes:
        chosen: the one that was taken, a number in `front`.
        front: the smallest arena first, the fastest, with each layer as a whole, last; where the
            input comes by rows, that is none of the ways.
        input_rows: rows of the input that a run takes; 0: it takes all.
        input_passes: how often the caller hands these rows of an image over.
    """

    chosen: int
    front: tuple[RowsPoint, ...]
    input_rows: int = 0
    input_passes: int = 1
