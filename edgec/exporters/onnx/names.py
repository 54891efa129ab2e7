"""Names of tensors and nodes in an exported model: safe characters, each given once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from edgec.ir.graph import Graph

_UNSAFE = re.compile(r"[^A-Za-z0-9_./:-]")
_MAX_NAME_CHARS = 100


class NamePool:
    """Hands out unique names made of safe characters; the same requests give the same names."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, stem: str) -> str:
        """`stem` made safe (letters, digits and ``_./:-``, 100 characters), numbered if taken."""
        base = _UNSAFE.sub("_", stem)[:_MAX_NAME_CHARS] or "_"
        name, number = base, 1
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name


def tensor_names(graph: Graph) -> Mapping[str, str]:
    """The exported name of each value of a graph, by its name in the graph.

    Names that are already safe and short stay as they are, graph inputs and outputs first.
    """
    pool = NamePool()
    order = dict.fromkeys((*graph.inputs, *graph.outputs, *sorted(graph.values)))
    return MappingProxyType({name: pool.fresh(name) for name in order})
