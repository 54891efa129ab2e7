"""Integer arithmetic of published transformers, in numpy, for comparison with ours.

Each function takes int8 or int32 codes and gives codes and their scale, as its paper defines it:

* I-BERT: Kim et al., "I-BERT: Integer-only BERT Quantization", ICML 2021, algorithms 1 to 4.
* I-ViT: Li & Gu, "I-ViT: Integer-only Quantization for Efficient Vision Transformer Inference",
  ICCV 2023, algorithms 1 and 2 (Shiftmax, ShiftGELU).
* FQ-ViT: Lin et al., "FQ-ViT: Post-Training Quantization for Fully Quantized Vision Transformer",
  IJCAI 2022, section 3.3 (Log-Int-Softmax, 4 bits).

They are written with 64-bit integers, as the papers' own code is; what they show is precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Integers and what one of them stands for."""

    codes: Array
    scale: float

    @property
    def real(self) -> Array:
        """float64."""
        return np.asarray(self.codes * self.scale)


def rounded(real: Array, scale: float, bits: int = 8) -> Scaled:
    """Nearest symmetric codes of `bits` bits."""
    most = 2 ** (bits - 1) - 1
    return Scaled(np.clip(np.floor(real / scale + 0.5), -most - 1, most).astype(np.int64), scale)


def ibert_exp(x: Scaled) -> Scaled:
    """``exp`` of x <= 0: a parabola on (-ln 2, 0] and a shift.  Source: I-BERT, algorithm 2."""
    a, b, c = 0.3585, 1.353, 0.344
    ln2 = max(math.floor(math.log(2) / x.scale), 1)
    z = -x.codes // ln2
    rest = x.codes + z * ln2
    scale = a * x.scale**2
    parabola = (rest + math.floor(b / x.scale)) ** 2 + math.floor(c / scale)
    return Scaled(parabola >> np.minimum(z, 62), scale)


def ibert_softmax(x: Scaled, bits: int = 8) -> Scaled:
    """Softmax over the last axis, to `bits` bits.  Source: I-BERT, algorithm 2."""
    e = ibert_exp(Scaled(x.codes - x.codes.max(axis=-1, keepdims=True), x.scale))
    total = e.codes.sum(axis=-1, keepdims=True)
    # One division a row, to 30 bits.
    size = np.frexp(total.astype(np.float64))[1].astype(np.int64)
    excess = np.maximum(size - 32, 0)
    factor = (np.int64(1) << (30 + size - excess)) // (total >> excess)
    return Scaled((e.codes * factor) >> (30 + size - bits), 2.0**-bits)


def shiftmax(x: Scaled, bits: int = 8) -> Scaled:
    """Softmax over the last axis by shifts.  Source: I-ViT, algorithm 1."""
    e = _shift_exp(Scaled(x.codes - x.codes.max(axis=-1, keepdims=True), x.scale), 15)
    total = e.codes.sum(axis=-1, keepdims=True)
    factor = (2**31 - 1) // np.maximum(total, 1)
    return Scaled((e.codes * factor) >> (31 - (bits - 1)), 2.0 ** -(bits - 1))


def _shift_exp(x: Scaled, most: int) -> Scaled:
    """``exp`` of x <= 0: 2^p by a shift and 1 + p/2 for its fraction.  Source: I-ViT, ShiftExp."""
    powers = x.codes + (x.codes >> 1) - (x.codes >> 4)
    one = max(math.floor(1 / x.scale), 1)
    powers = np.maximum(powers, -most * one)
    whole = -powers // one
    fraction = powers + whole * one
    return Scaled(((fraction >> 1) + one) << (most - whole), x.scale / 2.0**most)


def log_int_softmax(x: Scaled, bits: int = 4) -> Array:
    """Softmax as powers of two; float64 weights.  Source: FQ-ViT, section 3.3."""
    logs = log_int_shifts(x, bits)
    return np.asarray(np.where(logs == 2**bits, 0.0, 2.0**-logs))


def log_int_shifts(x: Scaled, bits: int = 4) -> Array:
    """The powers of `log_int_softmax`, 2**bits for 0: the first bits of 1 / softmax."""
    e = ibert_exp(Scaled(x.codes - x.codes.max(axis=-1, keepdims=True), x.scale)).codes
    divisor = np.maximum(e, 1)
    inverse = (e.sum(axis=-1, keepdims=True) + divisor // 2) // divisor
    size = np.frexp(inverse.astype(np.float64))[1].astype(np.int64) - 1
    logs = size + np.where(size > 0, (inverse >> np.maximum(size - 1, 0)) & 1, 0)
    return np.asarray(np.minimum(logs, 2**bits))


def ibert_gelu(x: Scaled) -> Scaled:
    """GELU with a parabola for erf.  Source: I-BERT, algorithm 1."""
    a, b = -0.2888, -1.769
    inner = x.scale / math.sqrt(2)
    limit = math.floor(-b / inner)
    size = np.minimum(np.abs(x.codes), limit)
    scale = a * inner**2
    erf = np.sign(x.codes) * ((size + math.floor(b / inner)) ** 2 + math.floor(1 / scale))
    return Scaled(x.codes * (erf + math.floor(1 / scale)), x.scale * scale / 2)


def shift_gelu(x: Scaled, bits: int = 8) -> Scaled:
    """``x * sigmoid(1.702 x)`` by shifts.  Source: I-ViT, algorithm 2."""
    powers = x.codes + (x.codes >> 1) + (x.codes >> 3) + (x.codes >> 4)
    highest = np.maximum(powers.max(axis=-1, keepdims=True), 0)
    e = _shift_exp(Scaled(powers - highest, x.scale), 23).codes
    other = _shift_exp(Scaled(-highest, x.scale), 23).codes
    factor = (2**31 - 1) // np.maximum(e + other, 1)
    sigmoid = (e * factor) >> (31 - (bits - 1))
    return Scaled(x.codes * sigmoid, x.scale * 2.0 ** -(bits - 1))


def ibert_layer_norm(x: Scaled) -> Scaled:
    """``(x - mean) / std`` with a whole mean and a whole root.  Source: I-BERT, algorithm 4."""
    count = x.codes.shape[-1]
    mean = np.floor(x.codes.mean(axis=-1, keepdims=True) + 0.5).astype(np.int64)
    centred = x.codes - mean
    variance = (centred**2).sum(axis=-1, keepdims=True) // count
    root = np.maximum(np.floor(np.sqrt(variance)).astype(np.int64), 1)
    factor = (2**31 - 1) // root
    return Scaled(centred * factor // 2, 2.0**-30)
