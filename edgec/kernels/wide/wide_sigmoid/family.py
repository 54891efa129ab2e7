"""Logistic function and tanh of int16 elements in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideSigmoid(Plain):
    """The logistic function or tanh of each element, by an interpolated table.

    Attributes:
        count: elements.
        tanh: it is tanh.
        multiplier, shift: they make steps of the table.
    """

    family: ClassVar[str] = "wide_sigmoid"
    template: ClassVar[Path] = template_beside(__file__, "wide_sigmoid")
    count: int
    tanh: bool
    multiplier: int
    shift: int

    @property
    def function(self) -> str:
        """The function of one element."""
        return "edgec_wide_tanh" if self.tanh else "edgec_wide_logistic"

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{'Tanh' if self.tanh else 'Logistic function'} of {self.count} int16 elements"


def spec(graph: Graph, node: Node, _target: Target) -> WideSigmoid:
    """The specification for a QWideSigmoid."""
    attrs = node.attrs_as(qops.QWideSigmoid)
    count = math.prod(graph.shape(node.output))
    return WideSigmoid(count, attrs.tanh, attrs.multiplier, attrs.shift)


def overlap(_spec: WideSigmoid) -> Distances:
    """Element by element; the table is a constant."""
    return (IN_PLACE, None)


FAMILY = KernelFamily(
    spec_type=WideSigmoid,
    operators=(qops.QWideSigmoid,),
    spec=spec,
    overlap=overlap,
    constant_stem="table",
)
