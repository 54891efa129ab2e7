"""Parts of a program for inputs that come bit by bit, rows of an image or samples of sound."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.digests import LATER
from edgec.memory import ALIGNMENT_BYTES


@dataclass(frozen=True, slots=True)
class Fill:
    """Bytes of padding.

    Attributes:
        offset_bytes, size_bytes: in the arena.
        byte: what each of them is.
    """

    offset_bytes: int
    size_bytes: int
    byte: int


@dataclass(frozen=True, slots=True)
class Slide:
    """Rows that move up before new ones are written after them.

    Attributes:
        offset_bytes: place of the first row.
        kept_bytes: size of all rows but the new ones.
        new: the new rows, and what they are beyond the image.
    """

    offset_bytes: int
    kept_bytes: int
    new: Fill


@dataclass(frozen=True, slots=True)
class HandedInput:
    """An image that the caller hands over by rows: runs take it together.

    Attributes:
        rows: rows of a run, which are the input of the program.
        runs: runs of an image each time; the last one of all has outputs.
        period: turns of the first loop in a run, except for the last one, which ends the loop.
        padding: times after the last rows at which rows of padding follow.
        slide: the rows that later turns read, and those of a run.
        passes: how often the image is handed over, once for each of the first loops.
    """

    rows: int
    runs: int
    period: int
    padding: int
    slide: Slide
    passes: int = field(default=1, metadata=LATER)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.slide.new.size_bytes // self.rows

    @property
    def height(self) -> int:
        """Rows of an image."""
        return self.rows * self.runs


@dataclass(frozen=True, slots=True)
class ProgramSound:
    """Samples that wait for a run, at the end of the state.

    Attributes:
        samples: as many as a run takes.
        lead: zeros before the first sample of a stream, fewer than `samples`.
        offset_bytes: where they begin in the state: a count of 32 bits, then samples of 16 bits.
    """

    samples: int
    lead: int
    offset_bytes: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the state that it takes, with those that align what follows."""
        return -(-(4 + 2 * self.samples) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
