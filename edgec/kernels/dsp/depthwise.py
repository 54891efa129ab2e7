"""Depthwise convolutions with the DSP extension: the shared part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.form_ends import Tflite31
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.overlap import by_strips, with_ending
from edgec.kernels.common.parts import WeightReads
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances

PLANES = 4
"""Channels whose planes are made together (`edgec/depthwise/unpacked_s8_dsp.h`)."""

HIGH_SHIFTS = range(32, 55)
"""With these shifts the high word of a product is enough."""
LARGEST_SIZE = 8192
"""Sizes that are no larger fit the structs of layers."""


def high_word_kind(shift: int, tflite31: Tflite31 | None, *, saturates: bool) -> str | None:
    """Rounding of codes that are made from the high word of a product.

    Args:
        shift: right shift with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        saturates: the bounds after a multiplier of 31 bits are those of int8.

    Returns:
        One "offset", "offsets" by channel, or None: the codes of this end are not made so.
    """
    if tflite31 is not None:
        return "offsets" if tflite31.end == "offset31" and tflite31.saturates else None
    return "offset" if saturates and shift in HIGH_SHIFTS else None


def ends_in_high_word(graph: Graph, node: Node) -> bool:
    """Whether the codes of a layer are one of `HighWordDepthwise.kind`, with nothing added."""
    end = end_of(graph, node)
    if end.residual_shift is not None or end.rescale16 is not None:
        return False
    if end.tflite31 is not None and end.tflite31.end == "two_roundings31":
        return end.tflite31.saturates
    saturates = ends_in_requant31(node, INT8_MIN, INT8_MAX)
    return high_word_kind(end.shift, end.tflite31, saturates=saturates) is not None


KINDS = ("offset", "offsets", "twice", "once")
"""Numbers of outputs, as `HighWordDepthwise.numbers` counts them."""


class HighWordDepthwise(DepthwiseFunction, ABC):
    """A depthwise convolution that makes codes from the high word of a product.

    Attributes:
        shift: right shift of the product with a multiplier of 31 bits.
    """

    __slots__ = ()
    shift: int

    @property
    def high_shift(self) -> int:
        """The shift after the high word of the product, the last one of shifts by channel."""
        if self.tflite31 is None:
            return self.shift - 32
        return 1 if self.tflite31.has_shifts else self.tflite31.shift

    @property
    def is_rounded(self) -> bool:
        """The high word is rounded."""
        return self.tflite31 is not None or self.high_shift == 0

    @property
    def kind(self) -> str:
        """Numbers of outputs: one "offset", "offsets", or "twice", with shifts, by channel."""
        if self.tflite31 is None:
            return "offset"
        return "twice" if self.tflite31.has_shifts else "offsets"

    @property
    def numbers(self) -> int:
        """The kind in C."""
        return KINDS.index(self.kind)


class UnpackedDepthwise(HighWordDepthwise):
    """A depthwise convolution of planes of unpacked channels."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""

    @property
    @abstractmethod
    def distance(self) -> int:
        """Distance in bytes of outputs before the image, where they do not take its place."""


def overlap(spec: UnpackedDepthwise) -> Distances:
    """Strips of rows, in each of them four channels at a time; or the whole image in place."""
    return with_ending(spec, None if spec.is_whole else spec.distance)


WORD_BYTES = 4
_WEIGHTS_BYTES = 12
"""Weights of a channel in the stream."""


@dataclass(frozen=True, slots=True)
class DepthwiseByChannel(UnpackedDepthwise):
    """Depthwise convolution of 3x3 taps, whose channels are a stream
    (`edgec/depthwise/by_channel_s8_dsp.h`).

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels].

    Attributes:
        window: 3x3 taps without dilation, with one stride for rows and columns.
        shift: right shift with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str]
    template: ClassVar[Path]
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)

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
        return self.tflite31 is not None

    @property
    def numbers_bytes(self) -> int:
        """Bytes of the stream for a channel: weights, bias, multiplier and offset."""
        return _WEIGHTS_BYTES + (3 if self.has_offsets else 2) * WORD_BYTES

    @property
    def fours(self) -> int:
        """Times that four channels are taken apart for the same rows."""
        return -(-self.window.channels // PLANES)

    def stream_reads(self, times: int) -> WeightReads:
        """Weight reads of a call that reads all weights and numbers `times` times."""
        return WeightReads(self.window.channels * self.numbers_bytes, times)

    @property
    def form_name(self) -> str:
        """Beginning of C names of functions that requantize alike, in all layers of one stride."""
        return f"{'offsets' if self.has_offsets else 'offset'}_{self.window.stride_h}"

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.window.stride_h == 1

    @property
    def distance(self) -> int:
        """Distance in bytes of outputs before the image, where they do not take its place."""
        return max(by_strips(self.window, 1, self.strip, PLANES), 0)

    @property
    def memory_bytes(self) -> int:
        """The planes, and how far outputs lie before the image."""
        return self.scratch_bytes + (0 if self.is_whole else self.distance)
