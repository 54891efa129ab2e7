"""A function of one int8 element by table, on A64."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_TABLE_COLUMNS = 16
"""Elements that are looked up together."""


@dataclass(frozen=True, slots=True)
class LutNeon(Plain):
    """x, y int8 [count], table int8 [256], sixteen elements at a time:
    `edgec/elementwise/table_s8_neon.h`.

    Attributes:
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "lut_neon"
    template: ClassVar[Path] = template_beside(__file__, "lut_neon")
    count: int
    variable: bool = False

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % _TABLE_COLUMNS > 0

    def describe(self) -> str:
        """Text about the function, for its comment."""
        return f"Table look-up, {self.count} elements"


def accepts(_graph: Graph, node: Node, target: Target) -> bool:
    """On A64 only: the table takes 16 registers, as many as Armv7-A has."""
    entries = isinstance(node.attrs_as(qops.QLut).rule, qops.Entries)
    return entries and target.has_neon and target.is_aarch64


def spec(graph: Graph, node: Node, _target: Target) -> LutNeon:
    """The specification for a QLut."""
    return LutNeon(math.prod(graph.shape(node.output)))


def overlap(_spec: LutNeon) -> Distances:
    """Element by element; the table is a constant."""
    return (IN_PLACE, None)


FAMILY = KernelFamily(
    spec_type=LutNeon,
    operators=(qops.QLut,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    lengths=Counted("count"),
    constant_stem="table",
)
