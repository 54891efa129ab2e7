"""Range estimators: which interval of a tensor's values to represent, from its histogram.

Two passes over the calibration data: the first finds the extremes, the second counts into bins of
equal width between them.  Memory is one histogram a tensor whatever the number of samples, and the
result depends neither on batch sizes nor on order.  Exact zeros are not counted: int8 holds them
without error, and after a Relu they would drown everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.options import Observer, QuantSettings
from edgec.base.portable_functions import log
from edgec.floatrun.ops_elementwise import Function
from edgec.quant.common.few_samples import PLENTY, RARE, Tail, upper_tail
from edgec.quant.common.params import Range, activation_params, int8_params

BINS = 2048
_BLOCK = 1 << 15
"""Elements that are counted at a time: as many as fit the processor's cache."""
MARGIN = 1.25
"""Room of int16 codes beyond the calibration data at least: a third of one of 16 bits."""
_MSE_STEPS = 64
_MSE_LEAST = 0.25
"""The MSE search shrinks each end of a range down to this share of it, in _MSE_STEPS steps."""
_MSE_ROUNDS = 2
_ENTROPY_LEAST = 256
_ENTROPY_STEP = 16
"""The entropy search keeps from _ENTROPY_LEAST to all bins, in steps of _ENTROPY_STEP."""


@dataclass(slots=True)
class MinMax:
    """Running extremes of a tensor.

    Attributes:
        ends: extremes of samples, in order, as they were seen; float64 [2, S] each.
    """

    ends: list[Array] = field(default_factory=list)

    def update(self, values: Array, samples: int = 1) -> None:
        """Take in float32 values of any shape, those of one sample after the other."""
        rows = values.reshape(samples, -1)
        self.add(rows.min(axis=1), rows.max(axis=1))

    def add(self, lows: Array, highs: Array) -> None:
        """Take in the extremes of samples, [S] each."""
        self.ends.append(np.array([lows, highs], np.float64))

    @property
    def range(self) -> Range:
        """The extremes, widened to hold zero."""
        low, high = np.concatenate(self.ends, axis=1)
        return Range(min(float(low.min()), 0.0), max(float(high.max()), 0.0))

    def tails(self, plenty: int = PLENTY) -> Tails:
        """Tails that fresh samples add at both ends.

        A tensor that is nowhere negative stays so: most of these cannot be, and functions of them
        may have no value there.

        Args:
            plenty: how many samples would show the range.
        """
        ends = np.concatenate(self.ends, axis=1) * np.array([[-1.0], [1.0]])
        found = (upper_tail(end[:, None], plenty) for end in ends)
        return Tails(*(tail if tail.end[0] > 0.0 else None for tail in found))

    @property
    def roomy(self) -> Range:
        """The range that about one of `RARE` fresh samples leaves at each end."""
        room = self.tails(RARE).widened(self.range, lambda tail: tail.reach)
        return room.union(self.range.scaled(MARGIN))


def _far(tail: Tail) -> Array:
    return tail.far


