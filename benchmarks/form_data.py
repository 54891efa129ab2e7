"""Operators of a transformer in several arithmetics: the calls of reference_forms/ and their data.

All forms of an operator get the same real numbers in their own types, and each result is compared
with float64.  Sizes are those of DeiT-Tiny: 192 channels, 768 hidden units, heads of 64 columns;
196 keys, for edgec's kernels take an even number here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from paper_arithmetic import rounded
from transformer_precision import narrow, softmax

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import round_half_up
from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.ir.qops.attention import normalised
from edgec.ir.qops.softmax_rules import exponentials
from edgec.quant.common.numbers import RealNorm, head_numbers, norm_numbers
from edgec.quant.common.params import activation_params, range_of

KEYS, WIDTH, CHANNELS, HIDDEN = 196, 64, 192, 768
QUERIES = 4
"""Rows of attention that edgec's kernels for the DSP extension compute together."""
_PRE_SHIFT, _SHIFT = 4, 20
_X_SCALE = 6.0 / 127
_Y_STEP = 4.0 / 127


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a C function.

    Attributes:
        function: its name.
        arguments: arrays are put into memory, numbers are passed.
        output: which argument is the result.
    """

    function: str
    arguments: tuple[Array | int, ...]
    output: int


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """An operator in one arithmetic.

    Attributes:
        operator, name: of the operator and of the arithmetic.
        call: computes `elements` elements.
        elements: outputs, logits, or products of A*V.
        real: what the result stands for.
        wanted: float64.
        tolerance: of the result, in the same unit.
    """

    operator: str
    name: str
    call: Call
    elements: int
    real: Callable[[Array], Array]
    wanted: Array
    tolerance: float


def fixed(factors: Array, bits: int = 31) -> tuple[Array, Array]:
    """Multipliers of `bits` bits and shifts: ``factor = multiplier * 2**-shift``."""
    exponent = np.frexp(factors)[1]
    shifts = bits - exponent
    return np.minimum(round_half_up(factors * 2.0**shifts), 2**bits - 1), shifts


# -- requantization and GELU ---------------------------------------------------------------------


def _sums(rng: np.random.Generator) -> tuple[Array, Array]:
    """Accumulators of a layer with 768 outputs, and factors that make int8 codes of them."""
    multipliers = rng.integers(20000, 32767, HIDDEN).astype(np.int16)
    factors = multipliers * 2.0 ** -(_PRE_SHIFT + _SHIFT)
    return (rng.normal(0, 30, HIDDEN) / factors).astype(np.int32), multipliers


def requantize_forms(rng: np.random.Generator) -> list[Form]:
    """Accumulators to int8."""
    sums, multipliers = _sums(rng)
    factors = multipliers * 2.0 ** -(_PRE_SHIFT + _SHIFT)
    wanted = np.clip(sums * factors, -128, 127)
    # The rounding of the first shift is in the bias of the accumulators.
    raised = sums + np.int32(1 << (_PRE_SHIFT - 1))
    y = np.zeros(HIDDEN, np.int8)
    wide, shifts = (a.astype(np.int32) for a in fixed(factors))
    found = {
        "edgec": Call("ours_requantize", (raised, multipliers, y, HIDDEN), 2),
        "float": Call("float_requantize", (sums, factors.astype(np.float32), y, HIDDEN), 2),
        "64-bit": Call("wide_requantize", (sums, wide, shifts, y, HIDDEN), 3),
    }
    return [
        Form("requantization, an output", name, call, HIDDEN, _first, wanted, 0.52)
        for name, call in found.items()
    ]


def _first(result: Array) -> Array:
    return result.astype(np.float64)


def gelu_forms(rng: np.random.Generator) -> list[Form]:
    """Accumulators to GELU in int8."""
    sums, multipliers = _sums(rng)
    factors = multipliers * 2.0 ** -(_PRE_SHIFT + _SHIFT)
    gelu = unary_function(ops.Unary(UnaryKind.GELU))
    wanted = gelu(np.clip(sums * factors, -128, 127.75) * _X_SCALE)
    y = activation_params(range_of(wanted))
    table = y.quantize(gelu(np.arange(-512, 512) * _X_SCALE / 4)).astype(np.int8)
    raised = sums + np.int32(1 << (_PRE_SHIFT - 1))
    out = np.zeros(HIDDEN, np.int8)
    scales = np.array([y.tensor_scale, y.tensor_zero_point], np.float32)
    real = (factors * _X_SCALE).astype(np.float32)
    even = float(np.abs(wanted).max()) / 127

    def asymmetric(result: Array) -> Array:
        return y.dequantize(result)

    def symmetric(result: Array) -> Array:
        return np.asarray(result * even)

    ibert, ivit = _published_gelus(sums, factors, even)
    rows = (
        ("edgec", Call("ours_gelu", (raised, multipliers, table, out, HIDDEN), 3), asymmetric, 1.0),
        ("float", Call("float_gelu", (sums, real, scales, out, HIDDEN), 3), asymmetric, 0.51),
        ("64-bit (I-BERT)", ibert, symmetric, 4.0),
        ("I-ViT", ivit, symmetric, 12.0),
    )
    name = "requantization and GELU, an output"
    return [
        Form(name, form, call, HIDDEN, of, wanted, steps * y.tensor_scale)
        for form, call, of, steps in rows
    ]


def _published_gelus(sums: Array, factors: Array, even: float) -> tuple[Call, Call]:
    """I-BERT's and I-ViT's; `even`: the scale of an output."""
    wide = tuple(a.astype(np.int32) for a in fixed(factors))
    (ibert, ibert_scale), (ivit, ivit_scale) = _gelu_numbers()
    out, scratch = np.zeros(HIDDEN, np.int8), np.zeros(HIDDEN, np.int8)
    first = (sums, *wide, _with_rescale(ibert, ibert_scale / even))
    second = (sums, *wide, _with_rescale(ivit, ivit_scale / even))
    return (
        Call("ibert_gelu", (*first, out, HIDDEN), 4),
        Call("ivit_gelu", (*second, scratch, out, HIDDEN), 5),
    )


def ibert_gelu_numbers(scale: float) -> tuple[tuple[int, int, int], float]:
    """limit, b and one of reference_forms/ibert.c, and the scale of its codes."""
    a, b = -0.2888, -1.769
    inner = scale / math.sqrt(2)
    step = a * inner**2
    numbers = math.floor(-b / inner), math.floor(b / inner), math.floor(1 / step)
    return numbers, scale * step / 2


def _gelu_numbers() -> tuple[tuple[tuple[int, ...], float], tuple[tuple[int, ...], float]]:
    one = max(math.floor(1 / _X_SCALE), 1)
    return ibert_gelu_numbers(_X_SCALE), ((one,), _X_SCALE / 128)


def _with_rescale(numbers: tuple[int, ...], factor: float) -> Array:
    multiplier, shift = (int(x) for x in fixed(np.array(factor)))
    return np.array([*numbers, multiplier, shift], np.int32)


# -- LayerNorm -----------------------------------------------------------------------------------


def norm_forms(rng: np.random.Generator) -> list[Form]:
    """A row of the stream to int8."""
    real = rng.normal(0, 1, CHANNELS)
    real[:3] *= 15.0
    x = rounded(real, float(np.abs(real).max()) / 32767, 16)
    gamma, beta = rng.normal(1, 0.1, CHANNELS), rng.normal(0, 0.1, CHANNELS)
    steps = np.full(CHANNELS, _Y_STEP)
    epsilon = 1e-6
    ours = norm_numbers(RealNorm(True, gamma, beta, epsilon, x.scale, steps, 0 * steps), "norm")
    numbers = np.array(
        [ours.attrs.epsilon, ours.attrs.least_shift, ours.attrs.square_shift], np.int32
    )
    if ours.attrs.shift != 20 or ours.attrs.low != -127:
        raise AssertionError("reference_forms/ours.c has other constants")
    centred = x.real - x.real.mean()
    exact = centred / math.sqrt(float((centred**2).mean()) + epsilon) * gamma + beta
    wanted = np.clip(exact / _Y_STEP, -127, 127)
    codes, y = x.codes.astype(np.int16), np.zeros(CHANNELS, np.int8)
    floats = [(a / _Y_STEP).astype(np.float32) for a in (gamma, beta)]
    wide_gamma = round_half_up(gamma / _Y_STEP * 2.0**12).astype(np.int32)
    wide_beta = round_half_up((beta / _Y_STEP + 0.5) * 2.0**31).astype(np.int64)
    single = np.array([epsilon], np.float32)
    calls = {
        "edgec": Call("ours_norm", (codes, ours.gamma, ours.beta, numbers, y), 4),
        "float": Call(
            "float_norm", (x.real.astype(np.float32), *floats, single, y, CHANNELS), 4
        ),
        "64-bit (I-BERT)": Call("ibert_norm", (codes, wide_gamma, wide_beta, y, CHANNELS), 3),
    }  # fmt: skip
    return [
        Form("LayerNorm of 192 channels, an element", name, call, CHANNELS, _clipped, wanted, 1)
        for name, call in calls.items()
    ]


def _clipped(result: Array) -> Array:
    return np.clip(result.astype(np.float64), -127, 127)


# -- attention -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of logits with what attention makes of them.

    Attributes:
        logits: int32 [QUERIES, KEYS], sums of products of codes.
        kappa: what a logit is multiplied with.
        values: int8 [KEYS, WIDTH].
        head: the four numbers of the head.
    """

    logits: Array
    kappa: float
    values: Array
    head: Array

    @property
    def weights(self) -> Array:
        """float64 [QUERIES, KEYS]; their sums are 1."""
        return softmax(self.logits * self.kappa)

    @property
    def outputs(self) -> Array:
        """float64 [QUERIES, WIDTH], in steps of the values."""
        return np.asarray(self.weights @ self.values)


