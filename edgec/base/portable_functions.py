"""Elementary functions of float64 arrays with the same bits on every computer.

Those of numpy and of the C library have forms for different processors that differ in the last
digit.  These are made of additions, multiplications, divisions and roots, one at a time, which
IEEE 754 defines to the last bit.  They are accurate to a few units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np

from edgec.base.dtypes import Array

_BLOCK = 1 << 13
"""Elements that are worked on at a time."""
LOG2_E = 1.4426950408889634
LN_2, LN_10 = 0.6931471805599453, 2.302585092994046
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
"""ln 2 in two parts; a whole number of 11 bits times the first is exact.

Source: fdlibm, e_exp.c."""
_EXP_TERMS = tuple(1.0 / math.factorial(n) for n in range(1, 15))
_EXP_LARGEST, _EXP_LEAST = 709.782712893384, -745.2
_LOG_TERMS = tuple(1.0 / (2 * n + 1) for n in range(13))
_ERF_TERMS = tuple(
    (-1.0) ** n * 2.0 / math.sqrt(math.pi) / (math.factorial(n) * (2 * n + 1)) for n in range(13)
)
_SIN_TERMS = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(9))
_COS_TERMS = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(9))
_ATAN_TERMS = tuple((-1.0) ** n / (2 * n + 1) for n in range(13))
_PI_2_HIGH = 1.57079632673412561417e00
_PI_2_MIDDLE = 6.07710050630396597660e-11
_PI_2_LOW = 2.02226624879595063154e-21
"""Half of pi in three parts, the first two of 33 bits: a small whole number times them is exact.

Source: fdlibm, e_rem_pio2.c."""
_ERF_NEAR = 0.5
"""At smaller magnitudes of x, erf is computed by its Taylor series."""
_ERFC_CENTRE = 3.75
_ERFC_TERMS = (
    1.1775789345674017,
    -0.004590054580646478,
    -0.08424913336651792,
    0.05920993999819189,
    -0.026658668435305753,
    0.009074997670705265,
    -0.002413163540417608,
    0.0004907758365258086,
    -6.916973302501207e-05,
    4.13902798607301e-06,
    7.74038306619849e-07,
    -2.1886401049234397e-07,
    1.076499946567091e-08,
    4.521959811218287e-09,
    -7.754400208831351e-10,
    -6.318088340886684e-11,
    2.86879501093067e-11,
    1.9455868545777344e-13,
    -9.65469674843344e-13,
    3.252548148148739e-14,
    3.347811948286805e-14,
    -1.8645628804193146e-15,
    -1.2507950530688614e-15,
    7.418235256624875e-17,
    5.068148904797436e-17,
    -2.237056659417891e-18,
)
"""Chebyshev coefficients of ``(1 + 2 x) exp(x^2) erfc(x)`` in t = (x - 3.75) / (x + 3.75).