@dataclass(frozen=True, slots=True, eq=False)
class Tails:
    """Tails that fresh samples add to a tensor beyond the extremes that were seen.

    Attributes:
        below: the tail of its values with their signs changed; None where no value is negative.
        above: that of its values; None where no value is positive.
    """

    below: Tail | None = None
    above: Tail | None = None

    def widened(self, seen: Range, end: Callable[[Tail], Array] = _far) -> Range:
        """A range with room for fresh samples.

        Args:
            seen: that of the samples.
            end: where a tail is taken to end; float64 [1].
        """
        low = seen.low if self.below is None else -float(end(self.below)[0])
        high = seen.high if self.above is None else float(end(self.above)[0])
        return Range(min(seen.low, low), max(seen.high, high))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Cost of errors in some elements of a tensor, downstream of it.

    Attributes:
        function: the function of one variable whose error counts; None: the tensor's own does.
        weight: what the squared error of an element counts, float64 [C] by channel or of the
            tensor's shape; 0 where the function does not read it.  None: all count alike.
    """

    function: Function | None = None
    weight: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """Cost of an error of a tensor, downstream of it: the sum over its parts."""

    parts: tuple[Part, ...] = (Part(),)


@dataclass(slots=True)
class Histogram:
    """Counts of a tensor's non-zero values in `BINS` bins of equal width over `range`.

    Attributes:
        range: the interval that the bins divide.
        aim: says what elements count, and what counts as an error.
        by_part: the counts of each part of the aim; float64 [P, BINS].
        elements: how many elements each bin has; float64 [BINS].
    """

    range: Range
    aim: Aim = Aim()
    by_part: Array = field(init=False)
    elements: Array = field(init=False)

    def __post_init__(self) -> None:
        self.by_part = np.zeros((len(self.aim.parts), BINS))
        self.elements = np.zeros(BINS)

    def add_tails(self, tails: Tails) -> None:
        """Count what as many fresh samples as were seen add: of n about one at each end.

        They weigh what the elements near the end do.
        """
        edges, found = self.edges, np.zeros_like(self.by_part)
        if tails.above is not None:
            near = edges[1:] > tails.above.start[0]
            found += self._weight(near) * tails.above.shares(edges)
        if tails.below is not None:
            near = -edges[:-1] > tails.below.start[0]
            found += self._weight(near) * tails.below.shares(-edges[::-1])[::-1]
        self.by_part += found

    def _weight(self, bins: Array) -> Array:
        """Mean weight of an element in some bins, by part; float64 [P, 1]."""
        elements = max(float(self.elements[bins].sum()), 1.0)
        return np.asarray(self.by_part[:, bins].sum(axis=1, keepdims=True) / elements)

    def update(self, values: Array) -> None:
        """Take in float32 values of any shape inside `range`."""
        if self.range.high <= self.range.low:
            return
        flat = values.reshape(-1)
        own = [_repeating(part.weight, values.shape) for part in self.aim.parts]
        size = max((len(each) for each in own if each is not None), default=1)
        step = max(_BLOCK // size, 1) * size
        tiled = [each if each is None else np.tile(each, step // len(each)) for each in own]
        for start in range(0, flat.size, step):
            self._add(flat[start : start + step], tiled)

    def _add(self, values: Array, weights: Sequence[Array | None]) -> None:
        """Count float32 values [N], by part with the first N weights."""
        factor = BINS / (self.range.high - self.range.low)
        places = values - np.float64(self.range.low)
        places *= factor
        np.minimum(np.maximum(places, 0.0, out=places), BINS - 1.0, out=places)
        index = places.astype(np.intp)
        # Zeros, all of one bin, are not counted.  Sums, for a mask takes three times as long.
        zero = int(min(max(-self.range.low * factor, 0.0), BINS - 1.0))
        index += np.multiply(values == 0, BINS - zero, dtype=np.intp)
        plain = np.bincount(index, minlength=BINS + 1)[:BINS]
        self.elements += plain
        for row, own in enumerate(weights):
            found = plain if own is None else np.bincount(index, own[: len(index)], BINS + 1)[:BINS]
            self.by_part[row] += found

    @property
    def counts(self) -> Array:
        """Weight of the elements in each bin together; float64 [BINS]."""
        return np.asarray(self.by_part.sum(axis=0))

    @property
    def centers(self) -> Array:
        """Middle of each bin; float64 [BINS]."""
        edges = self.edges
        return np.asarray((edges[:-1] + edges[1:]) / 2)

    @property
    def edges(self) -> Array:
        """Bounds of the bins; float64 [BINS + 1]."""
        return np.linspace(self.range.low, self.range.high, BINS + 1)

    @property
    def functions(self) -> tuple[tuple[Function, Array], ...]:
        """The functions whose errors count, each with its counts; empty: the tensor's own does.

        It is empty also if one has a pole in the range, as Log has at zero: the code next to a pole
        would have an error without bound, whatever the range.
        """
        reached, found = np.append(self.edges, 0.0), []
        for part, counts in zip(self.aim.parts, self.by_part, strict=True):
            with np.errstate(all="ignore"):
                if part.function is None or not np.isfinite(part.function(reached)).all():
                    return ()
            found.append((part.function, counts))
        return tuple(found)


def _repeating(weight: Array | None, shape: tuple[int, ...]) -> Array | None:
    """Weights that repeat along the elements of values of a shape; float64 [P]."""
    if weight is None or weight.ndim < 2:
        return weight
    return np.ascontiguousarray(np.broadcast_to(weight, shape[-weight.ndim :])).reshape(-1)


def choose_range(histogram: Histogram, options: QuantSettings) -> Range:
    """The range that an observer chooses; at most the histogram's, and it holds zero."""
    if options.observer is Observer.MINMAX or not histogram.counts.any():
        return histogram.range
    match options.observer:
        case Observer.PERCENTILE:
            return percentile_range(histogram, options.percentile)
        case Observer.MSE:
            return mse_range(histogram)
        case _:
            return entropy_range(histogram)


