"""What the functions of layers with pooled weights are called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs, pooled_inputs
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.weighted import residual_arguments


@dataclass(frozen=True, slots=True)
class PoolParams:
    """Convolutions and matrix products with pooled weights."""

    c_type: ClassVar[str] = "edgec_pool_params_t"
    table: ConstantRef
    indices: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class PoolRescale16Params:
    """Arguments of a layer with pooled weights that ends in 16 by 15 bits."""

    c_type: ClassVar[str] = "edgec_pool_rescale16_params_t"
    table: ConstantRef
    indices: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int


def pool_arguments(
    graph: Graph, node: Node, pool: ConstantPool, table: Array, indices: Array, bias: Array
) -> tuple[Params, ...]:
    """The argument structs of a QPooledConv or QPooledGemm.

    Args:
        graph: INTEGER stage.
        node: the node.
        pool: takes the constants.
        table: the weight pool or what is made of it, shared by all layers of the pool.
        indices: in the kernel's order.
        bias: int32 [O], or what the kernel takes instead.
    """
    inputs = pooled_inputs(node)
    own = PoolParams(
        table=pool.add("pool_table", table, shared=True),
        indices=pool.add("indices", indices),
        bias=pool.add("bias", bias),
        multiplier=pool.add("multipliers", graph.constants[inputs.multiplier].array),
        x_zero_point=zero_point(graph, inputs.x),
        **end_fields(requant31_of(node)),
    )
    return (own, *residual_arguments(node))


def own_width(node: Node, spec: Any) -> int | None:
    """The layer's own width of activations, if the width is an argument of its function."""
    if spec.bits is not None:
        return None
    bits: int = pooled_attrs(node).rounding.activation_bits
    return bits
