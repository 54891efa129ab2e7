"""Least distance of a kernel's output from each of its inputs, where the two may overlap.

Every kernel writes its output in raster order.  Let T(i) be the number of output bytes written
before the last read of input byte i is done.  The output may overlap the input if no byte is
written before its last read, that is, if ``offset(output) + d <= offset(input)`` with
``d = max(T(i) - i)`` over the input bytes that are read; at least 0.  d is exact: one byte less,
and the kernel reads what it wrote.

The order of reads and writes is that of the templates, which say so in their first lines.  A family
states the distance for each of its tensor operands (`KernelFamily.overlap`); here are the orders
that several families have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.kernels.common.form_ends import Rescale16
from edgec.kernels.common.loops import strides_of
from edgec.kernels.common.spec import Loop
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances

IN_PLACE = 0
_NOTHING_READ = -(2**62)


class Ended(Protocol):
    """A specification of a layer with weights, which may end in an addition or a table."""

    @property
    def residual_shift(self) -> int | None:
        """Shift of the addition at the end; None: there is none of this kind."""

    @property
    def rescale16(self) -> Rescale16 | None:
        """The end in a transformer's arithmetic."""


def with_ending(spec: Ended, own: int | None, added: int | None = IN_PLACE) -> Distances:
    """The distances of a layer with weights.

    Args:
        spec: its specification.
        own: the distance to x.
        added: the distance to what is added at the end, if something is.
    """
    own = own if own is None else max(own, 0)
    if spec.rescale16 is not None and spec.rescale16.table:
        return (own, None)
    adds = spec.residual_shift is not None or (
        spec.rescale16 is not None and spec.rescale16.residual
    )
    return (own, added) if adds else (own,)


def by_blocks(window: Window, out_channels: int, block: int) -> int:
    """max(T(i) - i) if pixels are written when the windows of all of their block have been read.

    Args:
        window: geometry.
        out_channels: bytes of an output pixel.
        block: pixels whose windows are read together.
    """
    starts = np.arange(window.out_pixels, dtype=np.int64) // block * block
    return by_starts(window, out_channels, starts)


def by_starts(window: Window, out_channels: int, starts: Array) -> int:
    """max(T(i) - i) if pixels are written after the reads of their block, of any size.

    Args:
        window: geometry.
        out_channels: bytes of an output pixel.
        starts: int64 [out_pixels], the first pixel of the block of each.
    """
    readers = window.last_readers()
    found = np.where(readers < 0, -1, starts[readers])
    return pixel_distance(found, out_channels, window.channels)


def by_row(rows: int, depth: int, units: int, last: int) -> int:
    """max(T(i) - i) if a row is read for each block of units; `last`: units of the last block."""
    return max((rows - 1) * (units - depth), 0) + units - last


def by_strips(window: Window, each: int, strip: int, planes: int) -> int:
    """max(T(i) - i) if strips of rows are done, in each of them a few channels at a time.

    When the last but one group of channels has written its last pixel of a strip, the first pixel
    of the strip is still to be read for the last group.  After that, the next strip is.

    Args:
        window: geometry; the output has as many channels as the image.
        each: bytes of an element of the output.
        strip: rows of outputs of a strip.
        planes: channels of a group.
    """
    w = window
    tops = np.arange(0, w.out_height, strip)
    ends = np.minimum(tops + strip, w.out_height) * w.out_width * w.channels * each
    starts = np.clip(tops * w.stride_h - w.pad_top, 0, w.height) * w.width * w.channels
    last = (w.channels - 1) % planes + 1
    within = ends - last * each - (starts + w.channels - planes)
    after = ends[:-1] - starts[1:]
    found = [*after, *(within if w.channels > planes else ())]
    return int(max(found, default=0))


def by_pixel(window: Window, written: int, read: int | None = None) -> int:
    """max(T(i) - i) if an output pixel is written as a whole, after its reads.

    Args:
        window: geometry.
        written, read: bytes of a pixel of the output and of the image; None: a byte a channel.
    """
    read = window.channels if read is None else read
    return pixel_distance(window.last_readers(), written, read)


def by_group(window: Window, out_channels: int, group: int, x: DType, y: DType) -> int:
    """max(T(i) - i) if a window is read again for each channel of its output pixel.

    An input channel is last read for the last filter of its group; the first channel of a group is
    the one that is nearest to being overwritten.

    Args:
        window: geometry of x.
        out_channels: channels of y.
        group: groups that the channels of x and y are cut into.
        x, y: element types.
    """
    read, written = x.size_bytes, y.size_bytes
    pixels = pixel_distance(window.last_readers(), out_channels * written, window.channels * read)
    filters, channels = out_channels // group, window.channels // group
    within = (((g + 1) * filters - 1) * written - g * channels * read for g in (0, group - 1))
    return max(pixels + max(within), 0)


def pixel_distance(readers: Array, out_channels: int, channels: int) -> int:
    """max(T(i) - i) over the pixels of an image.

    Args:
        readers: int64 [height, width], the output pixel before which each pixel is read last; -1:
            it is not read.
        out_channels, channels: bytes of a pixel of the output and of the image.
    """
    flat = readers.ravel()
    ahead = flat * out_channels - np.arange(flat.size, dtype=np.int64) * channels
    read = ahead[flat >= 0]
    return int(read.max()) if read.size else _NOTHING_READ


def by_element(loops: Iterable[Loop], operand: int, run: int = 1) -> int:
    """max(e - index(e)) over the elements e of a raster-order output walked by `loops`.

    Both are sums over the loops' counters, so the maximum is a sum of maxima.
    """
    loops = tuple(loops)
    own = strides_of([loop.size for loop in loops])
    return sum(
        max(0, (loop.size - 1) * (stride * run - loop.strides[operand]))
        for loop, stride in zip(loops, own, strict=True)
    )


def by_bytes(loops: Iterable[Loop], operand: int, read: int, written: int) -> int:
    """The distance to an operand of a function of elements that may take several bytes.

    Args:
        loops: over a raster-order output, with the strides of all operands in elements.
        operand: which of them.
        read: bytes of an element of the operand.
        written: bytes of an element of the output.
    """
    scaled = [Loop(loop.size, tuple(stride * read for stride in loop.strides)) for loop in loops]
    return max(by_element(scaled, operand, written), 0)
