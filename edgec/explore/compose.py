"""Proposals composed of what finished trials show of the single values of knobs.

What the values of knobs do to a figure nearly adds up (to time, flash and RAM as factors), so a few
trials that change one knob each predict all settings.  Figures are predicted by a Gaussian process
(Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 2) around those of
the default build: settings are alike by the values, and pairs of values, that they share and the
default build does not have, and by how few knobs tell them apart.  The setting is proposed that
adds most to the volume that finished trials beat, by prediction; what running trials will find is
predicted, too.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import inverse_of_positive, product
from edgec.explore.space import Setting, Space

_MOST_CANDIDATES = 2000
_DRAWS = 2048
"""Random points of the box of all figures that measure volumes."""
_PAIR, _TOGETHER, _NOISE = 0.3, 0.1, 1e-3
"""Variances of what two values do together, of all else that a setting does, and of figures
themselves, beside that of one value."""
_NOTICEABLE = 2e-3
"""Share of a figure below which a difference is none."""
_LEAST_GAIN = 2
"""Points of the draws that a setting must add."""
_CHUNK = 256

_Value = tuple[str, str]
"""A knob and one of its values."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial that was finished.

    Attributes:
        setting: a value for each knob.
        figures: its objectives, points of accuracy first, others positive; None: it was refused.
    """

    setting: Setting
    figures: Sequence[float] | None


def composed(
    space: Space,
    tried: Sequence[Tried],
    running: Sequence[Setting],
    bounds: Sequence[float],
    seed: int,
) -> Setting | None:
    """The setting that promises most.

    Args:
        space: values of each knob, the default one first.
        tried: finished trials.
        running: settings that are being built.
        bounds: the most of each figure, infinity where there is no limit.
        seed: that of the draws.

    Returns:
        None: nothing was built, or nothing promises to add to the finished trials.
    """
    built = [each for each in tried if each.figures is not None]
    candidates = _candidates(space, tried, running, seed)
    if not built or not candidates:
        return None
    known = np.array([_scaled(each.figures) for each in built])
    most = np.array(_scaled(bounds))
    tried_codes, codes = (_codes(space, s) for s in ([e.setting for e in built], candidates))
    base = base_of(space, tried)
    start = next(row for row, each in zip(known, built, strict=True) if each.setting == base)
    predict = _Prediction(tried_codes, known, start)
    found, seen = predict(codes), known
    if running:
        seen = np.concatenate([known, predict(_codes(space, running))])
    excess = np.maximum(found - most, 0.0).sum(1)
    gains = _gains(found, seen[(seen <= most).all(1)], known, seed)
    # Of equal gains that with the fewest changes: what else it would change does nothing.
    order = np.lexsort(((codes > 0).sum(1), -gains, excess))
    best = int(order[0])
    return candidates[best] if gains[best] >= _LEAST_GAIN or excess[best] > 0 else None


def base_of(space: Space, tried: Sequence[Tried]) -> Setting:
    """The default build; where it could not be built, the one with the fewest changes that could.

    Args:
        space: values of each knob, the default one first.
        tried: finished trials.
    """
    usual = {knob: values[0] for knob, values in space.items()}
    built = [each.setting for each in tried if each.figures is not None]
    return min(built, key=lambda each: len(_changed(usual, each)), default=usual)


def effects(base: Setting, tried: Sequence[Tried]) -> dict[str, float]:
    """The most that a change of one knob alone did to figures, by knob; others did nothing.

    Args:
        base: the setting that others are held against, from `base_of`.
        tried: finished trials.

    Returns:
        Sums of differences, each as a share of what all trials differ by; 0 for a knob of which
        what was tried could not be built.
    """
    known = [_scaled(each.figures) for each in tried if each.figures is not None]
    spans = [max(column) - min(column) for column in zip(*known, strict=True)]
    first = next((e.figures for e in tried if e.setting == base), None)
    found: dict[str, float] = {}
    for knob, _, figures in _alone(base, tried):
        if not _differs(figures, first):
            continue
        effect = 0.0
        if figures is not None and first is not None:
            pairs = zip(_scaled(figures), _scaled(first), spans, strict=True)
            effect = sum(abs(a - b) / span for a, b, span in pairs if span > 0.0)
        found[knob] = max(effect, found.get(knob, 0.0))
    return found


def _values_without_effect(base: Setting, tried: Sequence[Tried]) -> set[tuple[str, str]]:
    first = next((e.figures for e in tried if e.setting == base), None)
    alone = _alone(base, tried)
    return {(knob, value) for knob, value, figures in alone if not _differs(figures, first)}


def _alone(
    base: Setting, tried: Sequence[Tried]
) -> Iterator[tuple[str, str, Sequence[float] | None]]:
    """Values that were tried alone, and the figures that they gave."""
    for each in tried:
        changed = [*_changed(base, each.setting)]
        if len(changed) == 1:
            yield *changed[0], each.figures


def _differs(figures: Sequence[float] | None, other: Sequence[float] | None) -> bool:
    if figures is None or other is None:
        return figures is not other
    pairs = zip(figures, other, strict=True)
    return any(abs(a - b) > _NOTICEABLE * max(abs(a), abs(b)) for a, b in pairs)


def _apart(usual: Setting, tried: Sequence[Tried]) -> Callable[[Setting], bool]:
    """Whether values of a setting do not go together, as far as trials tell.

    Two values were refused together and never built together, though each was built; and no other
    such pair was in that trial, or they were refused twice.  Of knobs with two such pairs and
    nothing that was built, no values go together.
    """
    built = [_changed(usual, e.setting) for e in tried if e.figures is not None]
    values = frozenset[_Value]().union(*built)
    together = {pair for each in built for pair in _pairs(each)}
    counts: Counter[frozenset[_Value]] = Counter()
    for each in tried:
        if each.figures is None:
            pairs = _pairs(_changed(usual, each.setting) & values) - together
            counts.update(dict.fromkeys(pairs, 2 if len(pairs) == 1 else 1))
    knobs = Counter(map(_knobs, counts))
    never = {pair for pair, count in counts.items() if count >= 2}
    closed = {each for each, count in knobs.items() if count >= 2} - set(map(_knobs, together))

    def is_apart(setting: Setting) -> bool:
        pairs = _pairs(_changed(usual, setting))
        return not pairs.isdisjoint(never) or not closed.isdisjoint(map(_knobs, pairs))

    return is_apart


def _pairs(values: Iterable[_Value]) -> set[frozenset[_Value]]:
    return {frozenset(pair) for pair in itertools.combinations(values, 2)}


def _knobs(values: frozenset[_Value]) -> frozenset[str]:
    return frozenset(knob for knob, _ in values)


def _changed(usual: Setting, setting: Setting) -> frozenset[_Value]:
    """The values that are not those of another setting."""
    return frozenset((knob, value) for knob, value in setting.items() if value != usual[knob])


def _scaled(figures: Sequence[float] | None) -> list[float]:
    """Figures as they add up: points, and logarithms of all others."""
    assert figures is not None
    drop, *rest = figures
    return [float(drop), *(math.log(max(each, 1e-9)) for each in rest)]


def _candidates(
    space: Space, tried: Sequence[Tried], running: Sequence[Setting], seed: int
) -> list[Setting]:
    """Settings of values that were built, in any combination, that nobody tried.

    Values that change nothing alone are left out: a sum of effects is no better with than without.
    """
    usual = {knob: own[0] for knob, own in space.items()}
    idle = _values_without_effect(base_of(space, tried), tried)
    is_apart = _apart(usual, tried)
    seen = {pair for each in tried if each.figures is not None for pair in each.setting.items()}
    values = {
        k: [v for v in own if (k, v) in seen and (k, v) not in idle] for k, own in space.items()
    }
    sizes = [len(own) for own in values.values()]
    if not all(sizes):
        return []
    count = math.prod(sizes)
    dice = random.Random(seed)
    numbers = dice.sample(range(count), _MOST_CANDIDATES) if count > _MOST_CANDIDATES else None
    begun = (*(each.setting for each in tried), *running)
    known = {tuple(each[knob] for knob in space) for each in begun}
    every = (
        itertools.product(*values.values())
        if numbers is None
        else (_of_number(list(values.values()), number) for number in numbers)
    )
    open_settings = (dict(zip(space, each, strict=True)) for each in every if each not in known)
    return [each for each in open_settings if not is_apart(each)]


def _of_number(values: Sequence[Sequence[str]], number: int) -> tuple[str, ...]:
    """The combination of a number, as `itertools.product` counts them."""
    found = []
    for own in reversed(values):
        number, place = divmod(number, len(own))
        found.append(own[place])
    return tuple(reversed(found))


def _codes(space: Space, settings: Sequence[Setting]) -> Array:
    """Settings as places of their values, int64 [N, knobs]; 0 is the default."""
    places = [{v: i for i, v in enumerate(own)} for own in space.values()]
    rows = [[p[s[knob]] for knob, p in zip(space, places, strict=True)] for s in settings]
    return np.array(rows, np.int64).reshape(len(settings), len(places))


class _Prediction:
    """Figures of any setting, from those of some.

    Called with codes [N, knobs]; gives figures float64 [N, F].
    """

    def __init__(self, codes: Array, figures: Array, start: Array) -> None:
        """Learn from figures of some settings.

        Args:
            codes: int64 [T, knobs].
            figures: float64 [T, F].
            start: float64 [F], those of the default build.
        """
        self._codes, self._start = codes, start
        kernel = _kernel(codes, codes) + _NOISE * np.eye(len(codes))
        self._weights = product(inverse_of_positive(kernel), figures - start)

    def __call__(self, codes: Array) -> Array:
        return np.asarray(self._start + product(_kernel(codes, self._codes), self._weights))


def _kernel(some: Array, others: Array) -> Array:
    """Covariance of what settings change, float64 [N, M], in units of what one value does.

    What is left of two settings is half as much alike for each knob that tells them apart.
    """
    same = some[:, None, :] == others[None, :, :]
    changed = (same & (some > 0)[:, None, :]).sum(-1)
    apart = (~same).sum(-1)
    pairs = changed * (changed - 1) / 2
    rest = np.ldexp(1.0, -apart)  # exact on every processor
    return np.asarray(changed + _PAIR * pairs + _TOGETHER * rest)


def _gains(found: Array, inside: Array, known: Array, seed: int) -> Array:
    """Number of random points of the box of figures that a candidate alone would beat.

    Args:
        found: float64 [N, F], predicted figures of candidates.
        inside: float64 [M, F], figures within the limits.
        known: float64 [T, F], all figures; the box goes a third beyond the worst ones.
        seed: that of the points.
    """
    # No prediction may stretch the box far beyond what was seen.
    least, most = known.min(0), known.max(0)
    room = np.maximum(most - least, 1e-6)
    low = np.maximum(np.minimum(least, found.min(0)), least - room / 2)
    dice = random.Random(seed)
    count = _DRAWS * known.shape[1]
    draws = np.array([dice.random() for _ in range(count)]).reshape(_DRAWS, -1)
    points = low + draws * (most + room / 3 - low)
    beaten = np.zeros(len(points), bool)
    for row in inside:
        beaten |= (row <= points).all(1)
    open_points = points[~beaten]
    parts = [found[i : i + _CHUNK] for i in range(0, len(found), _CHUNK)]
    counts = [(part[:, None] <= open_points[None]).all(-1).sum(-1) for part in parts]
    return np.concatenate(counts)
