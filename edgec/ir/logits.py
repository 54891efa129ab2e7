"""Logits of a network: the values from which probabilities are made."""

from __future__ import annotations

from typing import Any

from edgec.ir import ops
from edgec.ir.graph import Graph


def before_probabilities(graph: Graph, name: str) -> str:
    """The value that a last Softmax or Sigmoid reads; the value itself where there is neither."""
    node = graph.producers.get(name)
    while node is not None and _follows_logits(node.attrs):
        name = node.first
        node = graph.producers.get(name)
    return name


def is_sigmoid(attrs: Any) -> bool:
    """Whether an operator is a Sigmoid."""
    return isinstance(attrs, ops.Unary) and attrs.kind is ops.UnaryKind.SIGMOID


def _follows_logits(attrs: Any) -> bool:
    return isinstance(attrs, ops.Softmax | ops.Reshape) or is_sigmoid(attrs)
