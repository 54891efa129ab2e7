"""A function of one int8 element by table, on A64."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.derived import fields_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.lut import family as plain_lut
from edgec.kernels.generic.lut.family import Lut
from edgec.target.target import Target

_TABLE_COLUMNS = 16
"""Elements that are looked up together."""


@dataclass(frozen=True, slots=True)
class LutNeon(Lut):
    """`Lut` for A64, sixteen elements at a time: `edgec/neon_table.h`."""

    family: ClassVar[str] = "lut_neon"
    template: ClassVar[Path] = template_beside(__file__, "lut_neon")

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % _TABLE_COLUMNS > 0


def accepts(_graph: Graph, _node: Node, target: Target) -> bool:
    """On A64 only: the table takes 16 registers, as many as Armv7-A has."""
    return target.has_neon and target.is_aarch64


def spec(graph: Graph, node: Node, target: Target) -> LutNeon:
    """The specification for a QLut."""
    return LutNeon(**fields_of(plain_lut.spec(graph, node, target)))


FAMILY = KernelFamily(
    spec_type=LutNeon,
    operators=(qops.QLut,),
    spec=spec,
    overlap=plain_lut.overlap,
    accepts=accepts,
    lengths=Counted("count"),
    constant_stem="table",
)
