"""Products of two int8 matrices that are both computed, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import rescale16x15_of
from edgec.kernels.common.loops import broadcast_strides, merge_loops
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.spec import Loop
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MatMul:
    """Products of pairs of int8 matrices; y is written in raster order.

    Attributes:
        outer: loops over the pairs, with strides of a and b.
        rows, depth, columns: sizes of one pair.
        a_strides: elements of a between rows and along the depth.
        b_strides: elements of b along the depth and between columns.
        rescale16: how a sum is stored.
    """

    family: ClassVar[str] = "matmul"
    template: ClassVar[Path] = template_beside(__file__, "matmul")
    outer: tuple[Loop, ...]
    rows: int
    depth: int
    columns: int
    a_strides: tuple[int, int]
    b_strides: tuple[int, int]
    rescale16: Rescale16

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        pairs = math.prod(loop.size for loop in self.outer)
        return pairs * self.rows * self.depth * self.columns

    def describe(self) -> str:
        """What the function computes, in words."""
        pairs = math.prod(loop.size for loop in self.outer)
        return f"{pairs} matrix products [{self.rows}, {self.depth}] by {self.columns} columns"


def spec(graph: Graph, node: Node, _target: Target) -> MatMul:
    """The specification for a QMatMul."""
    attrs = node.attrs_as(qops.QMatMul)
    inputs = qops.QMatMul.Inputs.of(node.inputs)
    a, b = graph.shape(inputs.a), graph.shape(inputs.b)
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
        rescale16=Rescale16(rescale16x15_of(node)),
    )


def _pairs(shape: tuple[int, ...], lead: list[int]) -> tuple[int, ...]:
    """Strides of the leading axes of a matrix product's operand, over those of the output."""
    own = broadcast_strides(shape, (*lead, *shape[-2:]))
    return own[: len(lead)]


def overlap(_spec: MatMul) -> Distances:
    """Nothing may overlap: all of both matrices is read again for later outputs."""
    return (None, None)


FAMILY = KernelFamily(
    spec_type=MatMul,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=overlap,
    arguments=single_arguments,
)
