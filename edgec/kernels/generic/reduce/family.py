"""Mean, sum, maximum or minimum over axes in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.layer_end import SingleEnd, form31_of, single31
from edgec.kernels.common.loops import reduction_loops
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.params import Params
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Reduce(Plain):
    """Mean, sum, maximum or minimum over some axes; y is written in raster order.

    Attributes:
        kind: operator.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        shift: right shift of the requantization; 1 and unused for MAX and MIN.
        left: left shift of a form that rounds twice; None: it rounds once.
    """

    family: ClassVar[str] = "reduce"
    template: ClassVar[Path] = template_beside(__file__, "reduce")
    kind: ReduceKind
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    shift: int
    left: int | None = field(default=None, metadata=LATER)

    @property
    def is_max(self) -> bool:
        """The maximum, not a sum."""
        return self.kind is ReduceKind.MAX

    @property
    def selects(self) -> bool:
        """The maximum or minimum, not a sum."""
        return self.kind.selects

    @property
    def terms(self) -> int:
        """Elements of x for one of y."""
        return math.prod(loop.size for loop in self.reduced)

    def describe(self) -> str:
        """What the function computes, in words."""
        outputs = math.prod(loop.size for loop in self.kept)
        return f"{self.kind.value} of {self.terms} elements, {outputs} times"


@dataclass(frozen=True, slots=True)
class ReduceParams:
    """Means and sums."""

    c_type: ClassVar[str] = "edgec_reduce_params_t"
    multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> Reduce:
    """The specification for a QReduce."""
    attrs = node.attrs_as(qops.QReduce)
    kept, reduced = reduction_loops(graph.shape(node.input), attrs.axes)
    end = SingleEnd(1, None) if attrs.kind.selects else single31(node)
    return Reduce(attrs.kind, kept, reduced, *end)


def overlap(spec: Reduce) -> Distances:
    """All terms of an element of y are read before it is written."""
    return (max(by_element(spec.kept, 0), 0),)


def arguments(graph: Graph, node: Node, spec: Reduce, _pool: ConstantPool) -> tuple[Params, ...]:
    """Multiplier, zero points and bounds; a maximum or minimum needs none of them."""
    return () if spec.selects else (numbers_of(graph, node),)


def numbers_of(graph: Graph, node: Node) -> ReduceParams:
    """The numbers of a QReduce that ends in a requantization by 31 bits."""
    multiplier, x_zero_point = node.attrs_as(qops.QReduce).multiplier, zero_point(graph, node.input)
    return ReduceParams(multiplier, x_zero_point, **end_fields(form31_of(node)))


FAMILY = KernelFamily(
    spec_type=Reduce,
    operators=(qops.QReduce,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
