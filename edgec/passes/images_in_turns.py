"""Run the images of a batch within the network one after the other.

A network may put several images side by side: frames of a video before a recurrent layer, the
sources of a separated recording.  Kernels with windows work on one image [1, H, W, C].

Rule: operators with windows whose image has N > 1 rows along its first axis, and all operators
around them that keep these rows apart, become a loop of N turns, each with one image; tensors
between them are those of one turn.  All codes stay what they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.turns import Loop, Part, Scope

_WINDOWS = (
    qops.QConv,
    qops.QPooledConv,
    qops.QConvTranspose,
    qops.QMaxPool,
    qops.QAveragePool,
    qops.QResizeNearest,
    qops.QResizeLinear,
)
_SHRINK = (qops.QReduce, qops.QSlice, qops.QArgMax)
"""Operators that a loop keeps at its end: less is left of an image for the memory of all."""


def images_in_turns(graph: Graph) -> Graph:
    """Apply the rule until every image is one of its own.

    Args:
        graph: INTEGER stage.
    """
    while (batch := _first_batch(graph)) is not None:
        graph = _Rewrite(graph, batch).graph()
    return graph


def image_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line for each new loop."""
    known = set(before.scopes.nodes.values())
    loops = dict.fromkeys(scope for scope in after.scopes.nodes.values() if scope not in known)
    return tuple(f"{loop.count} images run one after the other" for loop in loops if loop)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Nodes that keep N images apart.

    Attributes:
        count: number of images, N.
        scope: the loop around them.
        nodes: their names, in order.
    """

    count: int
    scope: Scope
    nodes: tuple[str, ...]


def _first_batch(graph: Graph) -> _Batch | None:
    for node in graph.nodes:
        count, scope = _rows(graph, node), graph.scopes.nodes[node.name]
        if _reads_several_images(graph, node) and _keeps_apart(graph, node, count):
            names = _trimmed(graph, _joined(graph, node, count, scope))
            return _Batch(count, scope, names)
    return None


def _reads_several_images(graph: Graph, node: Node) -> bool:
    return isinstance(node.attrs, _WINDOWS) and _rows(graph, node) > 1


def _rows(graph: Graph, node: Node) -> int:
    """Size of the first axis of the first operand; 1 of a scalar, and where there is none."""
    shape = graph.shape(node.first) if node.inputs else ()
    return shape[0] if shape else 1


def _joined(graph: Graph, first: Node, count: int, scope: Scope) -> list[str]:
    """Nodes from `first` on that may run in one loop with it, in order.

    A value that a node outside of the loop computes from one of the loop is known after the loop
    only, so that no node of the loop may read it.
    """
    found: list[str] = []
    inside: set[str] = set()
    after: set[str] = set()
    start = graph.nodes.index(first)
    for node in itertools.islice(graph.nodes, start, None):
        reads = set(node.inputs)
        fits = graph.scopes.nodes[node.name] == scope and _keeps_apart(graph, node, count)
        wanted = node is first or bool(reads & inside) or _reads_several_images(graph, node)
        if fits and wanted and not reads & after:
            found.append(node.name)
            inside.update(node.outputs)
        elif reads & (inside | after):
            after.update(node.outputs)
    return found


def _trimmed(graph: Graph, names: list[str]) -> tuple[str, ...]:
    """The nodes without those at the end that all images may share: products of many rows."""
    kept = list(names)
    by_name = {node.name: node for node in graph.nodes}
    for name in reversed(names):
        node = by_name[name]
        within = {reader.name for each in node.outputs for reader in graph.consumers[each]}
        if within & set(kept) or isinstance(node.attrs, (*_WINDOWS, *_SHRINK)):
            continue
        kept.remove(name)
    return tuple(kept)


def _is_batched(graph: Graph, node: Node, name: str, count: int) -> bool:
    """Whether an operand has a row for each image."""
    shape = graph.shape(name)
    if graph.is_constant(name) or not shape or shape[0] != count:
        return False
    rank = len(graph.shape(node.outputs[0]))
    return not isinstance(node.attrs, qops.BROADCAST) or len(shape) == rank


def _keeps_apart(graph: Graph, node: Node, count: int) -> bool:
    """Whether row n of the output depends on row n of the operands alone, and on constants."""
    rule = _RULES.get(type(node.attrs))
    if rule is None or len(node.outputs) != 1 or node.output in graph.updates:
        return False
    shape = graph.shape(node.output)
    if not shape or shape[0] != count or not rule(node.attrs, graph, node):
        return False
    others = [name for name in node.inputs if name and not _is_batched(graph, node, name, count)]
    return node.first not in others and all(_is_for_all(graph, node, name) for name in others)


def _is_for_all(graph: Graph, node: Node, name: str) -> bool:
    """Whether an operand that has no row for each image is the same for all of them."""
    shape, output = graph.shape(name), graph.shape(node.output)
    if isinstance(node.attrs, (*qops.BROADCAST, qops.QPRelu)) or name == _residual(node):
        return len(shape) < len(output) or shape[0] == 1
    return graph.is_constant(name)


def _residual(node: Node) -> str:
    """The summand at the end of a layer; "": it has none."""
    return getattr(node.attrs.Inputs.of(node.inputs), "residual", None) or ""


def _always(_attrs: Any, _graph: Graph, _node: Node) -> bool:
    return True


def _later_axis(attrs: Any, graph: Graph, node: Node) -> bool:
    return bool(attrs.axis % len(graph.shape(node.first)) != 0)


def _later_axes(attrs: qops.QReduce, graph: Graph, node: Node) -> bool:
    rank = len(graph.shape(node.first))
    return all(axis % rank for axis in attrs.axes) and len(attrs.axes) < rank


def _rows_stay(attrs: qops.QReshape, graph: Graph, node: Node) -> bool:
    return graph.shape(node.first)[0] == attrs.shape[0]


def _first_stays(attrs: qops.QTranspose, _graph: Graph, _node: Node) -> bool:
    return attrs.perm[0] == 0


def _all_rows(attrs: qops.QSlice, graph: Graph, node: Node) -> bool:
    rows = (attrs.starts[0], attrs.steps[0], attrs.sizes[0])
    return rows == (0, 1, graph.shape(node.first)[0])


def _no_new_rows(attrs: qops.QPad, _graph: Graph, _node: Node) -> bool:
    return tuple(attrs.pads[0]) == (0, 0)


def _several_axes(_attrs: Any, graph: Graph, node: Node) -> bool:
    return len(graph.shape(node.first)) > 1


_RULES: Mapping[type, Callable[[Any, Graph, Node], bool]] = MappingProxyType(
    {
        **dict.fromkeys(_WINDOWS, _always),
        **dict.fromkeys((*qops.BROADCAST, qops.QLut, qops.QPRelu, qops.QRescale), _always),
        **dict.fromkeys((qops.QGemm, qops.QPooledGemm), _several_axes),
        **dict.fromkeys((qops.QConcat, qops.QArgMax), _later_axis),
        qops.QReduce: _later_axes,
        qops.QReshape: _rows_stay,
        qops.QTranspose: _first_stays,
        qops.QSlice: _all_rows,
        qops.QPad: _no_new_rows,
    }
)


def _of_one(attrs: Any) -> Any:
    """The operator for one image."""
    if isinstance(attrs, qops.QReshape):
        return replace(attrs, shape=(1, *attrs.shape[1:]))
    if isinstance(attrs, qops.QSlice):
        return replace(attrs, sizes=(1, *attrs.sizes[1:]))
    return attrs


class _Rewrite:
    """A graph in which a batch is a loop."""

    def __init__(self, graph: Graph, batch: _Batch) -> None:
        self._graph, self._batch = graph, batch
        self._builder = GraphBuilder.of(graph)
        name = self._builder.fresh(f"{batch.nodes[0]} images")
        self._loop = Loop(name, batch.count, batch.scope)
        self._names: dict[str, str] = {}

    def graph(self) -> Graph:
        """The new graph."""
        builder, chosen = self._builder, set(self._batch.nodes)
        nodes = [node for node in self._graph.nodes if node.name in chosen]
        for node in nodes:
            inputs = tuple(self._operand(node, name) for name in node.inputs)
            output = self._value(node.output)
            builder.remove(node)
            builder.node(
                builder.fresh(node.name), _of_one(node.attrs), inputs, (output,), node.sources
            )
        for node in nodes:
            if self._is_read_outside(node.output, chosen):
                self._border(qops.QTurnStack, self._names[node.output], node.output)
            else:
                del builder.values[node.output]
        return builder.build()

    def _operand(self, node: Node, name: str) -> str:
        """The name that a node of a turn reads in place of an operand."""
        if not name or not _is_batched(self._graph, node, name, self._batch.count):
            return name
        if name not in self._names:
            self._border(qops.QTurnSlice, name, self._value(name))
        return self._names[name]

    def _value(self, name: str) -> str:
        """A value of one turn."""
        value = self._graph.values[name]
        own = self._builder.fresh(f"{name} of a turn")
        shape = (1, *value.shape[1:])
        self._names[name] = self._builder.value(replace(value, name=own, shape=shape, form_of=""))
        return own

    def _border(self, kind: type, x: str, y: str) -> None:
        attrs = kind(self._loop, Part(axis=0))
        self._builder.node(self._builder.fresh(f"{y} turn"), attrs, (x,), (y,), ())

    def _is_read_outside(self, name: str, chosen: set[str]) -> bool:
        readers = (node.name for node in self._graph.consumers[name])
        return name in self._graph.outputs or any(each not in chosen for each in readers)
