"""Softmax of int8 in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Softmax(Plain):
    """x, y int8 [rows, depth], over depth; table of exponentials int32 [256]."""

    family: ClassVar[str] = "softmax"
    template: ClassVar[Path] = template_beside(__file__, "softmax")
    rows: int
    depth: int
    shift: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax over the last axis of [{self.rows}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class SoftmaxParams:
    """Arguments of the softmax."""

    c_type: ClassVar[str] = "edgec_softmax_params_t"
    table: ConstantRef
    multiplier: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> Softmax:
    """The specification for a QSoftmax."""
    shape = graph.shape(node.output)
    return Softmax(math.prod(shape[:-1]), shape[-1], node.attrs_as(qops.QSoftmax).shift)


def overlap(_spec: Softmax) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE,)


def arguments(graph: Graph, node: Node, _spec: Softmax, pool: ConstantPool) -> tuple[Params, ...]:
    """The table of exponentials, multiplier, zero point and bounds."""
    inputs = qops.QSoftmax.Inputs.of(node.inputs)
    table = pool.add("exponentials", graph.constants[inputs.table].array)
    return (
        SoftmaxParams(
            table,
            node.attrs_as(qops.QSoftmax).multiplier,
            **end_fields(node.attrs_as(qops.QSoftmax)),
        ),
    )


FAMILY = KernelFamily(
    spec_type=Softmax,
    operators=(qops.QSoftmax,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
