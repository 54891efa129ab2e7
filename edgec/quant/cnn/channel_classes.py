"""Channels of a network's tensors that must share one factor where channels are scaled.

Channel c of a tensor may be multiplied by a factor if what writes it takes the factor into its
weights (a row of a layer) and what reads it takes the reciprocal into its own (a column).  Between
such layers the factor passes through every operator f with ``f(s x) = s f(x)``: all that pass it on
form a *class*.  Residual additions join the classes of their operands.

A Clip with bounds does so as far as it does not clip: if s >= 1 and the scaled channel stays within
the bounds, clipping it does nothing, and before the scaling it did nothing either.  So a ReLU6
limits the factors of its channels (`Limit`) and needs no bounds of their own for channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.labels import label_of_channel, labels_after
from edgec.ir.operator import OperatorTable
from edgec.ir.real import NO_LABEL
from edgec.quant.common.coarse_weights import coarse_steps

FIXED = 0
"""The class of channels that nothing may scale."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A Clip: the factors of the value's channels are 1 or more, and keep them within the bounds.

    Attributes:
        value: name of what is clipped.
        low, high: bounds, ``low <= 0 <= high``.
    """

    value: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class ChannelClasses:
    """The classes of a graph.

    Attributes:
        classes: by value, the class of each channel of its last axis; int64 [C].  Values whose
            channels are all `FIXED` are left out.
        limits: the Clips with bounds among these values.
        layers: names of the layers that take factors into their weights.
        apart: values whose channels hold elements of several classes; they are not in `classes`.
    """

    classes: dict[str, Array]
    limits: tuple[Limit, ...]
    layers: frozenset[str]
    apart: frozenset[str]


def channel_classes(graph: Graph) -> ChannelClasses:
    """Find the classes of a graph of the REAL stage, batch norms folded."""
    found = _Finder(graph)
    for node in graph.nodes:
        found.visit(node)
    labels = _components(found.size, found.joined)
    classes = {name: labels[ids] for name, ids in found.ids.items() if name not in found.apart}
    free = {name: own for name, own in classes.items() if (own != FIXED).any()}
    limits = tuple(limit for limit in found.limits if limit.value in free)
    return ChannelClasses(free, limits, frozenset(found.layers), frozenset(found.apart))


def input_channels(node: Node, shape: tuple[int, ...]) -> Array:
    """Input channel that weight [o, ..., i] multiplies; int [O, I/group].

    Args:
        node: Conv, ConvTranspose or Gemm.
        shape: shape of its weights, [O, KH, KW, I/group] or [N, K].
    """
    group = node.attrs.group if isinstance(node.attrs, ops.Conv | ops.ConvTranspose) else 1
    outputs, inputs = shape[0], shape[-1]
    first = np.arange(outputs) // (outputs // group) * inputs
    return np.asarray(first[:, None] + np.arange(inputs)[None, :])


def _components(size: int, joined: list[tuple[Array, Array]]) -> Array:
    """The least member of each one's component, int64 [size]."""
    labels = np.arange(size)
    if not joined:
        return labels
    a, b = (np.concatenate(side) for side in zip(*joined, strict=True))
    while True:
        least = np.minimum(labels[a], labels[b])
        before = labels.copy()
        np.minimum.at(labels, a, least)
        np.minimum.at(labels, b, least)
        labels = labels[labels]
        if np.array_equal(labels, before):
            return labels


