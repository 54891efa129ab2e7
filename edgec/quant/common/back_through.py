"""Weights of a tensor's elements, carried from an operator's output back to an operand."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.labels import channel_labels, element_labels, labels_after


def back_through(graph: Graph, node: Node, name: str, weights: Array) -> Array:
    """Weight of each element of an operand: the sum over the elements that it becomes.

    Where the node moves elements, that is exact.  Where it keeps channels apart (a pooling), each
    element of a channel has the same share of it, and else each element of the operand.

    Args:
        graph: REAL stage.
        node: one of its nodes.
        name: an operand.
        weights: float64 [C] for the channels of the output, or of its shape for its elements.

    Returns:
        float64 [C] of the operand if positions do not differ, else of its shape.
    """
    shape = graph.shape(name)
    whole = np.broadcast_to(weights, graph.shape(node.output) or (1,))
    for labels in (element_labels(shape), channel_labels(shape)):
        found = labels_after(graph, node, {name: labels})
        if found is labels:
            return weights
        if found is not None:
            sums = np.bincount(found.reshape(-1) + 1, whole.reshape(-1), labels.max() + 2)[1:]
            shares = sums * (len(sums) / math.prod(shape))
            return narrowed(shares.reshape(shape) if len(sums) == math.prod(shape) else shares)
    return np.full(_channels(shape), float(whole.sum()) / math.prod(shape))


def narrowed(weights: Array) -> Array:
    """Weights [..., C] by channel alone, float64 [C], if positions do not differ."""
    rows = weights.reshape(-1, _channels(weights.shape))
    return rows[0] if bool((rows == rows[0]).all()) else weights


def mean_by_channel(weights: Array) -> Array:
    """Weights [C] or [..., C] averaged over positions; float64 [C]."""
    return (
        weights if weights.ndim == 1 else weights.reshape(-1, _channels(weights.shape)).mean(axis=0)
    )


def _channels(shape: tuple[int, ...]) -> int:
    return shape[-1] if shape else 1
