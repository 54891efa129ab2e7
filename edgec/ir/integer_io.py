"""Which inputs and outputs of a model are integers in the model itself, kept in a graph's metadata.

Inside the compiler every value stands for a real number; what the model took or gave as integer
codes is written down here, so that an export, a report or a runner can offer the same.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from edgec.base.dtypes import DType
from edgec.ir.graph import Graph

_PREFIX = "edgec.integer_io."


def record_integer_io(metadata: MutableMapping[str, str], name: str, dtype: DType) -> None:
    """Note that the model's own input or output `name` has integer elements of `dtype`."""
    metadata[_PREFIX + name] = dtype.value


def integer_io_dtype(graph: Graph, name: str) -> DType | None:
    """Dtype that the model itself has at an input or output, when it is an integer one.

    Args:
        graph: any stage after Q/DQ nodes were absorbed.
        name: name of a graph input or output.
    """
    found = graph.metadata.get(_PREFIX + name)
    return DType(found) if found is not None else None
