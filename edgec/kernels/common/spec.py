"""Parts that kernel specifications share."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.common.window import Window


@dataclass(frozen=True, slots=True)
class Loop:
    """One of several nested loops over memory, outermost first.

    Attributes:
        size: iterations.
        strides: elements between two iterations, one entry per operand; 0 repeats, negative runs
            backwards.
    """

    size: int
    strides: tuple[int, ...]


VARIABLE = "variable"
"""Name of the field of a specification that serves shorter runs, too (`kernels.common.lengths`):
the sizes of the longest are compiled in, those of a run are the function's last arguments."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Base of kernels without scratch and without multiply-accumulates."""

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def macs(self) -> int:
        """Always 0."""
        return 0


def describe_window(window: Window) -> str:
    """A window in words."""
    size = f"{window.kernel_h}x{window.kernel_w}"
    stride = f"stride {window.stride_h}x{window.stride_w}"
    dilation = f", dilation {window.dilation_h}x{window.dilation_w}"
    return f"{size} window, {stride}{dilation if window.reach_w > window.kernel_w else ''}"


def describe_image(height: int, width: int, channels: int) -> str:
    """The shape of an image in words."""
    return f"[{height}, {width}, {channels}]"
