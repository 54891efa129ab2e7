"""Statistics of windows of samples, and the powers of bands of their spectra."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import rshr
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import bit_length, floor_root
from edgec.ir.qops.base import LIMITS, IntegerOperator
from edgec.ir.qops.dft import dft_macs, is_computed, powers, quarter_points
from edgec.ir.qops.operands import CODES, Operand, numbers, table, value
from edgec.ir.qops.softmax import LOG_BITS
from edgec.ir.qops.spectrum import POWER_SHIFT, SAMPLE_BITS, scaled_frames, wide_logarithm
from edgec.ir.shapes import need

STATISTICS = (
    "mean",
    "std",
    "rms",
    "min",
    "max",
    "skewness",
    "kurtosis",
    "crossings",
    "mean-crossings",
)
"""Statistics by name, each with its place in the definition."""
MOST_SAMPLES = 1 << 14
"""Samples of a window."""
MOST_AXES = 16
SKEW_BITS, KURTOSIS_BITS = 16, 14
"""Fraction bits of these two."""
_DEVIATION_BITS = 14


@dataclass(frozen=True, slots=True)
class QSensorFeatures(IntegerOperator):
    """x int16 [1, L A], samples of A axes in turn; ends int32 const [F, 4]; window int16 const [W]
    and sines int32 const (see `QLogMel`), bins int16 const [B, 2] where there are bands; y int8 or
    int16 [1, T, F], ``T = (L - W) / hop + 1``, F = A (K + B): of each axis the K statistics, then
    the B bands.

    Of the samples u[n] of an axis and a window, n < W, whose deviations are
    ``e[n] = W u[n] - sum u``: ``d[n] = rshr(e[n], s)``, to the left where ``s = bitlen(max |e|) -
    14`` is below 0; ``M2 = sum d^2``, ``M3 = sum d^3``, ``M4 = sum rshr(d^2, 4)^2``.  With
    ``g = 16 - bitlen(W)``, roots and quotients rounded down, quotients to 0:

    * mean: ``sum u``; min, max: of u.
    * std: ``root((W sum u^2 - (sum u)^2) << 2g)``; rms: ``root((W sum u^2) << 2g)``.
    * skewness: with ``v = (M2 << 20) / W`` and r = root(v):
      ``(((M3 << 6) / W) << 12) / (((v >> 16) r) >> 12)``; 0 where M2 is 0.
    * kurtosis: ``((M4 / W) << 14) / ((v >> 17)^2 >> 14)``; 3 << 14 where M2 is 0.
    * crossings: n > 0 with ``(u[n] < 0) != (u[n - 1] < 0)``; mean-crossings: the same of e.
    * a band: powers p by steps 1 and 2 of `QLogMel` of d, scaled up by h bits; of its bins
      ``t = sum p >> 14``; ``log2(max(t, 1)) + ((2 s - 2 h) << 16)``, of at least `floor`; `floor`
      where t is 0.

    The code of a result r: ``clamp(rshr((r + offset) multiplier, shift) + zero)``, `ends` being
    offset, multiplier, shift, zero of each feature.  All sums stay below 2^62, results below 2^31.

    Attributes:
        axes: A.
        width, hop: samples of an axis in a window, W, and from window to window.
        statistics: which ones, names of `STATISTICS` in their order.
        points: points of the DFT, at least W; 0: there are no bands.
        floor: the least logarithm of a band's power.
        dtype: element type of y.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        ends: T = field(metadata=table(DType.INT32))
        window: T | None = field(default=None, metadata=table(DType.INT16))
        sines: T | None = field(default=None, metadata=table(DType.INT32))
        bins: T | None = field(default=None, metadata=table(DType.INT16))

    axes: int
    width: int
    hop: int
    statistics: tuple[str, ...]
    points: int
    floor: int
    dtype: DType

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 2 and inputs.x[0] == 1, "x must be [1, L]")
        need(1 <= self.axes <= MOST_AXES and inputs.x[1] % self.axes == 0, "x is of other axes")
        need(8 <= self.width <= MOST_SAMPLES, f"a window of {self.width} samples")
        rest = inputs.x[1] // self.axes - self.width
        need(self.hop >= 1 and rest >= 0 and rest % self.hop == 0, "x is no number of windows")
        bands = 0
        if self.points:
            need(is_computed(self.points), f"a DFT of {self.points} points")
            need(self.points >= self.width, "the window is longer than the DFT")
            tables = (inputs.window, inputs.sines, inputs.bins)
            need(None not in tables, "a spectrum without its tables")
            need(inputs.window == (self.width,), "a window of another length")
            need(inputs.sines == (quarter_points(self.points) + 1,), "waves of another DFT")
            bins = inputs.bins or ()
            need(len(bins) == 2 and bins[0] >= 1 and bins[1] == 2, "the bins must be [B, 2]")
            bands = bins[0]
        features = self.axes * (len(self.statistics) + bands)
        need(features >= 1 and inputs.ends == (features, 4), "ends of other features")
        return (1, rest // self.hop + 1, features)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        of_axis = self.width * 5 + (dft_macs(self.points) if self.points else 0)
        return output[1] * self.axes * of_axis

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide.reshape(-1, inputs.x.array.shape[-1] // self.axes, self.axes)
        starts = np.arange(0, x.shape[1] - self.width + 1, self.hop)
        frames = x[:, starts[:, None] + np.arange(self.width)].swapaxes(2, 3)
        total = frames.sum(axis=-1, keepdims=True)
        e = self.width * frames - total
        s = bit_length(np.abs(e).max(axis=-1)) - _DEVIATION_BITS
        up, down = np.maximum(-s, 0)[..., None], np.maximum(s, 0)[..., None]
        d = ((e << up) + ((1 << down) >> 1)) >> down
        found = [self._statistics(frames, e, d)]
        if self.points:
            found.append(self._bands(d, s, inputs))
        results = np.concatenate(found, axis=-1).reshape(*frames.shape[:2], -1)
        offset, multiplier, shift, zero = inputs.ends.wide.T
        product = (results + offset) * multiplier
        codes = ((product + (np.int64(1) << (shift - 1))) >> shift) + zero
        low, high = LIMITS[self.dtype]
        y = np.clip(codes, low, high).astype(self.dtype.numpy)
        return np.asarray(y.reshape(*inputs.x.array.shape[:-1], *y.shape[1:]))

    def _statistics(self, u: Array, e: Array, d: Array) -> Array:
        """The statistics [..., A, K] of samples [..., A, W] and their deviations."""
        width, fine = self.width, 2 * fine_bits(self.width)
        total, square = u.sum(axis=-1), (u * u).sum(axis=-1)
        m2, m3 = (d * d).sum(axis=-1), (d * d * d).sum(axis=-1)
        m4 = (rshr(d * d, 4) ** 2).sum(axis=-1)
        flat = m2 == 0
        v = (m2 << 20) // width
        third = np.sign(m3) * ((np.abs(m3) << 6) // width)
        of_skew = np.where(flat, 1, ((v >> 16) * floor_root(v)) >> 12)
        of_kurtosis = np.where(flat, 1, (v >> 17) ** 2 >> 14)
        skew = np.sign(third) * ((np.abs(third) << 12) // of_skew)
        kurtosis = ((m4 // width) << KURTOSIS_BITS) // of_kurtosis
        every = {
            "mean": total,
            "std": floor_root((width * square - total * total) << fine),
            "rms": floor_root((width * square) << fine),
            "min": u.min(axis=-1),
            "max": u.max(axis=-1),
            "skewness": np.where(flat, 0, skew),
            "kurtosis": np.where(flat, 3 << KURTOSIS_BITS, kurtosis),
            "crossings": _crossings(u),
            "mean-crossings": _crossings(e),
        }
        names = self.statistics
        empty = np.zeros((*total.shape, 0), np.int64)
        return np.stack([every[name] for name in names], axis=-1) if names else empty

    def _bands(self, d: Array, s: Array, inputs: Inputs[Operand]) -> Array:
        """Logarithms [..., A, B] of the powers of bands of deviations [..., A, W]."""
        assert inputs.window is not None and inputs.sines is not None and inputs.bins is not None
        scaled, up = scaled_frames(d << SAMPLE_BITS, inputs.window.wide)
        power = powers(scaled, inputs.sines.wide, self.points) >> POWER_SHIFT
        found = []
        for first, count in inputs.bins.wide:
            t = power[..., first : first + count].sum(axis=-1)
            log = wide_logarithm(t.astype(np.uint64)) + ((2 * s - 2 * up) << LOG_BITS)
            found.append(np.where(t > 0, np.maximum(log, self.floor), self.floor))
        return np.stack(found, axis=-1)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(self.dtype in CODES and output.dtype is self.dtype, "codes of another type")
        known = [name for name in STATISTICS if name in self.statistics]
        need(tuple(known) == self.statistics, "statistics that are unknown, or in another order")
        ends = numbers(inputs.ends)
        need(bool(np.all((ends[:, 1] > 0) & (ends[:, 2] >= 1) & (ends[:, 2] <= 62))), "bad ends")
        need(bool(np.all(np.abs(ends[:, [0, 3]]) <= 1 << 30)), "an offset of more than 30 bits")
        need(abs(self.floor) < 1 << 24, "the least power has no logarithm of 24 bits")
        if inputs.bins is not None:
            bins = numbers(inputs.bins)
            fits = (bins[:, 0] >= 0) & (bins[:, 1] >= 1)
            fits &= bins.sum(axis=1) <= self.points // 2 + 1
            need(bool(np.all(fits)), "a band without a bin, or beyond the spectrum")


def fine_bits(width: int) -> int:
    """Fraction bits of the root of a mean square times the width."""
    return 16 - int(width).bit_length()


def _crossings(x: Array) -> Array:
    below = x < 0
    return np.asarray((below[..., 1:] != below[..., :-1]).sum(axis=-1).astype(np.int64))
