"""Signs of int8 codes, packed, with NEON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import WORD_BITS
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic.signs import FAMILY as PLAIN
from edgec.kernels.generic.signs import Signs
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class SignsNeon(Signs):
    """As `Signs`, int8, 32 elements at a time."""

    family: ClassVar[str] = "signs_neon"
    template: ClassVar[Path] = template_beside(__file__, "signs_neon")

    @property
    def rest(self) -> int:
        """Channels of a row after the last full word."""
        return self.channels % WORD_BITS


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Rows of at least a word of int8 codes, on cores with NEON."""
    x = graph.tensor(node.first)
    return target.has_neon and x.dtype is DType.INT8 and x.shape[-1] >= WORD_BITS


def spec(graph: Graph, node: Node, target: Target) -> SignsNeon:
    """The specification for a QSigns."""
    plain = PLAIN.spec(graph, node, target)
    return SignsNeon(plain.rows, plain.channels, plain.dtype)


FAMILY = KernelFamily(
    spec_type=SignsNeon,
    operators=(qops.QSigns,),
    spec=spec,
    overlap=PLAIN.overlap,
    accepts=accepts,
    arguments=PLAIN.arguments,
)
