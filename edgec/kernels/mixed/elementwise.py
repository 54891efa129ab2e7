"""Functions of two tensors with broadcasting whose elements have one or two bytes each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances
from edgec.kernels.transformer.single import dtype_of


@dataclass(frozen=True, slots=True)
class Operands:
    """What the functions of two tensors share.

    Attributes:
        loops: strides of a and b in elements; y is contiguous.
        a, b, y: element types, INT8 or INT16.
        a_zero_point, b_zero_point: codes of 0.
    """

    loops: tuple[Loop, ...]
    a: DType
    b: DType
    y: DType
    a_zero_point: int
    b_zero_point: int

    @classmethod
    def of(cls, graph: Graph, node: Node) -> Operands:
        """The tensors of a QMixedAdd, QMixedMul or QMixedDiv."""
        inputs = node.attrs_as(qops.QMixedAdd, qops.QMixedMul, qops.QMixedDiv).Inputs.of(
            node.inputs
        )
        return cls(
            loops=broadcast_loops(graph, node),
            a=dtype_of(graph, inputs.a),
            b=dtype_of(graph, inputs.b),
            y=graph.values[node.output].dtype,
            a_zero_point=graph.quant(inputs.a).tensor_zero_point,
            b_zero_point=graph.quant(inputs.b).tensor_zero_point,
        )

    @property
    def elements(self) -> int:
        """Elements of y."""
        return math.prod(loop.size for loop in self.loops)

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


@dataclass(frozen=True, slots=True)
class MixedElementwise(Plain):
    """Base of functions of two tensors; y is written in raster order.

    Attributes:
        of: the tensors.
        shift: right shift of the rounding at the end.
        zero_point: added after it.
        low, high: bounds of y.
    """

    of: Operands
    shift: int
    zero_point: int
    low: int
    high: int


def overlap(spec: MixedElementwise) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    of, written = spec.of, spec.of.y.size_bytes
    return (
        by_bytes(of.loops, 0, of.a.size_bytes, written),
        by_bytes(of.loops, 1, of.b.size_bytes, written),
    )
