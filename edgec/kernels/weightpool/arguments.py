"""Arguments of the functions of layers with pooled weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs, pooled_inputs
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params, end_fields, zero_point
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.weighted import residual_arguments
from edgec.kernels.weightpool.short_numbers import ShortNumbers


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
class PoolShortParams(PoolParams):
    """Layers with pooled weights whose biases and multipliers are `ShortNumbers`."""

    c_type: ClassVar[str] = "edgec_pool_short_params_t"
    bias_shift: int
    multiplier_shift: int


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
    graph: Graph,
    node: Node,
    pool: ConstantPool,
    tables: tuple[Array, Array],
    bias: Array,
    *,
    short: bool,
) -> tuple[Params, ...]:
    """The argument structs of a QPooledConv or QPooledGemm.

    Args:
        graph: INTEGER stage.
        node: the node.
        pool: takes the constants.
        tables: the weight pool or what is made of it, shared by all layers of the pool; and the
            indices in the kernel's order.
        bias: int32 [O], or what the kernel takes instead.
        short: the kernel takes `ShortNumbers`.

    Raises:
        InternalError: the numbers are not exact in this form.
    """
    inputs = pooled_inputs(node)
    table = pool.add("pool_table", tables[0], shared=True)
    indices = pool.add("indices", tables[1])
    multiplier = graph.constants[inputs.multiplier].array
    x_zero_point, codes = zero_point(graph, inputs.x), end_fields(requant31_of(node))
    own: Params
    if short:
        numbers = _short_numbers(bias, multiplier, node)
        own = PoolShortParams(
            table,
            indices,
            pool.add("bias", numbers.bias),
            pool.add("multipliers", numbers.multiplier),
            x_zero_point,
            **codes,
            bias_shift=numbers.bias_shift,
            multiplier_shift=numbers.multiplier_shift,
        )
    else:
        own = PoolParams(
            table,
            indices,
            pool.add("bias", bias),
            pool.add("multipliers", multiplier),
            x_zero_point,
            **codes,
        )
    return (own, *residual_arguments(node))


def _short_numbers(bias: Array, multiplier: Array, node: Node) -> ShortNumbers:
    numbers = ShortNumbers.near(bias.astype(np.int64), multiplier)
    same = np.array_equal(numbers.biases, bias)
    if not same or not np.array_equal(numbers.multipliers, multiplier):
        raise InternalError("biases and multipliers do not fit 16 bits", where=node.name)
    return numbers


def own_width(node: Node, spec: Any) -> int | None:
    """The layer's own width of activations, if the width is an argument of its function."""
    if spec.bits is not None:
        return None
    bits: int = pooled_attrs(node).rounding.activation_bits
    return bits
