"""Change of scale of int8 or int16 elements in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.wide.elementwise import factor_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideRescale(Plain):
    """Change of scale, zero point or type of each element.

    Attributes:
        count: elements.
        x_dtype, y_dtype: INT8 or INT16.
        factor: factor of an element, as C arguments.
        x_zero_point, y_zero_point: codes of 0.
        act_min, act_max: bounds of y.
    """

    family: ClassVar[str] = "wide_rescale"
    template: ClassVar[Path] = template_beside(__file__, "wide_rescale")
    count: int
    x_dtype: DType
    y_dtype: DType
    factor: str
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.x_dtype.c_name

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y_dtype.c_name

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Rescaling of {self.count} elements, {self.x_dtype.value} to {self.y_dtype.value}"


def spec(graph: Graph, node: Node, _target: Target) -> WideRescale:
    """The specification for a QWideRescale."""
    attrs = node.attrs_as(qops.QWideRescale)
    return WideRescale(
        count=math.prod(graph.shape(node.output)),
        x_dtype=graph.values[node.input].dtype,
        y_dtype=attrs.dtype,
        factor=factor_arguments(attrs.factor),
        x_zero_point=attrs.x_zero_point,
        y_zero_point=attrs.y_zero_point,
        act_min=attrs.act_min,
        act_max=attrs.act_max,
    )


def overlap(spec: WideRescale) -> Distances:
    """Element by element; where they grow, y is ahead of x."""
    grown = spec.y_dtype.size_bytes - spec.x_dtype.size_bytes
    return (max(grown * (spec.count - 1), 0),)


FAMILY = KernelFamily(
    spec_type=WideRescale,
    operators=(qops.QWideRescale,),
    spec=spec,
    overlap=overlap,
)
