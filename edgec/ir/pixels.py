"""The codes that pixels of 8 bits have in the input of a network."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.samples.normalize import Normalize
from edgec.ir.qparams import QuantParams


def pixel_codes(quant: QuantParams, normalize: Normalize | None) -> tuple[Array, ...]:
    """The code of each pixel: one table [256] for all channels, or one for each.

    Args:
        quant: what the codes stand for.
        normalize: how a pixel becomes the model's number; None: the model takes uint8 itself, and
            an int8 code is the pixel less 128.
    """
    values = np.arange(256)
    if normalize is None and quant.dtype is DType.INT8:
        return (frozen(values - 128, quant.dtype.numpy),)
    real = values[:, None].astype(np.float32)
    codes = quant.quantize(real if normalize is None else normalize.apply(values[:, None]))
    columns = [frozen(column, quant.dtype.numpy) for column in codes.T]
    same = all(np.array_equal(columns[0], column) for column in columns)
    return tuple(columns[:1] if same else columns)
