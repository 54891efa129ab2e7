"""The small pictures of a page: one for each quantized tensor, its geometry final."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.report.console import shortened
from edgec.workflow.histograms import BINS, TensorHistogram

WIDTH, HEIGHT = 256, 72
_BAR = WIDTH / BINS
_NAME_CHARACTERS = 30
_EDGE = 1e-6
"""Zero this close to an end is the end."""
_LEAST_SHARE = 5e-5
"""Rounds to 0.01 %."""
_LEAST_BAR = 1.0
"""A bin with any code at all is seen."""


@dataclass(frozen=True, slots=True)
class HistogramChart:
    """The codes of one tensor.

    Attributes:
        name: as much of it as fits.
        title: its whole name.
        dtype: element type of the codes, and whether each channel has a scale.
        path: outline of all bars, heights by the square root of the share.
        zero_x: x of the real zero; None where no code stands for it.
        low, high: real numbers of the least and greatest code.
        words: what to know about it.
        clipped: shares at an end that is no zero, in words; empty where there are none.
    """

    name: str
    title: str
    dtype: str
    path: str
    zero_x: float | None
    low: str
    high: str
    words: str
    clipped: str


def histogram_chart(found: TensorHistogram, number: str) -> HistogramChart:
    """The picture of a histogram.

    Args:
        found: the histogram.
        number: number of the layer, or what else the tensor is.
    """
    zero = found.zero
    scales = "" if zero is not None else ", a scale for each channel"
    return HistogramChart(
        name=f"{number} {shortened(found.name, _NAME_CHARACTERS)}",
        title=found.name,
        dtype=f"{found.dtype}{scales}",
        path=_path(found.shares),
        zero_x=_zero_x(zero),
        low=f"{found.low:.3g}",
        high=f"{found.high:.3g}",
        words=f"{found.used:.0%} used",
        clipped=_clipped(found),
    )


def _zero_x(zero: float | None) -> float | None:
    """Position of the line of the real zero, if the codes have one."""
    if zero is None or not -_EDGE <= zero <= 1 + _EDGE:
        return None
    return min(max(zero, 0.0), 1.0) * WIDTH


def _path(shares: tuple[float, ...]) -> str:
    most = max(shares, default=0.0) or 1.0
    bars = []
    for index, share in enumerate(shares):
        if share:
            height = max(HEIGHT * math.sqrt(share / most), _LEAST_BAR)
            bars.append(f"M{index * _BAR:g} {HEIGHT}v{-height:.1f}h{_BAR:g}v{height:.1f}z")
    return "".join(bars)


def _clipped(found: TensorHistogram) -> str:
    """Shares of codes at the ends of the range; an end that is the real zero clips nothing."""
    ends = (
        ("lowest", found.at_low, found.zero is None or found.zero > _EDGE),
        ("highest", found.at_high, True),
    )
    texts = [f"{share:.2%} {name}" for name, share, real in ends if real and share >= _LEAST_SHARE]
    return " · ".join(texts)
