"""One pooled convolution of given numbers, as an INTEGER graph."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.shapes import window_out
from edgec.ir.weight_pool import expand

EXACT = qops.PoolRounding()


def pooled_layer(
    image: tuple[int, int, int],
    pool: Array,
    indices: Array,
    *,
    stride: int = 1,
    pad: int = 0,
    x_zero_point: int = -128,
    rounding: qops.PoolRounding = EXACT,
    bias: Array | None = None,
    multiplier: int = 2**24,
    residual: bool = False,
) -> Graph:
    """A QPooledConv "layer" of x [1, *image] by indices [O, KH, KW, groups * terms].

    The output is the accumulator, with a bias of 0 or `bias`, divided by 2^32 / `multiplier`.
    """
    filters, kernel_h, kernel_w, _ = indices.shape
    height, width, _ = image
    y_shape = (
        1,
        window_out(height, kernel_h, stride, 1, pad, pad),
        window_out(width, kernel_w, stride, 1, pad, pad),
        filters,
    )
    b = GraphBuilder("pooled")
    y_quant = QuantParams.per_tensor(1.0, 0)
    x_quant = QuantParams.per_tensor(1.0, x_zero_point)
    b.inputs = [b.value(Value("x", (1, *image), DType.INT8, x_quant))]
    b.outputs = [b.value(Value("y", y_shape, DType.INT8, y_quant))]
    constants = [
        b.constant("pool", pool),
        b.constant("indices", indices),
        b.constant("bias", np.zeros(filters, np.int32) if bias is None else bias),
        b.constant("multipliers", np.full(filters, multiplier, np.int32)),
    ]
    addition = None
    if residual:
        b.inputs.append(b.value(Value("residual", y_shape, DType.INT8, y_quant)))
        addition = qops.AddParams(0, 0, 1, 1, 1, 0)
    conv = qops.QConv((stride, stride), (pad,) * 4, (1, 1), 1, qops.Requant31(32), addition)
    attrs = qops.QPooledConv(conv, rounding)
    b.node("layer", attrs, [b.inputs[0], *constants, *b.inputs[1:]], list(b.outputs))
    return b.build()


def worst_images(
    pool: Array, indices: Array, image: tuple[int, int, int]
) -> tuple[list[Array], list[Array]]:
    """For each filter [KH, KW, groups * terms], pixels int8 [KH, KW, I] of its largest and least
    sum.
    """
    weights = expand(pool, indices, image[2])
    high = [np.where(weight > 0, 127, -128).astype(np.int8) for weight in weights]
    low = [np.where(weight < 0, 127, -128).astype(np.int8) for weight in weights]
    return high, low
