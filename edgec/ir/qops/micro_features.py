"""TensorFlow Lite Micro's features of sound: filters, noise reduction, gain control, logarithm."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import bit_length
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import Operand, numbers, table, value
from edgec.ir.shapes import need

POINTS = 512
"""Points of the DFT."""
TURNS = 192
"""Powers of the first root of unity that its butterflies multiply by."""
GAINS, LOGS = 125, 130
"""Numbers of the tables of gains and of logarithms."""
_HALF = POINTS // 2
_WINDOW_BITS, _BANK_BITS, _NOISE_BITS = 12, 12, 14
_FINE_BITS, _SNR_BITS, _GAIN_BITS = 10, 12, 6
_CORRECTION = 3
_LOG_FACTOR = 45_426


@dataclass(frozen=True, slots=True)
class QMicroFeatures(IntegerOperator):
    """x int16 [1, L], samples; noise int32 [1, C]; window int16 const [W]; waves int16 const
    [320, 2]; bank int16 const [K], bins int16 const [C, 2] as in `QLogMel`; gains int16 const
    [125]; logs int16 const [130].  Outputs y int16 [1, T, C] and the noise after the last frame,
    int32 [1, C]; ``T = (L - W) / hop + 1``.

    All numbers are those of the front end of TensorFlow Lite Micro.  While noise is negative,
    frames are left out: y is 0, and each adds 1 to it.  Of a frame u, ``round15(a) = (a + 2^14) >>
    15``:

    1. ``v = (u * window) >> 12``; ``up = 15 - bitlen(max |v|)``; v is shifted left by `up`.
    2. Z = DFT of ``v[2i] + j v[2i+1]``, 256 points in four stages of butterflies of four:
       each number times 8191, ``round15``; those but the first times a power of the root of unity,
       its parts rounded by ``round15``; sums and differences in 16 bits.
    3. For 0 < k <= 128: ``a = Z[k]``, ``b = conj Z[256-k]``, times 16383, ``round15``;
       ``t = (a - b) waves``, rounded; ``X[k] = (a + b + t) >> 1``,
       ``X[256-k] = conj(a + b - t) >> 1``.
    4. ``s[c] = root(sum bank * |X|^2) >> up``, the root rounded to the nearest.
    5. Noise: with S = s << 10 and q = 409 or 983 (even or odd c),
       ``noise = (S q + noise (2^14 - q)) >> 14``;
       ``r = max((S - min(noise, S)) >> 10, (s * 819) >> 14)``.
    6. Gain: ``n = (r * g(noise)) >> 6``, where g interpolates `gains` by parabolas between powers
       of 2; ``n < 2^13 ? n^2 >> 20 : (n >> 6) - 64``.
    7. ``y = 64 ln(8 n)`` in 16 bits, with straight lines between 128 `logs` an octave; 0 where
       8 n is 0 or 1.

    Source: tensorflow/lite/experimental/microfrontend/lib, with kiss_fft of 16 bits.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        noise: T = field(metadata=value(DType.INT32))
        window: T = field(metadata=table(DType.INT16))
        waves: T = field(metadata=table(DType.INT16))
        bank: T = field(metadata=table(DType.INT16))
        bins: T = field(metadata=table(DType.INT16))
        gains: T = field(metadata=table(DType.INT16))
        logs: T = field(metadata=table(DType.INT16))

    hop: int

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shapes(self, inputs: Inputs[Shape]) -> tuple[Shape, ...]:
        need(len(inputs.x) == 2 and inputs.x[0] == 1, "x must be [1, L]")
        need(len(inputs.bins) == 2 and inputs.bins[1] == 2, "the bins must be [C, 2]")
        (width,), channels = inputs.window, inputs.bins[0]
        need(8 <= width <= POINTS and width % 2 == 0, "the window is longer than the DFT, or odd")
        need(inputs.waves == (TURNS + _HALF // 2, 2), "waves of another DFT")
        need((*inputs.gains, *inputs.logs) == (GAINS, LOGS), "tables of another size")
        need(inputs.noise == (1, channels), "noise is not [1, C]")
        rest = inputs.x[1] - width
        need(self.hop >= 1 and rest >= 0 and rest % self.hop == 0, "x is no number of frames")
        return (1, rest // self.hop + 1, channels), (1, channels)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return output[1] * micro_macs(inputs.window[0])

    def compute_outputs(self, inputs: Inputs[Operand]) -> tuple[Array, ...]:
        x, noise = inputs.x.wide[0], inputs.noise.wide[0]
        width, even = len(inputs.window.array), np.arange(len(noise)) % 2 == 0
        starts = np.arange(0, len(x) - width + 1, self.hop)
        frames = x[starts[:, None] + np.arange(width)]
        signals = _signals(frames, inputs)
        share = np.where(even, 409, 983)
        found = np.zeros((len(starts), len(noise)), np.int64)
        for row, signal in enumerate(signals):
            if noise[0] < 0:
                noise = noise + 1
                continue
            fine = signal << _FINE_BITS
            noise = (fine * share + noise * ((1 << _NOISE_BITS) - share)) >> _NOISE_BITS
            rest = (fine - np.minimum(noise, fine)) >> _FINE_BITS
            rest = np.maximum(rest, (signal * 819) >> _NOISE_BITS)
            snr = (rest * _gain(noise, inputs.gains.wide)) >> _GAIN_BITS
            small = (snr * snr) >> (2 + 2 * _SNR_BITS - _GAIN_BITS)
            large = (snr >> (_SNR_BITS - _GAIN_BITS)) - (1 << _GAIN_BITS)
            shrunk = np.where(snr < 2 << _SNR_BITS, small, large)
            found[row] = _logarithm(shrunk << _CORRECTION, inputs.logs.wide)
        y = np.minimum(found, INT16_MAX).astype(np.int16)
        return y[None], noise.astype(np.int32)[None]

    def verify_outputs(self, inputs: Inputs[Tensor], outputs: tuple[Value, ...]) -> None:
        y, noise = outputs
        need((y.dtype, noise.dtype) == (DType.INT16, DType.INT32), "outputs of other types")
        bins = numbers(inputs.bins)
        fits = (bins[:, 0] >= 1) & (bins[:, 1] >= 1) & (bins.sum(axis=1) <= _HALF)
        need(bool(np.all(fits)), "a filter without a bin, or beyond the spectrum")
        need(int(bins[:, 1].sum()) == inputs.bank.shape[0], "weights of other filters")


def micro_macs(width: int) -> int:
    """Multiply-accumulates of a frame: window, four stages, bins, and two filters for each bin."""
    return width + 4 * (_HALF // 4) * 20 + 8 * _HALF


def _round15(x: Array) -> Array:
    return _wrapped((x + (1 << 14)) >> 15)


def _wrapped(x: Array) -> Array:
    """The value in 16 bits."""
    return x.astype(np.int16).astype(np.int64)


def _times(a: tuple[Array, Array], w: Array) -> tuple[Array, Array]:
    """Products of complex numbers with w [..., 2]."""
    re, im = a
    return (
        _round15(re * w[..., 0] - im * w[..., 1]),
        _round15(re * w[..., 1] + im * w[..., 0]),
    )


def _signals(frames: Array, inputs: QMicroFeatures.Inputs[Operand]) -> Array:
    """Steps 1 to 4 of frames [T, W]: int64 [T, C]."""
    v = _wrapped((frames * inputs.window.wide) >> _WINDOW_BITS)
    up = 15 - bit_length(np.maximum(_wrapped(np.abs(v)), 0).max(axis=-1))
    padded = np.zeros((len(v), POINTS), np.int64)
    padded[:, : v.shape[1]] = _wrapped(v << up[:, None])
    waves = inputs.waves.wide
    re, im = _spectrum(*_transform(padded[:, 0::2], padded[:, 1::2], waves), waves)
    energy = (re * re + im * im).astype(np.uint64)
    bank, at = inputs.bank.array.astype(np.uint64), 0
    sums = np.zeros((len(v), len(inputs.bins.array)), np.uint64)
    for channel, (first, count) in enumerate(inputs.bins.wide):
        sums[:, channel] = energy[:, first : first + count] @ bank[at : at + count]
        at += count
    return np.asarray(_nearest_root(sums.astype(np.int64)) >> up[:, None])


def _transform(re: Array, im: Array, waves: Array) -> tuple[Array, Array]:
    """Step 2."""
    place = np.arange(_HALF)
    order = sum(((place >> (2 * digit)) & 3) << (6 - 2 * digit) for digit in range(4))
    re, im = re[:, order], im[:, order]
    for size in (1, 4, 16, 64):
        step = _HALF // 4 // size
        turn = np.arange(size) * step
        parts = [
            (_round15(a[:, :, k] * 8191), _round15(b[:, :, k] * 8191))
            for a, b in [(re.reshape(len(re), -1, 4, size), im.reshape(len(re), -1, 4, size))]
            for k in range(4)
        ]
        a = parts[0]
        b, c, d = (_times(parts[k], waves[k * turn]) for k in (1, 2, 3))
        low = [_wrapped(p + q) for p, q in zip(a, c, strict=True)]
        high = [_wrapped(p - q) for p, q in zip(a, c, strict=True)]
        plus = [_wrapped(p + q) for p, q in zip(b, d, strict=True)]
        less = [_wrapped(p - q) for p, q in zip(b, d, strict=True)]
        quarters = (
            (low[0] + plus[0], low[1] + plus[1]),
            (high[0] + less[1], high[1] - less[0]),
            (low[0] - plus[0], low[1] - plus[1]),
            (high[0] - less[1], high[1] + less[0]),
        )
        re, im = (
            _wrapped(np.stack([q[k] for q in quarters], axis=2)).reshape(len(re), _HALF)
            for k in (0, 1)
        )
    return re, im


def _spectrum(re: Array, im: Array, waves: Array) -> tuple[Array, Array]:
    """Step 3: the bins 0 to 256; those at both ends are left 0."""
    k = np.arange(1, _HALF // 2 + 1)
    a = _round15(re[:, k] * 16383), _round15(im[:, k] * 16383)
    b = _round15(re[:, _HALF - k] * 16383), _round15(_wrapped(-im[:, _HALF - k]) * 16383)
    s = [_wrapped(p + q) for p, q in zip(a, b, strict=True)]
    t = _times((_wrapped(a[0] - b[0]), _wrapped(a[1] - b[1])), waves[TURNS:])
    found = np.zeros((2, len(re), _HALF + 1), np.int64)
    found[0][:, k], found[1][:, k] = (s[0] + t[0]) >> 1, (s[1] + t[1]) >> 1
    found[0][:, _HALF - k], found[1][:, _HALF - k] = (s[0] - t[0]) >> 1, (t[1] - s[1]) >> 1
    return found[0], found[1]


def _nearest_root(x: Array) -> Array:
    """Square roots of int64 below 2^52, rounded to the nearest; at most 65535 below 2^32."""
    root = np.sqrt(x.astype(np.float64)).astype(np.int64)
    root += x - root * root > root
    return np.where((x >> 32 == 0) & (root == 1 << 16), 65535, root)


def _gain(noise: Array, gains: Array) -> Array:
    """The gain of step 6."""
    octave = bit_length(noise)
    at = np.where(noise <= 2, 0, 4 * octave - 6)
    near = np.where(
        octave < 11, noise << np.maximum(11 - octave, 0), noise >> np.maximum(octave - 11, 0)
    )
    part = near & 1023
    curve = ((gains[at + 2] * part) >> 5) + (gains[at + 1] << 5)
    found = ((curve * part + (1 << 14)) >> 15) + gains[at]
    return np.where(noise <= 2, gains[np.minimum(noise, 2)], _wrapped(found))


def _logarithm(x: Array, logs: Array) -> Array:
    """Step 7, of int64 below 2^32."""
    octave = np.maximum(bit_length(x) - 1, 0)
    rest = x - (np.int64(1) << octave)
    rest = np.where(
        octave < 16, rest << np.maximum(16 - octave, 0), rest >> np.maximum(octave - 16, 0)
    )
    rest = np.maximum(rest, 0)
    line = rest >> 9
    between = ((logs[line + 1] - logs[line]) * (rest - (line << 9))) >> 16
    log2 = (octave << 16) + rest + logs[line] + between
    natural = (_LOG_FACTOR * log2 + (1 << 15)) >> 16
    return np.where(x > 1, ((natural << 6) + (1 << 15)) >> 16, 0)
