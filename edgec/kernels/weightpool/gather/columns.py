"""How the columns of an image lie in a row of the table of responses.

Columns that neighbouring outputs read must be adjacent words.  Those are `stride_w` columns apart
in the image, so a row holds the columns by their remainder modulo the stride, padding included.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.common.window import Window


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """Columns of the table that lie side by side: every `stride_w`-th column of the image.

    Attributes:
        start: first column in a row of the table.
        image_start: column of the image that it holds; negative in the padding.
        count: columns.
        first, end: those inside the image are ``first <= column < end``, counted from `start`.
    """

    start: int
    image_start: int
    count: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class ColumnLoop:
    """A loop over the columns of a run that are inside the image, some at a time.

    Attributes:
        run: the columns.
        step: columns of a turn.
    """

    run: ColumnRun
    step: int

    @property
    def last(self) -> int | None:
        """First column of the last turn, which does some columns twice; None if no turn does."""
        partial = (self.run.end - self.run.first) % self.step > 0
        return self.run.end - self.step if partial else None


def column_runs(window: Window) -> tuple[ColumnRun, ...]:
    """The columns of a row, one run per remainder; remainders that no tap has are left out."""
    stride = window.stride_w
    taps = [kx * window.dilation_w for kx in range(window.kernel_w)]
    found: list[ColumnRun] = []
    start = 0
    for phase in sorted({tap % stride for tap in taps}):
        last = max(tap // stride for tap in taps if tap % stride == phase)
        count = window.out_width + last
        image_start = phase - window.pad_left
        first = min(count, max(0, -(image_start // stride)))
        end = max(first, min(count, -((image_start - window.width) // stride)))
        found.append(ColumnRun(start, image_start, count, first, end))
        start += count
    return tuple(found)


def tap_columns(window: Window) -> tuple[int, ...]:
    """For each kx, the column of a row that output column 0 reads."""
    starts = {(run.image_start + window.pad_left): run.start for run in column_runs(window)}
    taps = [kx * window.dilation_w for kx in range(window.kernel_w)]
    return tuple(starts[tap % window.stride_w] + tap // window.stride_w for tap in taps)
