"""Function of one int16 element by an interpolated table, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MixedTable(Plain):
    """A function of each element: x int16 [count], table int16 [513].

    Attributes:
        count: elements.
        y: element type of y, INT8 or INT16.
        shift, zero_point, low, high: numbers of the rounding.
    """

    family: ClassVar[str] = "mixed_table"
    template: ClassVar[Path] = template_beside(__file__, "mixed_table")
    count: int
    y: DType
    shift: int
    zero_point: int
    low: int
    high: int

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y.c_name

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Interpolated table of int16 to {self.y.value}, {self.count} elements"


def spec(graph: Graph, node: Node, _target: Target) -> MixedTable:
    """The specification for a QMixedTable."""
    attrs = node.attrs_as(qops.QMixedTable)
    count = math.prod(graph.shape(node.output))
    return MixedTable(count, attrs.dtype, attrs.shift, attrs.zero_point, attrs.low, attrs.high)


def overlap(_spec: MixedTable) -> Distances:
    """Element by element, and none grows; the table is a constant."""
    return (IN_PLACE, None)


FAMILY = KernelFamily(
    spec_type=MixedTable,
    operators=(qops.QMixedTable,),
    spec=spec,
    overlap=overlap,
    constant_stem="table",
)
