"""Bit planes of int8 codes, with NEON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import WORD_BITS
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.planes import FAMILY as PLAIN
from edgec.kernels.generic.planes import Planes
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PlanesNeon(Planes):
    """As `Planes`, 32 elements at a time."""

    family: ClassVar[str] = "planes_neon"
    template: ClassVar[Path] = template_beside(__file__, "planes_neon")

    @property
    def full_words(self) -> int:
        """Full words of a plane of a row."""
        return self.channels // WORD_BITS


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Rows of at least a word, on cores with NEON."""
    return target.has_neon and graph.shape(node.first)[-1] >= WORD_BITS


def spec(graph: Graph, node: Node, target: Target) -> PlanesNeon:
    """The specification for a QPlanes."""
    plain = PLAIN.spec(graph, node, target)
    return PlanesNeon(plain.rows, plain.channels, plain.count)


FAMILY = KernelFamily(
    spec_type=PlanesNeon,
    operators=PLAIN.operators,
    spec=spec,
    overlap=PLAIN.overlap,
    accepts=accepts,
    arguments=PLAIN.arguments,
    parts=PLAIN.parts,
)
