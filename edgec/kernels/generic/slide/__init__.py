"""Windows that move on by some positions, in plain C: what stays is moved, new rows follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Slide(Plain):
    """y[i] = x[i] without its first bytes, and rows[i] after it, for i in [0, outer).

    Attributes:
        outer: times that both are moved.
        kept_bytes: bytes of x that stay.
        run_bytes: bytes of the new rows, as many as leave.
    """

    family: ClassVar[str] = "slide"
    template: ClassVar[Path] = template_beside(__file__, "slide")
    outer: int
    kept_bytes: int
    run_bytes: int

    @property
    def total_bytes(self) -> int:
        """Bytes of y[i]."""
        return self.kept_bytes + self.run_bytes

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Window of {self.total_bytes} bytes that moves on by {self.run_bytes}"


def spec(graph: Graph, node: Node, _target: Target) -> Slide:
    """The specification for a QSlide."""
    axis = node.attrs_as(qops.QSlide).axis
    inputs = qops.QSlide.Inputs.of(graph.shapes(node))
    window, rows = inputs.x, inputs.rows
    element = graph.dtype(node.output).size_bytes
    run = math.prod(rows[axis:]) * element
    return Slide(math.prod(window[:axis]), math.prod(window[axis:]) * element - run, run)


def overlap(spec: Slide) -> Distances:
    """Over the window in place; the rows must not be reached by what was moved before them."""
    return (0, spec.outer * spec.kept_bytes)


FAMILY = KernelFamily(
    spec_type=Slide,
    operators=(qops.QSlide,),
    spec=spec,
    overlap=overlap,
)
