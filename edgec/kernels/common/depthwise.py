"""Base class of specifications of depthwise convolutions."""

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
