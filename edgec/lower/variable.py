"""Kernels of a model of variable length: the sizes of a run are their last arguments.

Every tensor with the variable axis has its elements at the front in a shorter run, since all axes
before that one have length 1.  So a kernel that works row by row serves shorter runs by stopping
earlier, in the memory that was planned for the longest: what it has written then, and where, is
the beginning of what it writes in the longest run, and the distances of `lower.overlap` hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from edgec.base.errors import InternalError
from edgec.ir.graph import Graph, Node
from edgec.ir.length import VariableLength
from edgec.lower.extent import Extent, extent_of
from edgec.lower.spec import (
    Add,
    ArgMax,
    Attention,
    AttentionDsp,
    AttentionNeon,
    Concat,
    DenseDsp,
    DenseNeon,
    DenseQuads,
    DenseTriples,
    Embedding,
    Gemm,
    IsEqual,
    KernelSpec,
    Loop,
    Lut,
    LutNeon,
    NarrowMul,
    NarrowReduce,
    NarrowSoftmax,
    Norm,
    NormNeon,
    Rescale,
    RescaleNeon,
    StreamAdd,
    StreamAddNeon,
    StridedCopy,
)
from edgec.lower.spec_base import VARIABLE

_COUNTED: Mapping[type[KernelSpec], str] = MappingProxyType(
    {
        **dict.fromkeys((Gemm, DenseDsp, DenseQuads, DenseTriples, DenseNeon), "rows"),
        **dict.fromkeys((Norm, NormNeon, NarrowSoftmax), "rows"),
        **dict.fromkeys((Rescale, RescaleNeon, Lut, LutNeon, IsEqual, StreamAddNeon), "count"),
        Embedding: "tokens",
        ArgMax: "outer",
    }
)
"""Kernels whose only size that varies is a field: how many rows or elements there are."""
_OTHERS = (
    *(Attention, AttentionDsp, AttentionNeon),
    *(Add, StreamAdd, NarrowMul, NarrowReduce, StridedCopy, Concat),
)


def is_variable(graph: Graph, node: Node) -> bool:
    """A tensor that the node reads or writes has the variable axis."""
    names = (*node.inputs, *node.outputs)
    return graph.length is not None and any(name in graph.length.axes for name in names)


def variable_spec(graph: Graph, node: Node, spec: KernelSpec) -> KernelSpec | None:
    """The specification that serves all lengths; None if the family has none.

    Args:
        graph: INTEGER stage, with a variable length.
        node: one for which `is_variable`.
        spec: for the longest run.
    """
    # Not isinstance: a kernel for one core that derives from one of these has loops of its own.
    if graph.length is None or type(spec) not in (*_COUNTED, *_OTHERS):
        return None
    axis = graph.length.axes.get(node.output)
    rows = 0 if axis is None else graph.shape(node.output)[axis]
    match spec:
        case StridedCopy():
            # What it reads varies; what it takes of that may not: the first token.
            return _copy(spec, rows) if rows else spec
        case Concat():
            part = _varying_part(node, graph.length) if spec.outer == 1 else None
            return dataclasses.replace(spec, variable=True, variable_part=part)
        case NarrowReduce():
            return dataclasses.replace(spec, kept=_split(spec.kept, rows), variable=True)
        case Add() | StreamAdd() | NarrowMul():
            return dataclasses.replace(spec, loops=_split(spec.loops, rows), variable=True)
        case DenseDsp() | DenseTriples() | DenseNeon() if not spec.window.is_pointwise:
            return None
        case DenseQuads() if spec.window is not None:
            return None
        case _:
            found: Any = spec  # of one of many classes, all of which have the field
            flagged: KernelSpec = dataclasses.replace(found, **{VARIABLE: True})
            return flagged


def sizes_of_run(graph: Graph, node: Node, spec: KernelSpec) -> tuple[Extent, ...]:
    """The last arguments of a kernel of `variable_spec`, in its order; none of others.

    Raises:
        InternalError: the family has no order of them.
    """
    if not getattr(spec, VARIABLE, False):
        return ()
    y = node.output
    if type(spec) in _COUNTED:
        return (extent_of(graph, y, getattr(spec, _COUNTED[type(spec)])),)
    match spec:
        case Attention():
            queries = extent_of(graph, node.inputs[0], spec.queries)
            return (queries, extent_of(graph, node.inputs[1], spec.keys))
        case Concat() if spec.variable_part is not None:
            part = node.inputs[spec.variable_part]
            return (extent_of(graph, part, spec.run_bytes[spec.variable_part]),)
        case Concat():
            return (extent_of(graph, y, spec.outer),)
        case Add() | StreamAdd() | NarrowMul() | StridedCopy():
            return (extent_of(graph, y, spec.loops[0].size),)
        case NarrowReduce():
            return (extent_of(graph, y, spec.kept[0].size),)
        case _:
            raise InternalError(f"{spec.family} serves one length only", where=node.name)


def _varying_part(node: Node, length: VariableLength) -> int:
    return next(part for part, name in enumerate(node.inputs) if name in length.axes)


def _copy(spec: StridedCopy, rows: int) -> StridedCopy:
    """With a loop over the variable axis, also where one run holds all of it."""
    if spec.run_bytes % rows == 0 and len(spec.loops) == 1 and spec.loops[0].size == 1:
        run = spec.run_bytes // rows
        return dataclasses.replace(spec, loops=(Loop(rows, (run,)),), run_bytes=run, variable=True)
    return dataclasses.replace(spec, loops=_split(spec.loops, rows), variable=True)


def _split(loops: Sequence[Loop], rows: int) -> tuple[Loop, ...]:
    """The same walk with a loop over the variable axis outermost, which merging has hidden."""
    first, *others = loops
    inner, rest = divmod(first.size, rows)
    if rest:
        raise InternalError(f"a loop of {first.size} turns does not run over {rows} rows")
    outer = Loop(rows, tuple(stride * inner for stride in first.strides))
    own = (Loop(inner, first.strides),) if inner > 1 else ()
    return (outer, *own, *others)
