"""Products of a value with several constant matrices: one layer for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor, moved_constant
from edgec.ir import ops
from edgec.ir.graph import Constant


def stacked_product(ctx: RealBuilder, x: Tensor, weight: Constant) -> Tensor:
    """``x @ weight`` as numpy has it: a convolution 1x1 with a group for each matrix.

    Where x has one matrix for all those of the constant, it is a Gemm whose rows are those of all
    matrices.

    Args:
        ctx: the graph that is built.
        x: [..., M, K].
        weight: [..., K, N], whose leading axes broadcast with those of x.

    Raises:
        UnsupportedError: a quantized constant has a scale for each of its rows.
    """
    rank = max(len(x.shape), len(weight.shape))
    lead, of_weight = _lead(x.shape, rank), _lead(weight.shape, rank)
    stack = [axis for axis, size in enumerate(of_weight) if size > 1]
    rest = [axis for axis in range(rank - 2) if axis not in stack]
    alone = all(lead[axis] == 1 for axis in stack)
    if not alone:
        lead = tuple(of_weight[i] if i in stack else size for i, size in enumerate(lead))
    spread = _spread(ctx, x, lead)
    y = _of_one(ctx, spread, weight, rest) if alone else _of_each(ctx, spread, weight, stack, rest)
    # Axes are [*rest, M, *stack, N] now.
    order = [*rest, rank - 2, *stack, rank - 1]
    sizes = [*lead, x.shape[-2], weight.shape[-1]]
    for axis in stack:
        sizes[axis] = of_weight[axis]
    y = ctx.reshape(y, [sizes[axis] for axis in order])
    return ctx.transpose(y, [order.index(axis) for axis in range(rank)])


def _of_one(ctx: RealBuilder, x: Tensor, weight: Constant, rest: Sequence[int]) -> Tensor:
    """The product of [*rest, M, K], whose other axes are 1, with all matrices."""
    rows = ctx.reshape(x, [*(x.shape[axis] for axis in rest), *x.shape[-2:]])
    return ctx.emit(ops.Gemm(), rows, moved_constant(weight, _rows), None)


def _of_each(
    ctx: RealBuilder, x: Tensor, weight: Constant, stack: Sequence[int], rest: Sequence[int]
) -> Tensor:
    """The product of each matrix of x with its own one."""
    rank, count = len(x.shape), math.prod(x.shape[axis] for axis in stack)
    moved = ctx.transpose(x, [*rest, rank - 2, *stack, rank - 1])
    channels = count * x.shape[-1]
    image = ctx.reshape(moved, (1, math.prod(x.shape) // channels, 1, channels))
    kernel = moved_constant(weight, lambda array: _rows(array)[:, None, None, :])
    return ctx.emit(ops.Conv(group=count), image, kernel, None)


def _rows(weight: Array) -> Array:
    """[..., K, N] as [all matrices * N, K]."""
    swapped = weight.swapaxes(-1, -2)
    return swapped.reshape(-1, swapped.shape[-1])


def _spread(ctx: RealBuilder, x: Tensor, lead: Sequence[int]) -> Tensor:
    """X with these leading axes."""
    shape = (*lead, *x.shape[-2:])
    same_rank = ctx.reshape(x, (*_lead(x.shape, len(shape)), *x.shape[-2:]))
    return same_rank if same_rank.shape == shape else ctx.emit(ops.Expand(shape), same_rank)


def _lead(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """All axes but the last two, with ones before them."""
    return (*(1,) * (rank - len(shape)), *shape[:-2])
