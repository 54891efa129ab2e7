"""Products of two matrices that are both computed, in plain C, of any types and form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.form_ends import (
    FormCall,
    SingleForm,
    form_call,
    shared_form,
    start_of,
    stored_type,
)
from edgec.kernels.common.matrix_pairs import MatrixPairs, pair_overlap, pair_sizes
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.transformer.single import dtype_of, single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MatMul(MatrixPairs):
    """Products of pairs of matrices.

    Attributes:
        a, b: element types, INT8 or INT16.
        output: the form, without its zero point.
    """

    family: ClassVar[str] = "matmul"
    template: ClassVar[Path] = template_beside(__file__, "matmul")
    a: DType
    b: DType
    output: SingleForm

    @property
    def types(self) -> tuple[str, str, str]:
        """C types of elements of a, b and y."""
        a, b, y = (stored_type(dtype) for dtype in (self.a, self.b, self.output.dtype))
        return a, b, y

    @property
    def sum_type(self) -> str:
        """C type of a sum."""
        return "int64_t" if isinstance(self.output, qops.Once15) else "int32_t"

    @property
    def start(self) -> str:
        """What a sum starts from in C."""
        return start_of(self.output)

    @property
    def call(self) -> FormCall:
        """How a code is made."""
        return form_call(self.output, "p.y_zero_point")

    def describe(self) -> str:
        """What the function computes, in words."""
        kinds = f"{self.a.value} and {self.b.value} to {self.output.dtype.value}"
        return f"{MatrixPairs.describe(self)}, {kinds}"


def spec(graph: Graph, node: Node, _target: Target) -> MatMul:
    """The specification for a QMatMul."""
    inputs, form = qops.QMatMul.Inputs.of(node.inputs), node.attrs_as(qops.QMatMul).output
    kinds = dtype_of(graph, inputs.a), dtype_of(graph, inputs.b)
    return MatMul(*pair_sizes(graph, node), *kinds, shared_form(form))


FAMILY = KernelFamily(
    spec_type=MatMul,
    operators=(qops.QMatMul,),
    spec=spec,
    overlap=pair_overlap,
    arguments=single_arguments,
)
