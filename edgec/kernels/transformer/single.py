"""Arguments of the functions of operators with one multiplier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.arithmetic import half_step
from edgec.ir.weighted import form_of, zero_point_of
from edgec.kernels.common.constants import ConstantPool, Params, int32_of
from edgec.kernels.family import KernelSpec


@dataclass(frozen=True, slots=True)
class SingleParams:
    """Operators that have one multiplier."""

    c_type: ClassVar[str] = "edgec_single_params_t"
    multiplier: int
    bias: int
    a_zero_point: int = 0
    b_zero_point: int = 0
    y_zero_point: int = 0


SINGLE = (qops.QMatMul, qops.QMul, qops.QReduce, qops.QRescale)
"""Operators with one multiplier."""


def single_arguments(
    graph: Graph, node: Node, _spec: KernelSpec, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The multiplier, the bias and the zero points of the tensors.

    Raises:
        InternalError: an accumulator can overflow, which the quantizer has excluded.
    """
    a, b = (*(zero_point_of(graph, name) for name in node.inputs), 0)[:2]
    y: int = getattr(form_of(node.attrs), "zero_point", 0)
    return (SingleParams(node.attrs_as(*SINGLE).multiplier, bias_of(node), a, b, y),)


def bias_of(node: Node) -> int:
    """The bias of an operator with one multiplier, with the half step of a first shift."""
    attrs, form = node.attrs_as(*SINGLE), form_of(node.attrs)
    step = half_step(form.pre_shift) if isinstance(form, qops.Rescale16x15) else 0
    return int(int32_of(np.array(attrs.bias + step, np.int64), node))


def dtype_of(graph: Graph, name: str) -> DType:
    """The element type of a tensor or constant."""
    return graph.constants[name].dtype if graph.is_constant(name) else graph.values[name].dtype
