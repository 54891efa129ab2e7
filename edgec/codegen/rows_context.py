"""Context of templates about an input that comes by rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowsContext:
    """An input that the caller hands over by rows.

    Attributes:
        image_rows, run_rows: rows of an image, and of a run.
        runs: runs of an image.
        row_bytes: bytes of a row.
        period: turns of the first loop in a run but the last.
        turns: turns of the first loop.
        first_padding: turn of the first rows of padding after the image.
        padding: how often there are some.
        slide: moves rows that later turns read; "" where there are none.
        fill: writes rows of padding.
        fills: statements before the first turn.
        passes, number: how often an image is handed over, and the time that the loop is about.
    """

    image_rows: int
    run_rows: int
    runs: int
    row_bytes: int
    period: int
    turns: int
    first_padding: int
    padding: int
    slide: str
    fill: str
    fills: tuple[str, ...]
    passes: int
    number: int

    @property
    def several(self) -> bool:
        """An image is handed over more than once."""
        return self.passes > 1

    @property
    def mark(self) -> str:
        """Last characters of the names of its variables."""
        return f"_{self.number}" if self.several else ""

    @property
    def is_first(self) -> bool:
        """This is about the first pass."""
        return self.number == 0

    @property
    def is_last(self) -> bool:
        """This is about the last pass."""
        return self.number == self.passes - 1

    @property
    def all_rows(self) -> int:
        """Rows of an image, all times that it is handed over."""
        return self.passes * self.image_rows

    @property
    def all_runs(self) -> int:
        """Runs of an image, all times that it is handed over."""
        return self.passes * self.runs

    @property
    def last_run(self) -> int:
        """Number of the last run of a pass."""
        return self.runs - 1

    @property
    def runs_before(self) -> int:
        """Runs of the passes before."""
        return self.number * self.runs

    @property
    def waits(self) -> str:
        """C condition of a run after which rows are missing."""
        missing = "context->waiting > 0U"
        return f"pass == {self.number}U && {missing}" if self.several else missing
