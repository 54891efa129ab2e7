"""What the import of a model has to tell its user, kept in a graph's metadata."""

from __future__ import annotations

from collections.abc import MutableMapping

from edgec.ir.graph import Graph

_PREFIX = "edgec.import_note."


def record_note(metadata: MutableMapping[str, str], kind: str, text: str) -> None:
    """Keep one line for the user; a later one of the same kind takes its place."""
    metadata[_PREFIX + kind] = text


def import_notes(graph: Graph) -> tuple[str, ...]:
    """The lines of a graph as imported, sorted by their kind."""
    found = sorted(key for key in graph.metadata if key.startswith(_PREFIX))
    return tuple(graph.metadata[key] for key in found)


def has_note(graph: Graph, kind: str) -> bool:
    """Whether the import had something to tell of one kind."""
    return _PREFIX + kind in graph.metadata
