"""Zeros among the weights of an integer graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph
from edgec.ir.weighted import PLAIN, plain_inputs

PATTERNS = ((1, 4), (2, 4), (4, 8))
"""Weights that are not zero, and neighbours along the depth that they are among; fewest first."""


@dataclass(frozen=True, slots=True)
class Zeros:
    """The zeros of a layer.

    Attributes:
        name: name of the node.
        weights: number of weights.
        zeros: weights that are zero.
        pattern: "2:4" where no four neighbours along the depth have more than two weights that are
            not zero; "" where there is no such rule.
    """

    name: str
    weights: int
    zeros: int
    pattern: str


def zeros_of(graph: Graph) -> tuple[Zeros, ...]:
    """The zeros of each layer with weights that stand in the graph, in order.

    Args:
        graph: INTEGER stage.
    """
    found = []
    for node in graph.nodes:
        if not isinstance(node.attrs, PLAIN):
            continue
        weights = graph.constants[plain_inputs(node).w].array
        zeros = int((weights == 0).sum())
        found.append(Zeros(node.name, weights.size, zeros, _pattern(weights)))
    return tuple(found)


def _pattern(weights: Array) -> str:
    """The first of `PATTERNS` that weights [O, ..., I] keep along their last axis."""
    depth = weights.shape[-1]
    for some, of in PATTERNS:
        whole = depth - depth % of
        if whole == 0:
            continue
        groups = np.count_nonzero(weights[..., :whole].reshape(-1, of), axis=1)
        if groups.max() <= some:
            return f"{some}:{of}"
    return ""
