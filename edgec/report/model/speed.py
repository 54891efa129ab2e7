"""Estimated time of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpeedReport:
    """Cycles of a run, estimated while compiling from the prices of what kernels are made of.

    `edgec profile` counts what the firmware executes instead.

    Attributes:
        cycles: those of the layers whose parts have prices, with their waits for flash.
        whole: this is all of the run, but for little; otherwise it takes more.
    """

    cycles: int
    whole: bool
