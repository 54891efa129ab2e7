"""Readers of the bytes of a carried value, and whether they are still its own by then.

The `QUpdate` of a turn changes the bytes of the carried value.  Operators that only change how
bytes are looked at (`VIEWS`) hand them on, so that others may read them later than the graph says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.turns import contains

VIEWS = (qops.QReshape, qops.QTurnSlice, qops.QTurnLast)
"""Operators whose output may be the bytes of their operand."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Somebody reads the bytes of a value.

    Attributes:
        name: the value that is read, a view of the other one or that one itself.
        node: the reader; None: a graph output.
    """

    name: str
    node: Node | None


def readings(graph: Graph, name: str) -> Iterator[Reading]:
    """All readings of the bytes of a value, through views; views themselves read nothing."""
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in graph.outputs:
            yield Reading(each, None)
        for node in graph.consumers[each]:
            if isinstance(node.attrs, VIEWS):
                waiting.extend(node.outputs)
            else:
                yield Reading(each, node)


def late_readings(graph: Graph, carry: str) -> Iterator[Reading]:
    """Readings of the bytes of a carried value after its update has changed them."""
    place = {node.name: number for number, node in enumerate(graph.nodes)}
    update = graph.updates[carry]
    loop = graph.scopes.values[carry]
    for reading in readings(graph, carry):
        node = reading.node
        if (
            node is None
            or place[node.name] > place[update.name]
            or not contains(loop, graph.scopes.nodes[node.name])
        ):
            yield reading
