"""Parametric rectifier whose slopes are codes, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PReluCodes(Plain):
    """x, y int8 [pixels, channels], slopes int16 [channels].

    Attributes:
        left, right: shifts of what is not negative.
        below_left, below_right: shifts of what is negative, times its slope.
    """

    family: ClassVar[str] = "prelu_codes"
    template: ClassVar[Path] = template_beside(__file__, "prelu_codes")
    pixels: int
    channels: int
    left: int
    right: int
    below_left: int
    below_right: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"PRelu of codes [{self.pixels}, {self.channels}]"


@dataclass(frozen=True, slots=True)
class PReluCodesParams:
    """Slopes, multipliers, zero points and bounds."""

    c_type: ClassVar[str] = "edgec_prelu_codes_params_t"
    slope: ConstantRef
    multiplier: int
    below_multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> PReluCodes:
    """The specification for a QPReluCodes."""
    shape, attrs = graph.shape(node.output), node.attrs_as(qops.QPReluCodes)
    shifts = attrs.output.shifts[0], attrs.below.shifts[0]
    ends = [size for shift in shifts for size in (max(shift, 0), max(-shift, 0))]
    return PReluCodes(math.prod(shape[:-1]), shape[-1], *ends)


def overlap(_spec: PReluCodes) -> Distances:
    """Element by element."""
    return (IN_PLACE,)


def arguments(
    graph: Graph, node: Node, _spec: PReluCodes, pool: ConstantPool
) -> tuple[Params, ...]:
    """A slope for every channel, multipliers, zero points and bounds."""
    attrs, inputs = node.attrs_as(qops.QPReluCodes), qops.QPReluCodes.Inputs.of(node.inputs)
    slopes = pool.add("slopes", graph.constants[inputs.slope].array)
    multipliers = attrs.multiplier, attrs.below_multiplier
    x_zero_point = zero_point(graph, inputs.x)
    return (PReluCodesParams(slopes, *multipliers, x_zero_point, **end_fields(attrs.output)),)


FAMILY = KernelFamily(
    spec_type=PReluCodes,
    operators=(qops.QPReluCodes,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
