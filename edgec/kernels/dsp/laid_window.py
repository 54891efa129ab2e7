"""Windows of images of one column as lines, without the taps that no output finds in the image."""

from __future__ import annotations

from dataclasses import replace

from edgec.kernels.common.window import Window


def laid(window: Window) -> Window:
    """The window, of an image of one column lying on its side; taps that are never inside are cut.

    Weights of small images with large windows are mostly such taps.
    """
    w = lying(window)
    rows, columns = taps_inside(w)
    return replace(
        w,
        kernel_h=len(rows),
        kernel_w=len(columns),
        pad_top=w.pad_top - rows.start * w.dilation_h,
        pad_left=w.pad_left - columns.start,
    )


def lying(window: Window) -> Window:
    """The window, of an image of one column lying on its side."""
    w = window
    if w.width > 1 or w.kernel_w > 1 or w.out_width > 1 or w.pad_left:
        return w
    return Window(
        *(1, w.height, w.channels),
        *(1, w.out_height),
        *(1, w.kernel_h),
        *(1, w.stride_h),
        *(0, w.pad_top),
        *(1, w.dilation_h),
    )


def taps_inside(window: Window) -> tuple[range, range]:
    """Rows and columns of taps from the first to the last that some output finds in the image."""
    w = window
    rows = (w.height, w.out_height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h)
    columns = (w.width, w.out_width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w)
    return _inside(*rows), _inside(*columns)


def _inside(size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int) -> range:
    def is_inside(tap: int) -> bool:
        at = tap * dilation - pad
        first = -(min(at, 0) // stride)
        return first < out_size and at + first * stride < size

    found = [tap for tap in range(taps) if is_inside(tap)] or [0]
    return range(found[0], found[-1] + 1)
