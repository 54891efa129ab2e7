"""Rules of shapes that several operators share, real and integer ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from edgec.ir.operator import Shape

Pads2D = tuple[int, int, int, int]
"""(top, left, bottom, right)"""
Pair = tuple[int, int]
"""(vertical, horizontal)"""


class Window(Protocol):
    """Attributes of an operator that slides a window over rows and columns."""

    @property
    def strides(self) -> Pair:
        """Distance of two positions."""

    @property
    def pads(self) -> Pads2D:
        """Rows and columns around the image."""

    @property
    def dilations(self) -> Pair:
        """Distance of two taps."""


class GroupedWindow(Window, Protocol):
    """Attributes of a convolution."""

    @property
    def group(self) -> int:
        """Number of groups of channels."""


class TransposedWindow(GroupedWindow, Protocol):
    """Attributes of a transposed convolution."""

    @property
    def output_padding(self) -> Pair:
        """Rows and columns added at the end of the output."""


def need(condition: bool, why: str) -> None:
    """Raise ValueError(why) unless the condition holds."""
    if not condition:
        raise ValueError(why)


def broadcast(a: Shape, b: Shape) -> Shape:
    """Shape of a numpy broadcast; ValueError when the shapes do not agree."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    need(all(x == y or 1 in (x, y) for x, y in zip(a, b, strict=True)), "shapes do not broadcast")
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def window_out(size: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    """Number of positions of a sliding window along one axis; ValueError if there is none."""
    span = (kernel - 1) * dilation + 1
    if size + before + after < span:
        raise ValueError(f"a window of {span} does not fit {size} + {before + after} padding")
    return (size + before + after - span) // stride + 1


def window_shape(h: int, w: int, kernel: Pair, window: Window) -> Pair:
    """Output height and width of a window operator (convolution and pooling)."""
    pads, (down, right), (rows, columns) = window.pads, window.strides, window.dilations
    need(min(*kernel, down, right, rows, columns) > 0, "zero kernel, stride or dilation")
    need(min(pads) >= 0, "negative padding")
    return (
        window_out(h, kernel[0], down, rows, pads[0], pads[2]),
        window_out(w, kernel[1], right, columns, pads[1], pads[3]),
    )


def pool_shape(x: Shape, kernel: Pair, window: Window) -> Shape:
    """Output [N, OH, OW, C] of a pooling operator that reads x [N, H, W, C]."""
    need(len(x) == 4, "x must have four dimensions")
    n, h, w, c = x
    return (n, *window_shape(h, w, kernel, window), c)


def conv_shape(x: Shape, w: Shape, window: GroupedWindow) -> Shape:
    """Output [N, OH, OW, O] of a convolution: x [N, H, W, I], w [O, KH, KW, I/group]."""
    _check_conv(x, w, window)
    (n, height, width, _), (o, kh, kw, _) = x, w
    return (n, *window_shape(height, width, (kh, kw), window), o)


def conv_transpose_shape(x: Shape, w: Shape, window: TransposedWindow) -> Shape:
    """Output [N, OH, OW, O] of a transposed convolution; operands as `conv_shape`."""
    _check_conv(x, w, window)
    (n, *sizes, _), (o, *kernel, _) = x, w
    out = tuple(
        (size - 1) * window.strides[i]
        + (kernel[i] - 1) * window.dilations[i]
        + 1
        + window.output_padding[i]
        - window.pads[i]
        - window.pads[i + 2]
        for i, size in enumerate(sizes)
    )
    need(min(out) > 0, "the output is empty")
    return (n, *out, o)


def _check_conv(x: Shape, w: Shape, window: GroupedWindow) -> None:
    need(len(x) == 4 and len(w) == 4, "x and weight must have four dimensions")
    need(window.group >= 1 and w[0] % window.group == 0, "group does not divide the outputs")
    need(w[3] * window.group == x[3], "weights and input disagree about channels")
    need(min(w) > 0, "empty weight")


def gemm_shape(x: Shape, w: Shape) -> Shape:
    """Output [..., N] of a product with weights: x [..., K], w [N, K]."""
    need(len(x) >= 1 and len(w) == 2, "weight must be [N, K]")
    need(x[-1] == w[1], "x and weight disagree about K")
    return (*x[:-1], w[0])


def matmul_shape(a: Shape, b: Shape, transpose_a: bool, transpose_b: bool) -> Shape:
    """Output [..., M, N] of a product of two activations, see `ops.MatMul`."""
    need(len(a) >= 2 and len(b) >= 2, "an operand is no matrix")
    rows, inner = (a[-1], a[-2]) if transpose_a else (a[-2], a[-1])
    other, columns = (b[-1], b[-2]) if transpose_b else (b[-2], b[-1])
    need(inner == other, "a and b disagree about K")
    return (*broadcast(a[:-2], b[:-2]), rows, columns)


def check_per_output(w: Shape, *parameters: Shape | None) -> None:
    """Each parameter that is there (a bias, multipliers) has one entry per row of the weights."""
    need(all(p in (None, w[:1]) for p in parameters), "bias or multiplier is not [O]")


def check_per_channel(x: Shape, *parameters: Shape) -> None:
    """Each parameter has one entry per channel of x, or one for all of them."""
    need(all(p in (x[-1:], (1,)) for p in parameters), "a parameter is not [C]")


def norm_shape(x: Shape, gamma: Shape, beta: Shape | None) -> Shape:
    """Output of a normalization over the last axis."""
    need(gamma == x[-1:], "gamma is not [C]")
    need(beta in (None, x[-1:]), "beta is not [C]")
    return x


def reduced_shape(x: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Output of a reduction: the axes have length 1, or are gone."""
    need(all(0 <= axis < len(x) for axis in axes), "axis out of range")
    if keepdims:
        return tuple(1 if i in axes else size for i, size in enumerate(x))
    return tuple(size for i, size in enumerate(x) if i not in axes)


def concat_shape(parts: Sequence[Shape], axis: int) -> Shape:
    """Output of a concatenation."""
    need(bool(parts) and 0 <= axis < len(parts[0]), "axis out of range")
    rest = [(*part[:axis], *part[axis + 1 :]) for part in parts]
    need(all(each == rest[0] for each in rest), "inputs differ beside the axis")
    return (*parts[0][:axis], sum(part[axis] for part in parts), *parts[0][axis + 1 :])


def padded_shape(x: Shape, pads: Sequence[tuple[int, int]]) -> Shape:
    """Output of a padding by (before, after) per axis."""
    need(len(pads) == len(x), "one pair per axis is needed")
    need(all(min(pair) >= 0 for pair in pads), "negative padding")
    return tuple(size + before + after for size, (before, after) in zip(x, pads, strict=True))
