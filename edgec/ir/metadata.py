"""Facts of a model's file that a graph keeps in its metadata.

Inputs and outputs that are integers in the model itself, kept in a graph's metadata.

Inside the compiler every value stands for a real number; what the model took or gave as integer
codes is written down here, so that an export, a report or a runner can offer the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping

from edgec.base.dtypes import DType
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


_INTEGER_KEY = "edgec.integer_io."


def record_integer_io(metadata: MutableMapping[str, str], name: str, dtype: DType) -> None:
    """Note that the model's own input or output `name` has integer elements of `dtype`."""
    metadata[_INTEGER_KEY + name] = dtype.value


def integer_io_dtype(graph: Graph, name: str) -> DType | None:
    """Dtype that the model itself has at an input or output, when it is an integer one.

    Args:
        graph: any stage after Q/DQ nodes were absorbed.
        name: name of a graph input or output.
    """
    found = graph.metadata.get(_INTEGER_KEY + name)
    return DType(found) if found is not None else None


STATE_KEY = "edgec.state"
"""Property of a model: an object in JSON, input to output."""


def record_pairs(metadata: MutableMapping[str, str], pairs: Mapping[str, str]) -> None:
    """Keep the outputs by the inputs that take them in the next run."""
    metadata[STATE_KEY] = json.dumps(dict(pairs))


def state_pairs(graph: Graph) -> dict[str, str]:
    """The outputs of the file by the inputs that take them in the next run."""
    return dict(json.loads(graph.metadata.get(STATE_KEY, "{}")))
