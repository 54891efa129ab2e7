"""Int8 values that share their parameters, with what computes and what reads them.

A value of the stream can have codes, too: those of its int8 copy, which layers read.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator
from edgec.quant.transformer.layers import Layer, is_column_slice, keeps_channels
from edgec.quant.transformer.stream import is_real

QKV = ("q", "k", "v")
"""Operands of attention that are activations."""


@dataclass(frozen=True, slots=True)
class Group:
    """Values that share their parameters.

    Attributes:
        members: all of them, in graph order.
        sources: those that no move computes.
        readers: (node, name of the operand) of every other reader; column slices of attention are
            looked through.
        keeps_channels: every move between the members leaves the last axis as it is.
        is_output: one of them is a graph output.
    """

    members: tuple[str, ...]
    sources: tuple[str, ...]
    readers: tuple[tuple[Node, str], ...]
    keeps_channels: bool
    is_output: bool


def code_groups(
    graph: Graph, stream: frozenset[str], layers: tuple[Layer, ...]
) -> tuple[Group, ...]:
    """The groups of a graph, in graph order.

    Args:
        graph: REAL stage.
        stream: values of the stream.
        layers: what ends inside a layer has no codes.
    """
    inner = {node.output for layer in layers for node in layer.nodes} - {
        layer.output for layer in layers
    }
    views = {n.output for n in graph.nodes if is_column_slice(graph, n)}
    names = [*graph.inputs, *(node.output for node in graph.nodes)]
    names = [n for n in names if is_real(graph, n) and n not in inner and n not in views]
    moves = [n for n in graph.nodes if n.output in names and _joins(graph, n, stream)]
    parent = {name: name for name in names}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for node in moves:
        for name in node.inputs:
            if name in parent:
                parent[root(node.output)] = root(name)
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(root(name), []).append(name)
    return tuple(_group(graph, tuple(found), moves) for found in members.values())


def _joins(graph: Graph, node: Node, stream: frozenset[str]) -> bool:
    """A move of int8 codes (those of the stream move int16)."""
    if not node.attrs_as(RealOperator).moves_codes:
        return False
    return not (
        node.output in stream and all(n in stream for n in node.inputs if n in graph.values)
    )


def _group(graph: Graph, members: tuple[str, ...], moves: list[Node]) -> Group:
    inside = [node for node in moves if node.output in members]
    moved = {node.output for node in inside}
    readers: list[tuple[Node, str]] = []
    for name in members:
        readers += [use for use in _uses(graph, name) if use[0] not in inside]
    return Group(
        members=members,
        sources=tuple(name for name in members if name not in moved),
        readers=tuple(readers),
        keeps_channels=all(keeps_channels(graph, node) for node in inside),
        is_output=any(name in graph.outputs for name in members),
    )


def _uses(graph: Graph, name: str) -> list[tuple[Node, str]]:
    found: list[tuple[Node, str]] = []
    for node in graph.consumers[name]:
        if is_column_slice(graph, node):
            found += _uses(graph, node.output)
        else:
            operands = node.attrs.Inputs.of(node.inputs).items()
            found += [(node, operand) for operand, read in operands if read == name]
    return found


def only_read_by(group: Group, kinds: type | tuple[type, ...]) -> bool:
    """True when operators of these kinds, and nothing else, read a group.

    Of a layer only the activations count as read, of an attention the queries, keys and values.
    """
    counted = QKV if kinds is ops.Attention else ("x",)
    used = [isinstance(node.attrs, kinds) and name in counted for node, name in group.readers]
    return bool(used) and all(used) and not group.is_output
