"""Base classes of specifications of depthwise convolutions."""

from __future__ import annotations

from typing import ClassVar

from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window


class DepthwiseFunction(LayerFunction):
    """A depthwise convolution of one filter a channel, unless its class says otherwise.

    Attributes:
        window: geometry.
        manner: what is computed at a time, in words, after a comma.
    """

    __slots__ = ()
    window: Window
    manner: ClassVar[str] = ""

    @property
    def out_channels(self) -> int:
        """Channels of y."""
        return self.window.channels

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        return self.out_elements * self.window.taps

    def describe(self) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Depthwise convolution {x} to {y}, {describe_window(w)}{self.manner}"


FOUR = 4
"""Channels of a word."""
_LEAST_TAPS = 2


class LineFunction(DepthwiseFunction):
    """A depthwise convolution of a row or column of taps, all of them inside the image."""

    __slots__ = ()
    scratch_name: ClassVar[str | None] = None
    manner: ClassVar[str] = ", four channels of a pixel at a time"

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @staticmethod
    def serves(window: Window) -> bool:
        """Whether a window is such a line."""
        line = min(window.kernel_h, window.kernel_w) == 1 and window.taps >= _LEAST_TAPS
        return line and not window.rows_clipped and not window.cols_clipped

    @property
    def row(self) -> int:
        """Bytes of x from the windows of a row to those of the next."""
        return self.window.stride_h * self.window.width * self.window.channels

    @property
    def column(self) -> int:
        """Bytes of x from a window to the next one of its row."""
        return self.window.stride_w * self.window.channels

    @property
    def step(self) -> int:
        """Bytes of x from tap to tap."""
        w = self.window
        return (w.dilation_h * w.width if w.kernel_h > 1 else w.dilation_w) * w.channels

    @property
    def fours(self) -> int:
        """Times that four channels of a pixel are computed."""
        return -(-self.window.channels // FOUR)
