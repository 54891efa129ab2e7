"""Let layers that round twice round once, where every code stays what it is.

Rules:
1. offset: a QConv, QConvTranspose or QGemm in the form `TwoRoundings31` takes the form `Offset31`,
   which is cheaper, where numbers are found that give the same codes for all accumulators that its
   weights and its bias allow (`staircase`).

TensorFlow Lite's second rounding takes halves away from zero, so its staircase has a bend where
products become negative.  Layers whose least code is the zero point, as those with Relu have it,
never see it; for the others there are no such numbers as a rule.

Numbers of `qops.Offset31` with which it gives the same codes as another form, where there are.

The codes of a monotone form are a staircase over the accumulators: code k or more from a threshold
T[k] on.  ``acc * m + c >= k * D`` has the same thresholds if, for every k,

    k * D - T[k] * m  <=  c  <  k * D - (T[k] - 1) * m

so c has an interval for each k, and whatever lies in all of them is right.  All of it is checked in
whole numbers for every threshold that an accumulator can reach: nothing is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weighted import product_range

_HIGH_BITS = 32
_LARGEST_MULTIPLIER = (1 << 31) - 1
_MOST_SHIFT = 20
"""Right shift of a high word: what is below the least bit of a code, with room for offsets."""
_NEIGHBOURS = 48
"""Multipliers above and below the nearest one that are tried where that one fails."""
_FEW = 0.2
"""Share of the channels that may fail with the nearest multiplier; more have a bend at zero."""
_FREE = 1 << 61
_NEAR = 2 << _HIGH_BITS
_BATCHES = (1 << 10, 1 << 14, 1 << 17)
"""Additions to a bias that are tried, in steps of growing size."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A form, and what it needs of a layer.

    Attributes:
        form: the form.
        multiplier: int32 [O].
        added: what biases hold more than before: int64 [O].
    """

    form: qops.Offset31
    multiplier: Array
    added: Array


def offset_numbers(
    form: qops.TwoRoundings31, multiplier: Array, least: Array, greatest: Array
) -> Numbers | None:
    """Numbers with which `qops.Offset31` gives the codes of a form, for all accumulators.

    Args:
        form: the form.
        multiplier: int32 [O], that of the form.
        least, greatest: bounds of the accumulators of each channel, both inclusive: int64 [O].

    Returns:
        The numbers; None if some channel has none.
    """
    codes = np.arange(form.low + 1, form.high + 1)
    starts = _thresholds(form, multiplier, least, greatest, codes)
    exponents = np.broadcast_to(np.asarray(form.shifts, np.int64), multiplier.shape)
    factors = multiplier * 2.0**exponents  # in units of 2^-31
    shift = _shift(factors)
    stairs = _Stairs(codes << (_HIGH_BITS + shift), starts, least, greatest)
    nearest = np.round(factors * 2.0 ** (shift + 1)).astype(np.int64)
    slopes, low, high = _best_slopes(stairs, np.clip(nearest, 1, _LARGEST_MULTIPLIER))
    if np.any(low > high):
        return None
    found = [_whole(*numbers) for numbers in zip(slopes, low, high, strict=True)]
    if any(each is None for each in found):
        return None
    offsets, added = np.array([each for each in found if each is not None]).T
    if np.abs(offsets).max() > qops.Offset31.LARGEST_OFFSET:
        return None
    exact = qops.Offset31(shift, tuple(map(int, offsets)), form.low, form.high)
    return Numbers(exact, slopes.astype(np.int32), added)


def _thresholds(
    form: qops.TwoRoundings31, multiplier: Array, least: Array, greatest: Array, codes: Array
) -> Array:
    """The least accumulator of each code: int64 [K, O]; ``greatest + 1`` where there is none."""
    shape = len(codes), len(least)
    below, above = np.broadcast_to(least - 1, shape).copy(), np.broadcast_to(greatest + 1, shape)
    above = above.copy()
    while np.any(above - below > 1):
        middle = (below + above) >> 1
        reached = form.scaled(middle, multiplier) >= codes[:, None]
        open_ends = above - below > 1
        above = np.where(open_ends & reached, middle, above)
        below = np.where(open_ends & ~reached, middle, below)
    return above


def _shift(factors: Array) -> int:
    """The largest shift with which every multiplier has 31 bits."""
    largest = max(float(factors.max(initial=0.0)), 1.0)
    return int(np.clip(30 - np.ceil(np.log2(largest + 1)), 0, _MOST_SHIFT))


@dataclass(frozen=True, slots=True, eq=False)
class _Stairs:
    """Thresholds of some channels: [K] codes times D, [K, C] starts, [C] bounds."""

    heights: Array
    starts: Array
    least: Array
    greatest: Array

    def of(self, channels: Array) -> _Stairs:
        """The thresholds of some of the channels."""
        bounds = self.least[channels], self.greatest[channels]
        return _Stairs(self.heights, self.starts[:, channels], *bounds)

    def interval(self, slopes: Array) -> tuple[Array, Array]:
        """The least and the greatest c for these multipliers: int64 [C] each."""
        heights = self.heights[:, None]
        low = np.where(self.starts <= self.greatest, heights - self.starts * slopes, -_FREE)
        ends = heights - 1 - (self.starts - 1) * slopes
        high = np.where(self.starts > self.least, ends, _FREE)
        return low.max(axis=0, initial=-_FREE), high.min(axis=0, initial=_FREE)


def _best_slopes(stairs: _Stairs, nearest: Array) -> tuple[Array, Array, Array]:
    """Multipliers near the given ones with their intervals, empty where there is none."""
    slopes = nearest.copy()
    low, high = stairs.interval(slopes)
    failed = np.flatnonzero(low > high)
    if len(failed) > _FEW * len(slopes) + 1:
        return slopes, low, high
    some, near = stairs.of(failed), nearest[failed]
    for step in (sign * size for size in range(1, _NEIGHBOURS + 1) for sign in (1, -1)):
        tried = np.clip(near + step, 1, _LARGEST_MULTIPLIER)
        first, last = some.interval(tried)
        better = last - first > high[failed] - low[failed]
        slopes[failed] = np.where(better, tried, slopes[failed])
        low[failed] = np.where(better, first, low[failed])
        high[failed] = np.where(better, last, high[failed])
    return slopes, low, high


def _whole(slope: int, low: int, high: int) -> tuple[int, int] | None:
    """An offset and what is added to the bias, which together make a c of the interval.

    ``c = offset * 2^32 + 2^31 + added * slope``: the offset has coarse steps, and so has what is
    added, but their remainders are dense.
    """
    # A c without a bound on one side is chosen near the other.
    if low == -_FREE:
        low = min(high, 0) - _NEAR
    if high == _FREE:
        high = low + _NEAR
    first, last = low - (1 << (_HIGH_BITS - 1)), high - (1 << (_HIGH_BITS - 1))
    for most in _BATCHES:
        added = np.arange(-most, most + 1)
        rest = added * slope
        offsets = -((rest - first) >> _HIGH_BITS)
        fits = np.flatnonzero((offsets << _HIGH_BITS) + rest <= last)
        if len(fits):
            best = fits[np.argmin(np.abs(added[fits]))]
            return int(offsets[best]), int(added[best])
    return None


_LAYERS = (qops.QConv, qops.QConvTranspose, qops.QGemm)
_INPUT_SPAN = 256


def single_rounding(graph: Graph) -> Graph:
    """Apply the rule."""
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if isinstance(node.attrs, _LAYERS) and isinstance(node.attrs.output, qops.TwoRoundings31):
            _rewrite(builder, graph, node, node.attrs.output)
    return builder.build()


def rounding_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: layers that round once though TensorFlow Lite rounds twice."""
    forms = [node.attrs.output for node in after.nodes if isinstance(node.attrs, _LAYERS)]
    once = sum(isinstance(form, qops.Offset31) for form in forms)
    twice = sum(isinstance(form, qops.TwoRoundings31) for form in forms)
    if not once + twice:
        return ()
    return (f"{once} of {once + twice} layers round once, with the codes of two roundings",)


def _rewrite(builder: GraphBuilder, graph: Graph, node: Node, form: qops.TwoRoundings31) -> None:
    attrs = node.attrs_as(*_LAYERS)
    inputs = attrs.Inputs.of(node.inputs)
    bias, multiplier = (graph.constants[name] for name in (inputs.b, inputs.multiplier))
    weights = graph.constants[inputs.w].array
    least, greatest = product_range(graph, node)
    start = bias.array.astype(np.int64)
    found = offset_numbers(form, multiplier.array, start + least, start + greatest)
    if found is None:
        return
    rows = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(axis=1)
    moved = start + found.added
    if np.any(np.abs(moved) + _INPUT_SPAN * rows > INT32_MAX):
        return
    names = (
        builder.constant(bias.name, frozen(moved, np.int32), bias.quant),
        builder.constant(multiplier.name, frozen(found.multiplier, np.int32)),
    )
    once = inputs.with_rows(inputs.w, *names)
    builder.put(replace(node, attrs=replace(attrs, output=found.form), inputs=once.names()))
