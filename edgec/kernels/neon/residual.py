"""Nodes on a transformer's residual stream that the kernels for NEON serve."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.target.target import Target


def has_wide_stream(node: Node) -> bool:
    """False for a node of a stream of int8, which the kernels for single cores do not serve."""
    match node.attrs:
        case qops.QAdd(form=form):
            return form == qops.CodeSum.of_stream(DType.INT16)
        case qops.QNorm() as attrs:
            return attrs.Inputs.of(node.inputs).k is None
        case qops.QRescale() as attrs:
            plain = not attrs.before and not attrs.after
            return plain and isinstance(attrs.output, qops.Rescale16x15)
        case _:
            return True


def on_wide_streams(_graph: Graph, node: Node, target: Target) -> bool:
    """A node of a stream of int16, on a core with NEON."""
    return target.has_neon and has_wide_stream(node)
