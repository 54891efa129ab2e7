"""Channels whose order is free: values that share them, and the constants that follow.

A network computes the same if the channels that one layer writes and the next one reads change
places.  Channels go through everything that treats each of them alike (activations, windows,
sums of two tensors, norms, depthwise filters), so all values on such a way have one order, and it
ends at layers that sum over channels.  What mixes channels otherwise, values that a QDQ model
quantizes, and inputs and outputs of the network hold theirs fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.labels import keeps_channels

Axis = tuple[str, int]
"""A constant and one of its axes."""


@dataclass(frozen=True, slots=True, eq=False)
class FreeChannels:
    """Channels that may change places.

    Attributes:
        size: how many there are.
        axes: constants with an entry for each channel, and along which axis.
        readers: names of the nodes that sum over the channels, in graph order.
    """

    size: int
    axes: tuple[Axis, ...]
    readers: tuple[str, ...]


def free_channels(graph: Graph) -> tuple[FreeChannels, ...]:
    """All channels of a network whose order is free and that some layer sums over.

    Args:
        graph: REAL stage, cleaned.

    Returns:
        In the order of the first node that reads them.
    """
    found = _Followed()
    pinned = [name for name, value in graph.values.items() if value.quant is not None]
    for name in (*graph.inputs, *graph.outputs, *pinned):
        found.hold(name)
    for node in graph.nodes:
        if _sums_over_channels(node):
            _follow_layer(node, found)
        elif isinstance(node.attrs, ops.MatMul) and not node.attrs.transpose_b:
            _follow_product(node, found)
        else:
            _follow_alike(graph, node, found)
    return found.free(graph)


def with_orders(graph: Graph, orders: Iterable[tuple[FreeChannels, Array]]) -> Graph:
    """The network with channels in another order.

    Args:
        graph: what `free_channels` was asked about.
        orders: for some of them int [size]: which channel comes to each place.
    """
    builder = GraphBuilder.of(graph)
    for channels, order in orders:
        for name, axis in channels.axes:
            array = np.take(builder.constants[name].array, order, axis)
            builder.constant(name, array, keep_name=True)
    return builder.build()


class _Followed:
    """Sets of values that share their channels; grows node by node."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._parents: dict[str, str] = {}
        self._held: set[str] = set()
        self._axes: list[tuple[str, Axis]] = []
        self._readers: list[tuple[str, str]] = []

    def join(self, first: str, second: str) -> None:
        """Two values have one order of channels."""
        self._parents[self._root(first)] = self._root(second)

    def hold(self, name: str) -> None:
        """The channels of a value stay where they are."""
        self._held.add(name)

    def add_axis(self, value: str, constant: str, axis: int) -> None:
        """A constant follows the channels of a value."""
        self._axes.append((value, (constant, axis)))

    def add_reader(self, value: str, node: str) -> None:
        """A layer sums over the channels of a value."""
        self._readers.append((value, node))

    def free(self, graph: Graph) -> tuple[FreeChannels, ...]:
        """The channels that nothing holds."""
        for value, (constant, _) in self._axes:
            if not _can_follow(graph, constant):
                self.hold(value)
        held = {self._root(name) for name in self._held}
        axes: dict[str, list[Axis]] = {}
        for value, axis in self._axes:
            axes.setdefault(self._root(value), []).append(axis)
        readers: dict[str, list[str]] = {}
        for value, node in self._readers:
            readers.setdefault(self._root(value), []).append(node)
        return tuple(
            FreeChannels(graph.shape(root)[-1], tuple(axes[root]), tuple(nodes))
            for root, nodes in readers.items()
            if root not in held
        )

    def _root(self, name: str) -> str:
        while (parent := self._parents.setdefault(name, name)) != name:
            name = parent
        return name


def _can_follow(graph: Graph, constant: str) -> bool:
    """Whether the entries of a constant may change places: float, and of one node alone."""
    found = graph.constants.get(constant)
    plain = found is not None and found.quant is None and found.pooled is None
    return plain and len(graph.consumers[constant]) == 1


def _sums_over_channels(node: Node) -> bool:
    attrs = node.attrs
    if isinstance(attrs, ops.Conv | ops.ConvTranspose):
        return attrs.group == 1
    return isinstance(attrs, ops.Gemm)


def _follow_layer(node: Node, found: _Followed) -> None:
    """A layer reads channels of one order and writes channels of another."""
    inputs = ops.layer_inputs(node)
    found.add_reader(inputs.x, node.name)
    found.add_axis(inputs.x, inputs.w, -1)
    for constant in (inputs.w, inputs.b):
        if constant:
            found.add_axis(node.output, constant, 0)


def _follow_product(node: Node, found: _Followed) -> None:
    """Rows of the second operand, of which every channel is weighted alike, are added up."""
    inputs = ops.MatMul.Inputs.of(node.inputs)
    found.hold(inputs.a)
    found.join(inputs.b, node.output)


def _follow_alike(graph: Graph, node: Node, found: _Followed) -> None:
    """Any other node: it treats all channels alike, or holds them."""
    values = [name for name in node.inputs if name in graph.values]
    axes = _axes_alike(graph, node)
    if axes is None or any(_last(graph, name) != _last(graph, node.output) for name in values):
        for name in (*values, *node.outputs):
            found.hold(name)
        return
    for name in values:
        found.join(name, node.output)
    for constant, axis in axes:
        found.add_axis(node.output, constant, axis)


def _last(graph: Graph, name: str) -> int:
    """Size of the last axis; a scalar has one channel."""
    return (graph.shape(name) or (1,))[-1]


def _axes_alike(graph: Graph, node: Node) -> list[Axis] | None:
    """The constants with an entry for each channel; None: channels are not all treated alike."""
    attrs = node.attrs
    match attrs:
        case ops.OneInput():
            return [] if keeps_channels(graph, node) else None
        case ops.Conv():
            inputs = ops.layer_inputs(node)
            depthwise = attrs.group == graph.shape(node.output)[-1]
            return [(name, 0) for name in (inputs.w, inputs.b) if name] if depthwise else None
        case ops.Concat() if not keeps_channels(graph, node):
            return None
        case ops.Arithmetic() | ops.Norm() | ops.PRelu() | ops.Concat():
            constants = [name for name in node.inputs if name in graph.constants]
            return [(name, -1) for name in constants if _last(graph, name) > 1]
        case _:
            return None
