"""Biases and multipliers of pooled layers in 16 bits each.

What a multiplier needs is a relative precision, and what a bias needs is a precision in steps of
the output.  So a multiplier is stored as a mantissa of 12 bits and an exponent of 4 bits, which
also gives the unit of the channel's bias: where the multiplier is half as large, one unit of the
sum is half as much of an output step, and the bias is stored in units twice as large.

    multiplier = (m & 0xFFF) << (multiplier_shift + e),  e = m >> 12
    bias       = b << (bias_shift - e)

The arithmetic of the layer is that of `qops.Requant31` with these numbers, which are near those
that the quantizer found.  `ShortNumbers.error` bounds how far that moves an output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX
from edgec.ir import qops

MANTISSA_BITS = 12
_BIAS_BITS = 15
"""A stored bias has these and a sign."""
_LARGEST_EXPONENT = 15
_LARGEST_MANTISSA = (1 << MANTISSA_BITS) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ShortNumbers:
    """The numbers of a layer's output channels.

    Attributes:
        bias: int16 [O].
        multiplier: uint16 [O].
        bias_shift: 0 to 31; no exponent is larger.
        multiplier_shift: 0 to 4.
    """

    bias: Array
    multiplier: Array
    bias_shift: int
    multiplier_shift: int

    @classmethod
    def near(cls, bias: Array, multiplier: Array) -> ShortNumbers:
        """The numbers nearest to others.

        Args:
            bias: int64 [O], at most INT32_MAX and at least its negative.
            multiplier: int32 [O], not negative.
        """
        own = multiplier.astype(np.int64)
        lengths = _bit_lengths(own)
        shift = max(int(lengths.max()) - MANTISSA_BITS - _LARGEST_EXPONENT, 0)
        exponent = np.maximum(lengths - MANTISSA_BITS - shift, 0)
        mantissa = _divided(own, exponent + shift)
        carries = (mantissa > _LARGEST_MANTISSA) & (exponent < _LARGEST_EXPONENT)
        exponent += carries
        mantissa = np.minimum(np.where(carries, mantissa >> 1, mantissa), _LARGEST_MANTISSA)
        # A channel without a multiplier has no use for its bias.
        used = np.where(mantissa > 0, bias, 0)
        needed = np.maximum(_bit_lengths(np.abs(used)) - _BIAS_BITS, 0)
        bias_shift = int((exponent + needed).max())
        rounded = _divided(used, bias_shift - exponent)
        return cls(
            frozen(np.clip(rounded, -INT16_MAX, INT16_MAX), np.int16),
            frozen(mantissa | exponent << MANTISSA_BITS, np.uint16),
            bias_shift,
            shift,
        )

    @property
    def biases(self) -> Array:
        """The biases, int64 [O]."""
        shift = self.bias_shift - self._exponent
        return np.asarray(self.bias.astype(np.int64) << shift)

    @property
    def multipliers(self) -> Array:
        """The multipliers, int64 [O]."""
        mantissa = self.multiplier.astype(np.int64) & _LARGEST_MANTISSA
        return np.asarray(mantissa << (self._exponent + self.multiplier_shift))

    @property
    def _exponent(self) -> Array:
        return self.multiplier.astype(np.int64) >> MANTISSA_BITS

    def error(self, bias: Array, multiplier: Array, reach: Array, form: qops.Requant31) -> float:
        """Bound of the change of an output, in its steps, by these numbers in place of others.

        With the sum s, the multiplier m and the shift k an output is v = s * m / 2^k before it is
        rounded.  Other numbers s + db and m + dm make it
        ``v + db * (m + dm) / 2^k + v * dm / m``.  Beyond the bounds of the codes v counts as the
        bound itself: both are monotone in s, so where v is beyond a bound, the other one is no
        further inside than at the bound.  So |v| is at most the distance of a bound from the zero
        point (and half a step), and at most that of the largest sum.

        Args:
            bias: int64 [O], of the others.
            multiplier: int32 [O], of the others.
            reach: [O], largest magnitude of a sum.
            form: the requantization.
        """
        unit = 2.0**-form.shift
        own = multiplier.astype(np.float64)
        furthest = max(abs(form.low - form.zero_point), abs(form.high - form.zero_point)) + 0.5
        largest = np.minimum(furthest, reach.astype(np.float64) * own * unit)
        relative = np.abs(self.multipliers - own) / np.maximum(own, 1.0)
        moved = np.abs(self.biases - bias) * self.multipliers * unit
        return float((moved + relative * largest).max())

    def fits(self, reach: Array, bias: Array) -> bool:
        """Whether other biases, and sums that reach this far with them, are within 32 bits here.

        Args:
            reach: [O], largest magnitude of a sum with the other biases.
            bias: int64 [O], the others.  A kernel may store more than 32 bits hold: what it adds
                to the biases of a layer is bounded only with the sums.
        """
        most = np.maximum(np.abs(bias), reach + np.abs(self.biases - bias))
        return bool(most.max() <= INT32_MAX)


def _bit_lengths(values: Array) -> Array:
    """Bits of whole numbers from 0 to 2^53, which float64 holds exactly; 0 of 0."""
    return np.asarray(np.frexp(values.astype(np.float64))[1], np.int64)


def _divided(values: Array, shift: Array) -> Array:
    """Values over 2^shift, to the nearest."""
    return np.asarray((values + (1 << shift >> 1)) >> shift)
