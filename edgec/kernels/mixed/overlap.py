"""The distance of kernels that read a window again for each channel of its output pixel."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.kernels.common.overlap import pixel_distance
from edgec.kernels.common.window import Window


def by_group(window: Window, out_channels: int, group: int, x: DType, y: DType) -> int:
    """The least distance, in bytes, if outputs are written channel by channel.

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
