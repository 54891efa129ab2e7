"""Samples that an INTEGER graph computes side by side: a tensor is [N, *shape], a sample a row.

A small network takes its time between the operators: many samples at once take as long as one.
An operator is computed in one of three ways (`SideBySide.outputs`):

* as it is, or with its axes moved on by one: its arithmetic is free in leading axes;
* with the samples in its first axis, [N * shape[0], ...]: it needs its rank, and the rows of the
  first axis do not meet;
* sample by sample: all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import Graph, Node, qops
from edgec.ir.qops import IntegerOperator, Operand, marks_of
from edgec.ir.turns import times_run

Sample = Mapping[str, Array]

_ELEMENTS = 1 << 18
"""Elements of all tensors of the samples that are computed together, about."""
_MOST = 64


def samples_together(graph: Graph) -> int:
    """Number of samples that may be computed at once; 1 where one leaves a state to the next.

    Args:
        graph: INTEGER stage.
    """
    if graph.has_state:
        return 1
    scopes = graph.scopes.values
    elements = sum(
        value.elements * times_run(scopes.get(name)) for name, value in graph.values.items()
    )
    return min(max(_ELEMENTS // max(elements, 1), 1), _MOST)


def in_groups(samples: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    """Samples in lists of a size; the last one may be shorter."""
    remaining = iter(samples)
    while group := list(islice(remaining, size)):
        yield group


class SideBySide:
    """Computes the nodes of a graph for a number of samples."""

    def __init__(self, graph: Graph, count: int) -> None:
        """Prepare the nodes.

        Args:
            graph: INTEGER stage.
            count: number of samples, N.
        """
        self._graph, self._count = graph, count
        self._varying = {node.name: _varying(node) for node in graph.nodes}
        self._in_rows = {node.name for node in graph.nodes if _in_rows(graph, node)}

    def outputs(self, node: Node, operands: Sequence[Operand | None]) -> tuple[Array, ...]:
        """The outputs of a node for all samples, each [N, *shape].

        Args:
            node: a node of the graph.
            operands: values are [N, *shape], constants as they are.

        Raises:
            InternalError: a promise of the quantizer is broken.
        """
        if isinstance(node.attrs, qops.QChain):
            return self._chain(node, operands)
        full = [
            self._full(name, operand) if varies and operand else operand
            for name, operand, varies in zip(
                node.inputs, operands, self._varying[node.name], strict=True
            )
        ]
        if node.name in self._in_rows:
            return self._rows(node, full)
        lead = _LEADING.get(type(node.attrs))
        return self._alone(node, full) if lead is None else self._lead(node, full, lead)

    def _chain(self, node: Node, operands: Sequence[Operand | None]) -> tuple[Array, ...]:
        """Compute link by link."""
        inner, nodes = qops.unchained(self._graph, node)
        many = SideBySide(inner, self._count)
        found = dict(zip(node.inputs, operands, strict=True))
        outputs: tuple[Array, ...] = ()
        for each in nodes:
            outputs = many.outputs(each, [found[name] for name in each.inputs])
            quant = inner.values[each.output].quant
            found[each.output] = Operand(outputs[0], quant.tensor_zero_point if quant else 0)
        return outputs

    def _full(self, name: str, operand: Operand) -> Operand:
        """An operand with an axis for the samples."""
        if not self._graph.is_constant(name):
            return operand
        shape = (self._count, *operand.array.shape)
        return Operand(np.broadcast_to(operand.array, shape), operand.zero_point)

    def _lead(
        self, node: Node, operands: Sequence[Operand | None], lead: Callable[[Any, int, int], Any]
    ) -> tuple[Array, ...]:
        """Compute with the samples as one more axis before all others."""
        if isinstance(node.attrs, _BROADCAST):
            rank = len(self._graph.shape(node.output))
            operands = self._reshaped(
                node, operands, lambda n, shape: (n, *(1,) * (rank - len(shape)), *shape)
            )
        first = len(self._graph.shape(node.first))
        return _outputs(lead(node.attrs, first, self._count), operands)

    def _rows(self, node: Node, operands: Sequence[Operand | None]) -> tuple[Array, ...]:
        """Compute with the samples in the first axis."""
        operands = self._reshaped(node, operands, lambda n, shape: (n * shape[0], *shape[1:]))
        return tuple(
            array.reshape(self._count, -1, *array.shape[1:])
            for array in _outputs(node.attrs, operands)
        )

    def _alone(self, node: Node, operands: Sequence[Operand | None]) -> tuple[Array, ...]:
        """Compute one sample after the other."""
        each = []
        for index in range(self._count):
            own = [
                Operand(operand.array[index], operand.zero_point) if varies and operand else operand
                for operand, varies in zip(operands, self._varying[node.name], strict=True)
            ]
            each.append(_outputs(node.attrs, own))
        return tuple(np.stack(arrays) for arrays in zip(*each, strict=True))

    def _reshaped(
        self,
        node: Node,
        operands: Sequence[Operand | None],
        shape: Callable[[int, tuple[int, ...]], tuple[int, ...]],
    ) -> list[Operand | None]:
        """Operands that vary in shapes by N and the shape of a sample."""
        return [
            Operand(
                operand.array.reshape(shape(self._count, operand.array.shape[1:])),
                operand.zero_point,
            )
            if varies and operand
            else operand
            for operand, varies in zip(operands, self._varying[node.name], strict=True)
        ]


def _outputs(attrs: Any, operands: Sequence[Operand | None]) -> tuple[Array, ...]:
    found: tuple[Array, ...] = attrs.compute_outputs(attrs.Inputs.of(operands))
    return found


def _varying(node: Node) -> tuple[bool, ...]:
    """For each operand of a node whether it could be a value."""
    attrs = node.attrs_as(IntegerOperator)
    marks = marks_of(attrs.Inputs)
    record = attrs.Inputs.of([name or None for name in node.inputs])
    varying = {name for field, name in record.items() if not marks[field].constant}
    return tuple(name in varying for name in node.inputs)


def _in_rows(graph: Graph, node: Node) -> bool:
    """Whether the samples may stand in the first axis of a node's tensors."""
    if not isinstance(node.attrs, _ROWS):
        return False
    operands = [name for name, varies in zip(node.inputs, _varying(node), strict=True) if varies]
    shapes = [graph.shape(name) for name in (*operands, *node.outputs) if name]
    return all(len(shape) > 1 and shape[0] == shapes[0][0] for shape in shapes)


