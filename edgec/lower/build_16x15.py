"""Specifications of a transformer's kernels that end in 16 by 15 bits, from nodes of the graph."""

from __future__ import annotations

import math

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.lower.build import broadcast_loops
from edgec.lower.layer_end import rescale16x15_of
from edgec.lower.loops import broadcast_strides, merge_loops, strides_of
from edgec.lower.spec import (
    Loop,
    MatMul,
    NarrowMul,
    NarrowReduce,
    Rescale,
    StreamAdd,
)
from edgec.lower.spec_narrow import Narrow


def rescale(graph: Graph, node: Node) -> Rescale:
    """`Rescale` of a QRescale."""
    attrs = node.attrs_as(qops.QRescale)
    x = node.inputs[0]
    return Rescale(
        count=math.prod(graph.shape(x)),
        dtype=_dtype(graph, x),
        narrow=Narrow(rescale16x15_of(node)),
        channels=graph.shape(x)[-1] if attrs.before or attrs.after else 0,
        before=attrs.before,
    )


def mul(graph: Graph, node: Node) -> NarrowMul:
    """`NarrowMul` of a QMul."""
    return NarrowMul(broadcast_loops(graph, node), Narrow(rescale16x15_of(node)))


def reduce(graph: Graph, node: Node) -> NarrowReduce:
    """`NarrowReduce` of a QReduce."""
    attrs = node.attrs_as(qops.QReduce)
    x = node.inputs[0]
    shape = graph.shape(x)
    loops = [Loop(n, (s,)) for n, s in zip(shape, strides_of(shape), strict=True)]
    kept = [loop for axis, loop in enumerate(loops) if axis not in attrs.axes]
    reduced = [loop for axis, loop in enumerate(loops) if axis in attrs.axes]
    narrow = Narrow(rescale16x15_of(node))
    return NarrowReduce(_dtype(graph, x), merge_loops(kept), merge_loops(reduced), narrow)


def matmul(graph: Graph, node: Node) -> MatMul:
    """`MatMul` of a QMatMul."""
    attrs = node.attrs_as(qops.QMatMul)
    a, b = (graph.shape(name) for name in node.inputs)
    *lead, rows, columns = graph.shape(node.output)
    depth = a[-2] if attrs.transpose_a else a[-1]
    left, right = (_pairs(shape, lead) for shape in (a, b))
    outer = [Loop(n, (p, q)) for n, p, q in zip(lead, left, right, strict=True)]
    return MatMul(
        outer=merge_loops(outer) if outer else (Loop(1, (0, 0)),),
        rows=rows,
        depth=depth,
        columns=columns,
        a_strides=(1, rows) if attrs.transpose_a else (depth, 1),
        b_strides=(1, depth) if attrs.transpose_b else (columns, 1),
        narrow=Narrow(rescale16x15_of(node)),
    )


def _pairs(shape: tuple[int, ...], lead: list[int]) -> tuple[int, ...]:
    """Strides of the leading axes of a matrix product's operand, over those of the output."""
    own = broadcast_strides(shape, (*lead, *shape[-2:]))
    return own[: len(lead)]


def stream_add(graph: Graph, node: Node) -> StreamAdd:
    """`StreamAdd` of a QStreamAdd."""
    return StreamAdd(broadcast_loops(graph, node), dtype=node.attrs_as(qops.QStreamAdd).dtype)


def has_wide_stream(node: Node) -> bool:
    """False for a node of a stream of int8, which the kernels for single cores do not serve."""
    attrs = node.attrs
    narrow = isinstance(attrs, qops.QStreamAdd) and attrs.dtype is DType.INT8
    shifts = ("shifted", "before", "after")
    return not narrow and not any(getattr(attrs, name, False) for name in shifts)


def _dtype(graph: Graph, name: str) -> DType:
    return graph.constants[name].dtype if graph.is_constant(name) else graph.values[name].dtype
