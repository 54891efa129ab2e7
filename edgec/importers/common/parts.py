"""Parts of tensors, and tensors with something around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.gathered import gathered
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import PadMode

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
