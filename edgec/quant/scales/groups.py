"""Values that must share their quantization parameters, and the way out if a model forbids it.

Operators that move codes without computing (`RealOperator.moves_codes`: MaxPool, Reshape, Concat)
need one set of parameters on both sides.  The value between an operator and the Clip fused onto it
(`ir.fusion`) shares the Clip's output's parameters, since nothing ever stores it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.common.params import as_int8, code_range
from edgec.quant.scales.columns import is_column_slice


@dataclass(frozen=True, slots=True)
class Group:
    """Values that share their parameters.

    Attributes:
        members: all of them, in graph order.
        sources: those that an operator computes or the user gives, and carried values, which begin
            with a number of their own; the others only move them.
        moves: the nodes that take codes from one of them to another.
        readers: (node, name of the operand) of every other reader; column slices of attention are
            looked through.
        is_output: one of them is a graph output.
        pinned: parameters that the model prescribes, as int8 or int16 (which the quantizer takes
            out before, `precision.pinned`); None: to be chosen.
    """

    members: tuple[str, ...]
    sources: tuple[str, ...]
    moves: tuple[Node, ...]
    readers: tuple[tuple[Node, str], ...]
    is_output: bool
    pinned: QuantParams | None


@dataclass(frozen=True, slots=True)
class Held:
    """Values that have other forms than codes, in a network with layers and a stream of its own.

    Attributes:
        stream: values that are moved in a form of their own among themselves.
        inner: values inside of layers, which end in their Clips; nothing stores them.
    """

    stream: frozenset[str]
    inner: frozenset[str]


def is_real(graph: Graph, name: str) -> bool:
    """True for activations; False for token ids, masks, indices and what moves them, constants."""
    value = graph.values.get(name)
    return value is not None and value.dtype is DType.FLOAT32


class Unions:
    """Union-find over names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._parent = {name: name for name in names}

    def root(self, name: str) -> str:
        """The name that stands for a set."""
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def join(self, first: str, second: str) -> None:
        """Unite two sets under the root of the first."""
        self._parent[self.root(second)] = self.root(first)

    def sets(self, order: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The sets of some names, by their roots, each in the order given."""
        found: dict[str, list[str]] = {}
        for name in order:
            found.setdefault(self.root(name), []).append(name)
        return {root: tuple(names) for root, names in found.items()}


class _Pins:
    """Sets of values, with the parameters pinned in each."""

    def __init__(self, graph: Graph) -> None:
        self.sets = Unions(graph.values)
        self._pinned = {
            name: _pinned_codes(value.quant, name)
            for name, value in graph.values.items()
            if value.quant is not None
        }

    def of(self, name: str) -> QuantParams | None:
        """The parameters pinned in the set of a value."""
        return self._pinned.get(self.sets.root(name))

    def join(self, first: str, second: str) -> bool:
        """Unite two sets; False (and nothing done) when they are pinned to different parameters."""
        pins = {pin for pin in (self.of(first), self.of(second)) if pin is not None}
        if self.sets.root(first) == self.sets.root(second):
            return True
        if len(pins) > 1:
            return False
        self.sets.join(first, second)
        if pins:
            self._pinned[self.sets.root(first)] = pins.pop()
        return True


def _pinned_codes(quant: QuantParams, name: str) -> QuantParams:
    """Parameters that a model prescribes: as int8, but for those of int16."""
    return quant if quant.dtype is DType.INT16 and quant.axis is None else as_int8(quant, name)


def _ties(graph: Graph, held: Held | None) -> Iterator[tuple[Node, str]]:
    """(node, input value) for each input that must share the parameters of the node's output."""
    for node in graph.nodes:
        if is_real(graph, node.output) and _joins(graph, node, held):
            # Where two parameters of an Update differ, x gets those of the carried value.
            names = reversed(node.inputs) if node.attrs.updates else node.inputs
            for name in dict.fromkeys(names):
                if is_real(graph, name):
                    yield node, name


def _joins(graph: Graph, node: Node, held: Held | None) -> bool:
    if isinstance(node.attrs, ops.Clip):
        return held is None and _follows_fused(graph, node)
    if not node.attrs_as(RealOperator).moves_codes or is_column_slice(graph, node):
        return False
    values = (name for name in node.inputs if name in graph.values)
    return held is None or not (node.output in held.stream and held.stream.issuperset(values))


def _follows_fused(graph: Graph, clip: Node) -> bool:
    """A Clip that its producer absorbs, or that inherits the parameters pinned on its input."""
    producer = graph.producers.get(clip.input)
    if producer is not None and fused_clip(graph, producer) is not None:
        return True
    pin, bounds = graph.values[clip.input].quant, clip.attrs_as(ops.Clip)
    if pin is None or graph.values[clip.output].quant is not None:
        return False
    # Clipped values lose nothing by the parameters of the unclipped ones, unless none is left.
    codes = code_range(pin)
    return bounds.low <= codes.high and codes.low <= bounds.high


def split_conflicts(graph: Graph) -> Graph:
    """Insert a requantization (`Unary` IDENTITY) where an operator ties differently pinned values.

    Args:
        graph: REAL stage, without Q/DQ nodes.
    """
    pins = _Pins(graph)
    builder = GraphBuilder.of(graph)
    changed = False
    for node, name in _ties(graph, None):
        if pins.join(name, node.output):
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


def code_groups(graph: Graph, held: Held | None = None) -> tuple[Group, ...]:
    """The groups of values that have codes, in graph order.

    Args:
        graph: REAL stage, from `split_conflicts` if the model pins values; or ANNOTATED.
        held: what has other forms; None: every value has codes.
    """
    pins = _Pins(graph)
    moves: dict[str, dict[str, Node]] = {}
    ties = list(_ties(graph, held))
    for node, name in ties:
        pins.join(name, node.output)
    for node, name in ties:
        moves.setdefault(pins.sets.root(name), {})[node.name] = node
    groups = pins.sets.sets(_stored(graph, held))
    return tuple(
        _group(graph, names, tuple(moves.get(root, {}).values()), pins.of(root))
        for root, names in groups.items()
    )


def _stored(graph: Graph, held: Held | None) -> Iterator[str]:
    """The values that have codes, in graph order."""
    inner = frozenset[str]() if held is None else held.inner
    yield from (name for name in graph.inputs if is_real(graph, name))
    for node in graph.nodes:
        if not is_column_slice(graph, node):
            yield from (n for n in node.outputs if is_real(graph, n) and n not in inner)


def _group(
    graph: Graph, members: tuple[str, ...], moves: tuple[Node, ...], pin: QuantParams | None
) -> Group:
    inside = {node.name for node in moves}
    # A Clip is what computes; a carried value begins with a number of its own.
    moved = {
        node.input if isinstance(node.attrs, ops.Clip) else node.output
        for node in moves
        if not isinstance(node.attrs, ops.Carry)
    }
    return Group(
        members=members,
        sources=tuple(name for name in members if name not in moved),
        moves=moves,
        readers=tuple(
            use for name in members for use in _uses(graph, name) if use[0].name not in inside
        ),
        is_output=not set(members).isdisjoint(graph.outputs),
        pinned=pin,
    )


def _uses(graph: Graph, name: str) -> Iterator[tuple[Node, str]]:
    for node in graph.consumers[name]:
        if is_column_slice(graph, node):
            yield from _uses(graph, node.output)
        else:
            operands = node.attrs.Inputs.of(node.inputs).items()
            yield from ((node, operand) for operand, read in operands if read == name)


def pinned_by_model(graph: Graph) -> tuple[str, ...]:
    """The values that the model pins, in graph order.

    Inputs whose features have a scale each are in steps of edgec's own choice
    (`Graph.input_features`), and so is what only moves these codes.

    Args:
        graph: REAL stage, from `split_conflicts`.
    """
    groups = code_groups(graph)
    scaled = (
        group for group in groups if not graph.input_features.keys().isdisjoint(group.members)
    )
    ours = {name for group in scaled for name in group.members}
    return tuple(
        n for n, value in graph.values.items() if value.quant is not None and n not in ours
    )


def only_read_by(group: Group, kinds: type | tuple[type, ...], operands: Collection[str]) -> bool:
    """True when operators of these kinds, as one of these operands, and nothing else read it."""
    used = [isinstance(node.attrs, kinds) and name in operands for node, name in group.readers]
    return bool(used) and all(used) and not group.is_output
