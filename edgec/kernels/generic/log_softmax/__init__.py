"""Logarithm of softmax over the last axis in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class LogSoftmax(Plain):
    """x, y int8 [rows, depth], over depth; table of exponentials int32 [256].

    Attributes:
        rows, depth: shape.
        shift, table_bits: see `qops.QLogSoftmax`.
    """

    family: ClassVar[str] = "log_softmax"
    template: ClassVar[Path] = template_beside(__file__, "log_softmax")
    rows: int
    depth: int
    shift: int
    table_bits: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Logarithm of softmax over the last axis of [{self.rows}, {self.depth}]"


@dataclass(frozen=True, slots=True)
class LogSoftmaxParams:
    """Arguments of the logarithm of softmax."""

    c_type: ClassVar[str] = "edgec_log_softmax_params_t"
    table: ConstantRef
    multiplier: int
    log_multiplier: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> LogSoftmax:
    """The specification for a QLogSoftmax."""
    shape, attrs = graph.shape(node.output), node.attrs_as(qops.QLogSoftmax)
    return LogSoftmax(math.prod(shape[:-1]), shape[-1], attrs.shift, attrs.table_bits)


def overlap(_spec: LogSoftmax) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE,)


def arguments(
    graph: Graph, node: Node, _spec: LogSoftmax, pool: ConstantPool
) -> tuple[Params, ...]:
    """The table of exponentials, multipliers, zero point and bounds."""
    attrs, inputs = node.attrs_as(qops.QLogSoftmax), qops.QLogSoftmax.Inputs.of(node.inputs)
    table = pool.add("exponentials", graph.constants[inputs.table].array)
    numbers = attrs.multiplier, attrs.log_multiplier, attrs.zero_point, attrs.low, attrs.high
    return (LogSoftmaxParams(table, *numbers),)


FAMILY = KernelFamily(
    spec_type=LogSoftmax,
    operators=(qops.QLogSoftmax,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
