"""Codes of pixels: one for one in int8, quantized where the library has 16 bits."""

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir.pixels import pixel_codes
from edgec.ir.qparams import QuantParams


def test_bytes_of_a_model_that_takes_bytes():
    (codes,) = pixel_codes(QuantParams.per_tensor(1.0, -128), None)
    assert codes.tolist() == list(range(-128, 128))
    (codes,) = pixel_codes(QuantParams.per_tensor(1 / 128, 0, DType.INT16), None)
    assert codes.dtype == np.int16
    assert codes[[0, 1, 128, 255]].tolist() == [0, 128, 16384, 32640]
