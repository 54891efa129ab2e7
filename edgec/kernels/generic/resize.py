"""Resizing by tables of source rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.spec import Plain, describe_image
from edgec.kernels.common.window import image_of
from edgec.kernels.family import Distances


@dataclass(frozen=True, slots=True)
class Resize(Plain):
    """Base of resizes: x int8 [height, width, channels], tables of source rows and columns."""

    method: ClassVar[str]
    width: int
    channels: int
    out_height: int
    out_width: int

    def describe(self) -> str:
        """What the function computes, in words."""
        shape = describe_image(self.out_height, self.out_width, self.channels)
        return f"{self.method} resize to {shape}"


@dataclass(frozen=True, slots=True)
class ResizeParams:
    """Arguments of the kernels that resize images."""

    c_type: ClassVar[str] = "edgec_resize_params_t"
    rows: ConstantRef
    cols: ConstantRef


def sizes(graph: Graph, node: Node) -> tuple[int, int, int, int]:
    """Width and channels of x, height and width of y."""
    _, width, channels = image_of(graph, node, node.first)
    out_height, out_width, _ = image_of(graph, node, node.output)
    return width, channels, out_height, out_width


def overlap(_spec: Resize) -> Distances:
    """The order of the reads is in tables, not in the specification."""
    return (None,)


def arguments(graph: Graph, node: Node, _spec: Resize, pool: ConstantPool) -> tuple[Params, ...]:
    """The tables."""
    attrs = node.attrs_as(qops.QResizeNearest, qops.QResizeLinear)
    inputs = attrs.Inputs.of(node.inputs)
    rows, cols = (graph.constants[name].array for name in (inputs.rows, inputs.cols))
    return (ResizeParams(pool.add("rows", rows), pool.add("cols", cols)),)
