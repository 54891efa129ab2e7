"""Ranges to parameters, pinned parameters, look-up tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import (
    EMPTY_SCALE,
    LEAST_SCALE,
    Range,
    activation_params,
    as_int8,
    codes_real,
    lut,
    softmax_bits,
    softmax_table,
)

reals = st.floats(-1e30, 1e30)


@given(reals, reals)
def test_parameters_hold_zero_and_cover_the_range(a, b):
    low, high = min(a, b), max(a, b)
    params = activation_params(Range(low, high))
    scale, zero_point = params.tensor_scale, params.tensor_zero_point
    assert -128 <= zero_point <= 127
    assert scale >= LEAST_SCALE
    assert np.float32(scale) == scale
    # One step of slack: the zero point is rounded.
    assert (-128 - zero_point - 1) * scale <= min(low, 0)
    assert (127 - zero_point + 1) * scale >= max(high, 0)


@pytest.mark.parametrize(
    ("low", "high", "zero_point"), [(0, 5, -128), (-5, 0, 127), (-128, 127, 0), (2, 5, -128)]
)
def test_zero_points_of_plain_ranges(low, high, zero_point):
    params = activation_params(Range(low, high))
    assert params.tensor_zero_point == zero_point
    assert params.tensor_scale == pytest.approx((max(high, 0) - min(low, 0)) / 255)


def test_degenerate_ranges():
    assert activation_params(Range(0, 0)) == QuantParams.per_tensor(EMPTY_SCALE, 0)
    assert activation_params(Range(0, 1e-30)).tensor_scale == pytest.approx(1e-30 / 255)
    assert activation_params(Range(0, 1e-38)).tensor_scale == LEAST_SCALE
    constant = activation_params(Range(3.0, 3.0))
    assert constant.dequantize(constant.quantize(np.float32(3.0))) == pytest.approx(3.0)
    for bad in (Range(0, math.inf), Range(-math.inf, 0)):
        with pytest.raises(QuantizationError, match="not finite"):
            activation_params(bad)


def test_pinned_parameters_become_int8():
    assert as_int8(QuantParams.per_tensor(0.5, 200, DType.UINT8), "x") == QuantParams.per_tensor(
        0.5, 72
    )
    kept = QuantParams.per_tensor(0.5, -3)
    assert as_int8(kept, "x") == kept
    with pytest.raises(QuantizationError, match=r"x: .*int16"):
        as_int8(QuantParams.per_tensor(0.5, 0, DType.INT16), "x")
    with pytest.raises(QuantizationError, match="per channel"):
        as_int8(QuantParams((0.5, 0.5), (0, 0), axis=1), "x")


def test_real64_holds_int32_exactly():
    codes = np.array([2**31 - 1, -(2**31), 12345678], np.int32)
    quant = QuantParams((0.5, 0.25, 2.0), (0, 0, 0), DType.INT32, axis=0)
    assert Constant("b", codes, quant).real64().tolist() == [
        (2**31 - 1) / 2,
        -(2**31) / 4,
        12345678 * 2.0,
    ]
    per_tensor = Constant(
        "w", np.array([[255, 0]], np.uint8), QuantParams.per_tensor(0.5, 128, DType.UINT8)
    )
    assert per_tensor.real64().tolist() == [[63.5, -64.0]]
    assert Constant("f", np.array([1.5], np.float32)).real64().tolist() == [1.5]


MATH = {
    UnaryKind.SIGMOID: lambda x: 1 / (1 + math.exp(-x)),
    UnaryKind.TANH: math.tanh,
    UnaryKind.HARD_SIGMOID: lambda x: min(max(0.25 * x + 0.4, 0), 1),
    UnaryKind.HARD_SWISH: lambda x: x * min(max(x / 6 + 0.5, 0), 1),
    UnaryKind.LEAKY_RELU: lambda x: x if x > 0 else 0.25 * x,
    UnaryKind.ELU: lambda x: x if x > 0 else 0.25 * math.expm1(x),
    UnaryKind.SOFTPLUS: lambda x: math.log1p(math.exp(x)),
    UnaryKind.EXP: math.exp,
    UnaryKind.ABS: abs,
    UnaryKind.NEG: lambda x: -x,
    UnaryKind.SQRT: lambda x: math.sqrt(max(x, 0)),
    UnaryKind.ERF: math.erf,
    UnaryKind.GELU: lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    UnaryKind.IDENTITY: lambda x: x,
    UnaryKind.RECIPROCAL: lambda x: 1 / x if x else 1e9,
    UnaryKind.POW: lambda x: x**0.25 if x >= 0 else 0.0,
    UnaryKind.GELU_TANH: lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    UnaryKind.SWISH: lambda x: x / (1 + math.exp(-0.25 * x)),
    UnaryKind.LOG: lambda x: math.log(x) if x > 0 else -1e9,
    UnaryKind.RSQRT: lambda x: 1 / math.sqrt(x) if x > 0 else 1e9,
    UnaryKind.SIN: math.sin,
    UnaryKind.COS: math.cos,
    UnaryKind.TAN: math.tan,
    UnaryKind.SINH: math.sinh,
    UnaryKind.COSH: math.cosh,
    UnaryKind.ASIN: lambda x: math.asin(min(max(x, -1), 1)),
    UnaryKind.ACOS: lambda x: math.acos(min(max(x, -1), 1)),
    UnaryKind.ATAN: math.atan,
    UnaryKind.ASINH: math.asinh,
    UnaryKind.ACOSH: lambda x: math.acosh(max(x, 1)),
    UnaryKind.ATANH: lambda x: math.atanh(x) if abs(x) < 1 else math.copysign(1e9, x),
    UnaryKind.SIGN: lambda x: (x > 0) - (x < 0),
    UnaryKind.FLOOR: math.floor,
    UnaryKind.CEIL: math.ceil,
    UnaryKind.ROUND: round,
    UnaryKind.MOD: lambda x: math.fmod(x, 0.25),
    UnaryKind.MISH: lambda x: x * math.tanh(math.log1p(math.exp(x))),
    UnaryKind.SELU: lambda x: 0.4 * (x if x > 0 else 0.25 * math.expm1(x)),
    UnaryKind.CELU: lambda x: x if x > 0 else 0.25 * math.expm1(x / 0.25),
    UnaryKind.THRESHOLDED_RELU: lambda x: x if x > 0.25 else 0.0,
    UnaryKind.SHRINK: lambda x: x - math.copysign(0.4, x) if abs(x) > 0.25 else 0.0,
    UnaryKind.SOFTSIGN: lambda x: x / (1 + abs(x)),
}


@pytest.mark.parametrize("kind", MATH)
def test_tables_hold_the_nearest_code(kind):
    without = {UnaryKind.NOT, UnaryKind.COMPOSED}
    assert set(UnaryKind) - set(MATH) == without, "masks are never quantized; others have steps"
    x, y = QuantParams.per_tensor(0.05, 17), QuantParams.per_tensor(0.03, -40)
    table = lut(ops.Unary(kind, 0.25, 0.4), x, y)
    assert table.dtype == np.int8
    for code in range(-128, 128):
        steps = MATH[kind]((code - 17) * 0.05) / 0.03
        expected = min(max(math.floor(steps + 0.5) - 40, -128), 127)
        # The functions differ in the last bit; a tie may then go either way.
        near_tie = abs(steps + 0.5 - round(steps + 0.5)) < 1e-9
        assert table[code + 128] == expected or near_tie


def test_table_of_a_clip_and_of_extreme_scales():
    x = QuantParams.per_tensor(0.1, 0)
    table = lut(ops.Clip(-1.0, 2.0), x, x)
    assert table[128 - 10 : 128 + 21].tolist() == list(range(-10, 21))
    assert set(table[: 128 - 10]) == {-10}
    assert set(table[128 + 20 :]) == {20}
    huge = QuantParams.per_tensor(1e30, 0)
    tiny = QuantParams.per_tensor(1e-30, 0)
    for kind in (UnaryKind.EXP, UnaryKind.SIGMOID, UnaryKind.SOFTPLUS, UnaryKind.ELU):
        assert lut(ops.Unary(kind, 1.0), huge, tiny).dtype == np.int8
    assert (
        lut(ops.Unary(UnaryKind.IDENTITY), huge, tiny).tolist() == [-128] * 128 + [0] + [127] * 127
    )
    assert codes_real(x)[0] == pytest.approx(-12.8)


@pytest.mark.parametrize("row", [1, 2, 10, 127, 128, 129, 1000, 2**20])
def test_softmax_tables_cannot_overflow(row):
    table = softmax_table(0.1, row)
    assert row * int(table[0]) < 2**31
    assert table[0] == 2 ** softmax_bits(row)
    assert np.all(np.diff(table) <= 0)
    assert table[10] == math.floor(2 ** softmax_bits(row) * math.exp(-1.0) + 0.5)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16, DType.INT32])
@pytest.mark.parametrize("size", [1, 1000, 40_000])
def test_nearest_codes_in_blocks(dtype, size):
    """Halves up, saturated, whatever the number of elements and their order in memory."""
    limits = np.iinfo(dtype.numpy)
    rng = np.random.default_rng(size)
    steps = np.concatenate([rng.uniform(-300, 300, size), [0.5, -0.5, 1.5, 1e30, -1e30, np.inf]])
    params = QuantParams.per_tensor(0.25, 0 if dtype is DType.INT32 else 3, dtype)
    zero_point = params.tensor_zero_point
    exact = [math.floor(min(max(s, -1e12), 1e12) + 0.5) + zero_point for s in steps]
    wanted = np.clip(np.array(exact, np.int64), limits.min, limits.max)
    found = params.quantize(steps * 0.25)
    assert found.dtype == dtype.numpy
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(params.quantize((steps * 0.25).repeat(2)[::2]), wanted)


def test_codes_of_what_is_no_number():
    params = QuantParams.per_tensor(0.5, -7)
    assert params.quantize(np.array([np.nan, -np.inf, np.inf])).tolist() == [-7, -128, 127]


@pytest.mark.parametrize("shape", [(7,), (300, 200)])
def test_rounding_in_place(shape):
    real = np.random.default_rng(2).uniform(-40, 40, shape)
    params = QuantParams.per_tensor(0.25, 3)
    wanted = params.dequantize64(params.quantize(real))
    turned = np.asfortranarray(real)
    for each in (real, turned):
        params.round_in_place(each)
        np.testing.assert_array_equal(each, wanted)
