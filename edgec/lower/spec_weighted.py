"""Specifications of kernels with weights: convolutions and matrix products."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from edgec.lower.spec_base import describe_image, describe_window
from edgec.lower.spec_narrow import Narrow
from edgec.lower.window import Window

_BLOCK = 4
"""Output channels computed together, so that a loaded activation is used several times."""

_BORDER_BLOCK = 2
"""Channels of a depthwise convolution that share the loops over the taps.

More of them win nothing: a Cortex-M4 runs out of registers.
"""

_UNROLLED_TAPS = 25
"""Depthwise windows of more taps are loops everywhere."""


@dataclass(frozen=True, slots=True)
class Conv2D:
    """Convolution: gathers the window of one output pixel, then one dot product per channel.

    x int8 [height, width, channels], weights int8 [out_channels, kernel_h, kernel_w,
    channels / group], y int8 [out_height, out_width, out_channels].

    Attributes:
        window: geometry.
        out_channels: filters.
        group: input and output channels are cut into this many independent groups.
        shift: of the requantization.
        residual_shift: of the addition at the end; None: there is no addition.
        narrow: how it ends in a transformer's arithmetic; None: by a 31-bit multiplier.
    """

    family: ClassVar[str] = "conv2d"
    window: Window
    out_channels: int
    group: int
    shift: int
    residual_shift: int | None = None
    narrow: Narrow | None = None

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels // self.group

    @property
    def is_grouped(self) -> bool:
        """There are several groups."""
        return self.group > 1

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.window.channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.out_channels // self.group

    @property
    def block(self) -> int:
        """Filters computed together."""
        return min(_BLOCK, self.group_filters)

    @property
    def rest(self) -> int:
        """Filters of a group that are left after the last full block."""
        return self.group_filters % self.block

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.group == 1 and self.window.columns_are_runs

    @property
    def scratch_bytes(self) -> int:
        """The gathered window."""
        return self.window.taps * self.window.channels

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        group = f", {self.group} groups" if self.group > 1 else ""
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution {x} to {y}, {describe_window(w)}{group}"


@dataclass(frozen=True, slots=True)
class Depthwise:
    """Depthwise convolution: every input channel has its own `multiplier` filters.

    x int8 [height, width, channels], weights int8 [channels * multiplier, kernel_h, kernel_w],
    y int8 [out_height, out_width, channels * multiplier].
    """

    family: ClassVar[str] = "depthwise"
    window: Window
    multiplier: int
    shift: int
    residual_shift: int | None = None
    narrow: Narrow | None = None

    @property
    def block(self) -> int:
        """Channels computed together at the border; the filters of one channel go one by one."""
        return min(_BORDER_BLOCK, self.out_channels) if self.multiplier == 1 else 1

    @property
    def rest(self) -> int:
        """Channels that are left after the last full block."""
        return self.out_channels % self.block

    @property
    def has_multiplier(self) -> bool:
        """An input channel has more than one filter."""
        return self.multiplier > 1

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        """(row, column) of each tap, in the order of the weights."""
        rows, columns = range(self.window.kernel_h), range(self.window.kernel_w)
        return tuple(itertools.product(rows, columns))

    @property
    def unrolled(self) -> bool:
        """Pixels whose window lies inside the image have code without loops over the taps."""
        few = self.window.taps <= _UNROLLED_TAPS
        return self.multiplier == 1 and few and self.window.fits

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def out_channels(self) -> int:
        """Channels of y."""
        return self.window.channels * self.multiplier

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        return self.out_elements * self.window.taps

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Depthwise convolution {x} to {y}, {describe_window(w)}"


@dataclass(frozen=True, slots=True)
class Gemm:
    """Matrix product with constant weights: fully connected layers and pointwise convolutions.

    x int8 [rows, depth], weights int8 [units, depth], y int8 [rows, units].

    Attributes:
        variable: the rows of a run are an argument.
    """

    family: ClassVar[str] = "gemm"
    rows: int
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    narrow: Narrow | None = None
    variable: bool = False

    @property
    def block(self) -> int:
        """Units computed together."""
        return min(_BLOCK, self.units)

    @property
    def rest(self) -> int:
        """Units that are left after the last full block."""
        return self.units % self.block

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Matrix product [{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class ConvTranspose:
    """Transposed convolution, computed output pixel by output pixel.

    x int8 [out_height, out_width, channels_in] and y int8 [height, width, channels] of `window`,
    which is the convolution that this one transposes: it reads y and writes x.  weights int8
    [channels, kernel_h, kernel_w, in_channels / group].
    """

    family: ClassVar[str] = "conv_transpose"
    window: Window
    in_channels: int
    group: int
    shift: int

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.in_channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.window.channels // self.group

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.height * self.window.width * self.window.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those that fall outside y included."""
        return self.window.out_pixels * self.in_channels * self.window.taps * self.group_filters

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        group = f", {self.group} groups" if self.group > 1 else ""
        x = describe_image(w.out_height, w.out_width, self.in_channels)
        y = describe_image(w.height, w.width, w.channels)
        return f"Transposed convolution {x} to {y}, {describe_window(w)}{group}"
