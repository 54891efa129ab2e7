"""Copy what the update of a carried value would overwrite too early.

Rules:
1. late reading: where the bytes of a carried value are read after its `QUpdate` (by the update of
   another carried value, through a reshape, or after the loop), the reader gets a copy of them,
   which is made in each turn before the update.
2. output: a graph output that is a part of the state of the model, which lies in memory of its own,
   gets a copy.

A copy is a `QSlice` of the whole value.  All codes stay what they are.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.carried import VIEWS, late_readings, readings
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder

_MOST_COPIES = 1000


def hold_carried(graph: Graph) -> Graph:
    """Apply the rules until they do not apply."""
    for _ in range(_MOST_COPIES):
        changed = _rewritten(graph)
        if changed is None:
            return graph
        graph = changed
    raise InternalError("copies of carried values do not end", where=graph.name)


def held_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line where values were copied."""
    count = len(after.nodes) - len(before.nodes)
    return (f"{count} carried values copied before their update",) if count else ()


def _rewritten(graph: Graph) -> Graph | None:
    for carry, update in graph.updates.items():
        if graph.scopes.values[carry] is None:
            found = [r.name for r in readings(graph, update.output) if r.node is None]
            if found:
                return _copied(graph, update.output, ())
        late = [reading.node for reading in late_readings(graph, carry)]
        if late:
            return _copied(graph, carry, _first_readers(graph, carry, late))
    return None


def _first_readers(graph: Graph, carry: str, late: list[Node | None]) -> tuple[Node, ...]:
    """The nodes that read a carried value itself and lead to late readers: views, and updates."""
    names = {node.name for node in late if node is not None}
    return tuple(
        node
        for node in graph.consumers[carry]
        if isinstance(node.attrs, VIEWS) or node.name in names
    )


def _copied(graph: Graph, name: str, readers: tuple[Node, ...]) -> Graph:
    """Let some nodes, and the graph outputs, read a copy of a value."""
    builder = GraphBuilder.of(graph)
    value = graph.values[name]
    whole = qops.QSlice((0,) * len(value.shape), (1,) * len(value.shape), value.shape)
    copy = builder.fresh(f"{name} held")
    if name in graph.outputs:
        # The output keeps its name: the value itself gets another one.
        name, copy = copy, name
        builder.rewire(copy, name)
        builder.outputs = list(graph.outputs)
        maker = graph.producers[copy]
        outputs = tuple(name if out == copy else out for out in maker.outputs)
        builder.put(replace(builder.nodes[maker.name], outputs=outputs))
        builder.value(replace(value, name=name))
    else:
        builder.value(replace(value, name=copy, form_of=value.form_of or name))
    for node in readers:
        own = builder.nodes[node.name]
        record = own.attrs.Inputs.of(own.inputs)
        builder.put(replace(own, inputs=replace(record, **{"x": copy}).names()))
    made = builder.node(f"copy of {name}", whole, (name,), (copy,))
    if not all(node.attrs.updates for node in readers) or not readers:
        # At once, so that what is computed later may be written over the value.
        maker = graph.producers.get(name) or graph.producers[copy]
        builder.nodes = {
            each.name: each
            for node in builder.nodes.values()
            if node is not made
            for each in ((node, made) if node.name == maker.name else (node,))
        }
    return builder.build()
