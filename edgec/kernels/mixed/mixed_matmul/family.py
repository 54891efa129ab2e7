"""Products of two matrices of int8 or int16 that are both computed, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.matrix_pairs import MatrixPairs, pair_overlap, pair_sizes
from edgec.kernels.family import KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MixedMatMul(MatrixPairs):
    """Products of pairs of matrices of int8 or int16.

    Attributes:
        a, b, y: element types, INT8 or INT16.
        a_zero_point, b_zero_point: codes of 0.
        multiplier: factor of a sum.
        shift: right shift of the rounding at the end.
        zero_point: added after it.
        low, high: bounds of y.
    """

    family: ClassVar[str] = "mixed_matmul"
    template: ClassVar[Path] = template_beside(__file__, "mixed_matmul")
    a: DType
    b: DType
    y: DType
    a_zero_point: int
    b_zero_point: int
    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int

    @property
    def a_type(self) -> str:
        """C type of an element of a."""
        return self.a.c_name

    @property
    def b_type(self) -> str:
        """C type of an element of b."""
        return self.b.c_name

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y.c_name

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{MatrixPairs.describe(self)}, {self.a.value} and {self.b.value} to {self.y.value}"


def spec(graph: Graph, node: Node, _target: Target) -> MixedMatMul:
    """The specification for a QMixedMatMul."""
    attrs = node.attrs_as(qops.QMixedMatMul)
    inputs, form = qops.QMixedMatMul.Inputs.of(node.inputs), attrs.output
    kinds = [graph.tensor(name).dtype for name in (inputs.a, inputs.b)]
    zero_points = [graph.quant(name).tensor_zero_point for name in (inputs.a, inputs.b)]
    return MixedMatMul(
        *pair_sizes(graph, node),
        a=kinds[0],
        b=kinds[1],
        y=form.dtype,
        a_zero_point=zero_points[0],
        b_zero_point=zero_points[1],
        multiplier=attrs.multiplier,
        shift=form.shift,
        zero_point=form.zero_point,
        low=form.low,
        high=form.high,
    )


FAMILY = KernelFamily(
    spec_type=MixedMatMul,
    operators=(qops.QMixedMatMul,),
    spec=spec,
    overlap=pair_overlap,
)
