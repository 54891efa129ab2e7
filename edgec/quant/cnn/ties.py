"""Which values must share their quantization parameters, and what to do when a model forbids it.

Operators that move codes without computing (`MaxPool`, `Reshape`, `Concat` ...) need one set of
parameters on both sides.  The value between an operator and the Clip fused onto it (`ir.fusion`)
shares the Clip's output's parameters, since nothing ever stores it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.common.params import as_int8


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Values that share their parameters.

    Attributes:
        members: all of them, in graph order.
        sources: those that an operator computes or the user gives; the others only move them.
        pinned: parameters that the model prescribes, as int8; None: to be chosen.
    """

    members: tuple[str, ...]
    sources: tuple[str, ...]
    pinned: QuantParams | None


def is_quantized(graph: Graph, name: str) -> bool:
    """True for values that are activations; False for ArgMax indices and what moves them."""
    return graph.values[name].dtype is DType.FLOAT32


class _Union:
    """Union-find over values, with the parameters pinned in each set."""

    def __init__(self, graph: Graph) -> None:
        self._parent = {name: name for name in graph.values}
        self.pinned = {
            name: as_int8(value.quant, name)
            for name, value in graph.values.items()
            if value.quant is not None
        }

    def root(self, name: str) -> str:
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def join(self, first: str, second: str) -> bool:
        """Unite two sets; False (and nothing done) when they are pinned to different parameters."""
        first, second = self.root(first), self.root(second)
        pins = {self.pinned[root] for root in (first, second) if root in self.pinned}
        if first == second:
            return True
        if len(pins) > 1:
            return False
        self._parent[second] = first
        if pins:
            self.pinned[first] = pins.pop()
        return True


def _ties(graph: Graph) -> Iterator[tuple[Node, str]]:
    """(node, input value) for each input that must share the parameters of the node's output."""
    for node in graph.nodes:
        if not is_quantized(graph, node.output):
            continue
        clipped = isinstance(node.attrs, ops.Clip) and _follows_fused(graph, node)
        if clipped or node.attrs_as(RealOperator).moves_codes:
            for name in dict.fromkeys(node.inputs):
                if name in graph.values and is_quantized(graph, name):
                    yield node, name


def _follows_fused(graph: Graph, clip: Node) -> bool:
    """A Clip that its producer absorbs, or that inherits the parameters pinned on its input."""
    producer = graph.producers.get(clip.input)
    if producer is not None and fused_clip(graph, producer) is not None:
        return True
    # Nothing is lost by giving the clipped values the parameters of the unclipped ones.
    return graph.values[clip.input].quant is not None and (graph.values[clip.output].quant is None)


def split_conflicts(graph: Graph) -> Graph:
    """Insert a requantization (`Unary` IDENTITY) where an operator ties differently pinned values.

    Args:
        graph: REAL stage, without Q/DQ nodes.
    """
    union = _Union(graph)
    builder = GraphBuilder.of(graph)
    changed = False
    for node, name in _ties(graph):
        if union.join(name, node.output):
            continue
        changed = True
        stem = f"{name}_requantized"
        value = replace(graph.values[name], name=builder.fresh(stem), quant=None)
        builder.value(value)
        identity = ops.Unary(ops.UnaryKind.IDENTITY)
        builder.node(stem, identity, (name,), (value.name,), node.sources)
        current = builder.nodes[node.name]
        inputs = tuple(value.name if i == name else i for i in current.inputs)
        builder.put(replace(current, inputs=inputs))
    return builder.build() if changed else graph


def tie_groups(graph: Graph) -> tuple[TieGroup, ...]:
    """The groups of a graph from `split_conflicts`, in graph order.

    ArgMax indices are in no group.
    """
    union = _Union(graph)
    derived = set()
    for node, name in _ties(graph):
        union.join(name, node.output)
        derived.add(name if isinstance(node.attrs, ops.Clip) else node.output)
    order = [*graph.inputs, *(out for node in graph.nodes for out in node.outputs)]
    members: dict[str, list[str]] = {}
    for name in order:
        if is_quantized(graph, name):
            members.setdefault(union.root(name), []).append(name)
    return tuple(
        TieGroup(
            members=tuple(names),
            sources=tuple(name for name in names if name not in derived),
            pinned=union.pinned.get(root),
        )
        for root, names in members.items()
    )
