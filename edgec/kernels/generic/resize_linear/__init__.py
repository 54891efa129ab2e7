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

_FEW = 8
"""Channels from which on a call for each pixel pays."""


@dataclass(frozen=True, slots=True)
class ResizeLinear(Resize):
    """Tables: rows int32 [out_height, 3], cols int32 [out_width, 3].

    Attributes:
        half_away: halves are rounded away from zero.
        has_neon: the core has NEON, whose vectors gcc makes of a loop of constant length.
    """

    family: ClassVar[str] = "resize_linear"
    template: ClassVar[Path] = template_beside(__file__, "resize_linear")
    method: ClassVar[str] = "Linear"
    half_away: bool = field(default=False, metadata=LATER)
    has_neon: bool = field(default=False, metadata=LATER)

    @property
    def is_inline(self) -> bool:
        """Channels are a loop in place, not a call of `edgec/image/blend_s8.h`, whose numbers of a
        pixel take longer than few channels save.
        """
        return self.has_neon or self.channels < _FEW


def spec(graph: Graph, node: Node, target: Target) -> ResizeLinear:
    """The specification for a QResizeLinear."""
    half_away = node.attrs_as(qops.QResizeLinear).half_away
    sizes = resize.sizes(graph, node)
    return ResizeLinear(*sizes, half_away=half_away, has_neon=target.has_neon)


FAMILY = KernelFamily(
    spec_type=ResizeLinear,
    operators=(qops.QResizeLinear,),
    spec=spec,
    overlap=resize.overlap,
    arguments=resize.arguments,
)
