"""Finds the axis of variable length in a float graph: the same file, read at two lengths.

The shapes of both say which axis of which tensor is the variable one, and everything else must be
equal, or its beginning: then one graph stands for all lengths.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.errors import ImportModelError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.length import VariableLength, layout_problem, slice_problem
from edgec.ir.real import RealOperator
from edgec.ir.turns import Scope

REMEDY = (
    "pool with attention, a mean, the first token or the last state; or compile it without "
    "--max-length"
)


def with_real_length(longest: Graph, shorter: Graph) -> Graph:
    """The graph with `length` set: the variable axes of its values and constants.

    Args:
        longest: REAL stage, of the longest run.
        shorter: the same model, imported for a length that is shorter by 1.

    Raises:
        ImportModelError: the network at the shorter length is another one.
        UnsupportedModelError: all nodes whose numbers depend on the length.
    """
    _check_same_structure(longest, shorter)
    changed = {
        name: _changed_axes(longest.shape(name), shorter.shape(name)) for name in longest.values
    }
    for name in longest.inputs:
        if len(changed[name]) > 1:
            raise ImportModelError(
                f"the input has the variable axis more than once: {list(longest.shape(name))}",
                where=shown(name),
                hint="give masks one entry a token; or " + REMEDY,
            )
    axes = {name: found[0] for name, found in changed.items() if found}
    maximum = max((longest.shape(n)[axes[n]] for n in longest.inputs if n in axes), default=0)
    loops = _loops(longest, shorter)
    length = VariableLength(maximum, axes, loops=loops)
    problems = tuple(
        _problem(longest, node, reason)
        for node, other in zip(longest.nodes, shorter.nodes, strict=True)
        if (reason := _difference(longest, shorter, node, other, changed[node.output], loops))
        or (reason := _impossible(longest, node, length))
    )
    if problems:
        raise UnsupportedModelError(problems)
    squares = set()
    for node, other in zip(longest.nodes, shorter.nodes, strict=True):
        for name, its in zip(node.inputs, other.inputs, strict=True):
            found = _changed_axes(longest.shape(name), shorter.shape(its)) if name else ()
            if len(found) > 1:
                squares.add(name)
            elif found:
                axes[name] = found[0]
    return longest.replace(length=replace(length, axes=axes, squares=frozenset(squares)))


def _loops(longest: Graph, shorter: Graph) -> frozenset[str]:
    """Names of the loops that have a turn less in the shorter graph."""
    found = set()
    for node, other in zip(longest.nodes, shorter.nodes, strict=True):
        loop, less = _loop_of(node), _loop_of(other)
        if loop is not None and less is not None and loop.count == less.count + 1:
            found.add(loop.name)
    return frozenset(found)


def _loop_of(node: Node) -> Scope:
    """The loop at whose border a node stands."""
    border = node.attrs.border
    return None if border is None else border.loop


def _check_same_structure(longest: Graph, shorter: Graph) -> None:
    if set(longest.values) != set(shorter.values) or len(longest.nodes) != len(shorter.nodes):
        raise _another_network(longest.name)
    for mine, other in zip(longest.nodes, shorter.nodes, strict=True):
        pairs = zip(mine.inputs, other.inputs, strict=False)
        reads_others = any(a != b for a, b in pairs if not longest.is_constant(a))
        if (mine.op, mine.outputs) != (other.op, other.outputs) or reads_others:
            raise _another_network(mine.output)


def _another_network(where: str) -> ImportModelError:
    return ImportModelError(
        "the network changes when its input is shorter by 1",
        where=shown(where),
        hint=REMEDY,
    )


def _changed_axes(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Axes whose size differs; every axis where ranks differ."""
    if len(one) != len(other):
        return tuple(range(max(len(one), 2)))
    return tuple(axis for axis, size in enumerate(one) if size != other[axis])


def _difference(
    longest: Graph,
    shorter: Graph,
    node: Node,
    other: Node,
    changed: tuple[int, ...],
    loops: frozenset[str],
) -> str:
    """Reason why `node` does not stand for all lengths; "" if it does."""
    one, its = longest.shape(node.output), shorter.shape(node.output)
    if len(changed) > 1 or any(one[axis] != its[axis] + 1 for axis in changed):
        shapes = f"{list(one)}, then {list(its)}"
        return f"it mixes the variable axis with others: its output is {shapes}"
    pairs = [pair if all(pair) else None for pair in zip(node.inputs, other.inputs, strict=True)]
    for operand, (mine, constant) in node.attrs.Inputs.of(pairs).items():
        if longest.is_constant(mine) != shorter.is_constant(constant):
            return "an operand is a constant at one length only"
        # A bias on the logits has a number for each query and key.
        most = 2 if isinstance(node.attrs, ops.Attention) and operand == "bias" else 1
        if longest.is_constant(mine) and not _is_beginning(
            longest.constants[mine], shorter.constants[constant], most
        ):
            return f"the constant {shown(mine)} is another one at another length"
    attrs = node.attrs.shortened(changed[0], 1) if changed else node.attrs
    if attrs.in_fewer_turns(loops, 1) != other.attrs:
        return "its numbers depend on the length"
    return ""


def _impossible(graph: Graph, node: Node, length: VariableLength) -> str:
    """Reason why `node` cannot serve the shortest run; "" if it can."""
    axis, own = length.axes.get(node.output), length.axes.get(node.first)
    attrs = node.attrs_as(RealOperator)
    loop = _loop_of(node)
    nested = loop is not None and loop.within is not None
    if loop is not None and nested and length.loops & {each.name for each in loop.chain}:
        return "a loop with a turn for each position has another one within or around it"
    shapes = attrs.Inputs.of(graph.shapes(node))
    if own is not None and attrs.mixes_positions(shapes, own):
        return "it mixes positions along the variable axis"
    if axis is not None:
        return layout_problem(graph.shape(node.output), axis, length.maximum)
    if isinstance(attrs, ops.Slice) and own is not None:
        taken = (attrs.starts[own], attrs.steps[own], attrs.sizes[own])
        return slice_problem(*taken, graph.shape(node.input)[own], length.maximum)
    return ""


def _is_beginning(longest: Constant, shorter: Constant, most: int) -> bool:
    """Equal, or all entries but the last along one axis, or at most `most` of the last ones."""
    one, other = longest.array, shorter.array
    changed = _changed_axes(one.shape, other.shape)
    if len(changed) > 1 and changed != (one.ndim - 2, one.ndim - 1)[-most:]:
        return False
    if any(one.shape[axis] != other.shape[axis] + 1 for axis in changed):
        return False
    return np.array_equal(one[tuple(slice(size) for size in other.shape)], other)


def _problem(graph: Graph, node: Node, reason: str) -> UnsupportedNode:
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op,
        shape="x".join(map(str, graph.shape(node.output))),
        reason=reason,
        remedy=REMEDY,
    )
