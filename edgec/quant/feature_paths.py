"""Operators on the elements of an input before anything else, and who reads the elements then.

Elements are followed by their labels (`ir.labels`) through moves, so that features may lie along
any axis of the input, and a window may be flattened or transposed on its way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.labels import element_labels, label_of_channel, labels_after
from edgec.passes.linear import Affine, batch_norm_affine, either_way, has_float_weights

_MOVES = (ops.Reshape, ops.Transpose, ops.Slice)


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Operators on single elements of an input, before anything else.

    Attributes:
        nodes: the operators, in order; moves between them are left out.
        read: what each of them reads of the input, moved or not.
        output: the tensor that they lead to; the input itself where there are none.
        labels: number of the input's element that each element of `output` is made of; int64.
        affine: what they compute of each element: ``output = scale * x + shift``; float64 of the
            input's shape.
    """

    nodes: tuple[Node, ...]
    read: tuple[str, ...]
    output: str
    labels: Array
    affine: Affine

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the input along which the operators differ."""
        return _varying(self.affine)

    def along(self, axis: int) -> Affine:
        """Their affine for each feature along the only axis that they differ on; float64 [F]."""
        index = tuple(slice(None) if i == axis else 0 for i in range(self.affine.scale.ndim))
        return Affine(self.affine.scale[index], self.affine.shift[index])


def chain_of(graph: Graph, name: str) -> Chain:
    """The operators on features of an input; they differ along one axis of it at most.

    Args:
        graph: REAL stage.
        name: an input.
    """
    shape = graph.shape(name)
    labels = element_labels(shape)
    chain = Chain((), (), name, labels, Affine(np.ones(shape), np.zeros(shape)))
    at = name
    while graph.values[at].quant is None:
        node = graph.sole_consumer(at)
        if node is not None and isinstance(node.attrs, ops.Reshape | ops.Transpose):
            moved = labels_after(graph, node, {at: labels})
            if moved is None:
                break
            labels, at = moved, node.output
            continue
        step = None if node is None else _of_elements(graph, node, at)
        if node is None or step is None:
            break
        affine = _after(chain.affine, step, labels)
        if len(_varying(affine)) > 1:
            break
        chain = Chain((*chain.nodes, node), (*chain.read, at), node.output, labels, affine)
        at = node.output
    return chain


def _of_elements(graph: Graph, node: Node, name: str) -> Affine | None:
    """Affine of a node for each element of a value, if it is one; float64 of its shape."""
    shape = graph.shape(name)
    if isinstance(node.attrs, ops.BatchNormalization):
        found = batch_norm_affine(graph, node)
        return Affine(np.broadcast_to(found.scale, shape), np.broadcast_to(found.shift, shape))
    if not isinstance(node.attrs, ops.Mul | ops.Add | ops.Sub) or graph.shape(node.output) != shape:
        return None
    pairs = either_way(node)
    for other, constant in pairs[:1] if isinstance(node.attrs, ops.Sub) else pairs:
        if other == name and constant in graph.constants:
            values = np.broadcast_to(graph.constants[constant].real64(), shape)
            if isinstance(node.attrs, ops.Mul):
                return Affine(values, np.zeros(shape))
            return Affine(np.ones(shape), -values if isinstance(node.attrs, ops.Sub) else values)
    return None


def _after(first: Affine, then: Affine, labels: Array) -> Affine:
    """The second affine after the first one, where an element has the number of its label."""
    parts = []
    for part in (then.scale, then.shift):
        own = np.empty(first.scale.size)
        own[labels] = part
        parts.append(own.reshape(first.scale.shape))
    scale, shift = parts
    return Affine(scale * first.scale, scale * first.shift + shift)


def _varying(affine: Affine) -> tuple[int, ...]:
    def differs(axis: int) -> bool:
        parts = (affine.scale, affine.shift)
        return any(bool((part != np.take(part, [0], axis)).any()) for part in parts)

    return tuple(axis for axis in range(affine.scale.ndim) if differs(axis))


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A reader of elements of an input that is no move.

    Attributes:
        reader: the node; None: an output of the graph.
        value: what it reads.
        labels: number of the input's element by element of `value`; int64.
    """

    reader: Node | None
    value: str
    labels: Array


def leaves(graph: Graph, read: Leaf) -> Iterator[Leaf]:
    """The readers of elements of an input, seen through moves.

    Args:
        graph: REAL stage.
        read: one of them, which may be a move; with no reader, all that read its value.
    """
    if read.reader is None:
        if read.value in graph.outputs:
            yield read
        for node in graph.consumers[read.value]:
            yield from leaves(graph, replace(read, reader=node))
        return
    moved = None
    if isinstance(read.reader.attrs, _MOVES) and graph.values[read.reader.output].quant is None:
        moved = labels_after(graph, read.reader, {read.value: read.labels})
    if moved is None:
        yield read
    else:
        yield from leaves(graph, Leaf(None, read.reader.output, moved))


def takes_factors(graph: Graph, leaf: Leaf, features: Array) -> bool:
    """Whether a reader is a layer whose weights take a factor for each feature.

    Args:
        graph: REAL stage.
        leaf: the reader.
        features: number of the feature by element of the input; int64 of the input's shape.
    """
    node = leaf.reader
    if node is None or not isinstance(node.attrs, ops.Conv | ops.Gemm):
        return False
    inputs = ops.layer_inputs(node)
    own = len(graph.consumers[inputs.w]) == 1 and graph.constants[inputs.w].pooled is None
    channels = label_of_channel(features.reshape(-1)[leaf.labels])
    return (
        own and inputs.x == leaf.value and channels is not None and has_float_weights(graph, node)
    )


def is_padded(leaf: Leaf) -> bool:
    """Whether a reader puts zeros beside what it reads."""
    node = leaf.reader
    return node is not None and isinstance(node.attrs, ops.Conv) and any(node.attrs.pads)


def put_affine(
    builder: GraphBuilder, leaf: Leaf, source: str, made: str, factor: Array, shift: Array
) -> None:
    """Compute ``made = factor * source + shift``, by channel if they differ by channel alone.

    Args:
        builder: where the graph is being changed.
        leaf: who reads it; its value has the shape.
        source: what is read.
        made: name of the result.
        factor, shift: by element of the input, flat; float64.
    """
    sources = () if leaf.reader is None else leaf.reader.sources
    builder.value(replace(builder.values[leaf.value], name=made, quant=None))
    parts = [part[leaf.labels] for part in (factor, shift)]
    channels = [label_of_channel(part) for part in parts]
    if channels[0] is not None and channels[1] is not None:
        parts = [channels[0], channels[1], np.zeros_like(channels[0]), np.ones_like(channels[0])]
        names = [builder.constant(f"{made}/features", part.astype(np.float32)) for part in parts]
        inputs = ops.BatchNormalization.Inputs(source, *names)
        builder.node(made, ops.BatchNormalization(epsilon=0.0), inputs, (made,), sources)
        return
    names = [builder.constant(f"{made}/features", _short(p).astype(np.float32)) for p in parts]
    scaled = builder.value(replace(builder.values[made], name=builder.fresh(f"{made}/scaled")))
    builder.node(scaled, ops.Mul(), (source, names[0]), (scaled,), sources)
    builder.node(made, ops.Add(), (scaled, names[1]), (made,), sources)


def _short(values: Array) -> Array:
    """Values with one element along each axis on which they do not differ."""
    for axis in range(values.ndim):
        first = np.take(values, [0], axis)
        if math.prod(values.shape) and bool((values == first).all()):
            values = first
    return values
