"""The integer operators of transformers against float64, and against every extreme input.

The oracle raises where an intermediate leaves 32 bits, so each test of extremes is one of overflow.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from transformer_exact import attention_error, norm_error

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError, QuantizationError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX, Requant16x15, requantize16x15
from edgec.ir import ops, qops
from edgec.ir.qops.arithmetic import bit_length, rshr32
from edgec.ir.qops.norm import nearest_root
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.softmax_rules import exp_table, exponentials
from edgec.quant.common.numbers import RealNorm, exponential_bits, head_numbers, norm_numbers

CHANNELS = (2, 3, 16, 64, 192, 768, 1024)
SHAPES = ("normal", "outlier", "offset", "two values", "one step", "constant", "extremes")


def rows(rng: np.random.Generator, shape: str, channels: int, amplitude: int) -> np.ndarray:
    x = rng.normal(0, amplitude / 4, (64, channels))
    match shape:
        case "outlier":
            x[:, 0] = 8 * amplitude
        case "offset":
            x += 3 * amplitude
        case "two values":
            x = rng.choice([-amplitude, amplitude], x.shape)
        case "one step":
            x = np.zeros_like(x)
            x[:, -1] = 1
        case "constant":
            x = np.full_like(x, amplitude)
        case "extremes":
            x = rng.choice([-32768, 32767], x.shape)
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


# -- requantization ------------------------------------------------------------------------------


def test_requantization_stays_within_its_bound():
    rng = np.random.default_rng(0)
    for bound in (1 << 12, 1 << 18, 1 << 24, (1 << 31) - (1 << 17)):
        factor = 127 / bound
        found = Requant16x15.from_real(factor, bound, reach=129)
        acc = np.unique(np.r_[rng.integers(-bound, bound + 1, 20_000), -bound, bound, 0])
        error = found.apply(acc) - acc * factor
        assert np.abs(error).max() <= 0.51
        # The pre-shift is the least: one bit less would saturate within the reach.
        if found.pre_shift:
            assert 129 / factor / 2 ** (found.pre_shift - 1) > INT16_MAX


def test_factors_with_exact_multipliers_lose_the_pre_shift_only():
    rng = np.random.default_rng(1)
    steps = rng.integers(8192, 32768, 16)
    found = Requant16x15(steps.astype(np.int16), 3, 20)
    acc = rng.integers(-200_000, 200_000, (1000, 16))
    error = found.apply(acc) - np.clip(acc, -32768 * 8, 32767 * 8) * found.factors
    assert np.abs(error).max() <= 0.5 + 4 * found.factors.max() + 1e-9


def test_requantization_of_any_accumulator_fits_32_bits():
    acc = np.array([-INT32_MAX + 2**15, INT32_MAX - 2**15])
    for pre in range(17):
        for multiplier in (-32767, 1, 32767):
            output = qops.Rescale16x15(pre, 30, -128, 127)
            y = output.apply(acc, multiplier)
            wide = requantize16x15(acc, multiplier, pre, 30)
            np.testing.assert_array_equal(y, np.clip(wide, -128, 127))
    with pytest.raises(InternalError, match="32 bits"):
        qops.Rescale16x15(16, 15, -128, 127).apply(np.array([INT32_MAX]), 1)


@pytest.mark.parametrize("factor", [np.nan, np.inf, 0.0, 2.0**20])
def test_impossible_factors_are_refused(factor):
    with pytest.raises(QuantizationError):
        Requant16x15.from_real(factor, 1000, 129)


# -- norms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("centred", [True, False], ids=["layer", "rms"])
def test_norm_stays_within_six_tenths_of_a_step(channels, centred):
    rng = np.random.default_rng(channels)
    worst = 0.0
    for shape in SHAPES:
        for amplitude in (1, 30, 1000, 32767):
            real = RealNorm(
                centred=centred,
                gamma=rng.uniform(-1, 1, channels),
                beta=rng.normal(0, 0.3, channels),
                epsilon=1e-5,
                x_scale=1e-4,
                y_scale=np.full(channels, 4 / 127),
                y_zero=rng.integers(-20, 20, channels).astype(np.float64),
            )
            worst = max(worst, norm_error(real, rows(rng, shape, channels, amplitude)).max())
    assert worst <= 0.6


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-5, 1e-2, 1.0])
@pytest.mark.parametrize("x_scale", [1e-6, 1e-3, 1.0])
def test_norm_holds_any_epsilon(epsilon, x_scale):
    rng = np.random.default_rng(3)
    ones = np.ones(64)
    real = RealNorm(True, ones, 0 * ones, epsilon, x_scale, ones / 32, 0 * ones)
    try:
        norm_numbers(real, "norm")
    except QuantizationError:
        assert epsilon / x_scale**2 > 1e9
        return
    for amplitude in (3, 300, 30000):
        assert norm_error(real, rows(rng, "normal", 64, amplitude)).max() <= 0.6


def test_norm_to_the_stream():
    rng = np.random.default_rng(4)
    ones = np.ones(128)
    scale = ones * 8 / 32767
    real = RealNorm(True, ones, 0.1 * ones, 1e-5, 1e-3, scale, 0 * ones, DType.INT16)
    error = norm_error(real, rows(rng, "normal", 128, 20000))
    assert error.max() <= 4  # steps of 16 bits: 84 dB below the largest value


def test_norm_whose_factors_do_not_fit_is_refused():
    ones = np.ones(4)
    with pytest.raises(QuantizationError, match="do not fit"):
        norm_numbers(RealNorm(True, ones, 1e10 * ones, 1e-5, 1.0, ones, ones), "n")


def test_roots_and_bit_lengths_are_exact():
    squares = np.arange(46_330, 46_341) ** 2
    numbers = np.unique(np.r_[np.arange(70_000), 2 ** np.arange(31), squares, squares - 1])
    for number, root in zip(numbers.tolist(), nearest_root(numbers).tolist(), strict=True):
        floor = math.isqrt(number)
        # (floor + 1/2)^2 lies between floor^2 + floor and the next whole number.
        assert root == floor + (number - floor * floor > floor)
    np.testing.assert_array_equal(bit_length(numbers), [int(n).bit_length() for n in numbers])


# -- attention -----------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [1, 2, 17, 64, 197, 511])
@pytest.mark.parametrize("kappa", [2e-8, 1e-5, 1e-4, 1e-3, 0.1, 8.0])
def test_attention_stays_within_six_tenths_of_a_step(keys, kappa):
    rng = np.random.default_rng(keys)
    q, k, v = (
        np.clip(np.round(rng.normal(0, 40, (keys, 16))), -127, 127).astype(np.int8)
        for _ in range(3)
    )
    for ratio in (0.5, 1.0, 1.9):
        assert attention_error(q[:64], k, v, kappa, ratio).max() <= 0.6


@pytest.mark.parametrize(("keys", "bound"), [(512, 0.6), (600, 0.6), (2047, 0.6), (4095, 0.65)])
def test_long_rows_lose_bits_only_where_they_are_even(keys, bound):
    rng = np.random.default_rng(keys)
    q, k, v = (rng.integers(-127, 128, (keys, 8)).astype(np.int8) for _ in range(3))
    for kappa in (1e-5, 1e-4, 1e-3):
        assert attention_error(q[:16], k, v, kappa, 1.0).max() <= bound


@pytest.mark.parametrize("keys", [1, 511, 1023, 2047, 4095])
@pytest.mark.parametrize("sign", [-128, 127])
def test_attention_of_extremes_fits_32_bits(keys, sign):
    q = np.full((1, 64), -128, np.int8)
    v = np.full((keys, 4), sign, np.int8)
    even = np.where(np.arange(keys)[:, None] % 2, 127, -128).repeat(64, 1).astype(np.int8)
    for k in (q.repeat(keys, 0), even):
        for kappa in (2e-8, 1e-3, 8.0):
            for ratio in (1 / 8, 31.9):
                assert attention_error(q, k, v, kappa, ratio).max() <= 1.0


def test_far_keys_weigh_nothing_and_near_ones_all():
    bits, multiplier = 15, 1 << 20
    limit = head_numbers(multiplier / 2**26, 1.0, 64, bits, "h")[1]
    logits = np.array([[0, -limit, -limit - 1, -(10**8)]])
    e = exponentials(logits, np.ones_like(logits, bool), multiplier, limit, bits)
    assert e.tolist() == [[32767, 0, 0, 0]]


def test_exponentials_are_close_and_monotone():
    bits, kappa = 15, 2.0**-12
    multiplier, limit, *_ = head_numbers(kappa, 1.0, 64, bits, "h")
    distance = np.arange(0, limit + 1)
    e = exponentials(-distance[None], np.ones((1, len(distance)), bool), multiplier, limit, bits)[0]
    ideal = 32767 * 2.0 ** (-distance * kappa)
    # Its rounding, the chord of the table, and half of 2^-11 octaves.
    assert np.abs(e - ideal).max() <= 0.5 + 2.0 + 5.6
    assert (np.diff(e) <= 0).all()
    assert exp_table()[[0, 32]].tolist() == [32767, 16384]


def test_rows_without_keys_are_zero():
    attrs = qops.QAttention(1, 4, 4, 0, 0, 0, 15)
    ones = Operand(np.ones((1, 3, 4), np.int8))
    numbers = Operand(np.array([head_numbers(1e-3, 1.0, 4, 15, "h")], np.int32))
    for mask, wanted in (([0, 0, 0], 0), ([0, 1, 0], 1)):
        keys = Operand(np.array([mask], np.int32))
        y = qops.computed(attrs, [ones, ones, ones, numbers, keys])
        assert (y == wanted).all()


def test_too_many_keys_and_too_coarse_logits_are_refused():
    assert [exponential_bits(n, "a") for n in (511, 512, 1024, 2048, 4095)] == [15, 14, 13, 12, 12]
    with pytest.raises(QuantizationError, match="too many"):
        exponential_bits(4096, "a")
    with pytest.raises(QuantizationError, match="octaves"):
        head_numbers(9.0, 1.0, 64, 15, "a")
    with pytest.raises(QuantizationError, match="resolution"):
        head_numbers(1e-3, 32.0, 64, 15, "a")


# -- the rest ------------------------------------------------------------------------------------


def test_small_operators_follow_their_definitions():
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-128, 128, (2, 3, 4)).astype(np.int8) for _ in range(2))
    output = qops.Rescale16x15(2, 12, -128, 127)
    centred = (a.astype(np.int64) - 3) @ (b.astype(np.int64) + 5).swapaxes(1, 2)
    found = qops.computed(qops.QMatMul(output, 77, 9, False, True), [Operand(a, 3), Operand(b, -5)])
    wanted = np.clip(requantize16x15(centred + 9, 77, 2, 12), -128, 127)
    np.testing.assert_array_equal(found, wanted)
    total = qops.computed(
        qops.QReduce(ops.ReduceKind.MEAN, (1,), True, output, 77, -4), [Operand(a, 3)]
    )
    wanted = requantize16x15((a.astype(np.int64) - 3).sum(1, keepdims=True) - 4, 77, 2, 12)
    np.testing.assert_array_equal(total, wanted)
    wide = qops.Rescale16x15(0, 1, -32768, 32767, DType.INT16)
    np.testing.assert_array_equal(
        qops.computed(qops.QRescale(wide, 6), [Operand(a)]), 3 * a.astype(int)
    )
    x = np.array([32767, -32768, 5], np.int16)
    assert qops.computed(
        qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), [Operand(x), Operand(x)]
    ).tolist() == [
        32767,
        -32768,
        10,
    ]
    ids = Operand(np.array([-1, 1, 2, 99], np.int32))
    table = Operand(np.array([[1], [2], [-128]], np.int8))
    found = qops.computed(qops.QEmbedding(300), [ids, table])
    assert found[:, 0].tolist() == [300, 600, -32768, -32768]


def test_shifts_are_checked_with_their_rounding():
    assert rshr32(np.array([INT32_MAX - 4]), 3)[0] == (INT32_MAX - 4 + 4) >> 3
    with pytest.raises(InternalError):
        rshr32(np.array([INT32_MAX - 3]), 3)
