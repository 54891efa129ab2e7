"""Resizing by linear interpolation in plain C."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic import resize
from edgec.kernels.generic.resize import Resize
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class ResizeLinear(Resize):
    """Tables: rows int32 [out_height, 3], cols int32 [out_width, 3].

    Attributes:
        half_away: halves are rounded away from zero.
    """

    family: ClassVar[str] = "resize_linear"
    template: ClassVar[Path] = template_beside(__file__, "resize_linear")
    method: ClassVar[str] = "Linear"
    half_away: bool = field(default=False, metadata=LATER)


def spec(graph: Graph, node: Node, _target: Target) -> ResizeLinear:
    """The specification for a QResizeLinear."""
    return ResizeLinear(
        *resize.sizes(graph, node), half_away=node.attrs_as(qops.QResizeLinear).half_away
    )


FAMILY = KernelFamily(
    spec_type=ResizeLinear,
    operators=(qops.QResizeLinear,),
    spec=spec,
    overlap=resize.overlap,
    arguments=resize.arguments,
)
