"""Kernel specifications: one frozen dataclass per kernel family, all numbers final.

A specification holds what is compiled into a C function: shapes, strides and shifts.  What differs
between layers of one shape (weights, multipliers, zero points, clamps) is an argument of the
function, see `lower.params`.  So equal specifications share one function.

A template sees a specification and nothing else; what it needs computed is a property here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.ops import PadMode, ReduceKind
from edgec.lower.window import Window

_BLOCKS = (4, 2, 1)
"""Output channels computed together, so that a loaded activation is used several times."""


def _block(channels: int) -> int:
    return next(size for size in _BLOCKS if channels % size == 0)


def _describe_window(window: Window) -> str:
    size = f"{window.kernel_h}x{window.kernel_w}"
    stride = f"stride {window.stride_h}x{window.stride_w}"
    dilation = f", dilation {window.dilation_h}x{window.dilation_w}"
    return f"{size} window, {stride}{dilation if window.reach_w > window.kernel_w else ''}"


def _image(height: int, width: int, channels: int) -> str:
    return f"[{height}, {width}, {channels}]"


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
    """

    family: ClassVar[str] = "conv2d"
    window: Window
    out_channels: int
    group: int
    shift: int
    residual_shift: int | None = None

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels // self.group

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
        return _block(self.group_filters)

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
        return (
            f"Convolution {_image(w.height, w.width, w.channels)} to "
            f"{_image(w.out_height, w.out_width, self.out_channels)}, {_describe_window(w)}{group}"
        )


@dataclass(frozen=True, slots=True)
class Depthwise:
    """Depthwise convolution: every input channel has its own `multiplier` filters.

    x int8 [height, width, channels], weights int8 [kernel_h, kernel_w, channels * multiplier],
    y int8 [out_height, out_width, channels * multiplier].
    """

    family: ClassVar[str] = "depthwise"
    window: Window
    multiplier: int
    shift: int
    residual_shift: int | None = None

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
        return (
            f"Depthwise convolution {_image(w.height, w.width, w.channels)} to "
            f"{_image(w.out_height, w.out_width, self.out_channels)}, {_describe_window(w)}"
        )


@dataclass(frozen=True, slots=True)
class Gemm:
    """Matrix product with constant weights: fully connected layers and pointwise convolutions.

    x int8 [rows, depth], weights int8 [units, depth], y int8 [rows, units].
    """

    family: ClassVar[str] = "gemm"
    rows: int
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None

    @property
    def block(self) -> int:
        """Units computed together."""
        return _block(self.units)

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
        return (
            f"Transposed convolution {_image(w.out_height, w.out_width, self.in_channels)} to "
            f"{_image(w.height, w.width, w.channels)}, {_describe_window(w)}{group}"
        )


@dataclass(frozen=True, slots=True)
class _Elementwise:
    """Base of functions of two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        shift: of the rounding at the end.
    """

    loops: tuple[Loop, ...]
    shift: int

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return math.prod(loop.size for loop in self.loops)

    @property
    def macs(self) -> int:
        """None: these are no multiply-accumulates in the sense of the reports."""
        return 0


@dataclass(frozen=True, slots=True)
class Add(_Elementwise):
    """Sum or difference of two tensors."""

    family: ClassVar[str] = "add"

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Sum of two tensors, {self.out_elements} elements"


@dataclass(frozen=True, slots=True)
class Mul(_Elementwise):
    """Product of two tensors."""

    family: ClassVar[str] = "mul"

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {self.out_elements} elements"


@dataclass(frozen=True, slots=True)
class _Plain:
    """Base of kernels without scratch and without multiply-accumulates."""

    @property
    def scratch_bytes(self) -> int:
        """None."""
        return 0

    @property
    def macs(self) -> int:
        """None."""
        return 0


@dataclass(frozen=True, slots=True)
class Lut(_Plain):
    """A function of one element, by table: x, y int8 [count], table int8 [256]."""

    family: ClassVar[str] = "lut"
    count: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Table look-up, {self.count} elements"


@dataclass(frozen=True, slots=True)
class PRelu(_Plain):
    """x, y int8 [pixels, channels], slope multipliers int32 [channels]."""

    family: ClassVar[str] = "prelu"
    pixels: int
    channels: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"PRelu [{self.pixels}, {self.channels}]"


