"""Names for what is added to a graph."""

from __future__ import annotations

from edgec.ir.graph import Graph


class Names:
    """Names of values, constants and nodes that nothing in a graph has yet.

    Args:
        graph: what the names are added to.
    """

    def __init__(self, graph: Graph) -> None:
        self._taken = {*graph.values, *graph.constants, *(node.name for node in graph.nodes)}

    def fresh(self, name: str) -> str:
        """A name like this one; it is taken from then on."""
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name
