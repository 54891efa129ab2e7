"""What hides keys from an attention: numbers added to its logits, and choices made by integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgec.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node, Value
from edgec.ir.ops import UnaryKind
from edgec.passes.const_eval import evaluate

HIDDEN = -1e4
"""A logit at or below this hides its key: files say -1e4, -1e9, or the lowest float."""
_NOT = ops.Unary(UnaryKind.NOT)


@dataclass(frozen=True, slots=True)
class KeyMask:
    """Keys chosen by an integer each.

    Attributes:
        source: int32 value of one number a key.
        shown: True if 1 shows a key and 0 hides it, False for the opposite.
    """

    source: str
    shown: bool

    def emit(self, builder: GraphBuilder, sources: tuple[str, ...]) -> str:
        """Name of an int32 value [1, keys] that is not 0 where a key is shown."""
        value = builder.values[self.source]
        name, shape = value.name, (1, math.prod(value.shape))
        if not self.shown:
            name = _added(builder, _NOT, name, value.shape, sources)
        return (
            name
            if value.shape == shape
            else _added(builder, ops.Reshape(shape), name, shape, sources)
        )


def _added(
    builder: GraphBuilder,
    attrs: ops.Unary | ops.Reshape,
    source: str,
    shape: tuple[int, ...],
    sources: tuple[str, ...],
) -> str:
    name = builder.fresh(f"{source}/keys")
    builder.value(Value(name, shape, DType.INT32))
    builder.node(name, attrs, (source,), (name,), sources)
    return name


def added_mask(graph: Graph, name: str, keys: int) -> KeyMask | None:
    """The mask behind a summand of logits, or None if it is anything else.

    Masks hold 0 and 1: that is what their arithmetic takes for granted, ``(1 - mask) * -10000``.
    """
    found = _followed(graph, name, keys)
    if found is None:
        return None
    source, (zero, one) = found
    if one == 0.0 and zero <= HIDDEN:
        return KeyMask(source, shown=True)
    return KeyMask(source, shown=False) if zero == 0.0 and one <= HIDDEN else None


def chosen_mask(graph: Graph, condition: str, keys: int) -> KeyMask | None:
    """The mask behind a condition that is true for the keys to see."""
    found = _followed(graph, condition, keys)
    if found is None or bool(found[1][0]) == bool(found[1][1]):
        return None
    return KeyMask(found[0], shown=bool(found[1][1]))


def _followed(graph: Graph, name: str, keys: int) -> tuple[str, Array] | None:
    """The integers that a value is computed from, and the value where these are 0 and 1."""
    value = graph.values.get(name)
    if value is None or not value.shape or value.shape[-1] != keys or value.quant is not None:
        return None
    node = graph.producers.get(name)
    if node is None:
        is_mask = value.dtype is DType.INT32 and math.prod(value.shape) == keys
        return (name, np.array([0.0, 1.0])) if is_mask else None
    if not _keeps_keys(graph, node, keys):
        return None
    operands: list[Array] = []
    source = ""
    for operand in node.inputs:
        constant = graph.constants.get(operand)
        if constant is not None and constant.array.size == 1:
            operands.append(constant.real().astype(np.float64).reshape(-1))
            continue
        found = _followed(graph, operand, keys)
        if found is None or source not in ("", found[0]):
            return None
        source = found[0]
        operands.append(found[1])
    result = _at(node.attrs, operands)
    return (source, result) if result is not None else None


def _keeps_keys(graph: Graph, node: Node, keys: int) -> bool:
    """Whether each number of the output belongs to the key of its place on the last axis."""
    if not isinstance(node.attrs, ops.Reshape | ops.Expand):
        return True
    # One number a key, before and after; only Expand may repeat it for each query.
    repeats = isinstance(node.attrs, ops.Expand)
    shapes = [graph.shape(node.inputs[0]), *([] if repeats else [graph.shape(node.output)])]
    return all(math.prod(shape) == keys == shape[-1] for shape in shapes if shape)


def _at(attrs: Any, operands: list[Array]) -> Array | None:
    """The output of an operator on these numbers; None if masks are not made by it."""
    match attrs:
        case ops.Reshape() | ops.Expand() | ops.Cast():
            return operands[0]
        case ops.Where():
            return np.where(operands[0] != 0.0, operands[1], operands[2])
        case ops.Add() | ops.Sub() | ops.Mul():
            return evaluate(attrs, operands)
        case ops.Unary(kind=UnaryKind.NOT):
            return np.asarray(operands[0] == 0.0, np.float64)
        case _:
            return None
