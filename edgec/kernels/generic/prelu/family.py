"""Parametric rectifier in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PRelu(Plain):
    """x, y int8 [pixels, channels], slope multipliers int32 [channels]."""

    family: ClassVar[str] = "prelu"
    template: ClassVar[Path] = template_beside(__file__, "prelu")
    pixels: int
    channels: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"PRelu [{self.pixels}, {self.channels}]"


@dataclass(frozen=True, slots=True)
class PReluParams:
    """Parametric rectifiers."""

    c_type: ClassVar[str] = "edgec_prelu_params_t"
    slope_multiplier: ConstantRef
    multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> PRelu:
    """The specification for a QPRelu."""
    shape = graph.shape(node.output)
    return PRelu(math.prod(shape[:-1]), shape[-1], requant31_of(node).shift)


def overlap(_spec: PRelu) -> Distances:
    """Element by element."""
    return (IN_PLACE,)


def arguments(graph: Graph, node: Node, spec: PRelu, pool: ConstantPool) -> tuple[Params, ...]:
    """A slope for every channel, multiplier, zero points and bounds."""
    inputs = qops.QPRelu.Inputs.of(node.inputs)
    slopes = graph.constants[inputs.slope_multiplier].array
    table = pool.add("slopes", np.broadcast_to(slopes.reshape(-1), (spec.channels,)))
    x_zero_point = zero_point(graph, inputs.x)
    output = end_fields(requant31_of(node))
    return (PReluParams(table, node.attrs_as(qops.QPRelu).multiplier, x_zero_point, **output),)


FAMILY = KernelFamily(
    spec_type=PRelu,
    operators=(qops.QPRelu,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
