"""Specifications of depthwise convolutions whose channels are a stream (`edgec/streamed.h`)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.overlap import by_strips
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.planes import PLANES, PlanesFunction

WORD_BYTES = 4
_WEIGHTS_BYTES = 12
"""Weights of a channel in the stream."""


@dataclass(frozen=True, slots=True)
class StreamedDepthwise(PlanesFunction):
    """Depthwise convolution of 3x3 taps, whose channels are a stream (`edgec/streamed.h`).

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels].

    Attributes:
        window: 3x3 taps without dilation, with one stride for rows and columns.
        shift: right shift with a multiplier of 31 bits.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str]
    template: ClassVar[Path]
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)

    @property
    @abstractmethod
    def scratch_bytes(self) -> int:
        """The planes."""

    @property
    @abstractmethod
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""

    @property
    def streams(self) -> bool:
        """The kernel takes all that its filters need in one stream."""
        return True

    @property
    def left(self) -> int:
        """1: windows begin outside the image."""
        return self.window.pad_left

    @property
    def has_offsets(self) -> bool:
        """Each channel has an offset of its own."""
        return self.exact31 is not None

    @property
    def numbers_bytes(self) -> int:
        """Bytes of the stream for a channel: weights, bias, multiplier and offset."""
        return _WEIGHTS_BYTES + (3 if self.has_offsets else 2) * WORD_BYTES

    @property
    def fours(self) -> int:
        """Times that four channels are taken apart for the same rows."""
        return -(-self.window.channels // PLANES)

    def stream_reads(self, times: int) -> WeightReads:
        """What is read where the stream is read a number of times."""
        return WeightReads(self.window.channels * self.numbers_bytes, times)

    @property
    def form_name(self) -> str:
        """What the names of the functions of all layers begin with that make codes alike, in C."""
        return f"{'offsets' if self.has_offsets else 'offset'}_{self.window.stride_h}"

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.window.stride_h == 1

    @property
    def distance(self) -> int:
        """How far outputs lie before the image, if they do not take its place."""
        return max(by_strips(self.window, 1, self.strip, PLANES), 0)

    @property
    def memory_bytes(self) -> int:
        """The planes, and how far outputs lie before the image."""
        return self.scratch_bytes + (0 if self.is_whole else self.distance)
