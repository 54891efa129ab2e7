"""Comparisons, what is made of truth values, and the choice between tensors."""

from __future__ import annotations

import numpy as np

from edgec.importers.common import masks
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.gathered import expanded
from edgec.importers.common.scattered import check_places
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir.graph import Constant


def where(ctx: Context, node: OnnxNode) -> Tensor:
    """Between real numbers or between integers; numpy broadcasting."""
    condition, a, b = (node.tensor(index) for index in range(3))
    return masks.chosen(ctx, condition, a, b)


def compare(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers or integers; one operand may be constant; numpy broadcasting."""
    return masks.related(ctx, masks.Relation(node.op), node.tensor(0), node.tensor(1))


def not_(ctx: Context, node: OnnxNode) -> Tensor:
    """The operand is a mask."""
    return masks.negated(ctx, node.value(0))


def and_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return masks.combined(ctx, node.tensor(0), node.tensor(1), False, node.name)


def or_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return masks.combined(ctx, node.tensor(0), node.tensor(1), True, node.name)


def xor(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    a, b = (_truth(ctx, node.tensor(index)) for index in (0, 1))
    same = masks.related(ctx, masks.Relation.EQUAL, a, b)
    if isinstance(same, Constant):
        raise UnsupportedError("both operands are constants", "fold constants before the export")
    return masks.negated(ctx, same)


def _truth(ctx: Context, x: Tensor) -> Tensor:
    if isinstance(x, Constant):
        return Constant(x.name, x.array.astype(np.int32))
    return masks.to_bool(ctx, masks.require_mask(x))


def is_nan(_ctx: Context, node: OnnxNode) -> Tensor:
    """Always false, as the numbers of a quantized network are finite."""
    return Constant(node.outputs[0], np.zeros((1,) * len(node.real_value(0).shape), np.bool_))


def trilu(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant k; real numbers, integers and masks."""
    x, k = node.value(0), node.ints_input(1, "k") if node.has(1) else (0,)
    if len(k) != 1 or len(x.shape) < 2:
        raise UnsupportedError("it has no matrices, or more than one k", "correct the model")
    rows, columns = x.shape[-2:]
    check_places(rows * columns)
    diagonal = max(min(k[0], columns), -rows - 1)
    upper = node.flag("upper", True)
    kept = (
        ~np.tri(rows, columns, diagonal - 1, bool)
        if upper
        else np.tri(rows, columns, diagonal, bool)
    )
    if kept.all():
        return x
    zero = Constant(f"{node.outputs[0]}/zero", np.zeros((), np.float32))
    return masks.chosen(ctx, Constant(f"{node.outputs[0]}/kept", kept), x, zero)


def one_hot(ctx: Context, node: OnnxNode) -> Tensor:
    """Integers of the run; constant depth and values; any axis."""
    index = masks.require_mask(node.value(0))
    depth, values = node.float_input(1, "depth"), node.constant(2, "values")
    rank = len(index.shape)
    axis = normal_axis(node.integer("axis", -1), rank + 1)
    if not 1.0 <= depth <= _MOST_DEPTH or values.array.size != 2:
        raise UnsupportedError(f"its depth is {depth:g}, or it has not two values", "correct it")
    column = ctx.reshape(index, (*index.shape[:axis], 1, *index.shape[axis:]))
    places = np.arange(int(depth)).reshape(-1, *[1] * (rank - axis))
    name = node.outputs[0]
    # Negative indices count from the end.
    found = [
        masks.related(ctx, masks.Relation.EQUAL, column, Constant(f"{name}/{part}", numbers))
        for part, numbers in (("places", places), ("from_end", places - int(depth)))
    ]
    where = masks.combined(ctx, found[0], found[1], True, name)
    off, on = (Constant(f"{name}/{i}", values.array.reshape(-1)[i]) for i in range(2))
    return masks.chosen(ctx, where, on, off)


_MOST_DEPTH = 1 << 20
"""Largest depth of a OneHot."""


def expand(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant shape; numpy broadcasting."""
    return expanded(ctx, node.value(0), node.ints_input(1, "shape"))
