"""Codes of real numbers and back, as ONNX's QuantizeLinear and DequantizeLinear define them."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.qparams import QuantParams


def nearest_codes(real: Array, quant: QuantParams) -> Array:
    """Nearest codes of real numbers, halves to even, saturated.

    Args:
        real: float64 of any shape.
        quant: one scale for all of them.

    Returns:
        `quant.dtype`, of the shape of `real`.
    """
    limits = np.iinfo(quant.dtype.numpy)
    codes = np.rint(real / quant.tensor_scale) + quant.tensor_zero_point
    return np.asarray(np.clip(codes, limits.min, limits.max), quant.dtype.numpy)


def dequantized(codes: Array, quant: QuantParams) -> Array:
    """The real numbers that codes stand for, float64; one scale for all of them."""
    return np.asarray((codes.astype(np.float64) - quant.tensor_zero_point) * quant.tensor_scale)