def attention_rows(rng: np.random.Generator, deviation: float) -> Rows:
    """Four queries whose logits have a deviation in natural units."""
    q, k, v = (
        np.round(np.clip(rng.normal(0, 40, (count, WIDTH)), -127, 127)).astype(np.int32)
        for count in (QUERIES, KEYS, KEYS)
    )
    logits = q @ k.T
    kappa = deviation / float(logits.std())
    head = head_numbers(kappa * math.log2(math.e), 1.0, WIDTH, 15, "row")
    return Rows(logits, kappa, v.astype(np.int8), np.array(head, np.int32))


def ibert_exp_numbers(scale: float) -> Array:
    """`ibert_exp_t` of reference_forms for logits of a scale."""
    a, b, c = 0.3585, 1.353, 0.344
    ln2 = max(math.floor(math.log(2) / scale), 1)
    offsets = math.floor(b / scale), math.floor(c / (a * scale**2))
    return np.array([ln2, 2**32 // ln2 + 1, *offsets], np.int64).astype(np.uint32)


def cmsis_numbers(scale: float) -> tuple[int, int, int]:
    """multiplier, shift and least difference of CMSIS-NN's softmax for logits of a scale."""
    multiplier, shift = (int(x) for x in fixed(np.array(scale * 2.0**26)))
    return multiplier, 31 - shift, -math.floor(31 / scale)


def in_pairs(rows: Array) -> Array:
    """Rows [QUERIES, KEYS] as the kernels for the DSP extension order them."""
    pairs = rows.reshape(QUERIES, -1, 2).transpose(1, 0, 2)
    return np.ascontiguousarray(pairs).reshape(-1)


def softmax_forms(rows: Rows, dsp: bool) -> list[Form]:
    """Logits to weights; edgec and float leave the division to A*V."""
    e, _ = our_weights(rows)
    logits = in_pairs(rows.logits) if dsp else rows.logits[0]
    count = QUERIES if dsp else 1
    sums = np.zeros(QUERIES, np.uint32)
    ours = Call("ours_softmax", (logits.astype(np.int32), rows.head, sums, KEYS), 0)
    scale = np.array([rows.kappa], np.float32)
    single = (np.zeros(KEYS, np.float32), np.zeros(1, np.float32))
    first = rows.logits[0].astype(np.int32)

    def exponents(result: Array) -> Array:
        found = our_exponentials(result, dsp).astype(np.float64)
        if not np.array_equal(found[0], e[0]):
            raise AssertionError("not the exponentials of the definition")
        return np.asarray(found[0] / found[0].sum())

    forms = (
        ("edgec", ours, count, exponents, 1e-4),
        ("float", Call("float_softmax", (first, scale, *single, KEYS), 2), 1, _divided, 1e-5),
        *((name, call, 1, of, off) for name, call, of, off in _published_softmaxes(rows)),
    )
    wanted, name = rows.weights[0], "softmax of 196 keys, an element"
    return [Form(name, form, c, n * KEYS, of, wanted, off) for form, c, n, of, off in forms]


def _published_softmaxes(
    rows: Rows,
) -> tuple[tuple[str, Call, Callable[[Array], Array], float], ...]:
    """Name, call, what the result stands for, tolerance."""
    narrow8, narrow16 = (narrow(rows.logits * rows.kappa, bits) for bits in (8, 16))
    codes8, codes16 = (np.ascontiguousarray(x.codes[0], np.int16) for x in (narrow8, narrow16))
    scratch, out = np.zeros(KEYS, np.uint32), np.zeros(KEYS, np.int16)
    eight = (codes8, ibert_exp_numbers(narrow8.scale), scratch, out, KEYS)
    sixteen = (codes16, ibert_exp_numbers(narrow16.scale), scratch, out, KEYS)
    shifts = (codes8, max(math.floor(1 / narrow8.scale), 1), scratch, out, KEYS)
    bytes_ = (codes8.astype(np.int8), *cmsis_numbers(narrow8.scale), out, KEYS)
    return (
        ("64-bit (I-BERT)", Call("ibert_softmax", sixteen, 3), _fraction(8), 0.006),
        ("I-BERT, 8-bit logits", Call("ibert_softmax", eight, 3), _fraction(8), 0.1),
        ("I-ViT", Call("ivit_softmax", shifts, 3), _fraction(7), 0.1),
        ("FQ-ViT log2", Call("fqvit_softmax", eight, 3), _powers, 0.1),
        ("CMSIS-NN", Call("cmsis_softmax", bytes_, 4), _fraction(8), 0.03),
    )


def _divided(result: Array) -> Array:
    return np.asarray(result / result.astype(np.float64).sum())


def _fraction(bits: int) -> Callable[[Array], Array]:
    return lambda result: np.asarray(result / 2.0**bits)


def _powers(result: Array) -> Array:
    return np.asarray(np.where(result == 16, 0, 2.0 ** -result.astype(np.float64)))


def our_weights(rows: Rows) -> tuple[Array, Array]:
    """Exponentials int64 [QUERIES, KEYS] of the definition, and its outputs int8."""
    logits = rows.logits.astype(np.int64)
    multiplier, limit, numerator, shift = (int(x) for x in rows.head)
    e = exponentials(logits, np.ones_like(logits, bool), multiplier, limit, 15)
    return e, normalised(e @ rows.values.astype(np.int64), e, numerator, shift)


def our_exponentials(memory: Array, dsp: bool) -> Array:
    """int16 [rows, KEYS] from what `ours_softmax` leaves in place of the logits."""
    if not dsp:
        return memory.view(np.int16)[None, :KEYS]
    words = np.ascontiguousarray(memory.reshape(-1, QUERIES, 2)[:, :, 0])
    return words.view(np.int16).reshape(-1, QUERIES, 2).transpose(1, 0, 2).reshape(QUERIES, KEYS)


def values_forms(rows: Rows, dsp: bool) -> list[Form]:
    """Weights times values, divided and rounded to int8."""
    e, wanted = our_weights(rows)
    pairs = (e[:, 0::2] | (e[:, 1::2] << 16)).T.astype(np.int32)
    weights = np.repeat(pairs[:, :, None], 2, axis=2).reshape(-1) if dsp else e[0].astype(np.int16)
    count = QUERIES if dsp else 1
    sums, out = e.sum(axis=1).astype(np.uint32), np.zeros(count * WIDTH, np.int8)
    scratch = np.zeros(QUERIES * WIDTH, np.int32)
    ours = Call("ours_values", (weights, rows.values, rows.head, sums, scratch, out, KEYS), 5)
    real = rows.weights[0] / rows.weights[0].max()
    scales = np.array([real.sum(), 1.0], np.float32)
    floats = (real.astype(np.float32), rows.values.astype(np.float32), scales)
    bytes_ = round_half_up(rows.weights[0] * 256).astype(np.int16)
    numbers = tuple(int(x) for x in fixed(np.array(2.0**-8)))
    y = np.zeros(WIDTH, np.int8)
    forms = (
        ("edgec", ours, count, wanted[:count].reshape(-1), 0.0),
        ("float", Call("float_values", (*floats, y, KEYS), 3), 1, rows.outputs[0], 0.51),
        (
            "64-bit",
            Call("wide_values", (bytes_, rows.values, *numbers, y, KEYS), 4),
            1,
            bytes_ @ rows.values / 256,
            0.51,
        ),
    )
    name = "A*V of 196 keys and 64 columns, a product"
    return [
        Form(name, form, call, n * KEYS * WIDTH, _first, goal, off)
        for form, call, n, goal, off in forms
    ]
