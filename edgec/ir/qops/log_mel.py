"""Logarithms of mel energies: windowed frames of sound, their spectra and a bank of filters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import rshr, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import floor_root
from edgec.ir.qops.base import LIMITS, IntegerOperator, need_clamp, need_dtype, need_shift
from edgec.ir.qops.dft import dft_macs, is_computed, powers, quarter_points
from edgec.ir.qops.operands import Operand, numbers, table, value
from edgec.ir.qops.softmax import LOG_BITS
from edgec.ir.qops.spectrum import POWER_SHIFT, SAMPLE_BITS, scaled_frames, wide_logarithm
from edgec.ir.shapes import need

MOST_UP = 30
"""Most bits by which the added number is moved up, for quiet frames."""


@dataclass(frozen=True, slots=True)
class QLogMel(IntegerOperator):
    """x int16 [1, L], samples; window int16 const [W]; sines int32 const, `dft.quarter_sines` of N
    `points`, at least W; bank int16 const [K], weights of all filters one after the other; bins
    int16 const [C, 2], the first bin of each filter and how many it has; y int16 [1, T, C],
    ``T = (L - W - p) / hop + 1``, where p is 1 with `emphasis` and not `within`, else 0.

    Of frame t, ``u[n] = x[t * hop + n]``:

    1. ``e[n] = (u[n + p] << 15) - emphasis * u[n] - m``, n < W; with `within` ``u[max(n - 1, 0)]``
       is in the place of the second ``u[n]``; m is 0, or with `centred` ``floor((2 (2^15 -
       emphasis) sum u[n + p] + W) / (2 W))``, what the mean of a frame is after its emphasis;
       ``h = min(29 - bitlen(max |e|), 14)``, 0 where all are 0;
       ``v[n] = rshr(e[n] * window[n], 15 - h)``, 0 from W to N.
    2. The powers p of the bins of v by the DFT of `ir.qops.dft`.
    3. ``r[k] = floor(sqrt(p[k]))`` with `magnitude`, else ``p[k] >> 14``;
       ``s[c] = sum bank * r + (more << n)``, ``n = d h - more_shift`` (to the right where n < 0),
       where d is 1 with `magnitude`, else 2.
    4. ``y = clamp(rshr((log2(s) - (d h << 16) + offset) * multiplier, shift))``, log2 with 16
       fraction bits of the first 32 bits of s; `low` where s is 0.

    Attributes:
        hop: samples from frame to frame.
        points: points of the DFT.
        emphasis: the share of the sample before that is taken off, 15 fraction bits.
        magnitude: filters weigh the square roots of powers.
        more, more_shift: what is added to the sums; it keeps logarithms of silence finite.
        offset: added to logarithms, 16 fraction bits.
        multiplier, shift: from logarithms to codes.
        low, high: bounds of y.
        within: the sample before the first of a frame is that one itself.
        centred: the mean of a frame's samples is taken off them.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        window: T = field(metadata=table(DType.INT16))
        sines: T = field(metadata=table(DType.INT32))
        bank: T = field(metadata=table(DType.INT16))
        bins: T = field(metadata=table(DType.INT16))

    hop: int
    points: int
    emphasis: int
    magnitude: bool
    more: int
    more_shift: int
    offset: int
    multiplier: int
    shift: int
    low: int
    high: int
    within: bool = False
    centred: bool = False

    @property
    def before(self) -> int:
        """Samples before a frame that it reads."""
        return 1 if self.emphasis and not self.within else 0

    @property
    def power(self) -> int:
        """Exponent of the amplitude in what filters weigh."""
        return 1 if self.magnitude else 2

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 2 and inputs.x[0] == 1, "x must be [1, L]")
        need(len(inputs.bins) == 2 and inputs.bins[1] == 2, "the bins must be [C, 2]")
        (width,) = inputs.window
        need(is_computed(self.points), f"a DFT of {self.points} points")
        need(inputs.sines[0] == quarter_points(self.points) + 1, "waves of another DFT")
        need(1 <= width <= self.points, "the window is longer than the DFT")
        rest = inputs.x[1] - width - self.before
        need(self.hop >= 1 and rest >= 0 and rest % self.hop == 0, "x is no number of frames")
        return (1, rest // self.hop + 1, inputs.bins[0])

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return output[1] * (inputs.window[0] + dft_macs(self.points))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array.reshape(-1, inputs.x.array.shape[-1]).astype(np.int64)
        width, rows = len(inputs.window.array), inputs.bins.wide
        starts = np.arange(0, x.shape[1] - width - self.before + 1, self.hop)
        frames = x[:, starts[:, None] + np.arange(width + self.before)]
        scaled, up = self._scaled(frames, inputs.window.wide)
        weighed = self._weighed(powers(scaled, inputs.sines.wide, self.points))
        sums = np.zeros((*up.shape, len(rows)), np.uint64)
        at = 0
        for channel, (first, count) in enumerate(rows):
            weights = inputs.bank.array[at : at + count].astype(np.uint64)
            sums[..., channel] = weighed[..., first : first + count] @ weights
            at += count
        return self._codes(sums, up).reshape(*inputs.x.array.shape[:-1], *sums.shape[1:])

    def _scaled(self, frames: Array, window: Array) -> tuple[Array, Array]:
        """Step 1, without the zeros: v [..., W] and h [...]."""
        own, earlier = frames[..., self.before :], frames[..., : len(window)]
        if self.within:
            earlier = np.concatenate([frames[..., :1], frames[..., :-1]], axis=-1)
        e = (own << SAMPLE_BITS) - self.emphasis * earlier
        if self.centred:
            width, left = len(window), (1 << SAMPLE_BITS) - self.emphasis
            sums = own.sum(axis=-1, keepdims=True)
            e = e - (2 * left * sums + width) // (2 * width)
        return scaled_frames(e, window)

    def _weighed(self, power: Array) -> Array:
        """The numbers of bins that filters weigh, of their powers, uint64."""
        if not self.magnitude:
            return (power >> POWER_SHIFT).astype(np.uint64)
        return floor_root(power).astype(np.uint64)

    def _codes(self, sums: Array, up: Array) -> Array:
        """Step 4 and the end of step 3."""
        moved = self.power * up - self.more_shift
        left, right = np.maximum(moved, 0), np.minimum(np.maximum(-moved, 0), 31)
        total = sums + ((self.more << left) >> right).astype(np.uint64)[..., None]
        log = wide_logarithm(total) + self.offset - (self.power * up[..., None] << LOG_BITS)
        found = np.where(total > 0, rshr(log * self.multiplier, self.shift), self.low)
        return saturate(found, self.low, self.high).astype(np.int16)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, DType.INT16)
        need_clamp(self.low, self.high, *LIMITS[DType.INT16])
        need_shift(self.shift)
        need(0 <= self.emphasis <= 1 << SAMPLE_BITS, f"bad emphasis {self.emphasis}")
        need(0 <= self.more < 1 << 31, "the least number has more than 31 bits")
        reach = self.power * (SAMPLE_BITS - 1) - self.more_shift
        need(reach <= MOST_UP, "the least number is too large for quiet frames")
        need(abs(self.offset) < 1 << 24 and 0 < self.multiplier < 1 << 31, "bad logarithms")
        window, bank, bins = (numbers(t) for t in (inputs.window, inputs.bank, inputs.bins))
        need(bool(np.all(window >= 0) and np.all(bank >= 0)), "a negative weight")
        last = self.points // 2
        fits = (bins[:, 0] >= 0) & (bins[:, 1] >= 1) & (bins.sum(axis=1) <= last + 1)
        need(bool(np.all(fits)), "a filter without a bin, or beyond the spectrum")
        need(int(bins[:, 1].sum()) == len(bank), "weights of other filters")