_ROWS = (
    qops.QConv,
    qops.QConvTranspose,
    qops.QGemm,
    qops.QBinaryConv,
    qops.QBinaryGemm,
    qops.QPlaneConv,
    qops.QPlaneGemm,
    qops.QPooledConv,
    qops.QPooledGemm,
    qops.QMaxPool,
    qops.QAveragePool,
)
"""Operators whose outputs of a row of the first axis depend on this row of the operands alone."""

_BROADCAST = (*qops.BROADCAST, qops.QMatMul)
"""Operators whose operands may have fewer axes than the output."""


def _same(attrs: Any, _rank: int, _count: int) -> Any:
    return attrs


def _reshape(attrs: qops.QReshape, _rank: int, count: int) -> qops.QReshape:
    return qops.QReshape((count, *attrs.shape))


def _transpose(attrs: qops.QTranspose, _rank: int, _count: int) -> qops.QTranspose:
    return qops.QTranspose((0, *(axis + 1 for axis in attrs.perm)))


def _slice(attrs: qops.QSlice, _rank: int, count: int) -> qops.QSlice:
    return qops.QSlice((0, *attrs.starts), (1, *attrs.steps), (count, *attrs.sizes))


def _pad(attrs: qops.QPad, _rank: int, _count: int) -> qops.QPad:
    return replace(attrs, pads=((0, 0), *attrs.pads))


def _axis(attrs: Any, rank: int, _count: int) -> Any:
    return replace(attrs, axis=attrs.axis % rank + 1)


def _axes(attrs: qops.QReduce, rank: int, _count: int) -> qops.QReduce:
    return replace(attrs, axes=tuple(axis % rank + 1 for axis in attrs.axes))


_LEADING: Mapping[type, Callable[[Any, int, int], Any]] = {
    **dict.fromkeys(_BROADCAST, _same),
    **dict.fromkeys((qops.QLut, qops.QPRelu, qops.QRescale, qops.QIsEqual), _same),
    **dict.fromkeys((qops.QSigns, qops.QPlanes), _same),
    **dict.fromkeys((qops.QSoftmax, qops.QLogSoftmax, qops.QTopK), _same),
    **dict.fromkeys((qops.QCarry, qops.QUpdate), _same),
    **dict.fromkeys((qops.QTurnSlice, qops.QTurnStack, qops.QTurnLast), _same),
    **dict.fromkeys((qops.QConcat, qops.QSlide, qops.QArgMax), _axis),
    qops.QReduce: _axes,
    qops.QReshape: _reshape,
    qops.QTranspose: _transpose,
    qops.QSlice: _slice,
    qops.QPad: _pad,
}
"""The operator that has one more axis before all others, by operator, rank of its first operand
and number of samples."""
