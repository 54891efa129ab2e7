"""Padding of sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

Sizes = tuple[int, ...]


def same_padding(
    sizes: Sequence[int], spans: Sequence[int], strides: Sequence[int]
) -> tuple[Sizes, Sizes]:
    """The padding with which a window fits as often as its stride fits into the image.

    Args:
        sizes: size of the image along each axis.
        spans: what a window covers along each axis, dilation included.
        strides: steps between windows.

    Returns:
        On one side of each axis and on the other; where they differ the second is larger by one.
    """
    totals = [
        max((-(-size // stride) - 1) * stride + span - size, 0)
        for size, span, stride in zip(sizes, spans, strides, strict=True)
    ]
    return tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
