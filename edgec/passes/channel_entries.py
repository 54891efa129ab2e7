"""Entries of constants for some channels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Constant
from edgec.ir.graph_builder import GraphBuilder


def taken(builder: GraphBuilder, constant: Constant, axis: int, index: Array) -> str:
    """Add the entries of a constant along an axis, under a fresh name; that name.

    Args:
        builder: gets the constant.
        constant: with any quantization, which follows where it is by entries of this axis.
        axis: the axis of the array that has an entry for each channel.
        index: int [any]; a number may come several times.
    """
    array = np.take(constant.array, index, axis=axis)
    quant = constant.quant
    if quant is not None and quant.axis is not None and quant.axis == axis % array.ndim:
        quant = replace(
            quant,
            scale=tuple(quant.scale[i] for i in index),
            zero_point=tuple(quant.zero_point[i] for i in index),
        )
    return builder.constant(constant.name, array, quant)
