"""Operators of free layout in another order of axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from edgec.ir import ops
from edgec.passes.layout_refs import Perm


def attrs_in_frame(attrs: Any, frame: Perm) -> Any:
    """The operator that computes ``y.transpose(frame)`` from inputs transposed likewise.

    Args:
        attrs: a class of `ir.ops` whose freedom (`layout_refs.Freedom`) allows `frame`.
        frame: permutation of the axes of y.
    """
    match attrs:
        case ops.Concat() | ops.ArgMax():
            return replace(attrs, axis=frame.index(attrs.axis))
        case ops.Pad():
            return replace(attrs, pads=_picked(attrs.pads, frame))
        case ops.Slice():
            return ops.Slice(
                _picked(attrs.starts, frame),
                _picked(attrs.steps, frame),
                _picked(attrs.sizes, frame),
            )
        case ops.Reduce():
            axes = sorted(frame.index(axis) for axis in attrs.axes)
            return replace(attrs, axes=tuple(axes))
        case _:
            return attrs


def _picked(items: tuple[Any, ...], frame: Perm) -> tuple[Any, ...]:
    return tuple(items[axis] for axis in frame)
