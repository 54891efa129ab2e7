"""Layers of bit planes for `choice_layers.py`: planes of an image, and a convolution of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.base import LIMITS
from edgec.ir.qops.planes import packed_planes
from edgec.ir.qops.signs import words_of
from edgec.ir.shapes import Pads2D

WEIGHTS = {1: (-1, 2), 2: (-2, 1), 3: (-4, 1)}
"""Least weight, and the step to the next one, by bits: -1 and 1, then two's complement."""


@dataclass(frozen=True, slots=True)
class PlaneShape:
    """A convolution of bit planes.

    Attributes:
        image, out: rows and columns before and after it.
        channels, filters: those of x and y.
        kernel, stride, pads: of the window.
        x_planes, w_planes: bits of an input and of a weight.
        y_planes: bits of an output; 0: it gives codes.
        added: the addition at the end; None: there is none.
    """

    image: tuple[int, int]
    out: tuple[int, int]
    channels: int
    filters: int
    kernel: tuple[int, int]
    stride: int
    pads: Pads2D
    x_planes: int
    w_planes: int
    y_planes: int
    added: qops.AddParams | None = None


def add_planes(builder: GraphBuilder, image: str, planes: int, node: str = "") -> str:
    """Planes of an image of codes; those that are there, but for a node of a name of its own."""
    x = f"planes_{planes}_of_{image}{node}"
    if x not in builder.values:
        *outer, channels = builder.values[image].shape
        builder.value(Value(x, (*outer, planes * words_of(channels)), qops.SIGNS))
        ends = np.linspace(-100, 100, (1 << planes) - 1).astype(np.int8)
        below = builder.constant(f"below_{x}", np.repeat(ends[:, None], channels, axis=1))
        builder.node(node or f"{x}_node", qops.QPlanes(planes), [image, below], [x])
    return x


def add_layer(
    builder: GraphBuilder,
    shape: PlaneShape,
    x: str,
    name: str,
    quant: QuantParams,
    rng: np.random.Generator,
    residual: Callable[[str], str] | None = None,
) -> str:
    """A convolution of planes with random weights; the name of its output."""
    least, unit = WEIGHTS[shape.w_planes]
    ends = (1 << shape.y_planes) - 1
    size = (1, *shape.out)
    if ends:
        value = Value(f"y_{name}", (*size, shape.y_planes * words_of(shape.filters)), qops.SIGNS)
    else:
        value = Value(f"y_{name}", (*size, shape.filters), DType.INT8, quant)
    y = builder.value(value)
    codes = rng.integers(0, 1 << shape.w_planes, (shape.filters, *shape.kernel, shape.channels))
    names = [x, builder.constant(f"weights_{name}", packed_planes(codes, shape.w_planes))]
    if ends:
        thresholds = np.sort(rng.integers(-20, 21, (ends, shape.filters)), axis=0)
        names.append(builder.constant(f"thresholds_{name}", thresholds.astype(np.int32)))
    else:
        bias = rng.integers(-9, 10, shape.filters).astype(np.int32)
        multiplier = rng.integers(1 << 22, 1 << 23, shape.filters).astype(np.int32)
        names.append(builder.constant(f"bias_{name}", bias))
        names.append(builder.constant(f"multiplier_{name}", multiplier))
    form = qops.Requant31(33, quant.tensor_zero_point, *LIMITS[DType.INT8])
    if residual is not None:
        names.append(residual(y))
    conv = qops.QPlaneConv(
        shape.channels,
        shape.x_planes,
        shape.w_planes,
        least,
        unit,
        None if ends else form,
        shape.y_planes,
        shape.added if residual is not None else None,
        strides=(shape.stride,) * 2,
        pads=shape.pads,
    )
    builder.node(name if name.startswith("end") else f"node_{name}", conv, names, [y])
    return y
