"""The codes that pixels of 8 bits have in the input of a network."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.samples.normalize import Normalize
from edgec.ir.qparams import QuantParams


def pixel_codes(quant: QuantParams, normalize: Normalize | None) -> tuple[Array, ...]:
    """The code of each pixel: one table [256] for all channels, or one for each.

    Args:
        quant: what the codes stand for.
        normalize: how a pixel becomes the model's number; None: the model takes uint8 itself, and
            a code is the pixel less 128.
    """
    values = np.arange(256)
    if normalize is None:
        return (frozen(values - 128, quant.dtype.numpy),)
    codes = quant.quantize(normalize.apply(values[:, None]))
    columns = [frozen(column, quant.dtype.numpy) for column in codes.T]
    same = all(np.array_equal(columns[0], column) for column in columns)
    return tuple(columns[:1] if same else columns)
