"""Requantization of the elements of a stream on cores with NEON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, stored_type
from edgec.kernels.common.layer_end import rescale16x15_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.attention import COLUMNS
from edgec.kernels.neon.residual import on_wide_streams
from edgec.kernels.transformer.single import SingleParams, bias_of
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class RescaleNeon(Plain):
    """Requantization of single elements of one scale, eight at a time.

    Attributes:
        count: elements.
        dtype: element type of x, INT8 or INT16.
        rescale16: how an element is stored.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "rescale_neon"
    template: ClassVar[Path] = template_beside(__file__, "rescale_neon")
    count: int
    dtype: DType
    rescale16: Rescale16
    variable: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    @property
    def loads(self) -> str:
        """C function that reads eight elements of x as int16."""
        return "edgec_neon_load8_s8" if self.dtype is DType.INT8 else "edgec_neon_load8_s16"

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % COLUMNS > 0

    def describe(self) -> str:
        """Operator, count and blocking in words, for a comment in C."""
        return f"Rescaling of {self.count} elements from {self.dtype.value}, eight at a time"


def spec(graph: Graph, node: Node, _target: Target) -> RescaleNeon:
    """The specification for a QRescale."""
    x = graph.tensor(qops.QRescale.Inputs.of(node.inputs).x)
    return RescaleNeon(math.prod(x.shape), x.dtype, Rescale16(rescale16x15_of(node)))


def overlap(spec: RescaleNeon) -> Distances:
    """Element by element."""
    grown = spec.rescale16.out_bytes - spec.dtype.size_bytes
    return (max(grown * (spec.count - 1), 0),)


def arguments(
    _graph: Graph, node: Node, _spec: RescaleNeon, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The multiplier and the bias."""
    return (SingleParams(node.attrs_as(qops.QRescale).multiplier, bias_of(node)),)


FAMILY = KernelFamily(
    spec_type=RescaleNeon,
    operators=(qops.QRescale,),
    spec=spec,
    overlap=overlap,
    accepts=on_wide_streams,
    arguments=arguments,
    lengths=Counted("count"),
)
