"""Lifetimes: which bytes must exist at which step."""

from __future__ import annotations

from collections import Counter
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
        Buffers by order of first use; overlaps between buffers; and the aliases: `aliases_of`.
    """
    aliases = aliases_of(graph, choices)
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


def aliases_of(graph: Graph, choices: Sequence[KernelChoice]) -> dict[str, str]:
    """For values without bytes of their own, the value whose bytes they are, which has its own.

    They are the output of each `QReshape`, and those that a kernel writes in place of an operand
    that nobody reads any more (`KernelFamily.in_place`).
    """
    replaced = _replaced(graph, choices)
    aliases: dict[str, str] = {}
    for node in graph.nodes:
        source = node.input if isinstance(node.attrs, qops.QReshape) else replaced.get(node.output)
        if source is not None:
            aliases[node.output] = root(aliases, source)
    return aliases


def _replaced(graph: Graph, choices: Sequence[KernelChoice]) -> dict[str, str]:
    """The operand that an output takes the place of, by the name of the output."""
    views = {
        node.output: node.input for node in graph.nodes if isinstance(node.attrs, qops.QReshape)
    }

    def seen(name: str) -> str:
        while name in views:
            name = views[name]
        return name

    reads = Counter(seen(name) for choice in choices for name in operands(choice.node))
    kept = {seen(name) for name in graph.outputs}
    found = {}
    for choice in choices:
        if choice.family.in_place(choice.spec):
            source = operands(choice.node)[0]
            # Steps go in the order of nodes: the only reader is the last one.
            if source in graph.values and reads[seen(source)] == 1 and seen(source) not in kept:
                found[choice.node.output] = source
    return found


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
            first.setdefault(root(aliases, name), step)
            last[root(aliases, name)] = step
        for name in operands(choice.node):
            if name in graph.values:
                last[root(aliases, name)] = step
    # One step beyond the last: the last step may read an output but not write over it.
    for name in graph.outputs:
        last[root(aliases, name)] = len(choices)
    return first, last
