"""A constant bias on the logits of attention, in units of the logits.

Softmax does not see what is added to all logits of a row, so a head's largest bias becomes 0.  What
lies further below the largest of its row than any logit could make up for stays just there.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT16_MAX, round_half_up
from edgec.base.portable_functions import LOG2_E
from edgec.quant.common.numbers import LOGIT_BITS


def bias_steps(bias: Array, numbers: Array, width: int, where: str) -> tuple[Array, Array]:
    """The different biases of a layer, and which of them each pair of query and key has.

    Args:
        bias: float64 [P, heads, N, M], in units of the scaled logits.
        numbers: int32 [heads, 4], the heads of `QAttention`.
        width: width of a head.
        where: the node, for messages.

    Returns:
        steps int32 [heads, U] and places int16 [P, N, M].

    Raises:
        QuantizationError: there are more different biases than places can name.
    """
    logit = 128 * 128 * width
    columns = []
    for head, (multiplier, limit, *_) in enumerate(numbers.astype(np.int64)):
        units = bias[:, head] * (LOG2_E * 2.0**LOGIT_BITS / multiplier)
        own, top = units.max(axis=-1, keepdims=True), units.max()
        # A row far below the others is measured from its own top: all numbers stay within 2^31.
        origin = np.where(own - top < -limit / 2, own, top)
        lowest = own - origin - float(limit + 2 * logit)
        columns.append(round_half_up(np.maximum(units - origin, lowest)).ravel())
    steps, places = np.unique(np.stack(columns), axis=1, return_inverse=True)
    if steps.shape[1] > INT16_MAX + 1:
        raise QuantizationError(
            f"the bias on the logits has {steps.shape[1]} different values, more than 32768",
            where=where,
            hint="train with a bias that depends on relative positions",
        )
    shape = (bias.shape[0], *bias.shape[2:])
    return frozen(steps, np.int32), frozen(places.reshape(shape), np.int16)
