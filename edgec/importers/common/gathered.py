"""Elements chosen along an axis by constant indices: repeated, mirrored or picked at will.

Parts of tensors, and tensors with something around them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.limits import MAX_ACTIVATION_ELEMENTS
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.sampling import Positions, check_cells, emit_resize
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import PadMode


def gathered(ctx: RealBuilder, x: Tensor, axis: int, indices: Sequence[int]) -> Tensor:
    """The elements of an axis at any indices, which lie in the tensor, in their order.

    What is computed at run time goes through the operator that scales images by copying cells: the
    axes before are its rows, this axis its columns, the axes after its channels.

    Raises:
        UnsupportedError: there are too many indices, or x holds integers of the run.
    """
    if isinstance(x, Constant):
        return moved_constant(x, lambda array: np.take(array, indices, axis=axis))
    if x.dtype is DType.INT32:
        raise UnsupportedError(
            "it copies single integers of the run", "choose among the real numbers made of them"
        )
    check_cells(len(indices))
    rows, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    image = ctx.reshape(x, (1, rows, x.shape[axis], inner))
    places = tuple(int(index) for index in indices)
    columns = Positions(places, places, (0.0,) * len(places))
    y = emit_resize(ctx, image, ops.ResizeMode.NEAREST, None, columns)
    return ctx.reshape(y, (*x.shape[:axis], len(places), *x.shape[axis + 1 :]))


def tiled(ctx: RealBuilder, x: Tensor, repeats: Sequence[int]) -> Tensor:
    """X repeated along each axis.

    Raises:
        UnsupportedError: the repeats do not fit.
    """
    if len(repeats) != len(x.shape) or min(repeats, default=1) < 1:
        raise UnsupportedError(f"repeats {list(repeats)} do not fit the input", "correct the model")
    if math.prod(x.shape) * math.prod(repeats) > MAX_ACTIVATION_ELEMENTS:
        raise UnsupportedError(
            f"repeated {list(repeats)} times it has more than {MAX_ACTIVATION_ELEMENTS:,} elements",
            "that is beyond any microcontroller; correct the model",
        )
    if all(size == 1 or count == 1 for size, count in zip(x.shape, repeats, strict=True)):
        return expanded(
            ctx, x, [size * count for size, count in zip(x.shape, repeats, strict=True)]
        )
    for axis, count in enumerate(repeats):
        if count > 1:
            x = gathered(ctx, x, axis, list(range(x.shape[axis])) * count)
    return x


def expanded(ctx: RealBuilder, x: Tensor, wanted: Sequence[int]) -> Tensor:
    """X broadcast against a shape; of a constant at once.

    Raises:
        UnsupportedError: they do not broadcast.
    """
    shape = common_shape(x.shape, tuple(wanted))
    if x.shape == shape:
        return x
    if isinstance(x, Constant):
        return Constant(x.name, np.broadcast_to(x.real(), shape))
    return ctx.emit(ops.Expand(shape), x)


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a numpy broadcast.

    Raises:
        UnsupportedError: there is none.
    """
    if any(size < 1 for shape in shapes for size in shape):
        raise UnsupportedError(f"shape {list(shapes[-1])} is impossible", "correct the model")
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        shown = " and ".join(str(list(shape)) for shape in shapes)
        raise UnsupportedError(f"{shown} do not broadcast", "correct the model") from error


Places = Callable[[int, int, int], list[int]]
"""From the length of an axis, and the elements before and after it, the indices into it."""


def continued(
    ctx: RealBuilder, x: Tensor, pads: Sequence[tuple[int, int]], places: Places
) -> Tensor:
    """X with elements of its own around it; negative pads crop.

    Args:
        ctx: the graph under construction.
        x: what is continued.
        pads: elements before and after it, for each axis.
        places: which elements these are.

    Raises:
        UnsupportedError: an axis gets too long.
    """
    for axis, (before, after) in enumerate(pads):
        if before or after:
            check_cells(x.shape[axis] + before + after)
            x = gathered(ctx, x, axis, places(x.shape[axis], before, after))
    return x


def symmetric_places(size: int, before: int, after: int) -> list[int]:
    """Indices of an axis that is continued as in a mirror, its edge repeated."""
    return _continued(np.concatenate([np.arange(size), np.arange(size)[::-1]]), size, before, after)


