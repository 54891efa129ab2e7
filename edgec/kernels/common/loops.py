"""Strided loops over tensors: broadcasting, permuting and slicing as (size, strides) per axis.

Axes of length 1 vanish and neighbouring axes that every operand walks through in one go are merged,
so that a kernel gets the fewest loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgec.ir.graph import Graph
from edgec.kernels.common.spec import Loop


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements between neighbours along each axis of a contiguous tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def broadcast_strides(shape: Sequence[int], out_shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, over the axes of `out_shape`, of a tensor that numpy would broadcast to it."""
    missing = len(out_shape) - len(shape)
    own = strides_of(shape)
    return (0,) * missing + tuple(
        0 if size == 1 else stride for size, stride in zip(shape, own, strict=True)
    )


def merge_loops(loops: Sequence[Loop], operands: int = 1) -> tuple[Loop, ...]:
    """The fewest loops that walk over memory in this order; at least one.

    Args:
        loops: from the outermost; none where the tensors have no axes.
        operands: tensors that are walked through together.
    """
    merged: list[Loop] = []
    for loop in loops:
        if loop.size == 1:
            continue
        if merged and _continues(merged[-1], loop):
            merged[-1] = Loop(merged[-1].size * loop.size, loop.strides)
        else:
            merged.append(loop)
    return tuple(merged) or (Loop(1, (0,) * operands),)


def _continues(outer: Loop, inner: Loop) -> bool:
    return all(o == i * inner.size for o, i in zip(outer.strides, inner.strides, strict=True))


def broadcast_loops(graph: Graph, names: Sequence[str], output: str) -> tuple[Loop, ...]:
    """Loops over the output of a function of several tensors, with the strides of each."""
    out_shape = graph.shape(output)
    operands = [broadcast_strides(graph.shape(name), out_shape) for name in names]
    strides = zip(*operands, strict=True)
    loops = [Loop(*axis) for axis in zip(out_shape, strides, strict=True)]
    return merge_loops(loops, len(operands))


def reduction_loops(
    shape: Sequence[int], axes: Sequence[int]
) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    """Loops over the axes of a tensor that a reduction keeps, and over `axes`, which it reduces."""
    loops = [Loop(n, (s,)) for n, s in zip(shape, strides_of(shape), strict=True)]
    kept = [loop for axis, loop in enumerate(loops) if axis not in axes]
    reduced = [loop for axis, loop in enumerate(loops) if axis in axes]
    return merge_loops(kept), merge_loops(reduced)
