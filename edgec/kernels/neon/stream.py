"""Which nodes of a transformer's stream the kernels for NEON serve."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.target.target import Target


def has_wide_stream(node: Node) -> bool:
    """False for a node of a stream of int8, which the kernels for single cores do not serve."""
    attrs = node.attrs
    narrow = isinstance(attrs, qops.QStreamAdd) and attrs.dtype is DType.INT8
    shifts = ("shifted", "before", "after")
    return not narrow and not any(getattr(attrs, name, False) for name in shifts)


def on_wide_streams(_graph: Graph, node: Node, target: Target) -> bool:
    """A node of a stream of int16, on a core with NEON."""
    return target.has_neon and has_wide_stream(node)
