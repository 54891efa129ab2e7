"""One transpose in place of several with reshapes between.

Folding a picture into patches, cutting heads out, changing the layout: each is a transpose between
two reshapes, and several in a row are one.

Rules:
1. moves: a chain of ``Reshape`` and ``Transpose`` nodes with more transposes than needed becomes
   ``Reshape``, ``Transpose``, ``Reshape``, or a ``Reshape`` alone when it leaves all elements in
   their order.

Keep the rows of a sequence in one shape: move reshapes after operators on rows.

Exporters flatten [1, N, C] to [N, C] before a dense layer and restore it afterwards, which hides
that the layers between belong together.

Rules:
1. sink: ``Reshape`` of [1, N, C] to [N, C], N > 1, then an operator that works on each row or
   element by itself becomes that operator, then the ``Reshape``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import replace_node, sweep

_MOST_ELEMENTS = 1 << 24


@dataclass(frozen=True, slots=True)
class _Digits:
    """A permutation of elements as a transpose of axes.

    Attributes:
        shape: the shape into which the input is reshaped.
        perm: the permutation of these axes.
    """

    shape: tuple[int, ...]
    perm: tuple[int, ...]

    @property
    def moves(self) -> bool:
        """Whether any element changes its place."""
        return self.perm != tuple(range(len(self.perm)))


def merge_moves(graph: Graph) -> Graph:
    """Apply the rule until it does not apply; each time there is a transpose less on some way."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    readers = graph.consumers[node.output] if _is_move(node) else ()
    ends = node.output in graph.outputs or not all(_is_move(reader) for reader in readers)
    chain = _chain(graph, node) if _is_move(node) and ends else ()
    transposes = sum(isinstance(part.attrs, ops.Transpose) for part in chain)
    if transposes == 0 or math.prod(graph.shape(node.output)) > _MOST_ELEMENTS:
        return None
    source = chain[0].first
    found = _digits(_positions(graph, chain))
    if found is None or transposes <= int(found.moves):
        return None
    return _merged(graph, node, source, found)


def _is_move(node: Node) -> bool:
    return isinstance(node.attrs, ops.Reshape | ops.Transpose)


def _chain(graph: Graph, node: Node) -> tuple[Node, ...]:
    """The moves up to `node`, in order; all carry the same quantization."""
    chain = [node]
    quant = graph.values[node.output].quant
    while True:
        name = chain[0].first
        before = graph.producers.get(name)
        if before is None or not _is_move(before) or graph.values[name].quant != quant:
            break
        chain.insert(0, before)
    return tuple(chain) if graph.values[chain[0].first].quant == quant else ()


def _positions(graph: Graph, chain: tuple[Node, ...]) -> Array:
    """For each element after the chain, row-major, its place before it."""
    shape = graph.shape(chain[0].first)
    positions = np.arange(math.prod(shape)).reshape(shape)
    for node in chain:
        if isinstance(node.attrs, ops.Reshape):
            positions = positions.reshape(node.attrs.shape)
        else:
            positions = positions.transpose(node.attrs_as(ops.Transpose).perm)
    return positions.reshape(-1)


def _digits(positions: Array) -> _Digits | None:
    """Axes as few as possible that are permuted; None when the places follow no such order."""
    sizes: list[int] = []
    strides: list[int] = []
    count = 1
    while count < positions.size:
        # From the innermost axis out: how long the places go on in equal steps.
        places = positions[::count]
        stride = int(places[1])
        size = int(np.argmin(np.append(places == stride * np.arange(places.size), False)))
        sizes.append(size)
        strides.append(stride)
        count *= size
    order = sorted(range(len(sizes)), key=lambda axis: -strides[axis])
    shape = tuple(sizes[axis] for axis in order)
    perm = tuple(order.index(axis) for axis in reversed(range(len(sizes))))
    if math.prod(shape) != positions.size:
        return None
    made = np.arange(positions.size).reshape(shape).transpose(perm).reshape(-1)
    return _Digits(shape, perm) if np.array_equal(made, positions) else None


def _merged(graph: Graph, node: Node, source: str, found: _Digits) -> Graph:
    last = ops.Reshape(graph.shape(node.output))
    if not found.moves:
        return replace_node(graph, replace(node, attrs=last, inputs=(source,)))
    builder = GraphBuilder.of(graph)
    value = graph.values[node.output]
    shapes = (found.shape, tuple(found.shape[axis] for axis in found.perm))
    for attrs, shape in zip(
        (ops.Reshape(shapes[0]), ops.Transpose(found.perm)), shapes, strict=True
    ):
        name = builder.fresh(f"{value.name}/moved")
        builder.value(replace(value, name=name, shape=shape))
        builder.node(name, attrs, (source,), (name,), node.sources)
        source = name
    builder.put(replace(node, attrs=last, inputs=(source,)))
    return builder.build()


_ON_ROWS = (
    *(ops.Gemm, ops.Unary, ops.Clip, ops.Softmax),
    *(ops.LayerNormalization, ops.RMSNormalization, ops.BatchNormalization),
)


def sink_reshape(graph: Graph) -> Graph:
    """Apply the rule until it does not apply; reshapes move towards the outputs."""
    return sweep(graph, _sunk)


def _sunk(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, _ON_ROWS):
        return None
    flat = node.first
    reshape = graph.producers.get(flat)
    if reshape is None or not isinstance(reshape.attrs, ops.Reshape):
        return None
    source, shape = reshape.first, graph.shape(flat)
    if graph.shape(source) != (1, *shape) or len(shape) != 2 or shape[0] == 1:
        return None
    if graph.values[source].quant != graph.values[flat].quant:
        return None
    result = graph.values[node.output]
    builder = GraphBuilder.of(graph)
    name = builder.fresh(f"{result.name}/rows")
    builder.value(replace(result, name=name, shape=(1, *result.shape)))
    inputs = replace(node.attrs.Inputs.of(node.inputs), x=source)
    builder.put(replace(node, inputs=inputs.names(), outputs=(name,)))
    builder.node(f"{node.name}/flat", ops.Reshape(result.shape), (name,), (result.name,))
    return builder.build()
