"""Concatenation of tensors in plain C."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.extent import Extent, extent_of
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, Lengths, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class ConcatPart:
    """One input of a concatenation.

    Attributes:
        run_bytes: bytes of a run; those of the longest run of the model where it varies.
        varies: the bytes of a run are an argument.
    """

    run_bytes: int
    varies: bool


@dataclass(frozen=True, slots=True)
class Concat(Plain):
    """y[i] = parts[0][i], parts[1][i], ... for i in [0, outer).

    Attributes:
        outer: times that one run of each part is copied.
        run_bytes: bytes of a run, by part.
        variable: `outer` of a run of the model is an argument, or with
        variable_part: the run of this part.
    """

    family: ClassVar[str] = "concat"
    template: ClassVar[Path] = template_beside(__file__, "concat")
    outer: int
    run_bytes: tuple[int, ...]
    variable: bool = False
    variable_part: int | None = None

    @property
    def repeats_vary(self) -> bool:
        """`outer` of a run of the model is an argument."""
        return self.variable and self.variable_part is None

    @property
    def parts(self) -> tuple[ConcatPart, ...]:
        """The inputs, in order."""
        return tuple(
            ConcatPart(run, part == self.variable_part) for part, run in enumerate(self.run_bytes)
        )

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Concatenation of {len(self.run_bytes)} tensors, {self.outer} times"


def spec(graph: Graph, node: Node, _target: Target) -> Concat:
    """The specification for a QConcat."""
    axis = node.attrs_as(qops.QConcat).axis
    shapes = [graph.shape(name) for name in _parts(node)]
    element = graph.values[node.output].dtype.size_bytes
    return Concat(
        outer=math.prod(shapes[0][:axis]),
        run_bytes=tuple(math.prod(shape[axis:]) * element for shape in shapes),
    )


def overlap(spec: Concat) -> Distances:
    """One run of each tensor at a time (memmove)."""
    total = sum(spec.run_bytes)
    turns = spec.outer - 1
    ends = itertools.accumulate(spec.run_bytes)
    return tuple(
        end - run + turns * (total - run) for end, run in zip(ends, spec.run_bytes, strict=True)
    )


class _Lengths(Lengths[Concat]):
    """How often runs are copied varies, or the run of one part."""

    def spec(self, graph: Graph, node: Node, spec: Concat) -> Concat:
        """With the number of the part that varies."""
        part = _varying_part(graph, node) if spec.outer == 1 else None
        return dataclasses.replace(spec, variable=True, variable_part=part)

    def sizes(self, graph: Graph, node: Node, spec: Concat) -> tuple[Extent, ...]:
        """The size that varies."""
        part = spec.variable_part
        if part is None:
            return (extent_of(graph, node.output, spec.outer),)
        return (extent_of(graph, _parts(node)[part], spec.run_bytes[part]),)


def _varying_part(graph: Graph, node: Node) -> int:
    axes = {} if graph.length is None else graph.length.axes
    return next(part for part, name in enumerate(_parts(node)) if name in axes)


def _parts(node: Node) -> tuple[str, ...]:
    return qops.QConcat.Inputs.of(node.inputs).parts


FAMILY = KernelFamily(
    spec_type=Concat,
    operators=(qops.QConcat,),
    spec=spec,
    overlap=overlap,
    lengths=_Lengths(),
)
