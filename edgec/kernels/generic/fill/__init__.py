"""Carried values that begin with the same byte everywhere, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Fill(Plain):
    """y[...] = code.

    Attributes:
        size_bytes: bytes of y.
        byte: the code, 0 to 255.
    """

    family: ClassVar[str] = "fill"
    template: ClassVar[Path] = template_beside(__file__, "fill")
    size_bytes: int
    byte: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.size_bytes} bytes that are all the same"


def only_byte(array: Array) -> int | None:
    """The byte that an array consists of; None if it has others, too."""
    data = array.tobytes()
    return data[0] if data and data.count(data[:1]) == len(data) else None


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """Whether the initial value is a constant of one byte."""
    found = graph.constants.get(node.input)
    return found is not None and only_byte(found.array) is not None


def spec(graph: Graph, node: Node, _target: Target) -> Fill:
    """The specification for a QCarry."""
    array = graph.constants[node.input].array
    return Fill(array.nbytes, only_byte(array) or 0)


def overlap(_spec: Fill) -> Distances:
    """None: the kernel reads nothing."""
    return ()


FAMILY = KernelFamily(
    spec_type=Fill,
    operators=(qops.QCarry,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    tensors=lambda _node: (),
)
