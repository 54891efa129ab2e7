"""The graph of a run of one length: the definition of what such a run computes."""

from __future__ import annotations

from dataclasses import replace

from edgec.base.errors import ConfigError, InternalError
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.length import MIN_LENGTH, VariableLength


def check_length(length: int, maximum: int) -> None:
    """Refuse a length that no run can have.

    Raises:
        ConfigError: below 1 or above the maximum.
    """
    if not MIN_LENGTH <= length <= maximum:
        raise ConfigError(
            f"{length} is no length of this model",
            hint=f"it was compiled for lengths from {MIN_LENGTH} to {maximum}",
        )


def specialized(graph: Graph, length: int) -> Graph:
    """The graph with the variable axis fixed to `length`.

    Shapes follow the length; constants with an entry for each position keep their first ones; all
    other numbers (weights, multipliers, shifts, scales) stay as they are.

    Args:
        graph: REAL or INTEGER stage, with a variable length.
        length: 1 to the maximum.

    Returns:
        A graph without a variable length.

    Raises:
        ConfigError: no such length.
        InternalError: the graph has no variable length.
    """
    variable = graph.length
    if variable is None:
        raise InternalError("the graph has one length", where=graph.name)
    check_length(length, variable.maximum)
    values = {
        name: replace(value, shape=variable.shape(name, value.shape, length))
        for name, value in graph.values.items()
    }
    return graph.replace(
        values=values,
        constants={name: _front(c, variable, length) for name, c in graph.constants.items()},
        nodes=tuple(_node(node, variable, length) for node in graph.nodes),
        length=None,
    )


def _front(constant: Constant, variable: VariableLength, length: int) -> Constant:
    """The first entries of a constant that has one for each position."""
    if constant.name not in (*variable.axes, *variable.squares):
        return constant
    shape = variable.shape(constant.name, constant.shape, length)
    return replace(constant, array=constant.array[tuple(slice(size) for size in shape)])


def _node(node: Node, variable: VariableLength, length: int) -> Node:
    axis, less = variable.axes.get(node.outputs[0]), variable.maximum - length
    attrs = node.attrs.in_fewer_turns(variable.loops, less)
    return replace(node, attrs=attrs if axis is None else attrs.shortened(axis, less))
