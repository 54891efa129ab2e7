"""Signal to noise of integer softmax, GELU and LayerNorm: published arithmetic beside ours.

    python benchmarks/transformer_precision.py

Softmax is measured where it counts, on attention's output A*V, for flat and peaked rows.  Each
method gets the logits in the form that it takes: published ones 8-bit logits (I-BERT also 16-bit).
GELU's input is a normal variable of deviation 1.5, its output 8 bits.  LayerNorm's input is a
stream with a few large channels, its output 8 bits.
"""

from __future__ import annotations

import math

import numpy as np
from paper_arithmetic import (
    Scaled,
    ibert_gelu,
    ibert_layer_norm,
    ibert_softmax,
    log_int_softmax,
    rounded,
    shift_gelu,
    shiftmax,
)

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import quantize_array
from edgec.floatrun.codes import unary_function
from edgec.ir import ops, qops
from edgec.ir.ops import UnaryKind
from edgec.ir.qops import computed
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.softmax_rules import exponentials
from edgec.quant import sqnr_db
from edgec.quant.common.numbers import RealNorm, exponential_bits, head_numbers, norm_numbers
from edgec.quant.common.params import activation_params, range_of

KEYS, WIDTH = 197, 64
CHANNELS = 192
_ROWS = 400


def main() -> None:
    """Print the three tables."""
    rng = np.random.default_rng(0)
    flat, peaked = attention_rows(rng, 0.6), attention_rows(rng, 4.0)
    print("| A*V, dB | flat rows | peaked rows |\n|---|---|---|")
    for name, first in flat.items():
        print(f"| {name} | {first:.1f} | {peaked[name]:.1f} |")
    print("\n| GELU to 8 bits | dB |\n|---|---|")
    for name, value in gelu_rows(rng).items():
        print(f"| {name} | {value:.1f} |")
    print(f"\n| LayerNorm of {CHANNELS} channels | largest error, output steps |\n|---|---|")
    for name, value in norm_rows(rng).items():
        print(f"| {name} | {value:.2f} |")


# -- attention -----------------------------------------------------------------------------------


def attention_rows(rng: np.random.Generator, deviation: float) -> dict[str, float]:
    """Signal to noise of A*V by method; logits of a deviation in natural units."""
    q, k, v = (np.round(np.clip(rng.normal(0, 40, (KEYS, WIDTH)), -127, 127)) for _ in range(3))
    step = deviation / (q @ k.T).std()
    logits = q @ k.T * step
    wanted = softmax(logits) @ v
    found = {
        "exact softmax of 8-bit logits": softmax(narrow(logits, 8).real) @ v,
        "CMSIS-NN (8-bit logits and weights)": cmsis(narrow(logits, 8)) @ v,
        "I-BERT, 8-bit logits": ibert_softmax(narrow(logits, 8)).real @ v,
        "I-BERT, 16-bit logits": ibert_softmax(narrow(logits, 16)).real @ v,
        "I-ViT Shiftmax": shiftmax(narrow(logits, 8)).real @ v,
        "FQ-ViT log2, 4 bits": log_int_softmax(narrow(logits, 8)) @ v,
        "edgec, before the rounding to 8 bits": ours(q, k, v, step),
    }
    return {name: sqnr_db(wanted, values) for name, values in found.items()}


def softmax(logits: Array) -> Array:
    """Over the last axis, float64."""
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def narrow(logits: Array, bits: int) -> Scaled:
    """Symmetric codes of the whole range."""
    return rounded(logits, float(np.abs(logits).max()) / (2 ** (bits - 1) - 1), bits)


def cmsis(logits: Scaled) -> Array:
    """The best that weights of 8 bits and scale 1/256 can be.  Source: arm_softmax_s8."""
    return np.asarray(np.clip(np.floor(softmax(logits.real) * 256 + 0.5), 0, 255) / 256)


def ours(q: Array, k: Array, v: Array, step: float) -> Array:
    """`QAttention` from its exponentials and sums, without the last rounding."""
    bits = exponential_bits(KEYS, "row")
    multiplier, limit, *_ = head_numbers(step * math.log2(math.e), 1.0, WIDTH, bits, "row")
    logits = (q @ k.T).astype(np.int64)
    weights = exponentials(logits, np.ones_like(logits, bool), multiplier, limit, bits)
    return np.asarray(weights @ v / weights.sum(axis=-1, keepdims=True))


# -- GELU and LayerNorm --------------------------------------------------------------------------


def gelu_rows(rng: np.random.Generator) -> dict[str, float]:
    """Signal to noise of GELU with an 8-bit output by method."""
    function = unary_function(ops.Unary(UnaryKind.GELU))
    real = rng.normal(0, 1.5, (_ROWS, 64))
    wanted = function(real)
    y = activation_params(range_of(wanted))
    even = float(np.abs(wanted).max()) / 127

    def asymmetric(values: Array) -> Array:
        return y.dequantize(quantize_array(values, y.tensor_scale, y.tensor_zero_point))

    x = rounded(real, float(np.abs(real).max()) / 127)
    table = np.linspace(real.min(), real.max(), qops.TABLE_SIZE)
    nearest = table[np.round((real - table[0]) / (table[1] - table[0])).astype(int)]
    found = {
        "I-BERT i-GELU, symmetric output": rounded(ibert_gelu(x).real, even).real,
        "I-ViT ShiftGELU, symmetric output": rounded(shift_gelu(x).real, even).real,
        "256 entries, 8-bit input": asymmetric(function(x.real)),
        "edgec: 1024 entries": asymmetric(function(nearest)),
        "ideal": asymmetric(wanted),
    }
    return {name: sqnr_db(wanted, values) for name, values in found.items()}


def norm_rows(rng: np.random.Generator) -> dict[str, float]:
    """Largest error of LayerNorm in output steps by method; beyond 127 all saturate."""
    real = rng.normal(0, 1, (_ROWS, CHANNELS))
    real[:, :3] *= 15.0
    ones, step = np.ones(CHANNELS), 4 / 127
    scales = {8: float(np.abs(real).max()) / 127, 16: float(np.abs(real).max()) / 32767}
    results = {}
    for bits, scale in scales.items():
        x = rounded(real, scale, bits)
        wanted = np.clip(exact_norm(real) / step, -127, 127)
        found = np.clip(np.floor(ibert_layer_norm(x).real / step + 0.5), -127, 127)
        results[f"I-BERT (64 bits), {bits}-bit input"] = float(np.abs(found - wanted).max())
    x = rounded(real, scales[16], 16)
    numbers = norm_numbers(
        RealNorm(True, ones, 0 * ones, 0.0, scales[16], step * ones, 0 * ones), "norm"
    )
    operands = [Operand(a) for a in (x.codes.astype(np.int16), numbers.gamma, numbers.beta)]
    codes = computed(numbers.attrs, operands)
    wanted = np.clip(exact_norm(real) / step, -127, 127)
    results["edgec, 16-bit input"] = float(np.abs(codes - wanted).max())
    return results


def exact_norm(x: Array) -> Array:
    """float64, without epsilon, gamma and beta."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True)))


if __name__ == "__main__":
    main()
