"""Codes of integers in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class FromInteger(Plain):
    """Codes int8 of `count` integers int32.

    Attributes:
        count: elements.
        multiplier, shift, zero_point, low, high: see `qops.Requant31`.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "from_integer"
    template: ClassVar[Path] = template_beside(__file__, "from_integer")
    count: int
    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Codes of {self.count} integers"


def spec(graph: Graph, node: Node, _target: Target) -> FromInteger:
    """The specification for a QFromInteger."""
    multiplier, form = node.attrs_as(qops.QFromInteger).multiplier, requant31_of(node)
    count = math.prod(graph.shape(node.output))
    return FromInteger(count, multiplier, form.shift, form.zero_point, form.low, form.high)


def overlap(_spec: FromInteger) -> Distances:
    """Element by element, the output taking fewer bytes."""
    return (IN_PLACE,)


FAMILY = KernelFamily(
    spec_type=FromInteger,
    operators=(qops.QFromInteger,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("count"),
)