def percentile_range(histogram: Histogram, percent: float) -> Range:
    """The range that `percent` of the non-zero values do not exceed at either end."""
    cumulative = np.cumsum(histogram.counts)
    allowed = cumulative[-1] * (1.0 - percent / 100.0)
    edges = histogram.edges
    low = edges[np.searchsorted(cumulative, allowed, side="right")]
    high = edges[np.searchsorted(cumulative, cumulative[-1] - allowed, side="left") + 1]
    return Range(min(float(low), 0.0), max(float(high), 0.0))


def mse_range(histogram: Histogram) -> Range:
    """The range of least mean squared error of rounding and saturation, one end after the other."""
    best = histogram.range
    # A function may ignore one side altogether: what reads it needs no codes there.
    least = 0.0 if histogram.functions else _MSE_LEAST
    shrinks = np.linspace(1.0, least, _MSE_STEPS)
    error = _ErrorOf(histogram)
    # Both ends together first: that finds the right scale for tensors with two long tails.
    best = error.least(best, shrinks, shrinks)
    for _ in range(_MSE_ROUNDS):
        before = best
        # An end at zero stays there.
        if best.high:
            best = error.least(best, _KEPT, shrinks)
        if best.low:
            best = error.least(best, shrinks, _KEPT)
        if best == before:
            break
    return best


_KEPT = np.ones(1)


