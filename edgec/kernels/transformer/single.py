"""What the functions of operators with one multiplier are called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.arithmetic import half_step
from edgec.ir.weighted import zero_point_of
from edgec.kernels.common.constants import ConstantPool, int32_of
from edgec.kernels.common.layer_end import rescale16x15_of
from edgec.kernels.common.params import Params
from edgec.kernels.family import KernelSpec


@dataclass(frozen=True, slots=True)
class SingleParams:
    """Operators of a transformer that have one multiplier."""

    c_type: ClassVar[str] = "edgec_single_params_t"
    multiplier: int
    bias: int
    a_zero_point: int = 0
    b_zero_point: int = 0


SINGLE = (qops.QMatMul, qops.QMul, qops.QReduce, qops.QRescale)
"""Operators with one multiplier."""


def single_arguments(
    graph: Graph, node: Node, _spec: KernelSpec, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The multiplier, the bias and the zero points of the tensors.

    Raises:
        InternalError: an accumulator can overflow, which the quantizer has excluded.
    """
    zero_points = [zero_point_of(graph, name) for name in node.inputs]
    return (SingleParams(node.attrs_as(*SINGLE).multiplier, bias_of(node), *zero_points),)


def bias_of(node: Node) -> int:
    """The bias of an operator with one multiplier, with the half step of its first shift."""
    attrs = node.attrs_as(*SINGLE)
    bias = np.array(attrs.bias + half_step(rescale16x15_of(node).pre_shift), np.int64)
    return int(int32_of(bias, node))


def dtype_of(graph: Graph, name: str) -> DType:
    """The element type of a tensor or constant."""
    return graph.constants[name].dtype if graph.is_constant(name) else graph.values[name].dtype
