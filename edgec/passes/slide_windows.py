"""Keep whole windows from turn to turn, in place, in place of what is past.

A network that reads a window of the last rows puts it together in each turn of rows that it has
carried and of new ones, and carries the last of these on: two copies of all that it carries.

Rules:
1. past: a carried value that is only read to put new rows after it, where the last positions of
   that window are carried on, becomes the whole window: ``window' = slide(window, rows)``.
2. window: a carried value whose next number is its own last positions with new rows after them
   becomes the same.

A `QSlide` moves its bytes in place.  All codes stay what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder


@dataclass(frozen=True, slots=True)
class _Window:
    """A window that is put together in each turn.

    Attributes:
        carry: the node of the carried value.
        joined: the node that puts the window together.
        axis: axis of its positions.
        rows: the value of its new rows.
        update: the node that carries on.
        moved: the slice of the window of the turn before, of rule 2.
    """

    carry: Node
    joined: Node
    axis: int
    rows: str
    update: Node
    moved: Node | None = None


def slide_windows(graph: Graph) -> Graph:
    """Apply the rules to all carried values.

    Args:
        graph: INTEGER stage.
    """
    for name in graph.updates:
        found = _past(graph, name) or _whole(graph, name)
        if found is not None:
            graph = _slid(graph, found)
    return graph


def _past(graph: Graph, name: str) -> _Window | None:
    """Rule 1."""
    carry, update = graph.producers[name], graph.updates[name]
    joined = [node for node in graph.consumers[name] if node.name != update.name]
    if len(joined) != 1 or name in graph.outputs or not graph.is_constant(carry.input):
        return None
    window = _joined(graph, joined[0], name)
    last = graph.producers.get(update.first)
    if window is None or last is None or last.first != window.joined.output:
        return None
    return replace(window, carry=carry, update=update) if _is_end(graph, last, window) else None


def _whole(graph: Graph, name: str) -> _Window | None:
    """Rule 2."""
    carry, update = graph.producers[name], graph.updates[name]
    joined = graph.producers.get(update.first)
    moved = [node for node in graph.consumers[name] if node.name != update.name]
    if joined is None or len(moved) != 1 or name in graph.outputs:
        return None
    (slice_,) = moved
    if len(slice_.outputs) != 1:
        return None
    window = _joined(graph, joined, slice_.output)
    alone = graph.consumers[slice_.output] == (joined,) and slice_.output not in graph.outputs
    if window is None or not alone or not _is_end(graph, slice_, window):
        return None
    return replace(window, carry=carry, update=update, moved=slice_)


def _joined(graph: Graph, node: Node, past: str) -> _Window | None:
    """The window that a node puts together of what is past and of new rows, if it does."""
    if not isinstance(node.attrs, qops.QConcat):
        return None
    parts = qops.QConcat.Inputs.of(node.inputs).parts
    if len(parts) != 2:
        return None
    first, rows = parts
    axis = node.attrs.axis % len(graph.shape(node.output))
    same_turn = graph.scopes.values.get(past) == graph.scopes.nodes[node.name]
    if first != past or rows == past or not same_turn:
        return None
    return _Window(node, node, axis, rows, node)


def _is_end(graph: Graph, node: Node, window: _Window) -> bool:
    """Whether a node gives all of a window but as many of its first positions as rows are new."""
    whole, axis = graph.shape(window.joined.output), window.axis
    new = graph.shape(window.rows)[axis]
    starts = tuple(new if each == axis else 0 for each in range(len(whole)))
    sizes = tuple(n - new if each == axis else n for each, n in enumerate(whole))
    return node.attrs == qops.QSlice(starts, (1,) * len(whole), sizes)


def _slid(graph: Graph, found: _Window) -> Graph:
    """The graph in which a whole window is carried."""
    builder = GraphBuilder.of(graph)
    window = graph.values[found.joined.output]
    carry = found.carry
    if found.moved is None:
        start = graph.constants[carry.input]
        whole = _padded(start.array, found.axis, window.shape[found.axis])
        grown = builder.constant(f"{start.name}/window", whole, start.quant)
        builder.put(replace(carry, inputs=(grown,)))
        for name in (carry.output, found.update.output):
            builder.value(replace(graph.values[name], shape=window.shape))
        builder.put(replace(found.update, inputs=(window.name, carry.output)))
    else:
        builder.remove(found.moved)
    inputs = (carry.output, found.rows)
    builder.put(replace(found.joined, attrs=qops.QSlide(found.axis), inputs=inputs))
    return builder.build()


def _padded(start: Array, axis: int, count: int) -> Array:
    """An array with its first position repeated before it; these never are in a window."""
    first = start.take([0] * (count - start.shape[axis]), axis)
    return np.concatenate([first, start], axis)
