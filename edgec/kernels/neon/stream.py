"""Which nodes of a transformer's stream the kernels for NEON serve."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.target.target import Target


def has_wide_stream(node: Node) -> bool:
    """False for a node of a stream of int8, which the kernels for single cores do not serve."""
    match node.attrs:
        case qops.QStreamAdd() as attrs:
            return attrs.dtype is not DType.INT8
        case qops.QNorm() as attrs:
            return attrs.Inputs.of(node.inputs).k is None
        case qops.QRescale() as attrs:
            return not attrs.before and not attrs.after
        case _:
            return True


def on_wide_streams(_graph: Graph, node: Node, target: Target) -> bool:
    """A node of a stream of int16, on a core with NEON."""
    return target.has_neon and has_wide_stream(node)