def wrapped_places(size: int, before: int, after: int) -> list[int]:
    """Indices of an axis that is continued as if it were periodic."""
    return _continued(np.arange(size), size, before, after)


def _continued(period: Array, size: int, before: int, after: int) -> list[int]:
    places = np.arange(-before, size + after) % len(period)
    return [int(place) for place in period[places]]


Range = tuple[int, int, int]
"""Part of an axis: (start, step, size)."""


def take(ctx: RealBuilder, x: Tensor, ranges: dict[int, Range]) -> Tensor:
    """The given ranges of some axes of x, all of the others."""
    full = [ranges.get(axis, (0, 1, size)) for axis, size in enumerate(x.shape)]
    if any(size < 1 for _, _, size in full):
        raise UnsupportedError("its result is empty", "leave the node out")
    if all(r == (0, 1, size) for r, size in zip(full, x.shape, strict=True)):
        return x
    starts, steps, sizes = (tuple(r[i] for r in full) for i in range(3))
    if isinstance(x, Constant):
        cut = tuple(_python_slice(*r) for r in full)
        return moved_constant(x, lambda array: array[cut])
    # A slice of a slice reads the source directly; exporters cut one axis at a time.
    source = ctx.producer(x)
    if source is not None and isinstance(source.attrs, ops.Slice):
        inner = source.attrs_as(ops.Slice)
        pairs = zip(inner.starts, inner.steps, starts, steps, strict=True)
        outer = [(start0 + step0 * start, step0 * step) for start0, step0, start, step in pairs]
        starts, steps = tuple(o[0] for o in outer), tuple(o[1] for o in outer)
        x = ctx.builder.values[source.first]
    return ctx.emit(ops.Slice(starts, steps, sizes), x)


def pick(ctx: RealBuilder, x: Tensor, axis: int, indices: Array) -> Tensor:
    """The elements of an axis at constant indices; their axis becomes the axes of `indices`.

    Raises:
        UnsupportedError: the indices lie outside the tensor, or are uneven and choose integers.
    """
    size = x.shape[axis]
    picked = [int(i) + size if i < 0 else int(i) for i in indices.reshape(-1)]
    if not picked or not all(0 <= i < size for i in picked):
        raise UnsupportedError("its indices lie outside the tensor", "correct the model")
    step = picked[1] - picked[0] if len(picked) > 1 else 1
    even = all(b - a == step for a, b in pairwise(picked))
    if even and step != 0:
        taken = take(ctx, x, {axis: (picked[0], step, len(picked))})
    else:
        taken = gathered(ctx, x, axis, picked)
    return ctx.reshape(taken, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def range_of(size: int, start: int, end: int, step: int) -> Range:
    """The part of an axis between bounds of numpy's kind, which may be negative or too large."""
    start, end = (bound + size if bound < 0 else bound for bound in (start, end))
    if step > 0:
        start, end = max(min(start, size), 0), max(min(end, size), 0)
    else:
        start, end = max(min(start, size - 1), 0), max(min(end, size - 1), -1)
    return start, step, max(-(-(end - start) // step), 0)


def padded(
    ctx: RealBuilder, x: Tensor, pads: Sequence[tuple[int, int]], mode: PadMode, value: float
) -> Tensor:
    """X cropped by the negative pads and then padded by the others."""
    crops = {
        axis: (max(-before, 0), 1, size + min(before, 0) + min(after, 0))
        for axis, (size, (before, after)) in enumerate(zip(x.shape, pads, strict=True))
        if before < 0 or after < 0
    }
    if crops and mode is not PadMode.CONSTANT:
        raise UnsupportedError(f"negative pads in mode {mode.value}", "use a Slice to crop")
    cropped = take(ctx, x, crops)
    grown = tuple((max(before, 0), max(after, 0)) for before, after in pads)
    if not any(before or after for before, after in grown):
        return cropped
    return ctx.emit(ops.Pad(grown, mode, value if mode is PadMode.CONSTANT else 0.0), cropped)


def _python_slice(start: int, step: int, size: int) -> slice:
    end = start + size * step
    return slice(start, end if end >= 0 else None, step)