Source: the form is that of Shepherd and Laframboise, "Chebyshev approximation of
(1 + 2x) exp(x^2) erfc x in 0 <= x < inf", Mathematics of Computation 36, 1981; the numbers were
computed with 40 digits.
"""


def _blocked(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The function, applied to a part of an array at a time that fits the processor's cache."""

    @wraps(function)
    def whole(x: Array) -> Array:
        if x.size <= _BLOCK:
            return function(x)
        flat = np.ascontiguousarray(x).reshape(-1)
        result = np.empty_like(flat)
        for start in range(0, flat.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = function(flat[part])
        return result.reshape(x.shape)

    return whole


@_blocked
def exp(x: Array) -> Array:
    """The exponential function."""
    power, rest = _split(x)
    return np.asarray(np.where(x > _EXP_LARGEST, np.inf, np.ldexp(1.0 + rest, power)))


@_blocked
def expm1(x: Array) -> Array:
    """``exp(x) - 1``, accurate near 0."""
    power, rest = _split(x)
    whole = np.where(x > _EXP_LARGEST, np.inf, np.ldexp(1.0 + rest, power) - 1.0)
    return np.asarray(np.where(power == 0, rest, whole))


@_blocked
def log(x: Array) -> Array:
    """Natural logarithm; -inf of 0, NaN of negative numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction, power = np.frexp(x)
        low = fraction < math.sqrt(0.5)
        fraction, power = np.where(low, 2.0 * fraction, fraction), power - low
        ratio = (fraction - 1.0) / (fraction + 1.0)
        series = 2.0 * ratio * _polynomial(_LOG_TERMS, ratio * ratio)
        value = power * _LN2_HIGH + (power * _LN2_LOW + series)
        value = np.where(np.isinf(x), x, value)
        return np.asarray(np.where(x > 0, value, np.where(x == 0, -np.inf, np.nan)))


def real_log(x: float) -> float:
    """The natural logarithm of one number."""
    return float(log(np.array([x]))[0])


def real_log2(x: float) -> float:
    """The logarithm to base 2 of one number."""
    return real_log(x) / LN_2


@_blocked
def log1p(x: Array) -> Array:
    """``log(1 + x)``, accurate near 0, for x > -1."""
    total = 1.0 + x
    # Rounding error of the sum, to first order.
    lost = (total - 1.0) - x
    return np.asarray(log(total) - lost / total)


@_blocked
def tanh(x: Array) -> Array:
    """Hyperbolic tangent."""
    grown = expm1(2.0 * np.minimum(np.abs(x), 22.0))
    return np.asarray(np.copysign(grown / (grown + 2.0), x))


@_blocked
def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))``."""
    return np.asarray(1.0 / (1.0 + exp(np.minimum(-x, 700.0))))


@_blocked
def softplus(x: Array) -> Array:
    """``log(1 + exp(x))``."""
    return np.asarray(np.maximum(x, 0.0) + log1p(exp(-np.abs(x))))


@_blocked
def erf(x: Array) -> Array:
    """The error function."""
    size = np.minimum(np.abs(x), 26.0)
    t = (size - _ERFC_CENTRE) / (size + _ERFC_CENTRE)
    rest = exp(-size * size) * _chebyshev(_ERFC_TERMS, t) / (1.0 + 2.0 * size)
    near = size * _polynomial(_ERF_TERMS, size * size)
    return np.asarray(np.copysign(np.where(size < _ERF_NEAR, near, 1.0 - rest), x))


@_blocked
def sin(x: Array) -> Array:
    """Sine, accurate for magnitudes below 2^20."""
    return _turned(x, 0)


@_blocked
def cos(x: Array) -> Array:
    """Cosine, accurate for magnitudes below 2^20."""
    return _turned(x, 1)


@_blocked
def tan(x: Array) -> Array:
    """Tangent, accurate for magnitudes below 2^20."""
    with np.errstate(divide="ignore"):
        return np.asarray(sin(x) / cos(x))


@_blocked
def atan(x: Array) -> Array:
    """Arc tangent.

    Beyond 1 it is that of the inverse; half the angle, twice, is small enough for the series.
    """
    size = np.abs(x)
    far = size > 1.0
    with np.errstate(divide="ignore"):
        near = np.where(far, 1.0 / size, size)
    for _ in range(2):
        near = near / (1.0 + np.sqrt(1.0 + near * near))
    angle = 4.0 * near * _polynomial(_ATAN_TERMS, near * near)
    return np.asarray(np.copysign(np.where(far, math.pi / 2.0 - angle, angle), x))


@_blocked
def asin(x: Array) -> Array:
    """Arc sine; NaN beyond 1."""
    with np.errstate(invalid="ignore"):
        return np.asarray(2.0 * atan(x / (1.0 + np.sqrt((1.0 - x) * (1.0 + x)))))


@_blocked
def acos(x: Array) -> Array:
    """Arc cosine; NaN beyond 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2.0 * atan(np.sqrt((1.0 - x) / (1.0 + x))))


@_blocked
def sinh(x: Array) -> Array:
    """Hyperbolic sine."""
    grown = expm1(np.abs(x))
    return np.asarray(np.copysign(0.5 * (grown + grown / (grown + 1.0)), x))


@_blocked
def cosh(x: Array) -> Array:
    """Hyperbolic cosine."""
    power = exp(np.abs(x))
    return np.asarray(0.5 * (power + 1.0 / power))


@_blocked
def asinh(x: Array) -> Array:
    """Inverse of the hyperbolic sine."""
    size = np.abs(x)
    square = size * size
    return np.asarray(np.copysign(log1p(size + square / (1.0 + np.sqrt(1.0 + square))), x))


@_blocked
def acosh(x: Array) -> Array:
    """Inverse of the hyperbolic cosine; NaN below 1."""
    more = x - 1.0
    with np.errstate(invalid="ignore"):
        return np.asarray(log1p(more + np.sqrt(2.0 * more + more * more)))


@_blocked
def atanh(x: Array) -> Array:
    """Inverse of the hyperbolic tangent; infinite at 1, NaN beyond."""
    size = np.abs(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(size == 1.0, np.inf, 0.5 * log1p(2.0 * size / (1.0 - size)))
    return np.asarray(np.copysign(value, x))


def _turned(x: Array, quarters: int) -> Array:
    """The sine of x after more quarter turns."""
    whole = np.rint(x * (2.0 / math.pi))
    rest = ((x - whole * _PI_2_HIGH) - whole * _PI_2_MIDDLE) - whole * _PI_2_LOW
    square = rest * rest
    quarter = np.mod(whole + quarters, 4.0)
    odd = np.mod(quarter, 2.0) == 1.0
    value = np.where(odd, _polynomial(_COS_TERMS, square), rest * _polynomial(_SIN_TERMS, square))
    return np.asarray(np.where(quarter >= 2.0, -value, value))


def power(x: Array, exponent: float) -> Array:
    """Power with a constant exponent; NaN of negative x unless the exponent is whole."""
    if exponent < 0:
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / power(x, -exponent))
    if exponent.is_integer() and exponent <= 64:
        return _repeated(x, int(exponent))
    if (2.0 * exponent).is_integer() and exponent <= 64:
        with np.errstate(invalid="ignore"):
            return _repeated(x, int(exponent)) * np.sqrt(x)
    size = np.abs(x) if exponent.is_integer() else x
    value = exp(exponent * log(size))
    odd = exponent.is_integer() and exponent % 2 == 1
    return np.asarray(np.copysign(value, x)) if odd else value


def _repeated(x: Array, exponent: int) -> Array:
    """Whole power of x, by squaring."""
    result, square = np.ones_like(x), x
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


def _split(x: Array) -> tuple[Array, Array]:
    """The whole k and the small r of ``exp(x) = 2**k * (1 + r)``, x clipped to finite powers."""
    inside = np.clip(x, _EXP_LEAST, _EXP_LARGEST)
    whole = np.rint(inside * LOG2_E)
    rest = (inside - whole * _LN2_HIGH) - whole * _LN2_LOW
    power = np.where(np.isfinite(whole), whole, 0.0).astype(np.int32)
    return power, rest * _polynomial(_EXP_TERMS, rest)


def _polynomial(terms: Sequence[float], x: Array) -> Array:
    """``terms[0] + terms[1] * x + ...``, by Horner's rule."""
    value = terms[-1] * x
    value += terms[-2]
    for term in reversed(terms[:-2]):
        value *= x
        value += term
    return value


def _chebyshev(terms: Sequence[float], x: Array) -> Array:
    """The sum of Chebyshev polynomials, by Clenshaw's recurrence."""
    before, value = np.zeros_like(x), np.zeros_like(x)
    for term in reversed(terms[1:]):
        before, value = value, 2.0 * x * value - before + term
    return np.asarray(x * value - before + terms[0])
