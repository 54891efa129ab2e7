"""Products of two int8 matrices that are both computed, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import rescale16x15_of
from edgec.kernels.common.matrix_pairs import MatrixPairs, pair_overlap, pair_sizes
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MatMul(MatrixPairs):
    """Products in the form `Rescale16x15`.

    Attributes:
        rescale16: how a sum is stored.
    """

    family: ClassVar[str] = "matmul"
    template: ClassVar[Path] = template_beside(__file__, "matmul")
    rescale16: Rescale16


def spec(graph: Graph, node: Node, _target: Target) -> MatMul:
    """The specification for a QMatMul."""
    return MatMul(*pair_sizes(graph, node), Rescale16(rescale16x15_of(node)))


FAMILY = KernelFamily(
    spec_type=MatMul,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=pair_overlap,
    arguments=single_arguments,
)
