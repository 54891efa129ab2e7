"""Estimated time of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpeedReport:
    """Cycles of a run, estimated while compiling from the prices of what kernels are made of.

    `edgec profile` counts what the firmware executes instead.

    Attributes:
        cycles: those of the layers whose parts have prices, with their waits for flash,
            unless that is outside of the chip.
        whole: this is all of the run, but for little; otherwise it takes more.
    """

    cycles: int
    whole: bool


@dataclass(frozen=True, slots=True)
class TunedReport:
    """Layers with kernels that were measured (`edgec tune`).

    Attributes:
        file: name of the tune file.
        layers: layers that it had a kernel for.
        others: all other layers.
    """

    file: str
    layers: int
    others: int

    @property
    def line(self) -> str:
        """The record in words, which say where the kernels come from: nobody may have asked."""
        total = self.layers + self.others
        return f"{self.layers} of {total} layers have kernels that {self.file} says are the fastest"
