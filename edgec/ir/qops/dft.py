"""The DFT of real frames in 32-bit integers, for points whose prime factors are at most 13.

Of a frame v of N real numbers, |v| <= 2^29:

1. Z = DFT of M complex numbers: ``v[2i] + j v[2i + 1]`` with M = N/2 where N is even, ``v[i]`` with
   M = N where it is odd.  By decimation in time, a stage for each of the `radices` of M, first all
   of 2, then the odd ones from the least.  A stage of radix r joins r parts ``a[q]`` of n numbers,
   of which number i is turned by ``w[i q N / (n r)]``:

   * r = 2: ``a, b -> (a + t + 1) >> 1, (a - t + 1) >> 1``, ``t = rshr(w b, 30)``.
   * r odd, ``s = bitlen(r - 1)``, h = (r - 1) / 2: ``u[0] = rshr(a[0], s)``,
     ``u[q] = rshr(w a[q], 30 + s)``; then, with ``C[k] + j S[k] = conj w[(k mod r) N / r]``,
     ``y[0] = sum u``, and for 0 < p <= h
     ``m = u[0] + rshr(sum_q C[pq] (u[q] + u[r - q]), 30)``,
     ``e = rshr(sum_q S[pq] (u[q] - u[r - q]), 30)``, 0 < q <= h;
     ``y[p] = m - j e``, ``y[r - p] = m + j e``.

   So Z is the DFT divided by 2^`down_bits`, and no part of it grows from stage to stage.
2. N even: for 0 < k <= M/2, k' = M - k: ``E = rshr(Z[k] + conj Z[k'], 1)``,
   ``O = rshr(-j (Z[k] - conj Z[k']), 1)``, ``t = rshr(w[k] O, 30)``;
   ``p[k] = |E + t|^2``, ``p[k'] = |E - t|^2``; ``p[0], p[M] = (re Z[0] +- im Z[0])^2``.
   N odd: ``p[k] = |Z[k]|^2``.

Parts of products of complex numbers are rounded one by one.  ``w[k] = exp(-2 pi j k / N)`` with 30
fraction bits, from a quarter of a sine of ``lcm(N, 4)`` points.  |v| <= 2^29, so all parts of Z
stay below 2^30.5, powers below 2^62, and by Parseval's theorem their sum below 2^60.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import rshr
from edgec.base.portable_functions import sin

SINE_BITS = 30
"""Fraction bits of the sines."""
MOST_POINTS = 1 << 14
LEAST_POINTS = 8
MOST_RADIX = 13
_ODD = (3, 5, 7, 11, 13)


def is_computed(points: int) -> bool:
    """Whether there is a DFT of this many real numbers."""
    return LEAST_POINTS <= points <= MOST_POINTS and _rest(points) == 1


def _rest(points: int) -> int:
    """The number without the factors that have a stage."""
    for radix in (2, *_ODD):
        while points % radix == 0:
            points //= radix
    return points


def numbers_of(points: int) -> int:
    """Complex numbers of the transform of real ones."""
    return points if points % 2 else points // 2


def radices(points: int) -> tuple[int, ...]:
    """The radices of the stages, first to last."""
    left, found = numbers_of(points), []
    for radix in (2, *_ODD):
        while left % radix == 0:
            left //= radix
            found.append(radix)
    return tuple(found)


def down_bits(points: int) -> int:
    """The logarithm to base 2 of what the DFT is divided by."""
    return sum((radix - 1).bit_length() for radix in radices(points))


def quarter_points(points: int) -> int:
    """A quarter of the points of the sine that the waves are taken from."""
    return points if points % 2 else points // 2 if points % 4 else points // 4


def quarter_sines(points: int) -> Array:
    """The table of the waves, int32 [`quarter_points` + 1]."""
    quarter = quarter_points(points)
    turn = np.arange(quarter + 1) * (2 * np.pi / (4 * quarter))
    return np.asarray(np.rint(sin(turn) * 2.0**SINE_BITS).astype(np.int32))


def dft_macs(points: int) -> int:
    """Multiply-accumulates of a transform and the powers of its bins."""
    numbers, stages = numbers_of(points), radices(points)
    turned = sum(4 * (radix - 1) * (numbers // radix) for radix in stages)
    joined = sum((radix - 1) ** 2 * (numbers // radix) for radix in stages if radix > 2)
    return turned + joined + 4 * points


def powers(v: Array, sines: Array, points: int) -> Array:
    """Powers of the bins of frames.

    Args:
        v: int64 [..., W], W at most the points; zeros follow.
        sines: int64, `quarter_sines`.
        points: N.

    Returns:
        int64 [..., N // 2 + 1].
    """
    re, im = _transformed(v, sines, points)
    if points % 2:
        count = points // 2 + 1
        return np.asarray(re[..., :count] ** 2 + im[..., :count] ** 2)
    half = points // 2
    found = np.zeros((*v.shape[:-1], half + 1), np.int64)
    found[..., 0] = (re[..., 0] + im[..., 0]) ** 2
    found[..., half] = (re[..., 0] - im[..., 0]) ** 2
    k = np.arange(1, half // 2 + 1)
    a, b, c, d = re[..., k], im[..., k], re[..., half - k], im[..., half - k]
    even = rshr(a + c, 1), rshr(b - d, 1)
    odd = _turned(rshr(b + d, 1), rshr(c - a, 1), _wave(sines, k, points), SINE_BITS)
    found[..., k] = (even[0] + odd[0]) ** 2 + (even[1] + odd[1]) ** 2
    found[..., half - k] = (even[0] - odd[0]) ** 2 + (even[1] - odd[1]) ** 2
    return found


def _transformed(v: Array, sines: Array, points: int) -> tuple[Array, Array]:
    """Step 1: real and imaginary parts [..., M]."""
    numbers, stages = numbers_of(points), radices(points)
    padded = np.zeros((*v.shape[:-1], points), np.int64)
    padded[..., : v.shape[-1]] = v
    order = _places(numbers, stages)
    if points % 2:
        re, im = padded[..., order], np.zeros_like(padded)
    else:
        re, im = padded[..., 0::2][..., order], padded[..., 1::2][..., order]
    size = 1
    for radix in stages:
        shape = (*v.shape[:-1], -1, radix, size)
        turn = np.arange(radix)[:, None] * np.arange(size) * (points // (size * radix))
        a, b = re.reshape(shape), im.reshape(shape)
        joined = _pairs if radix == 2 else _odd
        re, im = joined(a, b, _wave(sines, turn, points), _roots(sines, radix, points))
        re, im = (each.reshape(*v.shape[:-1], numbers) for each in (re, im))
        size *= radix
    return re, im


def _places(numbers: int, stages: tuple[int, ...]) -> Array:
    """The number of a frame that each place of the transform begins with."""
    order = np.zeros(1, np.int64)
    for radix in stages:
        order = np.concatenate([order * radix + part for part in range(radix)])
    assert len(order) == numbers
    return order


def _roots(sines: Array, radix: int, points: int) -> tuple[Array, Array]:
    """Cosines and sines of the multiples of a turn's r-th part."""
    return _wave(sines, np.arange(radix) * (points // radix), points)


_Wave = tuple[Array, Array]


def _pairs(re: Array, im: Array, wave: _Wave, _unused: _Wave) -> tuple[Array, Array]:
    """A stage of radix 2 on [..., 2, n]."""
    turn = wave[0][1], wave[1][1]
    turned = _turned(re[..., 1, :], im[..., 1, :], turn, SINE_BITS)
    both = zip((re[..., 0, :], im[..., 0, :]), turned, strict=True)
    found = [np.stack([rshr(a + t, 1), rshr(a - t, 1)], axis=-2) for a, t in both]
    return found[0], found[1]


def _odd(re: Array, im: Array, wave: _Wave, roots: _Wave) -> tuple[Array, Array]:
    """A stage of an odd radix r on [..., r, n]."""
    radix = re.shape[-2]
    half, down = radix // 2, (radix - 1).bit_length()
    turn = wave[0][1:], wave[1][1:]
    turned = _turned(re[..., 1:, :], im[..., 1:, :], turn, SINE_BITS + down)
    parts = []
    for a, u in zip((re, im), turned, strict=True):
        first = rshr(a[..., 0, :], down)
        back = u[..., ::-1, :]
        parts.append((first, (u + back)[..., :half, :], (u - back)[..., :half, :]))
    (re0, re_sum, re_less), (im0, im_sum, im_less) = parts
    found = np.zeros((2, *re.shape), np.int64)
    found[0][..., 0, :] = re0 + re_sum.sum(axis=-2)
    found[1][..., 0, :] = im0 + im_sum.sum(axis=-2)
    for p in range(1, half + 1):
        index = p * np.arange(1, half + 1) % radix
        cosine, sine = roots[0][index][:, None], roots[1][index][:, None]
        m_re = re0 + rshr((re_sum * cosine).sum(axis=-2), SINE_BITS)
        m_im = im0 + rshr((im_sum * cosine).sum(axis=-2), SINE_BITS)
        e_re = rshr((re_less * sine).sum(axis=-2), SINE_BITS)
        e_im = rshr((im_less * sine).sum(axis=-2), SINE_BITS)
        # - j e = e_im - j e_re
        found[0][..., p, :], found[1][..., p, :] = m_re + e_im, m_im - e_re
        found[0][..., radix - p, :], found[1][..., radix - p, :] = m_re - e_im, m_im + e_re
    return found[0], found[1]


def _wave(sines: Array, index: Array, points: int) -> _Wave:
    """Cosine and sine of ``2 pi index / points``, index from 0 to the points."""
    quarter = len(sines) - 1
    place = index * (4 * quarter // points)
    later = place > 2 * quarter
    place = np.where(later, 4 * quarter - place, place)
    rising = place <= quarter
    sine = sines[np.where(rising, place, 2 * quarter - place)]
    cosine = np.where(rising, sines[np.abs(quarter - place)], -sines[np.abs(place - quarter)])
    return cosine, np.where(later, -sine, sine)


def _turned(re: Array, im: Array, wave: _Wave, bits: int) -> tuple[Array, Array]:
    """Products of complex numbers with ``cosine - j sine``, rounded."""
    cosine, sine = wave
    return rshr(re * cosine + im * sine, bits), rshr(im * cosine - re * sine, bits)
