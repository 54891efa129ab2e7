"""Layer and root mean square normalization on cores with NEON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.spec import fields_of
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.neon.attention import COLUMNS
from edgec.kernels.neon.residual import on_wide_streams
from edgec.kernels.transformer import norm as plain_norm
from edgec.kernels.transformer.norm import Norm
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class NormNeon(Norm):
    """`Norm` for cores with NEON, eight elements at a time: `edgec/norm/norm_neon.h`."""

    family: ClassVar[str] = "norm_neon"
    template: ClassVar[Path] = template_beside(__file__, "norm_neon")

    @property
    def out_bytes(self) -> int:
        """Bytes of an output."""
        return self.dtype.size_bytes

    @property
    def has_rest(self) -> bool:
        """Elements of a row are left after the last full vector."""
        return self.channels % COLUMNS > 0


def spec(graph: Graph, node: Node, target: Target) -> NormNeon:
    """The specification for a QNorm."""
    return NormNeon(**fields_of(plain_norm.spec(graph, node, target)))


FAMILY = KernelFamily(
    spec_type=NormNeon,
    operators=(qops.QNorm,),
    spec=spec,
    overlap=plain_norm.overlap,
    accepts=on_wide_streams,
    arguments=plain_norm.arguments,
    lengths=Counted("rows"),
)
