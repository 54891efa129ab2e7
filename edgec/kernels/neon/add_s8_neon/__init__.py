"""TensorFlow Lite Micro's sum of two int8 tensors on cores with NEON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.elementwise.operators import ELEMENTS
from edgec.target.target import Target

_BITS = 20
"""Fraction bits of the steps that sums of int8 have."""
_EIGHT = 8
_HALF = 1 << 30
"""Multiplier of 1/2: that of the operand with the larger scale."""


@dataclass(frozen=True, slots=True)
class TfliteAddNeon(Plain):
    """Sum or difference of two int8 tensors of one shape, `ir.qops.TfliteSum`, eight elements at a
    time: `edgec/elementwise/sum_s8_neon.h`.

    Attributes:
        count: elements.
        subtracts: it is a difference.
        a_right, b_right, y_right: right shifts after the products.
        a_halved, b_halved: the operand is multiplied by 1/2, which is exact.
        full_range: the bounds of outputs are those of int8.
    """

    family: ClassVar[str] = "add_s8_neon"
    template: ClassVar[Path] = template_beside(__file__, "add_s8_neon")
    count: int
    subtracts: bool
    a_right: int
    b_right: int
    y_right: int
    a_halved: bool = field(default=False, metadata=LATER)
    b_halved: bool = field(default=False, metadata=LATER)
    full_range: bool = field(default=False, metadata=LATER)

    @property
    def rest(self) -> int:
        """Elements after the last full vector."""
        return self.count % _EIGHT

    @property
    def function(self) -> str:
        """C function of one element."""
        return "edgec_sub_twice" if self.subtracts else "edgec_add_twice"

    @property
    def numbers(self) -> str:
        """Numbers that are compiled into it."""
        return f"{_BITS}, {self.a_right}, {self.b_right}, {self.y_right}"

    def describe(self) -> str:
        """Operator and count in words, for a comment in C."""
        word = "Difference" if self.subtracts else "Sum"
        return f"{word} of two int8 tensors with two roundings, {self.count} elements"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A sum of int8 without broadcasting, on a core with NEON."""
    form = node.attrs_as(qops.QAdd).form
    names = (*node.inputs, node.output)
    alike = len({graph.shape(name) for name in names}) == 1
    bytes_only = all(graph.tensor(name).dtype is DType.INT8 for name in names)
    return (
        target.has_neon
        and alike
        and bytes_only
        and isinstance(form, qops.TfliteSum)
        and form.bits == _BITS
    )


def spec(graph: Graph, node: Node, _target: Target) -> TfliteAddNeon:
    """The specification for a QAdd."""
    form = node.attrs_as(qops.QAdd).form
    assert isinstance(form, qops.TfliteSum)
    count = math.prod(graph.shape(node.output))
    return TfliteAddNeon(
        *(count, form.subtracts, form.a_right, form.b_right, form.y_right),
        a_halved=(form.a_multiplier, form.a_right) == (_HALF, 0),
        b_halved=(form.b_multiplier, form.b_right) == (_HALF, 0),
        full_range=(form.low, form.high) == (INT8_MIN, INT8_MAX),
    )


def overlap(_spec: TfliteAddNeon) -> Distances:
    """Element by element."""
    return (IN_PLACE, IN_PLACE)


def arguments(
    graph: Graph, node: Node, _spec: TfliteAddNeon, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The numbers of the sum, as the function of one element takes them."""
    _, params = ELEMENTS[qops.QAdd](graph, node)
    assert params is not None
    return (params,)


FAMILY = KernelFamily(
    spec_type=TfliteAddNeon,
    operators=(qops.QAdd,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
)