class _Finder:
    """Collects which channels are joined, node after node."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ids: dict[str, Array] = {}
        self.size = 1
        self.joined: list[tuple[Array, Array]] = []
        self.limits: list[Limit] = []
        self.layers: list[str] = []
        # Labels of the elements of values whose channels hold elements of several others.
        self.apart: dict[str, Array] = {}
        for name, value in graph.values.items():
            if value.dtype is DType.FLOAT32 and value.shape:
                self.ids[name] = self.size + np.arange(value.shape[-1])
                self.size += value.shape[-1]
        pinned = {name for name, value in graph.values.items() if value.quant is not None}
        self.ends = {*graph.inputs, *graph.outputs} | pinned
        self.fix(*sorted(self.ends))

    def fix(self, *names: str) -> None:
        """Let nothing scale these values."""
        for name in names:
            ids = self.ids.get(name)
            if ids is not None:
                self.settle(name)
                self.join(ids, np.full_like(ids, FIXED))

    def settle(self, name: str) -> None:
        """Give a value the classes of its channels, those of all elements that they hold."""
        if name in self.apart:
            self._join_elements(self.ids[name], self.apart.pop(name))

    def _join_elements(self, channels: Array, elements: Array) -> None:
        """Give each channel of a last axis the classes of its elements."""
        pairs = np.broadcast_to(channels, elements.shape) * self.size + elements
        self.join(*np.divmod(np.unique(pairs), self.size))

    def join(self, a: Array, b: Array) -> None:
        """Give channels with these numbers one class each."""
        self.joined.append((a, b))

    def tie(self, first: str, second: str) -> None:
        """Give the channels of two values the same classes, in their order."""
        if not {first, second} <= self.ids.keys():
            self.fix(first, second)
            return
        a, b = sorted((self.ids[first], self.ids[second]), key=len)
        if len(b) % len(a):
            self.fix(first, second)
        else:
            self.join(np.tile(a, len(b) // len(a)), b)

    def follow(self, node: Node) -> bool:
        """Give the channels of a node's operands and output the classes that its moves ask for.

        Returns:
            False where elements of several channels are mixed, or some have no class; nothing is
            joined then.
        """
        if any(name not in self.ids for name in (*node.inputs, node.output)):
            return False
        shapes = {name: self.graph.shape(name) for name in (*node.inputs, node.output)}
        labels = {
            name: self.apart.get(name, np.broadcast_to(self.ids[name], shapes[name]))
            for name in node.inputs
        }
        found = labels_after(self.graph, node, labels)
        if found is None:
            return False
        own = np.broadcast_to(self.ids[node.output], found.shape)
        found = np.where(found == NO_LABEL, own, found)  # zeros have any factor
        one = label_of_channel(found)
        if one is not None:
            self.join(one, self.ids[node.output])
        elif isinstance(node.attrs, _MOVES) and node.output not in self.ends:
            self.apart[node.output] = found
        else:
            self._join_elements(self.ids[node.output], found)
        return True

    def visit(self, node: Node) -> None:
        """Take in one node."""
        rule = _RULES.get(type(node.attrs))
        if not isinstance(node.attrs, _MOVES):
            for name in node.inputs:
                self.settle(name)
        if rule is None or not rule(self, node):
            self.fix(*(name for name in (*node.inputs, *node.outputs) if name))


_Rule = Callable[[_Finder, Node], bool]
"""Joins what a node passes on; False: everything around it is fixed."""
_RULES = OperatorTable[_Rule]()
_MOVES = (ops.Reshape, ops.Transpose, ops.Slice, ops.Concat)
"""Operators after which the elements of a channel may have classes of their own for a while: they
come together again where a layer reads one row of elements, as after a Flatten."""


@_RULES.entry(ops.Conv, ops.ConvTranspose, ops.Gemm)
def _layer(found: _Finder, node: Node) -> bool:
    """Scales rows and columns, if its constants are its own and real.

    Weights of few bits lose their steps where columns are scaled.
    """
    inputs = ops.layer_inputs(node)
    graph = found.graph
    for name in (inputs.w, inputs.b):
        if name and (graph.constants[name].quant is not None or len(graph.consumers[name]) > 1):
            return False
    if coarse_steps(graph.constants[inputs.w].array) is not None:
        found.fix(inputs.x)
    found.layers.append(node.name)
    return True


@_RULES.entry(*_MOVES, ops.MaxPool, ops.AveragePool, ops.Resize)
def _moved(found: _Finder, node: Node) -> bool:
    """Each element has the factor of those that it is made of, wherever they lie."""
    return found.follow(node)


@_RULES.entry(ops.Clip)
def _clip(found: _Finder, node: Node) -> bool:
    attrs = node.attrs_as(ops.Clip)
    if not attrs.low <= 0.0 <= attrs.high:
        return False
    if attrs.low not in (0.0, -math.inf) or attrs.high not in (0.0, math.inf):
        found.limits.append(Limit(node.output, attrs.low, attrs.high))
    found.tie(node.input, node.output)
    return True


@_RULES.entry(ops.Unary)
def _unary(found: _Finder, node: Node) -> bool:
    kinds = (ops.UnaryKind.LEAKY_RELU, ops.UnaryKind.IDENTITY, ops.UnaryKind.ABS, ops.UnaryKind.NEG)
    if node.attrs_as(ops.Unary).kind not in kinds:
        return False
    found.tie(node.input, node.output)
    return True


@_RULES.entry(ops.PRelu)
def _prelu(found: _Finder, node: Node) -> bool:
    found.tie(ops.PRelu.Inputs.of(node.inputs).x, node.output)
    return True


@_RULES.entry(ops.Pad)
def _pad(found: _Finder, node: Node) -> bool:
    """Zero is the same whatever its factor; other numbers to fill with are not."""
    attrs = node.attrs_as(ops.Pad)
    filled = attrs.mode is ops.PadMode.CONSTANT and attrs.value != 0.0
    return not filled and not any(attrs.pads[-1]) and found.follow(node)


@_RULES.entry(ops.Reduce)
def _reduce(found: _Finder, node: Node) -> bool:
    squares = node.attrs_as(ops.Reduce).kind is ops.ReduceKind.SUM_SQUARE
    return not squares and found.follow(node)


@_RULES.entry(ops.Add, ops.Sub, ops.Maximum, ops.Minimum)
def _sum(found: _Finder, node: Node) -> bool:
    """All operands have the factors of the sum; a single number for all channels has none."""
    graph, channels = found.graph, found.graph.shape(node.output)[-1:]
    for name in node.inputs:
        if name not in found.ids or graph.shape(name)[-1:] != channels:
            return False
    for name in node.inputs:
        found.tie(name, node.output)
    return True


@_RULES.entry(ops.Mul)
def _mul(found: _Finder, node: Node) -> bool:
    """The larger operand passes its factors on; a gate, smaller, or a constant, stays."""
    graph, inputs = found.graph, ops.Mul.Inputs.of(node.inputs)
    passed = max((inputs.a, inputs.b), key=lambda n: (n in found.ids, math.prod(graph.shape(n))))
    gate = inputs.b if passed == inputs.a else inputs.a
    if graph.shape(passed) != graph.shape(node.output) or passed not in found.ids or passed == gate:
        return False
    if gate in found.ids and graph.shape(gate) == graph.shape(passed):
        return False
    found.fix(gate)
    found.tie(passed, node.output)
    return True
