"""Bit planes of int8 codes, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import WORD_BITS, words_of
from edgec.kernels.common.binary import WORD_BYTES
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.planes import Plane, planes_of
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PlanesParams:
    """Planes of int8 codes."""

    c_type: ClassVar[str] = "edgec_planes_params_t"
    below: ConstantRef


@dataclass(frozen=True, slots=True)
class Planes(Plain):
    """x int8 [rows, channels], y planes [rows, channels].

    Attributes:
        count: planes, bits of a code.
    """

    family: ClassVar[str] = "planes"
    template: ClassVar[Path] = template_beside(__file__, "planes")
    rows: int
    channels: int
    count: int

    @property
    def words(self) -> int:
        """Words of a plane of a row."""
        return words_of(self.channels)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The planes of y."""
        return planes_of(self.count)

    @property
    def ends(self) -> range:
        """Ends of codes of a channel."""
        return range((1 << self.count) - 1)

    def describe(self) -> str:
        """Shape of the codes in words, for a comment in C."""
        return f"{self.count} bit planes of [{self.rows}, {self.channels}], 32 to a word"


def spec(graph: Graph, node: Node, _target: Target) -> Planes:
    """The specification for a QPlanes."""
    *outer, channels = graph.shape(node.first)
    return Planes(math.prod(outer), channels, node.attrs_as(qops.QPlanes).planes)


def overlap(spec: Planes) -> Distances:
    """The words of 32 channels are written when these have been read."""
    found = []
    for row in {0, spec.rows - 1}:
        first = row * spec.count * spec.words
        for n in range(spec.words):
            # Of what is written before, the last word of the last plane lies furthest.
            written = first + ((spec.count - 1) * spec.words + n if n else 0)
            found.append(written * WORD_BYTES - row * spec.channels - n * WORD_BITS)
    return (max(0, *found),)


def arguments(graph: Graph, node: Node, _spec: Planes, pool: ConstantPool) -> tuple[Params, ...]:
    """The ends of the codes."""
    below = qops.QPlanes.Inputs.of(node.inputs).below
    return (PlanesParams(pool.add("below", graph.constants[below].array)),)


def parts(spec: Planes, _run: Run) -> Parts:
    """Elements, ends of their codes, and words."""
    elements = spec.rows * spec.channels
    return Parts(
        {
            "call": 1,
            "element": elements,
            "end of an element": elements * len(spec.ends),
            "word": spec.rows * spec.words * spec.count,
        }
    )


FAMILY = KernelFamily(
    spec_type=Planes,
    operators=(qops.QPlanes,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    parts=parts,
)
