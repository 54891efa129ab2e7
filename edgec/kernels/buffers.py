"""Lifetimes: which bytes must exist at which step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.kernels.select import KernelChoice, operands
from edgec.memory import Buffer, Overlap


def buffers_of(
    graph: Graph, choices: Sequence[KernelChoice]
) -> tuple[tuple[Buffer, ...], tuple[Overlap, ...], Mapping[str, str]]:
    """What the memory planner needs to know.

    Steps are the choices, in order.  Graph inputs live from step 0, graph outputs to one
    step beyond the last; the scratch memory of a step is a buffer of its own.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.

    Returns:
        Buffers by order of first use; overlaps between buffers; and the aliases: for the output of
        each `QReshape`, the name of the value whose bytes it is.
    """
    aliases = aliases_of(graph)
    first, last = _lifetimes(graph, choices, aliases)
    buffers = [
        Buffer(name, graph.values[name].size_bytes, first[name], last[name] + 1) for name in first
    ]
    buffers += [
        Buffer(scratch_name(graph, choice), choice.scratch_bytes, step, step + 1)
        for step, choice in enumerate(choices)
        if choice.scratch_bytes
    ]
    overlaps = tuple(
        Overlap(root(aliases, found.output), root(aliases, found.input), found.distance_bytes)
        for choice in choices
        for found in choice.overlaps
    )
    return tuple(buffers), overlaps, aliases


def aliases_of(graph: Graph) -> dict[str, str]:
    """For the output of each `QReshape`, the value it is a view of (never itself a view)."""
    aliases: dict[str, str] = {}
    for node in graph.nodes:
        if isinstance(node.attrs, qops.QReshape):
            aliases[node.output] = root(aliases, node.input)
    return aliases


def root(aliases: Mapping[str, str], name: str) -> str:
    """The value whose bytes `name` is."""
    return aliases.get(name, name)


def scratch_name(graph: Graph, choice: KernelChoice) -> str:
    """Name of the scratch buffer of a step; no value has it."""
    name = f"scratch of {choice.node.name}"
    while name in graph.values:
        name += "'"
    return name


def copy_name(graph: Graph, choice: KernelChoice) -> str:
    """Name of the buffer of a step that holds a copy of its weights; no value has it."""
    name = f"weights of {choice.node.name}"
    while name in graph.values:
        name += "'"
    return name


def _lifetimes(
    graph: Graph, choices: Sequence[KernelChoice], aliases: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, int]]:
    """First and last step of each value that has bytes of its own."""
    first = dict.fromkeys(graph.inputs, 0)
    last = dict.fromkeys(graph.inputs, 0)
    for step, choice in enumerate(choices):
        for name in choice.node.outputs:
            first[name] = last[name] = step
        for name in operands(choice.node):
            if name in graph.values:
                last[root(aliases, name)] = step
    # One step beyond the last: the last step may read an output but not write over it.
    for name in graph.outputs:
        last[root(aliases, name)] = len(choices)
    return first, last
