"""Parameters of tensors that may have a scale for each channel of their last axis."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.qparams import QuantParams


def stream_unit(quant: QuantParams) -> float:
    """The scale s of a stream, of which the scales of its channels are multiples."""
    return min(quant.scale)


def per_channel(quant: QuantParams, channels: int) -> tuple[Array, Array]:
    """Scale and zero point of each channel of the last axis; float64 and int64 [channels]."""
    scale = np.broadcast_to(np.asarray(quant.scale, np.float64), (channels,))
    zero = np.broadcast_to(np.asarray(quant.zero_point, np.int64), (channels,))
    return scale, zero
