"""Masks of attention: numbers added to its logits, and choices made by integers, that hide keys."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind

HIDDEN = -1e4
"""A logit at or below this hides its key: files say -1e4, -1e9, or the lowest float."""
LOWEST = float(np.finfo(np.float32).min)
_NOT = ops.Unary(UnaryKind.NOT)
_MAKERS = (ops.Reshape, ops.Expand, ops.Cast, ops.Where, ops.Add, ops.Sub, ops.Mul, ops.Unary)
"""Operators that masks are made by."""
_DEEPEST = 64
"""Operators in a row that a mask is followed through."""
_Found = tuple[str, Array, Array]


@dataclass(frozen=True, slots=True, eq=False)
class KeyMask:
    """Keys chosen by an integer each.

    Attributes:
        source: int32 value of one number a key.
        shown: True if 1 shows a key and 0 hides it, False for the opposite.
        bias: what is added to the logits of keys that are shown; broadcasts to [..., queries,
            keys].  `LOWEST` where a key is hidden from a query all the same.
    """

    source: str
    shown: bool
    bias: Array

    @property
    def inverted(self) -> KeyMask | None:
        """The mask that shows what this one hides; None where it hides more than keys."""
        return None if (self.bias == LOWEST).any() else replace(self, shown=not self.shown)

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
    for node in builder.nodes.values():
        if node.attrs == attrs and node.inputs == (source,):
            return node.output  # of another layer
    name = builder.fresh(f"{source}/keys")
    builder.value(Value(name, shape, DType.INT32))
    builder.node(name, attrs, (source,), (name,), sources)
    return name


def added_mask(graph: Graph, name: str, keys: int) -> KeyMask | None:
    """The mask that a summand of logits is made of, or None if it is anything else.

    Masks hold 0 and 1: that is what their arithmetic takes for granted, ``(1 - mask) * -10000``.
    """
    found = _Follower(graph, keys).follow(name)
    return None if found is None else _mask_of(*found)


def chosen_mask(graph: Graph, condition: str, keys: int) -> KeyMask | None:
    """The mask that a condition is made of, which is true for the keys to see."""
    found = _Follower(graph, keys).follow(condition)
    if found is None:
        return None
    zero, one = (np.where(array != 0.0, 0.0, LOWEST) for array in found[1:])
    return _mask_of(found[0], zero, one)


def _mask_of(source: str, zero: Array, one: Array) -> KeyMask | None:
    """The mask for which the logits' summand is `zero` where the source is 0, else `one`."""
    for pair, way in (((one, zero), True), ((zero, one), False)):
        shown, hidden = np.broadcast_arrays(*pair)
        seen = shown > HIDDEN
        if seen.any() and (hidden[seen] <= HIDDEN).all():
            bias = np.where(seen, shown, LOWEST)
            return KeyMask(source, way, bias.reshape(_without_ones(bias.shape)))
    return None


class _Follower:
    """Follows values back to the integers that they are computed from, each of them once."""

    def __init__(self, graph: Graph, keys: int) -> None:
        self._graph, self._keys = graph, keys
        self._known: dict[str, _Found | None] = {}

    def follow(self, name: str, depth: int = 0) -> _Found | None:
        """The integers that a value is computed from, and the value where these are 0, and 1.

        The values broadcast against [..., queries, keys].
        """
        if name not in self._known and depth < _DEEPEST:
            self._known[name] = self._found(name, depth)
        return self._known.get(name)

    def _found(self, name: str, depth: int) -> _Found | None:
        graph, keys = self._graph, self._keys
        value, node = graph.values.get(name), graph.producers.get(name)
        if value is None or not value.shape or value.shape[-1] != keys or value.quant is not None:
            return None
        if node is None or _compares(node):
            # A number that ids are compared with says nothing about 0 and 1.
            own = value.dtype is DType.INT32 and math.prod(value.shape) == keys
            return (name, np.zeros(1), np.ones(1)) if own else None
        if not isinstance(node.attrs, _MAKERS) or not _keeps_keys(graph, node, keys):
            return None
        return self._computed(node, depth)

    def _computed(self, node: Node, depth: int) -> _Found | None:
        operands: list[tuple[Array, Array]] = []
        sources = set()
        for operand in node.inputs:
            constant = self._graph.constants.get(operand)
            if constant is not None:
                operands.append((constant.real().astype(np.float64),) * 2)
                continue
            found = self.follow(operand, depth + 1)
            if found is None:
                return None
            sources.add(found[0])
            operands.append(found[1:])
        if len(sources) != 1:
            return None
        zero, one = (_at(node.attrs, [pair[index] for pair in operands]) for index in (0, 1))
        return None if zero is None or one is None else (sources.pop(), zero, one)


def _compares(node: Node) -> bool:
    other = isinstance(node.attrs, ops.Unary) and node.attrs != _NOT
    return other or isinstance(node.attrs, ops.Compare)


def _keeps_keys(graph: Graph, node: Node, keys: int) -> bool:
    """Whether each number of the output belongs to the key of its place on the last axis."""
    if not isinstance(node.attrs, ops.Reshape):
        return True
    before, after = (graph.shape(name) for name in (node.first, node.output))
    if math.prod(after) == keys == after[-1]:
        return before[-1:] == after[-1:]
    return _without_ones(before) == _without_ones(after)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its leading axes of length 1."""
    first = next((axis for axis, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


def _at(attrs: Any, operands: list[Array]) -> Array | None:
    """The output of an operator on these numbers; None if masks are not made by it."""
    match attrs:
        case ops.Reshape() | ops.Expand() | ops.Cast():
            return operands[0]
        case ops.Where():
            return np.where(operands[0] != 0.0, operands[1], operands[2])
        case ops.Arithmetic():
            return attrs.evaluate(attrs.Inputs.of(operands))
        case ops.Unary():  # of `_NOT`, see `_compares`
            return np.asarray(operands[0] == 0.0, np.float64)
        case _:
            return None
