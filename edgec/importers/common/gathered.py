"""Elements chosen along an axis by constant indices: repeated, mirrored or picked at will."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.limits import MAX_ACTIVATION_ELEMENTS
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.sampling import Positions, check_cells, emit_resize
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.ir import ops
from edgec.ir.graph import Constant


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
