"""Sums of magnitudes or squares over axes, and roots of the latter, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.loops import reduction_loops
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.params import Params
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.reduce.family import numbers_of
from edgec.target.target import Target

_NORMS = (ReduceKind.L1, ReduceKind.L2, ReduceKind.SUM_SQUARE)


@dataclass(frozen=True, slots=True)
class ReduceNorm(Plain):
    """Sum of magnitudes or squares over some axes; y is written in raster order.

    Attributes:
        kind: operator.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        shift: right shift of the requantization.
        root_bits: fraction bits of a root.
    """

    family: ClassVar[str] = "reduce_norm"
    template: ClassVar[Path] = template_beside(__file__, "reduce_norm")
    kind: ReduceKind
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    shift: int
    root_bits: int

    @property
    def squares(self) -> bool:
        """Squares are summed up, not magnitudes."""
        return self.kind is not ReduceKind.L1

    @property
    def is_root(self) -> bool:
        """The result is the root of the sum."""
        return self.kind is ReduceKind.L2

    @property
    def root_shift(self) -> int:
        """Left shift of the sum below the root."""
        return 2 * self.root_bits

    def describe(self) -> str:
        """What the function computes, in words."""
        outputs = math.prod(loop.size for loop in self.kept)
        terms = math.prod(loop.size for loop in self.reduced)
        return f"{self.kind.value} of {terms} elements, {outputs} times"


def spec(graph: Graph, node: Node, _target: Target) -> ReduceNorm:
    """The specification for a QReduce of one of these kinds."""
    attrs = node.attrs_as(qops.QReduce)
    kept, reduced = reduction_loops(graph.shape(node.input), attrs.axes)
    return ReduceNorm(attrs.kind, kept, reduced, requant31_of(node).shift, attrs.root_bits)


def overlap(spec: ReduceNorm) -> Distances:
    """All terms of an element of y are read before it is written."""
    return (max(by_element(spec.kept, 0), 0),)


def arguments(
    graph: Graph, node: Node, _spec: ReduceNorm, _pool: ConstantPool
) -> tuple[Params, ...]:
    """Multiplier, zero points and bounds."""
    return (numbers_of(graph, node),)


def accepts(_graph: Graph, node: Node, _target: Target) -> bool:
    """Whether it is one of these kinds."""
    return node.attrs_as(qops.QReduce).kind in _NORMS


FAMILY = KernelFamily(
    spec_type=ReduceNorm,
    operators=(qops.QReduce,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
)
