"""Resizing by nearest pixel in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic import resize
from edgec.kernels.generic.resize import Resize
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class ResizeNearest(Resize):
    """Tables: rows int32 [out_height], cols int32 [out_width]; `channels` counts bytes."""

    family: ClassVar[str] = "resize_nearest"
    template: ClassVar[Path] = template_beside(__file__, "resize_nearest")
    method: ClassVar[str] = "Nearest"


def spec(graph: Graph, node: Node, _target: Target) -> ResizeNearest:
    """The specification for a QResizeNearest."""
    width, channels, height, columns = resize.sizes(graph, node)
    pixel = channels * graph.values[node.output].dtype.size_bytes
    return ResizeNearest(width, pixel, height, columns)


FAMILY = KernelFamily(
    spec_type=ResizeNearest,
    operators=(qops.QResizeNearest,),
    spec=spec,
    overlap=resize.overlap,
    arguments=resize.arguments,
)
