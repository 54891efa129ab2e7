"""Elements of a computed tensor whose indices are computed, too."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.gathered import expanded
from edgec.importers.common.masks import Relation, combined, related
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

_MOST_PRODUCTS = 1 << 20
"""Multiply-accumulates of one choice, a fraction of a second on any core: more is a slip."""


def named(ctx: RealBuilder, x: Tensor, axis: int, ids: Tensor) -> Tensor:
    """The elements of an axis at indices of the run; their axis becomes the axes of `ids`.

    A comparison of the indices with all that there are makes rows of a one and zeros, and their
    product with x is exact.  Negative indices count from the end; others outside the axis give
    zeros.

    Raises:
        UnsupportedError: x or the indices are of another kind, or there are too many of both.
    """
    real = isinstance(x, Value) and x.dtype is DType.FLOAT32
    if not real or not isinstance(ids, Value) or ids.dtype is not DType.INT32:
        raise UnsupportedError(
            "its indices are computed at run time",
            "let integers choose rows of a constant matrix, or elements of real numbers",
        )
    count, size = math.prod(ids.shape), x.shape[axis]
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    if count * math.prod(x.shape) > _MOST_PRODUCTS:
        raise UnsupportedError(
            f"{count} indices of the run choose among {size} elements of "
            f"{math.prod(rest):,} numbers each, which takes more than {_MOST_PRODUCTS:,} products",
            "choose among fewer",
        )
    places = np.arange(size, dtype=np.int64).reshape(1, size)
    flat = ctx.reshape(ids, (count, 1))
    hit = related(ctx, Relation.EQUAL, flat, Constant(f"{ids.name}/all", places))
    if not _counts(ctx, ids):
        from_end = Constant(f"{ids.name}/from the end", places - size)
        other = related(ctx, Relation.EQUAL, flat, from_end)
        hit = combined(ctx, hit, other, True, ids.name)
    one_hot = ctx.emit(ops.Cast(), hit, dtype=DType.FLOAT32)
    order = (axis, *(i for i in range(len(x.shape)) if i != axis))
    rows = ctx.reshape(ctx.transpose(x, order), (size, math.prod(rest)))
    y = ctx.reshape(ctx.emit(ops.MatMul(), one_hot, rows), (*ids.shape, *rest))
    # The axes of `ids` stand first; they belong where the axis was.
    first = len(ids.shape)
    others = range(first, first + len(rest))
    return ctx.transpose(y, (*others[:axis], *range(first), *others[axis:]))


def _counts(ctx: RealBuilder, ids: Value) -> bool:
    """Whether indices come from an operator that counts from 0 on."""
    made = ctx.producer(ids)
    while made is not None and isinstance(made.attrs, ops.Reshape | ops.Transpose | ops.Expand):
        made = ctx.producer(ctx.builder.values[made.first])
    return made is not None and isinstance(made.attrs, ops.TopK | ops.ArgMax)


def named_elements(ctx: RealBuilder, x: Value, axis: int, ids: Value) -> Tensor:
    """GatherElements with indices that `Expand` makes the same along all other axes.

    Raises:
        UnsupportedError: the indices differ along another axis, or as `named` has it.
    """
    if len(ids.shape) != len(x.shape):
        raise UnsupportedError("its indices and its data differ in rank", "correct the model")
    made = ctx.producer(ids)
    source = ids if made is None else ctx.builder.values.get(made.first, ids)
    expand = made is not None and isinstance(made.attrs, ops.Expand)
    lead = len(ids.shape) - len(source.shape)
    own = (1,) * lead + source.shape
    others = [i for i in range(len(own)) if i != axis]
    along = expand and all(own[i] == 1 and ids.shape[i] == x.shape[i] for i in others)
    if not along and any(x.shape[i] != 1 or ids.shape[i] != 1 for i in others):
        raise UnsupportedError(
            "it picks single elements at run time",
            "let one index choose the same element of all other axes (torch.index_select, or an "
            "index expanded over them)",
        )
    chosen = source if along else ids
    y = named(ctx, x, axis, ctx.reshape(chosen, (math.prod(chosen.shape),)))
    return expanded(ctx, y, ids.shape) if along else y
