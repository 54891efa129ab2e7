"""Sliding windows of convolution and pooling: attributes made explicit and two-dimensional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.limits import MAX_WINDOW_CELLS, MAX_WINDOW_TAPS
from edgec.importers.common.attributes import same_padding
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir.shapes import Pads2D, Pair, window_out

NCHW_TO_NHWC = (0, 2, 3, 1)
NHWC_TO_NCHW = (0, 3, 1, 2)


@dataclass(frozen=True, slots=True)
class Window:
    """A window in two dimensions; one-dimensional ones have height 1.

    Attributes:
        overhang: rows and columns that ceil_mode adds beyond the padding; part of `pads` already.
    """

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    overhang: Pair = (0, 0)


@dataclass(frozen=True, slots=True)
class WindowAxis:
    """A window along one axis.

    Attributes:
        size: cells of the axis.
        overhang: cells that ceil_mode adds beyond the padding; part of `end` already.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    overhang: int = 0

    @property
    def span(self) -> int:
        """Cells from the first tap to the last one."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def out(self) -> int:
        """Positions of the window."""
        try:
            return window_out(
                self.size, self.kernel, self.stride, self.dilation, self.begin, self.end
            )
        except ValueError as error:
            raise UnsupportedError(str(error), "correct the model") from error

    def taps(self) -> list[tuple[int, int, int]]:
        """(position, place in the window, cell) of every cell that a window reads."""
        found = []
        for position in range(self.out):
            for place in range(self.kernel):
                at = position * self.stride - self.begin + place * self.dilation
                if 0 <= at < self.size:
                    found.append((position, place, at))
        return found


def spatial_sizes(x: Tensor) -> tuple[int, ...]:
    """Sizes of the spatial axes of x [N, C, ...], one or two of them."""
    if len(x.shape) not in (3, 4):
        raise UnsupportedError(
            f"it works on {max(len(x.shape) - 2, 0)} spatial dimensions, edgec on 1 or 2",
            "use the 1-D or 2-D form of the operator",
        )
    return x.shape[2:]


def to_nhwc(ctx: Context, x: Tensor) -> Tensor:
    """X [N, C, H, W] as [N, H, W, C], x [N, C, L] as [N, 1, L, C]."""
    if len(x.shape) == 4:
        return ctx.transpose(x, NCHW_TO_NHWC)
    moved = ctx.transpose(x, (0, 2, 1))
    n, length, c = moved.shape
    return ctx.reshape(moved, (n, 1, length, c))


def from_nhwc(ctx: Context, y: Tensor, rank: int) -> Tensor:
    """The inverse of `to_nhwc` for a model tensor of `rank` dimensions."""
    if rank == 4:
        return ctx.transpose(y, NHWC_TO_NCHW)
    n, _, length, c = y.shape
    return ctx.transpose(ctx.reshape(y, (n, length, c)), (0, 2, 1))


def pair(values: tuple[int, ...], fill: int) -> Pair:
    """One or two values per spatial axis as (vertical, horizontal)."""
    return (fill, values[0]) if len(values) == 1 else (values[0], values[1])


def four(pads: tuple[int, ...]) -> Pads2D:
    """ONNX pads (all begins, then all ends) as (top, left, bottom, right)."""
    return (0, pads[0], 0, pads[1]) if len(pads) == 2 else (pads[0], pads[1], pads[2], pads[3])


def per_axis(node: OnnxNode, name: str, rank: int, default: int) -> tuple[int, ...]:
    """An attribute with one positive integer per spatial axis."""
    found = node.integers(name) or (default,) * rank
    if len(found) != rank or min(found) < 1:
        raise UnsupportedError(f"{name} {list(found)} is not {rank} positive numbers", "correct it")
    check_cells(name, found)
    return found


def check_cells(name: str, cells: tuple[int, ...]) -> None:
    """Refuse windows that reach over more cells than any image has.

    Raises:
        UnsupportedError: a number of rows or columns beyond the limit.
    """
    if max(cells, default=0) > MAX_WINDOW_CELLS:
        raise UnsupportedError(
            f"{name} {list(cells)} is larger than {MAX_WINDOW_CELLS:,}", "use smaller windows"
        )


def read_window(node: OnnxNode, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> Window:
    """The window of a Conv or pooling node over an image of `sizes`, one or two of them."""
    return plane_window(read_axes(node, sizes, kernel))


def plane_window(axes: Sequence[WindowAxis]) -> Window:
    """The window along one or two axes."""
    sizes = tuple(zip(*((a.kernel, a.stride, a.dilation, a.overhang) for a in axes), strict=True))
    pads = (*(axis.begin for axis in axes), *(axis.end for axis in axes))
    return Window(
        pair(sizes[0], 1), pair(sizes[1], 1), four(pads), pair(sizes[2], 1), pair(sizes[3], 0)
    )


def read_axes(
    node: OnnxNode, sizes: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[WindowAxis, ...]:
    """The window of a Conv or pooling node along each axis.

    Resolves auto_pad and ceil_mode into pads.
    Source: ONNX operator documentation of Conv and MaxPool (output shape formulas).
    """
    rank = len(sizes)
    if len(kernel) != rank or min(kernel) < 1:
        raise UnsupportedError(f"kernel_shape {list(kernel)} does not fit the input", "correct it")
    check_cells("kernel_shape", kernel)
    if math.prod(kernel) > MAX_WINDOW_TAPS:
        raise UnsupportedError(
            f"kernel_shape {list(kernel)} has more than {MAX_WINDOW_TAPS:,} taps",
            "use GlobalAveragePool or GlobalMaxPool, or several pooling operators",
        )
    strides = per_axis(node, "strides", rank, 1)
    dilations = per_axis(node, "dilations", rank, 1)
    spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))
    begins, ends = _pads(node, sizes, spans, strides)
    extra = (0,) * rank
    if node.flag("ceil_mode", False):
        extra = tuple(
            _overhang(*axis) for axis in zip(sizes, spans, strides, begins, ends, strict=True)
        )
        ends = tuple(end + more for end, more in zip(ends, extra, strict=True))
    every = zip(sizes, kernel, strides, dilations, begins, ends, extra, strict=True)
    return tuple(WindowAxis(*axis) for axis in every)


def explicit_pads(node: OnnxNode, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pads attribute as (begins, ends)."""
    pads = node.integers("pads") or (0,) * (2 * rank)
    if len(pads) != 2 * rank or min(pads) < 0:
        raise UnsupportedError(
            f"pads {list(pads)} are not {2 * rank} non-negative numbers", "use a Slice to crop"
        )
    check_cells("pads", pads)
    return pads[:rank], pads[rank:]


def _pads(
    node: OnnxNode, sizes: tuple[int, ...], spans: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    rank = len(sizes)
    match node.text("auto_pad", "NOTSET"):
        case "NOTSET" | "":
            return explicit_pads(node, rank)
        case "VALID":
            return (0,) * rank, (0,) * rank
        case "SAME_UPPER" | "SAME_LOWER" as mode:
            small, large = same_padding(sizes, spans, strides)
            return (small, large) if mode == "SAME_UPPER" else (large, small)
        case other:
            raise UnsupportedError(f"unknown auto_pad {other!r}", "use explicit pads")


def _overhang(size: int, span: int, stride: int, begin: int, end: int) -> int:
    """Cells beyond the padding that the last window of ceil_mode needs."""
    count = -(-(size + begin + end - span) // stride) + 1
    # A window may not start in the padding at the end.
    if (count - 1) * stride >= size + begin:
        count -= 1
    return max((count - 1) * stride + span - (size + begin + end), 0)
