"""Products of two int8 matrices that round twice, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.layer_end import form31_of, single31
from edgec.kernels.common.matrix_pairs import MatrixPairs, pair_overlap, pair_sizes
from edgec.kernels.common.params import Params
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.mul.family import MulParams
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MatMulTwice(MatrixPairs):
    """Products in the form `Twice31`.

    Attributes:
        shift: right shift of a product with the multiplier.
        left: left shift of a sum before that product.
    """

    family: ClassVar[str] = "matmul_twice"
    template: ClassVar[Path] = template_beside(__file__, "matmul_twice")
    shift: int
    left: int


def accepts(_graph: Graph, node: Node, _target: Target) -> bool:
    """Whether a QMatMul rounds twice."""
    return isinstance(node.attrs_as(qops.QMatMul).output, qops.Twice31)


def spec(graph: Graph, node: Node, _target: Target) -> MatMulTwice:
    """The specification for a QMatMul that `accepts` accepts."""
    end = single31(node)
    return MatMulTwice(*pair_sizes(graph, node), end.shift, end.left or 0)


def arguments(
    graph: Graph, node: Node, _spec: MatMulTwice, _pool: ConstantPool
) -> tuple[Params, ...]:
    """Multiplier, zero points and bounds."""
    multiplier = node.attrs_as(qops.QMatMul).multiplier
    zero_points = [zero_point(graph, name) for name in node.inputs]
    return (MulParams(multiplier, *zero_points, **end_fields(form31_of(node))),)


FAMILY = KernelFamily(
    spec_type=MatMulTwice,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=pair_overlap,
    accepts=accepts,
    arguments=arguments,
)
