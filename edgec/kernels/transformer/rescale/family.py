"""Requantization of the elements of a transformer's stream in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.layer_end import rescale16x15_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.params import Params
from edgec.kernels.common.rescale16 import Rescale16, stored_type
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, KernelSpec, template_beside
from edgec.kernels.transformer.single import SingleParams, bias_of, dtype_of
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Rescale(Plain):
    """Requantization of single elements.

    Attributes:
        count: elements.
        dtype: element type of x, INT8 or INT16.
        rescale16: how an element is stored.
        variable: the elements of a run are an argument.
        channels: elements that have a shift of their own, again and again; 0: none has.
        before: it is a left shift of x; else it is added to the last shift.
    """

    family: ClassVar[str] = "rescale"
    template: ClassVar[Path] = template_beside(__file__, "rescale")
    count: int
    dtype: DType
    rescale16: Rescale16
    variable: bool = False
    channels: int = 0
    before: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Rescaling of {self.count} elements from {self.dtype.value}"


def spec(graph: Graph, node: Node, _target: Target) -> Rescale:
    """The specification for a QRescale."""
    attrs = node.attrs_as(qops.QRescale)
    x = qops.QRescale.Inputs.of(node.inputs).x
    return Rescale(
        count=math.prod(graph.shape(x)),
        dtype=dtype_of(graph, x),
        rescale16=Rescale16(rescale16x15_of(node)),
        channels=graph.shape(x)[-1] if attrs.before or attrs.after else 0,
        before=attrs.before,
    )


def overlap(spec: Rescale) -> Distances:
    """Element by element; the shifts of channels are a constant."""
    own = growth(spec.count, spec.dtype, spec.rescale16)
    return (own, None) if spec.channels else (own,)


def growth(count: int, dtype: DType, rescale16: Rescale16) -> int:
    """The distance of a function of `count` single elements whose outputs may take more bytes."""
    return max((rescale16.out_bytes - dtype.size_bytes) * (count - 1), 0)


def arguments(
    _graph: Graph, node: Node, _spec: KernelSpec, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The multiplier and the bias."""
    return (SingleParams(node.attrs_as(qops.QRescale).multiplier, bias_of(node)),)


FAMILY = KernelFamily(
    spec_type=Rescale,
    operators=(qops.QRescale,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    lengths=Counted("count"),
)
