"""Accuracy that samples have which a network was not fitted to, and its lower bound.

Ranges, scales of features, biases and the rounding of weights suit the samples that they were found
on better than others, so the signal to noise of these promises too much.  Here the network is
fitted again without a part of the calibration samples, and the part judges this fit
(`precision.held`); its tensors with int16 codes stay.  Small networks are fitted without each part
in turn, large ones without one.

The lower bound takes the shares of noise of single samples as lognormal: their mean is above
``exp(m + v / 2 + t * sqrt(v / n + v^2 / (2 (n - 1))))`` in one of ten cases, with the mean m and
variance v of the logarithms of n shares and the 90 % point t of Student's distribution (Cox's
method: Land, Technometrics 14 (1972); Zhou and Gao, Statistics in Medicine 16 (1997); with t in
place of the normal point: Olsson, Journal of Statistics Education 13 (2005)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.streams import RESETS
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.qparams import FEATURE_STEP
from edgec.quant.common.few_samples import fresh_range
from edgec.quant.common.output_noise import with_scores
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import Estimate
from edgec.quant.common.sample_codes import runs
from edgec.quant.precision.held import folds
from edgec.quant.precision.judge import real_values

_ELEMENT_WORK = 16
"""Multiply-accumulates that take the time of one element of an operator's output."""
_LARGE = 5e9
"""Multiply-accumulates of all samples together beyond which a network is fitted once."""
_WORK = 2e9
"""Those of all runs that judge: some seconds.  What is done never depends on how fast the computer
is."""
_LEAST, _MOST = 4, 256
"""Samples that judge, at least and at most."""
_NOTICEABLE_DB = 3.0
"""Loss from samples that were seen to others, or doubt, from which more samples are advised."""
_SMALLEST = 1e-12
"""Share of noise of a sample without any."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A network, and the integer graph that was fitted to some samples.

    Attributes:
        real: REAL stage.
        integer: INTEGER stage, with inputs and outputs of the same names.
    """

    real: Graph
    integer: Graph


Refit = Callable[[Mapping[str, Array]], Fitted]


def estimated(final: Fitted, refit: Refit, data: Mapping[str, Array]) -> Estimate | None:
    """What to expect of a network on samples that it was not fitted to.

    Args:
        final: the network, fitted to all samples.
        refit: fits it to others.
        data: the samples, from `checked_calibration`.

    Returns:
        None where the samples are too few to spare some, or no output has codes.
    """
    parts = folds(data)
    graph = final.real
    elements = sum(graph.values[name].elements for n in graph.nodes for name in n.outputs)
    work = total_macs(graph) + _ELEMENT_WORK * elements
    count = len(next(iter(data.values())))
    if work * count > _LARGE:
        parts = parts[:1]
    if not parts:
        return None
    judging = min(max(int(_WORK / max(work, 1)), _LEAST), _MOST)
    each = max(judging // len(parts), 1)
    fresh: list[dict[str, Array]] = []
    seen: list[dict[str, Array]] = []
    for part in parts:
        judged = {name: array[:each] for name, array in part.judged.items()}
        seen.append(_shares(final, judged, judged))
        clipped = _as_if_unseen(graph, data, part.fitted, judged)
        fresh.append(_shares(refit(part.fitted), judged, clipped))
    bounds = {name: _bound(np.concatenate([each[name] for each in fresh])) for name in fresh[0]}
    if not bounds:
        return None
    worst = max(bounds, key=lambda name: bounds[name].mean)
    known = max(float(np.concatenate([s[name] for s in seen]).mean()) for name in seen[0])
    expected, lower = share_db(bounds[worst].mean), share_db(max(b.most for b in bounds.values()))
    fitted = share_db(known)
    doubtful = max(fitted - expected, expected - lower) > _NOTICEABLE_DB
    return Estimate(expected, lower, fitted, bounds[worst].samples, doubtful)


def _shares(fitted: Fitted, data: Mapping[str, Array], read: Mapping[str, Array]) -> dict[str, Array]:
    """Noise of each sample as a share of the mean energy, by output with codes; float64 [S].

    Args:
        fitted: the network.
        data: what the float network reads, by input.
        read: what the integers read.
    """
    values = fitted.integer.values
    names = [n for n in with_scores(fitted.real) if n in values and values[n].quant is not None]
    wanted = Executor(fitted.real, names).run(data)
    noise = {name: [] for name in names}
    for sample, run in enumerate(runs(fitted.integer, read)):
        for name, value in real_values(fitted.integer, run, names).items():
            error = value - wanted[name][sample].reshape(value.shape)
            noise[name].append(float(np.sum(error**2)))
    powers = {n: float(np.sum(np.square(wanted[n]))) / len(noise[n]) or 1.0 for n in names}
    return {name: np.array(noise[name]) / powers[name] for name in names}


@dataclass(frozen=True, slots=True)
class _Bound:
    """Mean share of noise of some samples, and what that of others hardly exceeds."""

    mean: float
    most: float
    samples: int


def _bound(shares: Array) -> _Bound:
    mean, count = float(shares.mean()), len(shares)
    if count < 2:
        return _Bound(mean, math.inf, count)
    logs = np.log(np.maximum(shares, max(mean * 1e-6, _SMALLEST)))
    variance = float(logs.var(ddof=1))
    doubt = math.sqrt(variance / count + variance**2 / (2 * (count - 1)))
    most = math.exp(float(logs.mean()) + variance / 2 + _student(count - 1) * doubt)
    return _Bound(mean, max(most, mean), count)


def _student(freedom: int) -> float:
    """The 90 % point of Student's distribution.

    Source: Hill, Communications of the ACM 13 (1970), the first terms of the expansion in 1 / n;
    1 and 2 degrees of freedom are exact.
    """
    if freedom < 3:
        return (3.0777, 1.8856)[freedom - 1]
    z = 1.2815515655
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def _as_if_unseen(
    graph: Graph, data: Mapping[str, Array], fitted: Mapping[str, Array], judged: Mapping[str, Array]
) -> Mapping[str, Array]:
    """Samples as inputs in steps read them whose scales were found without these.

    The scales of features are those of all samples; what lies beyond the scales of the others is
    cut off, as it would be there.  Thresholds of trees are not found from samples.

    Args:
        graph: REAL stage.
        data: all samples.
        fitted: those without the samples that judge.
        judged: those that judge.
    """
    found = dict(judged)
    for name, params in graph.input_features.items():
        trees = all(isinstance(node.attrs, ops.TreeEnsemble) for node in graph.consumers[name])
        if params.axis is None or trees:
            continue
        whole, part = (_rows(each[name], params.axis) for each in (data, fitted))
        low, high = fresh_range(whole)
        ends = np.array([INT8_MIN, INT8_MAX]) * FEATURE_STEP
        room = np.maximum(low - ends[0], 0.0), np.maximum(ends[1] - high, 0.0)
        low, high = fresh_range(part)
        rows = np.moveaxis(judged[name], params.axis, -1)
        cut = np.clip(rows, low - room[0], high + room[1]).astype(np.float32)
        found[name] = np.moveaxis(cut, -1, params.axis)
    return found


def _rows(array: Array, axis: int) -> Array:
    """The features of samples [N, ...] in rows; float64 [R, F]."""
    moved = np.moveaxis(array, axis, -1).astype(np.float64)
    return moved.reshape(-1, moved.shape[-1])
