"""Scores over time: a picture of characters, and what was heard when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.names import printable
from edgec.report.model import TensorReport

_COLUMNS = 64
"""Columns of the picture; names and numbers stand before them."""
_BEFORE = 14
_MOST_ROWS = 14
"""Lines of the picture without its axis."""
_HEIGHTS = {1: 7, 2: 5, 3: 4}
"""Lines a score, by the number of scores; 1 where there are more."""
_LEVELS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Scale:
    """Names and range of the numbers that a run gives.

    Attributes:
        names: one for each number.
        low, high: the range that pictures show; None: that of the numbers themselves.
    """

    names: tuple[str, ...]
    low: float | None
    high: float | None

    @classmethod
    def of(cls, tensors: Sequence[TensorReport]) -> Scale:
        """The scale of the outputs of a model: from 0 to 1 where all their codes lie there."""
        names: list[str] = []
        for tensor in tensors:
            count = int(np.prod(tensor.shape))
            if len(tensor.labels) == count:
                names += tensor.labels
            else:
                names += (
                    [tensor.name] if count == 1 else [f"{tensor.name}[{i}]" for i in range(count)]
                )
        shares = all(map(_is_share, tensors))
        return cls(tuple(map(printable, names)), *((0.0, 1.0) if shares else (None, None)))

    @property
    def threshold(self) -> float | None:
        """The least score of a detection where none is given; None: there is no such number."""
        return 0.5 if self.high is not None else None


def _is_share(tensor: TensorReport) -> bool:
    """Whether all codes of an output stand for numbers of 0 to 1."""
    if tensor.dtype != "float32" or tensor.library_dtype not in ("int8", "int16"):
        return False
    limits = np.iinfo(tensor.library_dtype)
    ends = tensor.quant.dequantize(np.array([limits.min, limits.max], tensor.library_dtype))
    return bool(ends[0] >= 0 and 0.9 <= ends[1] <= 1.001)


@dataclass(frozen=True, slots=True)
class Detection:
    """A score that was at least the threshold for some results in a row.

    Attributes:
        name: what the score is called.
        start_s, end_s: seconds of sound up to the first and to the last of these results.
        best: the highest of them.
    """

    name: str
    start_s: float
    end_s: float
    best: float


def detections(
    times: Array, scores: Array, names: Sequence[str], threshold: float
) -> list[Detection]:
    """Detections in the order of their begin.

    Args:
        times: float64 [N].
        scores: float64 [N, C].
        names: C of them.
        threshold: the least score of one.
    """
    found = []
    for name, column in zip(names, scores.T, strict=True):
        above = np.concatenate([[False], column >= threshold, [False]])
        begins = np.flatnonzero(above[1:] & ~above[:-1])
        ends = np.flatnonzero(~above[1:] & above[:-1])
        for first, end in zip(begins, ends, strict=True):
            best = float(column[first:end].max())
            found.append(Detection(name, float(times[first]), float(times[end - 1]), best))
    return sorted(found, key=lambda each: (each.start_s, each.name))


def picture(times: Array, scores: Array, scale: Scale) -> list[str]:
    """Scores over time in at most 16 lines of 79 characters.

    Args:
        times: seconds of sound, float64 [N], N at least 1.
        scores: float64 [N, C].
        scale: names and range.
    """
    low = float(scores.min()) if scale.low is None else scale.low
    high = float(scores.max()) if scale.high is None else scale.high
    cells = min(_COLUMNS, len(scores))
    at = np.linspace(0, len(scores), cells + 1).astype(int)
    parts = np.maximum.reduceat(scores, at[:-1])
    shown = np.arange(scores.shape[1])
    if len(shown) > _MOST_ROWS:
        shown = np.sort(np.argsort(-scores.max(axis=0), kind="stable")[:_MOST_ROWS])
    height = _HEIGHTS.get(len(shown), 1)
    lines = []
    for channel in shown:
        share = (parts[:, channel] - low) / max(high - low, 1e-12)
        filled = np.clip(np.ceil(share * height * 8), 0, height * 8).astype(int)
        labels = [f"{high:.3g}"] + [""] * (height - 1)
        labels[-1] = f"{low:.3g}" if height > 1 else labels[-1]
        labels[height // 2] = scale.names[channel][: _BEFORE - 2]
        for row in range(height):
            below = (height - 1 - row) * 8
            bars = "".join(_LEVELS[min(max(each - below, 0), 8)] for each in filled)
            lines.append(f"{labels[row]:>{_BEFORE - 2}} │{bars}".rstrip())
    end = f"{times[-1]:.2f} s"
    begin = f"{times[0]:.2f} s"
    lines.append(" " * (_BEFORE - 2) + " └" + "─" * cells)
    lines.append(" " * _BEFORE + begin + end.rjust(max(cells - len(begin), len(end) + 1)))
    return lines


def bar(score: float, scale: Scale, low: float, high: float, columns: int = 48) -> str:
    """A score as a bar of some characters.

    Args:
        score: the number.
        scale: its range.
        low, high: the range where `scale` has none.
        columns: characters of a full bar.
    """
    low = low if scale.low is None else scale.low
    high = high if scale.high is None else scale.high
    share = min(max((score - low) / max(high - low, 1e-12), 0.0), 1.0)
    return ("█" * round(share * columns)).ljust(columns)
