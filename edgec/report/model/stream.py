"""Facts on a network that runs frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamReport:
    """A window of time that became a stream.

    Attributes:
        window: frames of the window that the model's file takes.
        frames: frames that a run brings.
        warm_up: runs after a reset that give no output yet.
        delay: frames that came after those that an output is about.
        equals_window: each output equals that of the whole window on the same frames, bit for bit;
            otherwise padding in time reaches it, in place of which the stream has other frames.
        axes: axis of time by input or output, in the model's order of axes.
        window_macs: multiply-accumulates of a run of the whole window.
        window_cycles: its cycles, estimated; None where no core is modelled.
        window_arena_bytes: its arena.
    """

    window: int
    frames: int
    warm_up: int
    delay: int
    equals_window: bool
    axes: Mapping[str, int]
    window_macs: int
    window_cycles: int | None
    window_arena_bytes: int

    @property
    def runs(self) -> int:
        """Runs from a reset to the first output."""
        return self.warm_up + 1
