"""Softmax of int8 by exponentials of 31 bits in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Softmax31(Plain):
    """x, y int8 [rows, depth], over depth; table of exponentials int32 [256]."""

    family: ClassVar[str] = "softmax31"
    template: ClassVar[Path] = template_beside(__file__, "softmax31")
    rows: int
    depth: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax in 31 bits over the last axis of [{self.rows}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class Softmax31Params:
    """The exponentials."""

    c_type: ClassVar[str] = "edgec_softmax31_params_t"
    table: ConstantRef


def spec(graph: Graph, node: Node, _target: Target) -> Softmax31:
    """The specification for a QSoftmax31."""
    shape = graph.shape(node.output)
    return Softmax31(math.prod(shape[:-1]), shape[-1])


def overlap(_spec: Softmax31) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE,)


def arguments(graph: Graph, node: Node, _spec: Softmax31, pool: ConstantPool) -> tuple[Params, ...]:
    """The table of exponentials."""
    inputs = qops.QSoftmax31.Inputs.of(node.inputs)
    return (Softmax31Params(pool.add("exponentials", graph.constants[inputs.table].array)),)


FAMILY = KernelFamily(
    spec_type=Softmax31,
    operators=(qops.QSoftmax31,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
