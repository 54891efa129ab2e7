"""Transposes, slices and values that pass between turns: copies of runs of bytes, in plain C."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.extent import Extent, extent_of
from edgec.kernels.common.lengths import split, varying_rows
from edgec.kernels.common.loops import merge_loops, strides_of
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, Lengths, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class StridedCopy(Plain):
    """Transpose, slice or whole copy: y is written in raster order, in runs of `run_bytes`.

    Attributes:
        start_bytes: place of the first run in x.
        loops: strides of x, in bytes.
        run_bytes: contiguous bytes copied at once.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "strided_copy"
    template: ClassVar[Path] = template_beside(__file__, "strided_copy")
    start_bytes: int
    loops: tuple[Loop, ...]
    run_bytes: int
    variable: bool = False

    @property
    def out_bytes(self) -> int:
        """Bytes of y."""
        return self.run_bytes * math.prod(loop.size for loop in self.loops)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Strided copy of {self.out_bytes} bytes in runs of {self.run_bytes}"


def spec(graph: Graph, node: Node, _target: Target) -> StridedCopy:
    """The specification for an operator that moves codes."""
    shape = graph.shape(node.first)
    own = strides_of(shape)
    attrs = node.attrs
    if isinstance(attrs, qops.QTranspose):
        turned = [Loop(shape[axis], (own[axis],)) for axis in attrs.perm]
        return _strided_copy(graph, node, 0, turned)
    if not isinstance(attrs, qops.QSlice):
        # From where the part of the turn begins; others copy all.
        sizes = zip(graph.shape(node.output), own, strict=True)
        return _strided_copy(graph, node, 0, [Loop(size, (stride,)) for size, stride in sizes])
    start = sum(first * stride for first, stride in zip(attrs.starts, own, strict=True))
    loops = [
        Loop(size, (step * stride,))
        for size, step, stride in zip(attrs.sizes, attrs.steps, own, strict=True)
    ]
    return _strided_copy(graph, node, start, loops)


def _strided_copy(graph: Graph, node: Node, start: int, loops: list[Loop]) -> StridedCopy:
    element = graph.values[node.output].dtype.size_bytes
    merged = merge_loops(loops)
    run = element
    if merged[-1].strides == (1,):
        run *= merged[-1].size
        merged = merged[:-1]
    scaled = tuple(Loop(loop.size, (loop.strides[0] * element,)) for loop in merged)
    return StridedCopy(start * element, scaled or (Loop(1, (0,)),), run)


def overlap(spec: StridedCopy) -> Distances:
    """One run at a time (memmove)."""
    return (max(by_element(spec.loops, 0, spec.run_bytes) - spec.start_bytes, 0),)


class _Lengths(Lengths[StridedCopy]):
    """The turns of the outermost loop vary."""

    def spec(self, graph: Graph, node: Node, spec: StridedCopy) -> StridedCopy:
        """With a loop over the variable axis outermost, also where one run holds all of it."""
        rows = varying_rows(graph, node)
        if rows == 0:
            # What it reads varies; what it takes of that may not: the first token.
            return spec
        first = spec.loops[0]
        if spec.run_bytes % rows == 0 and len(spec.loops) == 1 and first.size == 1:
            run = spec.run_bytes // rows
            loops: tuple[Loop, ...] = (Loop(rows, (run,)),)
            return dataclasses.replace(spec, loops=loops, run_bytes=run, variable=True)
        return dataclasses.replace(spec, loops=split(spec.loops, rows), variable=True)

    def sizes(self, graph: Graph, node: Node, spec: StridedCopy) -> tuple[Extent, ...]:
        """The turns of that loop."""
        return (extent_of(graph, node.output, spec.loops[0].size),)


FAMILY = KernelFamily(
    spec_type=StridedCopy,
    operators=(
        *(qops.QTranspose, qops.QSlice),
        *(qops.QTurnSlice, qops.QTurnLast, qops.QCarry, qops.QUpdate),
    ),
    spec=spec,
    tensors=lambda node: (node.first,),
    overlap=overlap,
    lengths=_Lengths(),
)
