"""Multiply-accumulates of the operators of a .tflite file, by the shapes of its tensors."""

from __future__ import annotations

import math

from edgec.importers.common.summary import Shape


def macs(op: str, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...]) -> int:
    """Multiply-accumulates of one operator, padding taps included; 0 where shapes are unknown."""
    if len(inputs) < 2 or not outputs:
        return 0
    x, weight, y = inputs[0], inputs[1], outputs[0]
    if x is None or weight is None or y is None:
        return 0
    match op:
        case "CONV_2D":
            return math.prod(y) * math.prod(weight[1:])
        case "DEPTHWISE_CONV_2D":
            return math.prod(y) * math.prod(weight[1:3])
        case "TRANSPOSE_CONV" if len(inputs) > 2 and inputs[2] is not None:
            # Each input position meets every weight.
            return math.prod(inputs[2][:3]) * math.prod(weight)
        case "FULLY_CONNECTED" if weight:
            return math.prod(y) * weight[-1]
        case "BATCH_MATMUL" if len(x) > 1 and y:
            # Whether or not x is transposed, it holds a row of products for each row of y.
            return math.prod(x) * y[-1]
        case _:
            return 0
