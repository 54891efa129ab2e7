"""Fuse SpaceToBatch, Conv and BatchToSpace, as TensorFlow writes dilated convolutions.

Rules:
1. dilation: ``SpaceToBatch``, ``Conv`` of stride 1 without padding, ``BatchToSpace`` of the same
   blocks become a ``Conv`` dilated by the blocks.  Between them may be what adds an axis of length
   1 or takes it away, and functions of single elements after the convolution.
2. blocks: any other ``SpaceToBatch`` or ``BatchToSpace`` becomes ``Pad``, ``Reshape``,
   ``Transpose``, ``Reshape`` and ``Slice``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.qparams import QuantParams
from edgec.passes.edit import sweep

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Dilated:
    """A convolution of parts of an image.

    Attributes:
        cut: the SpaceToBatch.
        conv: the convolution.
        after: functions of single elements after it, in order.
        axes: for each block the row (0) or column (1) of the convolution's window that it is of.
    """

    cut: Node
    conv: Node
    after: tuple[Node, ...]
    axes: tuple[int, ...]


def fuse_dilation(graph: Graph) -> Graph:
    """Apply the rules until none applies: the first one everywhere before the second one."""
    fused = sweep(graph, _dilation)
    return sweep(fused, _blocks)


def _dilation(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.BatchToSpace):
        return None
    found = _matched(graph, node)
    if found is None:
        return None
    attrs = _dilated_attrs(found, node.attrs)
    return None if attrs is None else _written(graph, node, found, attrs)


def _matched(graph: Graph, end: Node) -> _Dilated | None:
    after: list[Node] = []
    name = end.first
    conv = _only(graph, name)
    while conv is not None and isinstance(conv.attrs, ops.Reshape | ops.Clip | ops.Unary):
        if not isinstance(conv.attrs, ops.Reshape):
            after.insert(0, conv)
        elif not _same_but_ones(graph, conv):
            return None
        conv = _only(graph, conv.first)
    if conv is None or not isinstance(conv.attrs, ops.Conv):
        return None
    cut = _only(graph, conv.first)
    while cut is not None and isinstance(cut.attrs, ops.Reshape):
        if not _same_but_ones(graph, cut):
            return None
        cut = _only(graph, cut.first)
    if cut is None or not isinstance(cut.attrs, ops.SpaceToBatch):
        return None
    axes = _window_axes(graph.shape(cut.output), graph.shape(conv.first), len(cut.attrs.blocks))
    return None if axes is None else _Dilated(cut, conv, tuple(after), axes)


def _only(graph: Graph, name: str) -> Node | None:
    """Producer of a value that exactly one operator reads and that is no output; else None."""
    return graph.producers.get(name) if graph.sole_consumer(name) is not None else None


def _same_but_ones(graph: Graph, node: Node) -> bool:
    before, after = ([s for s in graph.shape(n) if s != 1] for n in (node.first, node.output))
    return before == after


def _window_axes(cut: Shape, image: Shape, blocks: int) -> tuple[int, ...] | None:
    """Axes of an image [N, H, W, C] that SpaceToBatch cut into blocks; None for others."""
    if len(cut) == len(image):
        return tuple(range(blocks))
    if len(cut) == len(image) - 1 and blocks == 1:
        for axis in (0, 1):
            if image == (*cut[: 2 - axis], 1, *cut[2 - axis :]):
                return (axis,)
    return None


def _dilated_attrs(found: _Dilated, end: ops.BatchToSpace) -> ops.Conv | None:
    """The dilated convolution; None where it is none."""
    cut, conv = found.cut.attrs_as(ops.SpaceToBatch), found.conv.attrs_as(ops.Conv)
    if cut.blocks != end.blocks:
        return None
    dilations, pads = list(conv.dilations), list(conv.pads)
    for block, pair, crop, axis in zip(cut.blocks, cut.pads, end.crops, found.axes, strict=True):
        plain = conv.strides[axis] == 1 and pads[axis] == pads[axis + 2] == 0
        before, after = pair[0] - crop[0], pair[1] - crop[1]
        if not plain or min(before, after) < 0:
            return None
        dilations[axis] *= block
        pads[axis], pads[axis + 2] = before, after
    top, left, bottom, right = pads
    return replace(conv, dilations=(dilations[0], dilations[1]), pads=(top, left, bottom, right))


def _written(graph: Graph, end: Node, found: _Dilated, attrs: ops.Conv) -> Graph | None:
    source = graph.values[found.cut.first]
    image = graph.shape(found.conv.first)
    wanted = list(source.shape)
    if len(source.shape) < len(image):
        wanted.insert(2 if found.axes == (0,) else 1, 1)
    weights = [graph.tensor(name).shape for name in _constants(found.conv)]
    shape = infer_shape(attrs, [tuple(wanted), *weights])
    if math.prod(shape) != math.prod(graph.shape(end.output)):
        return None
    writer = _Writer(graph, end)
    name = writer.add(ops.Reshape(tuple(wanted)), (source.name,), tuple(wanted), source.quant)
    parts = (found.conv, *found.after)
    for part in parts:
        kind = attrs if part is found.conv else part.attrs
        quant = graph.values[part.output].quant
        name = writer.add(kind, (name, *_constants(part)), shape, quant, part.sources)
    return writer.finish(name)


def _constants(node: Node) -> list[str]:
    """Operands of a node after its first."""
    return [name for name in node.inputs if name != node.first]


def _blocks(graph: Graph, node: Node) -> Graph | None:
    match node.attrs:
        case ops.SpaceToBatch():
            return _cut(graph, node, node.attrs)
        case ops.BatchToSpace():
            return _joined(graph, node, node.attrs)
        case _:
            return None


def _cut(graph: Graph, node: Node, attrs: ops.SpaceToBatch) -> Graph:
    x, count = graph.values[node.first], len(attrs.blocks)
    rest = len(x.shape) - count - 1
    writer = _Writer(graph, node)
    pads = ((0, 0), *attrs.pads, *((0, 0),) * rest)
    padded = infer_shape(ops.Pad(pads), [x.shape])
    name = writer.add(ops.Pad(pads), (x.name,), padded, x.quant)
    pairs = zip(padded[1:], attrs.blocks, strict=False)
    split = tuple(part for size, block in pairs for part in (size // block, block))
    name = writer.reshape(name, (padded[0], *split, *padded[count + 1 :]))
    inner, outer = (tuple(range(first, 2 * count + 1, 2)) for first in (2, 1))
    tail = range(2 * count + 1, 2 * count + 1 + rest)
    name = writer.transpose(name, (*inner, 0, *outer, *tail))
    return writer.finish(name)


def _joined(graph: Graph, node: Node, attrs: ops.BatchToSpace) -> Graph:
    x, count = graph.values[node.first], len(attrs.blocks)
    rest = len(x.shape) - count - 1
    writer = _Writer(graph, node)
    images = x.shape[0] // math.prod(attrs.blocks)
    name = writer.reshape(x.name, (*attrs.blocks, images, *x.shape[1:]))
    mixed = tuple(axis for i in range(count) for axis in (count + 1 + i, i))
    tail = range(2 * count + 1, 2 * count + 1 + rest)
    name = writer.transpose(name, (count, *mixed, *tail))
    grown = tuple(size * block for size, block in zip(x.shape[1:], attrs.blocks, strict=False))
    full = (images, *grown, *x.shape[count + 1 :])
    name = writer.reshape(name, full)
    starts = (0, *(before for before, _ in attrs.crops), *(0,) * rest)
    sizes = graph.shape(node.output)
    name = writer.add(ops.Slice(starts, (1,) * len(full), sizes), (name,), sizes, x.quant)
    return writer.finish(name)


class _Writer:
    """Writes operators in the place of one."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self._builder = GraphBuilder.of(graph)
        self._builder.remove(node)
        self._node = node
        self._quant = graph.values[node.first].quant

    def add(
        self,
        attrs: Any,
        inputs: tuple[str, ...],
        shape: Shape,
        quant: QuantParams | None,
        sources: tuple[str, ...] | None = None,
    ) -> str:
        name = self._builder.fresh(f"{self._node.output}/{type(attrs).__name__}")
        self._builder.value(Value(name, shape, quant=quant))
        self._builder.node(name, attrs, inputs, (name,), sources or self._node.sources)
        return name

    def reshape(self, source: str, shape: Shape) -> str:
        return self.add(ops.Reshape(shape), (source,), shape, self._quant)

    def transpose(self, source: str, perm: Shape) -> str:
        before = self._builder.values[source].shape
        shape = tuple(before[axis] for axis in perm)
        return self.add(ops.Transpose(perm), (source,), shape, self._quant)

    def finish(self, source: str) -> Graph:
        node, output = self._node, self._builder.values[self._node.output]
        inputs = (source,)
        attrs = ops.Reshape(output.shape)
        self._builder.node(node.name, attrs, inputs, (output.name,), node.sources)
        return self._builder.build()
