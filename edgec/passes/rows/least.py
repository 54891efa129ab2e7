"""Memory that activations take at least: layer by layer, and in turns of a few rows.

Working memory of kernels comes on top, and outputs that take the place of inputs may save some.
"""

from __future__ import annotations

from collections.abc import Mapping

from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.passes.rows.partition import IMPOSSIBLE, Sections, chains_of
from edgec.passes.rows.price import Need
from edgec.passes.rows.timeline import Pace

_FEWEST = (Pace(1),)


def whole_bytes(graph: Graph) -> dict[str, int]:
    """Bytes of the values that live while each node runs by itself, by its name; 0 of views.

    Args:
        graph: INTEGER stage, straight.
    """
    root = {name: name for name in graph.values}
    born = dict.fromkeys(graph.inputs, -1)
    last = dict.fromkeys(graph.inputs, -1)
    for number, node in enumerate(graph.nodes):
        for name in node.inputs:
            if name in graph.values:
                last[root[name]] = number
        for name in node.outputs:
            if isinstance(node.attrs, qops.QReshape):
                root[name] = root.get(node.input, name)  # of a constant: nothing lives
            else:
                born[name] = last[name] = number
    last.update({root[name]: len(graph.nodes) for name in graph.outputs})
    return {
        node.name: 0
        if isinstance(node.attrs, qops.QReshape)
        else sum(
            graph.values[name].size_bytes
            for name, first in born.items()
            if first <= number <= last[name]
        )
        for number, node in enumerate(graph.nodes)
    }


def least_bytes(graph: Graph, whole: Mapping[str, int], *, input_rows: bool = False) -> int | None:
    """Bytes of activations in turns of a few rows; None: its layers cannot run so.

    Args:
        graph: INTEGER stage, straight, without a length that runs choose.
        whole: from `whole_bytes`.
        input_rows: the caller hands the input over by rows.
    """
    if input_rows and len(graph.inputs) > 1:
        return None
    handed = graph.only_input if input_rows else None
    most = max(whole.values(), default=0)
    chains = chains_of(graph, most, lambda *_: lambda _: Need(0), handed=handed, paces=_FEWEST)
    found = Sections.of(graph, chains, whole, handed).least_bytes
    return None if found >= IMPOSSIBLE else found