@dataclass(frozen=True, slots=True)
class Softmax(_Plain):
    """x, y int8 [rows, depth], over depth; table of exponentials int32 [256]."""

    family: ClassVar[str] = "softmax"
    rows: int
    depth: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax over the last axis of [{self.rows}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class MaxPool(_Plain):
    """x int8 [height, width, channels], y int8 [out_height, out_width, channels]."""

    family: ClassVar[str] = "max_pool"
    window: Window

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Maximum pool {_image(w.height, w.width, w.channels)}, {_describe_window(w)}"


@dataclass(frozen=True, slots=True)
class AveragePool(_Plain):
    """As `MaxPool`; multipliers int32 [kernel_h * kernel_w + 1], by the number of taps counted.

    Attributes:
        window: geometry.
        counts_padding: every output divides by the same number.
        shift: of the requantization.
    """

    family: ClassVar[str] = "average_pool"
    window: Window
    counts_padding: bool
    shift: int

    @property
    def counts_all(self) -> bool:
        """The divisor is the same everywhere."""
        return self.counts_padding or not (self.window.rows_clipped or self.window.cols_clipped)

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Average pool {_image(w.height, w.width, w.channels)}, {_describe_window(w)}"


@dataclass(frozen=True, slots=True)
class Reduce(_Plain):
    """Mean, sum or maximum over some axes; y is written in raster order.

    Attributes:
        kind: operator.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        shift: of the requantization; 1 and unused for MAX.
    """

    family: ClassVar[str] = "reduce"
    kind: ReduceKind
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    shift: int

    @property
    def is_max(self) -> bool:
        """The maximum, not a sum."""
        return self.kind is ReduceKind.MAX

    @property
    def terms(self) -> int:
        """Elements of x for one of y."""
        return math.prod(loop.size for loop in self.reduced)

    def describe(self) -> str:
        """What the function computes, in words."""
        outputs = math.prod(loop.size for loop in self.kept)
        return f"{self.kind.value} of {self.terms} elements, {outputs} times"


@dataclass(frozen=True, slots=True)
class StridedCopy(_Plain):
    """Transpose or slice: y is written in raster order, in runs of `run_bytes`.

    Attributes:
        start_bytes: of the first run in x.
        loops: strides of x, in bytes.
        run_bytes: contiguous bytes copied at once.
    """

    family: ClassVar[str] = "strided_copy"
    start_bytes: int
    loops: tuple[Loop, ...]
    run_bytes: int

    @property
    def out_bytes(self) -> int:
        """Bytes of y."""
        return self.run_bytes * math.prod(loop.size for loop in self.loops)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Strided copy of {self.out_bytes} bytes in runs of {self.run_bytes}"


@dataclass(frozen=True, slots=True)
class Concat(_Plain):
    """y[i] = parts[0][i], parts[1][i], ... for i in [0, outer).

    Attributes:
        outer: times that one run of each part is copied.
        run_bytes: bytes of a run, by part.
    """

    family: ClassVar[str] = "concat"
    outer: int
    run_bytes: tuple[int, ...]

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """(number, run_bytes) of each part."""
        return tuple(enumerate(self.run_bytes))

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Concatenation of {len(self.run_bytes)} tensors, {self.outer} times"


@dataclass(frozen=True, slots=True)
class PadAxis:
    """One padded axis: `before` new entries, then the `size` of x; `out_size` in all."""

    size: int
    before: int
    out_size: int


@dataclass(frozen=True, slots=True)
class Pad(_Plain):
    """Padding of the leading axes; what lies behind the last padded axis is copied in runs.

    Attributes:
        mode: what the new entries hold.
        axes: all axes up to the last padded one.
        run_bytes: contiguous bytes behind them.
        value: int8 code of the new entries, in CONSTANT mode.
    """

    family: ClassVar[str] = "pad"
    mode: PadMode
    axes: tuple[PadAxis, ...]
    run_bytes: int
    value: int

    @property
    def is_constant(self) -> bool:
        """New entries hold one value."""
        return self.mode is PadMode.CONSTANT

    @property
    def is_reflect(self) -> bool:
        """New entries mirror x at its border, which is not repeated."""
        return self.mode is PadMode.REFLECT

    @property
    def numbered_axes(self) -> tuple[tuple[int, PadAxis], ...]:
        """(number, axis) of each axis."""
        return tuple(enumerate(self.axes))

    def describe(self) -> str:
        """What the function computes, in words."""
        shape = [axis.out_size for axis in self.axes]
        return f"Padding ({self.mode.value}) to {shape} runs of {self.run_bytes} bytes"


@dataclass(frozen=True, slots=True)
class ResizeNearest(_Plain):
    """x int8 [height, width, channels], rows int32 [out_height], cols int32 [out_width]."""

    family: ClassVar[str] = "resize_nearest"
    width: int
    channels: int
    out_height: int
    out_width: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Nearest resize to {_image(self.out_height, self.out_width, self.channels)}"


@dataclass(frozen=True, slots=True)
class ResizeLinear(_Plain):
    """As `ResizeNearest`; rows int32 [out_height, 3], cols int32 [out_width, 3]."""

    family: ClassVar[str] = "resize_linear"
    width: int
    channels: int
    out_height: int
    out_width: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Linear resize to {_image(self.out_height, self.out_width, self.channels)}"


@dataclass(frozen=True, slots=True)
class ArgMax(_Plain):
    """x int8 [outer, depth, inner], y int32 [outer, inner]."""

    family: ClassVar[str] = "arg_max"
    outer: int
    depth: int
    inner: int
    last: bool

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "last" if self.last else "first"
        return f"Index of the {which} maximum over {self.depth}, {self.outer * self.inner} times"


KernelSpec = (
    Conv2D
    | Depthwise
    | Gemm
    | ConvTranspose
    | Add
    | Mul
    | Lut
    | PRelu
    | Softmax
    | MaxPool
    | AveragePool
    | Reduce
    | StridedCopy
    | Concat
    | Pad
    | ResizeNearest
    | ResizeLinear
    | ArgMax
)
