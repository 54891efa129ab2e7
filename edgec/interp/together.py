"""Samples that an INTEGER graph computes side by side, along the first axis of its tensors.

A small network takes its time between the operators: many samples at once take as long as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import Graph, Node, qops

Sample = Mapping[str, Array]

_ELEMENTS = 1 << 18
"""Elements of all tensors of the samples that are computed together, about."""
_MOST = 64


def samples_together(graph: Graph) -> int:
    """Number of samples that may be computed at once; 1 where an operator mixes them.

    Args:
        graph: INTEGER stage.
    """
    shapes = [value.shape for value in graph.values.values()]
    apart = graph.is_straight and all(len(shape) > 1 and shape[0] == 1 for shape in shapes)
    if not (apart and all(_keeps_samples(graph, node) for node in graph.nodes)):
        return 1
    elements = sum(value.elements for value in graph.values.values())
    return min(max(_ELEMENTS // max(elements, 1), 1), _MOST)


def in_groups(samples: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    """Samples in lists of a size; the last one may be shorter."""
    remaining = iter(samples)
    while group := list(islice(remaining, size)):
        yield group


def joined(group: Sequence[Sample], names: Iterable[str]) -> dict[str, Array]:
    """The tensors of samples along the first axis, [N, ...] by name."""
    return {name: np.concatenate([sample[name] for sample in group]) for name in names}


def for_samples(attrs: Any, count: int) -> Any:
    """The operator for a number of samples."""
    if isinstance(attrs, qops.QReshape):
        return qops.QReshape((count, *attrs.shape[1:]))
    return attrs


def _keeps_samples(graph: Graph, node: Node) -> bool:
    """Whether the first axis of a node's result is that of its operands."""
    keeps = _KEEPING.get(type(node.attrs))
    return keeps is not None and keeps(graph, node)


def _layer(_graph: Graph, _node: Node) -> bool:
    return True


def _broadcast(graph: Graph, node: Node) -> bool:
    """Whether all tensors have one rank, and no constant has a first axis of its own."""
    rank = len(graph.shape(node.output))
    constants = [graph.constants[name] for name in node.inputs if name in graph.constants]
    return all(
        len(graph.shape(name)) == rank for name in node.inputs if name in graph.values
    ) and all(
        len(constant.shape) < rank or (len(constant.shape) == rank and constant.shape[0] == 1)
        for constant in constants
    )


def _reduces(graph: Graph, node: Node) -> bool:
    rank = len(graph.shape(node.first))
    return all(axis % rank for axis in node.attrs_as(qops.QReduce).axes)


def _joins(graph: Graph, node: Node) -> bool:
    axis = node.attrs_as(qops.QConcat).axis % len(graph.shape(node.output))
    return axis > 0 and not any(name in graph.constants for name in node.inputs)


def _transposes(_graph: Graph, node: Node) -> bool:
    return node.attrs_as(qops.QTranspose).perm[0] == 0


def _pads(_graph: Graph, node: Node) -> bool:
    return node.attrs_as(qops.QPad).pads[0] == (0, 0)


_KEEPING: Mapping[type, Callable[[Graph, Node], bool]] = {
    **dict.fromkeys((qops.QConv, qops.QGemm, qops.QLut), _layer),
    **dict.fromkeys((qops.QMaxPool, qops.QAveragePool, qops.QSoftmax, qops.QReshape), _layer),
    **dict.fromkeys((qops.QAdd, qops.QMul), _broadcast),
    qops.QReduce: _reduces,
    qops.QConcat: _joins,
    qops.QTranspose: _transposes,
    qops.QPad: _pads,
}
"""Operators that compute samples side by side, with the condition under which they do."""
