"""The values of all turns as one tensor: the copy of one of them to its place, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.loops import merge_loops, strides_of
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class StackTurn(Plain):
    """x is read in raster order, in runs of `run_bytes`, and written with strides.

    Attributes:
        loops: strides of y, in bytes.
        run_bytes: contiguous bytes copied at once.
    """

    family: ClassVar[str] = "stack_turn"
    template: ClassVar[Path] = template_beside(__file__, "stack_turn")
    loops: tuple[Loop, ...]
    run_bytes: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Copy of the value of a turn in runs of {self.run_bytes} bytes"


def spec(graph: Graph, node: Node, _target: Target) -> StackTurn:
    """The specification for a QTurnStack."""
    element = graph.dtype(node.output).size_bytes
    strides = strides_of(graph.shape(node.output))
    sizes = graph.shape(node.input)
    loops = merge_loops([Loop(n, (s,)) for n, s in zip(sizes, strides, strict=True)])
    run = element
    if loops[-1].strides == (1,):
        run *= loops[-1].size
        loops = loops[:-1]
    scaled = tuple(Loop(loop.size, (loop.strides[0] * element,)) for loop in loops)
    return StackTurn(scaled or (Loop(1, (0,)),), run)


def overlap(_spec: StackTurn) -> Distances:
    """Later turns write, too: the tensor of all turns lies over nothing."""
    return (None,)


FAMILY = KernelFamily(
    spec_type=StackTurn,
    operators=(qops.QTurnStack,),
    spec=spec,
    overlap=overlap,
)
