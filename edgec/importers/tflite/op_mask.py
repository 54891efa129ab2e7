"""Comparisons, what is made of truth values, and the choice between tensors."""

from __future__ import annotations

from collections.abc import Callable

from edgec.base.dtypes import DType
from edgec.importers.common import masks
from edgec.importers.common.masks import Relation
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir.graph import Constant

Handler = Callable[[Context, TfliteNode], Tensor]


def compare(relation: Relation) -> Handler:
    """The handler of a comparison."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Real numbers or whole numbers; one operand may be constant; numpy broadcasting."""
        return masks.related(ctx, relation, node.movable(0), node.movable(1))

    return handler


def not_equal(ctx: Context, node: TfliteNode) -> Tensor:
    """Real numbers or whole numbers; one operand may be constant; numpy broadcasting."""
    same = masks.related(ctx, Relation.EQUAL, node.movable(0), node.movable(1))
    return same if isinstance(same, Constant) else masks.negated(ctx, same)


def combine(absorbing: bool) -> Handler:
    """The handler of And (`absorbing` false) or Or."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Each operand is a truth value, computed or constant."""
        a, b = node.tensor(0), node.tensor(1)
        return masks.combined(ctx, a, b, absorbing, node.outputs[0])

    return handler


def logical_not(ctx: Context, node: TfliteNode) -> Tensor:
    """The operand is a truth value."""
    return masks.negated(ctx, node.value(0))


def select(ctx: Context, node: TfliteNode) -> Tensor:
    """Between real numbers or between whole numbers; numpy broadcasting."""
    condition, a, b = node.tensor(0), node.movable(1), node.movable(2)
    if isinstance(condition, Constant) and condition.dtype is not DType.BOOL:
        raise UnsupportedError("its condition is no truth value", "correct the model")
    if node.op == "SELECT" and len(condition.shape) == 1 and len(a.shape) > 1:
        # A condition of one axis chooses rows.
        condition = ctx.reshape(condition, (*condition.shape, *(1,) * (len(a.shape) - 1)))
    return masks.chosen(ctx, condition, a, b)
