"""Convolutions and matrix products of int16 on cores with dot products.

The functions are those of `edgec.kernels.neon.dense_8x8_s8_dot`, which read the two bytes of each
value one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    filter_sums,
    weighted_arguments,
)
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import KernelFamily
from edgec.kernels.neon.dense_8x8_s8_dot import Dense8x8, accepts, packed, parts
from edgec.kernels.neon.layer import has_full_range, reads_int16
from edgec.kernels.neon.tiled import overlap, padded
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Dense8x8S16(Dense8x8):
    """Convolution of one group, or matrix product, of int16: `edgec/dense/split_neon.h`.

    x int16 [height, width, channels], weights as `dense_8x8_s8_dot.packed` gives them, y int8 or
    int16 [out_height, out_width, out_channels].
    """

    family: ClassVar[str] = "dense_8x8_s16_dot"
    splits: ClassVar[bool] = True
    alignment: ClassVar[int] = 0


def spec(graph: Graph, node: Node, _target: Target) -> Dense8x8S16:
    """The specification for a convolution of one group or a matrix product of int16."""
    filters, typed = graph.shape(plain_inputs(node).w)[0], typed_end(graph, node)
    numbers = (dense_window(graph, node), filters, *end_of(graph, node))
    return Dense8x8S16(*numbers, full_range=has_full_range(node), typed=typed)


def arguments(
    graph: Graph, node: Node, spec: Dense8x8S16, pool: ConstantPool
) -> tuple[Params, ...]:
    """Filters eight by eight; biases with what the low bytes, less 128, lack.

    Sums of 32 bits are right modulo 2^32, and so are these biases.
    """

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        lacking = -INT8_MIN * filter_sums(weights)
        start = (bias + lacking).astype(np.uint64).astype(np.uint32).view(np.int32)
        return packed(weights, spec.lines, spec.words), padded(start), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


FAMILY = KernelFamily(
    spec_type=Dense8x8S16,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int16,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