class _ErrorOf:
    """Sum of squared errors of a histogram's values, or of functions of them, in int8 codes."""

    def __init__(self, histogram: Histogram) -> None:
        self._range = histogram.range
        self._centers = histogram.centers
        self._judged = [
            (function, function(self._centers), counts) for function, counts in histogram.functions
        ]
        moments = [histogram.counts * self._centers**power for power in range(3)]
        # Of all bins below an edge.
        self._below = [np.concatenate([np.zeros(1), np.cumsum(each)]) for each in moments]

    def least(self, values: Range, below: Array, above: Array) -> Range:
        """The range of least error, of those with the ends times factors; the first one of equals.

        Args:
            values: the range.
            below: factors of the lower end; float64 [N] or [1].
            above: factors of the upper end; float64 [N] or [1].
        """
        lows, highs = np.broadcast_arrays(values.low * below, values.high * above)
        best = int(np.argmin(self.of(lows, highs)))
        return Range(float(lows[best]), float(highs[best]))

    def of(self, lows: Array, highs: Array) -> Array:
        """The errors in the int8 parameters of ranges that hold zero; float64 [N].

        Args:
            lows: lower ends, float64 [N].
            highs: upper ends, float64 [N].
        """
        scale, zero_point = (each[:, None] for each in int8_params(lows, highs))
        if self._judged:
            ends = range(_BLOCK // BINS, len(scale), _BLOCK // BINS)
            parts = zip(np.split(scale, ends), np.split(zero_point, ends), strict=True)
            return np.concatenate([self._of_functions(*part) for part in parts])
        codes = np.arange(INT8_MIN, INT8_MAX + 1) - zero_point
        # Bins whose values have a lower code than each of these, between one and the next.
        width = (self._range.high - self._range.low) / BINS or 1.0
        ends = np.ceil(((codes[:, 1:] - 0.5) * scale - self._range.low) / width - 0.5)
        places = np.empty((len(scale), codes.shape[1] + 1), np.int64)
        places[:, 0], places[:, -1] = 0, BINS
        places[:, 1:-1] = np.minimum(np.maximum(ends, 0.0), BINS)
        count, total, squares = self._below
        found = codes * scale
        error = found * np.diff(count[places], axis=1) - 2.0 * np.diff(total[places], axis=1)
        return np.asarray(squares[-1] + (found * error).sum(axis=1))

    def _of_functions(self, scale: Array, zero_point: Array) -> Array:
        """The errors of functions; scales and zero points are float64 [N, 1]."""
        steps = np.floor(self._centers / scale + 0.5)
        np.clip(steps, INT8_MIN - zero_point, INT8_MAX - zero_point, out=steps)
        # A function is computed for each code, of which there are fewer than bins.
        coded = (np.arange(INT8_MIN, INT8_MAX + 1) - zero_point) * scale
        steps += zero_point - INT8_MIN + np.arange(len(scale))[:, None] * coded.shape[1]
        places = steps.astype(np.intp)
        total = np.zeros(len(scale))
        for function, wanted, counts in self._judged:
            gaps = function(coded).take(places)
            gaps -= wanted
            gaps *= gaps
            gaps *= counts
            total += gaps.sum(axis=1)
        return total


def squared_error(histogram: Histogram, values: Range) -> float:
    """Sum of squared errors of the histogram's values in the int8 parameters of a range."""
    return float(_ErrorOf(histogram).of(np.array([values.low]), np.array([values.high]))[0])


def entropy_range(histogram: Histogram) -> Range:
    """The range of least Kullback-Leibler divergence between values and their codes.

    Source: S. Migacz, "8-bit inference with TensorRT", GTC 2017, for a threshold t that bounds both
    ends: [max(low, -t), min(high, t)].
    """
    best, best_divergence = histogram.range, float("inf")
    bin_width = (histogram.range.high - histogram.range.low) / BINS
    reach = int(np.ceil(histogram.range.magnitude / bin_width))
    for kept in range(_ENTROPY_LEAST, reach + _ENTROPY_STEP, _ENTROPY_STEP):
        threshold = kept * bin_width
        values = Range(max(histogram.range.low, -threshold), min(histogram.range.high, threshold))
        divergence = _divergence(histogram, values)
        if divergence < best_divergence:
            best, best_divergence = values, divergence
    return best


def _divergence(histogram: Histogram, values: Range) -> float:
    """KL divergence of the saturated histogram P from its quantized form Q."""
    centers = histogram.centers
    inside = (centers >= values.low) & (centers <= values.high)
    first, last = np.flatnonzero(inside)[[0, -1]]
    kept = histogram.counts[first : last + 1].astype(np.float64)
    reference = kept.copy()
    reference[0] += histogram.counts[:first].sum()
    reference[-1] += histogram.counts[last + 1 :].sum()
    params = activation_params(values)
    codes = np.floor(centers[first : last + 1] / params.tensor_scale + 0.5).astype(np.int64)
    codes -= codes[0]
    occupied = kept > 0
    totals = np.bincount(codes, weights=kept)
    members = np.bincount(codes, weights=occupied.astype(np.float64))
    spread = np.divide(totals, members, out=np.zeros_like(totals), where=members > 0)
    model = np.where(occupied, spread[codes], 0.0)
    return _kl(reference, model)


def _kl(reference: Array, model: Array) -> float:
    p, q = reference / reference.sum(), model / max(model.sum(), 1.0)
    # A bin that only saturation fills has no model: smooth it, as TensorRT does.
    q = np.where(q > 0, q, 1e-9)
    where = p > 0
    return float(np.sum(p[where] * log(p[where] / q[where])))
