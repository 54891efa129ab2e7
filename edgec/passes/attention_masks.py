"""What hides keys from an attention: numbers added to its logits, and choices made by integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
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
        return name if value.shape == shape else _added(
            builder, ops.Reshape(shape), name, shape, sources
        )


def _added(
    builder: GraphBuilder,
    attrs: ops.Unary | ops.Reshape,
    source: str,
    shape: tuple[int, ...],
    sources: tuple[str, ...],
) -> str:
    from edgec.ir.graph import Value

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
    if node is None or isinstance(node.attrs, ops.ArgMax):
        is_mask = value.dtype is DType.INT32 and math.prod(value.shape) == keys
        return (name, np.array([0.0, 1.0])) if is_mask else None
    below = _variable_input(graph, node, keys)
    found = _followed(graph, below, keys) if below else None
    if found is None:
        return None
    result = _at(graph, node, below, found[1])
    return (found[0], result) if result is not None else None


def _variable_input(graph: Graph, node: Node, keys: int) -> str:
    """The one input that is no number, if the node keeps keys along the last axis; else ""."""
    inputs = [name for name in node.inputs if name in graph.values]
    numbers = all(graph.constants[n].array.size == 1 for n in node.inputs if n in graph.constants)
    if len(inputs) != 1 or not numbers:
        return ""
    if isinstance(node.attrs, ops.Reshape | ops.Expand):
        # One number a key, before and after; only Expand may repeat it for each query.
        shapes = [graph.shape(inputs[0])]
        shapes += [] if isinstance(node.attrs, ops.Expand) else [graph.shape(node.output)]
        return inputs[0] if all(math.prod(s) == s[-1] == keys for s in shapes if s) else ""
    return inputs[0]


def _at(graph: Graph, node: Node, variable: str, values: Array) -> Array | None:
    """The output of a node where its variable input has `values`."""
    operands = [
        values if name == variable else graph.constants[name].real().astype(np.float64).reshape(-1)
        for name in node.inputs
    ]
    match node.attrs:
        case ops.Reshape() | ops.Expand() | ops.Cast():
            return values
        case ops.Where() if node.inputs[0] == variable:
            return np.where(values != 0.0, operands[1], operands[2])
        case ops.Add() | ops.Sub() | ops.Mul():
            return evaluate(node.attrs, operands)
        case attrs if attrs == _NOT:
            return np.asarray(values == 0.0, np.float64)
        case _:
            return None
