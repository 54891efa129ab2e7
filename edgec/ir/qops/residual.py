"""The stream: the tensor that the residual additions of a transformer carry along.

It has zero point 0 and one scale for all of it, so that an addition needs no rescaling.  It is
int16, or, to save memory, int8 from -127 on with a scale ``s * 2**k[c]`` for each channel c of the
last axis, 0 <= k[c] <= 7: additions add codes of one scale as before, and what mixes channels reads
``x << k[c]``, numbers of the scale s.  Source of the powers of two: Lin et al., "FQ-ViT", IJCAI
2022.
"""

from __future__ import annotations

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN, saturate
from edgec.ir.graph import Tensor
from edgec.ir.qops.operands import numbers
from edgec.ir.shapes import need

MOST_CHANNEL_SHIFT = 7
"""Largest k of a stream of int8."""


STREAM_LIMITS = {DType.INT8: (-INT8_MAX, INT8_MAX), DType.INT16: (INT16_MIN, INT16_MAX)}
"""Least and greatest code of a stream of a type."""


def of_stream(dtype: DType, values: Array) -> Array:
    """Values limited to the codes of a stream of a type."""
    return saturate(values, *STREAM_LIMITS[dtype]).astype(dtype.numpy)


def largest_shift(k: Tensor) -> int:
    """The largest k of a stream of int8."""
    return int(numbers(k).max())


def need_shifts(k: Tensor | None, wanted: bool) -> None:
    """Check the k of a stream of int8.

    Args:
        k: the operand, None if it is absent.
        wanted: whether it must be there.

    Raises:
        ValueError: it is absent or there against that, or out of range.
    """
    need((k is not None) is wanted, "wrong number of inputs: shifts of channels")
    if k is not None:
        least, most = int(numbers(k).min()), largest_shift(k)
        need(0 <= least <= most <= MOST_CHANNEL_SHIFT, "bad shifts of channels")
