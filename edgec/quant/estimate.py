"""Accuracy that samples have which a network was not fitted to, and its lower bound.

Ranges, scales of features, biases and the rounding of weights suit the samples that they were found
on better than others, so the signal to noise of these promises too much.  Here the network is
fitted again without a quarter of the calibration samples, and the quarter judges this fit
(`precision.held`); its tensors with int16 codes stay.  A small network is fitted without one
quarter and without a second one, with few samples without each in turn; a large one once, to one
half of the samples, which the other half judges.

What no sample shows can still come.  So a small network is fitted to each of the other two quarters
alone, too (with few samples to each one), and judged by the rest: these fits see less than the one
that is compiled, and meet more that they have not seen.  The lower bound is the least of those of
both and of what the worse one of these parts gives: a further fit would give less than the worst of
two in one of three cases, but the one that is compiled has more samples.  `benchmarks/estimate.py`
says how often it holds.

A bound takes the shares of noise of single samples as lognormal: their mean is above
``exp(m + v / 2 + t * sqrt(v / n + v^2 / (2 (n - 1))))`` in one of ten cases, with the mean m and
variance v of the logarithms of n shares and the 90 % point t of Student's distribution (Cox's
method: Land, Technometrics 14 (1972); Zhou and Gao, Statistics in Medicine 16 (1997); with t in
place of the normal point: Olsson, Journal of Statistics Education 13 (2005)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

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
from edgec.quant.precision.held import Fold, folds
from edgec.quant.precision.judge import real_values

_ELEMENT_WORK = 16
"""Multiply-accumulates that take the time of one element of an operator's output."""
_SMALL = 1e8
"""Multiply-accumulates of all samples together up to which a network is fitted many times."""
_WORK = 1e9
"""Multiply-accumulates of all runs that judge: some seconds.  What is done never depends on how
fast the computer is."""
_LEAST, _MOST = 4, 256
"""Samples that judge, at least and at most."""
_PARTS, _TURNS = 4, 2
"""Parts of the samples, and how many of them judge where there are many."""
_FEW, _LEAST_QUARTER = 32, 16
"""Samples below which all quarters judge, as the noise of a few bounds nothing; and from which one
quarter is enough to fit a network to."""
_NOTICEABLE_DB = 3.0
"""Loss from samples that were seen to others, or doubt, from which more samples are advised."""
_SMALLEST = 1e-12
"""Share of noise of a sample without any."""


Refit = Callable[[Mapping[str, Array]], Graph]
"""Fits the network to samples: the INTEGER stage."""


def estimated(
    real: Graph, integer: Graph, refit: Refit, data: Mapping[str, Array]
) -> Estimate | None:
    """Signal to noise to expect of a network on samples that it was not fitted to.

    Args:
        real: REAL stage.
        integer: INTEGER stage with outputs of the same names, fitted to all samples.
        refit: fits it to other samples.
        data: the samples, from `checked_calibration`.

    Returns:
        None where the samples are too few to spare some, or no output has codes.
    """
    if not folds(data):
        return None
    runs_of = _Runs(real, refit, data)
    judges = runs_of.judges()
    usual = [runs_of.judged(fold, judge) for fold, judge in judges]
    if not usual[0]:
        return None
    least = runs_of.with_less()
    means = {name: float(np.mean(shares)) for name, shares in _joined(usual).items()}
    count = len(next(iter(data.values())))
    bounds = [_most(shares, count) for part in (usual, least) for shares in _joined(part).values()]
    bounds += [float(shares.mean()) for part in least for shares in part.values()]
    seen = _joined([judge.shares(integer) for _, judge in judges]).values()
    expected, lower = share_db(max(means.values())), share_db(max(bounds))
    fitted = share_db(max(float(np.mean(shares)) for shares in seen))
    doubtful = max(fitted - expected, expected - lower) > _NOTICEABLE_DB
    judged = sum(len(next(iter(part.values()))) for part in usual)
    return Estimate(expected, lower, fitted, judged, doubtful)


_Shares = dict[str, Array]
"""Noise of each sample as a share of the mean energy, by output with codes; float64 [S] each."""


class _Judge:
    """Samples, and what the float network gives for them."""

    def __init__(self, real: Graph, data: Mapping[str, Array]) -> None:
        """Run the float network.

        Args:
            real: REAL stage.
            data: graph input name to [S, ...]; all are used.
        """
        self.data = data
        self._wanted = Executor(real, with_scores(real)).run(data)

    def shares(self, integer: Graph, read: Mapping[str, Array] | None = None) -> _Shares:
        """Noise of an integer network.

        Args:
            integer: INTEGER stage, with outputs of the same names.
            read: what it reads in place of the samples.
        """
        values = integer.values
        names = [n for n in self._wanted if n in values and values[n].quant is not None]
        noise: dict[str, list[float]] = {name: [] for name in names}
        for sample, run in enumerate(runs(integer, self.data if read is None else read)):
            for name, value in real_values(integer, run, names).items():
                error = value - self._wanted[name][sample].reshape(value.shape)
                noise[name].append(float(np.sum(error**2)))
        powers = {n: float(np.sum(np.square(self._wanted[n]))) / len(noise[n]) for n in names}
        return {name: np.array(noise[name]) / (powers[name] or 1.0) for name in names}


class _Runs:
    """Fits of a network to parts of its samples, and what they give the others."""

    def __init__(self, graph: Graph, refit: Refit, data: Mapping[str, Array]) -> None:
        self._graph, self._refit, self._data = graph, refit, data
        count = len(next(iter(data.values())))
        elements = sum(graph.values[name].elements for n in graph.nodes for name in n.outputs)
        work = max(total_macs(graph) + _ELEMENT_WORK * elements, 1)
        small = work * count <= _SMALL
        halves, quarters = folds(data, 2), folds(data, _PARTS)
        # Of many samples, quarters that do not judge: every one is used for one or the other.
        turns, spared = (_PARTS, 0) if count < _FEW else (_TURNS, _TURNS)
        self._usual = quarters[:turns] if small else halves[:1]
        fewer = quarters[spared:] if count >= _LEAST_QUARTER else halves
        self._less = tuple(fold.swapped for fold in fewer) if small else ()
        self._most = min(max(int(_WORK / work), _LEAST), _MOST)

    def judges(self) -> list[tuple[Fold, _Judge]]:
        """Fits to most of the samples, and the others."""
        return [(fold, self._judge(fold, self._usual)) for fold in self._usual]

    def with_less(self) -> list[_Shares]:
        """Noise by fits to a few of the samples, of the others; none of a large network."""
        return [self.judged(fold, self._judge(fold, self._less)) for fold in self._less]

    def judged(self, fold: Fold, judge: _Judge) -> _Shares:
        """Noise by the fit to some samples, of others."""
        read = _as_if_unseen(self._graph, self._data, fold.fitted, judge.data)
        return judge.shares(self._refit(fold.fitted), read)

    def _judge(self, fold: Fold, of: Sequence[Fold]) -> _Judge:
        """The samples that judge a fit, spread evenly; of streams the first ones."""
        available, most = len(next(iter(fold.judged.values()))), max(self._most // len(of), 1)
        step = 1 if RESETS in fold.judged else max(available // most, 1)
        few = {name: array[::step][:most] for name, array in fold.judged.items()}
        return _Judge(self._graph, few)


def _joined(parts: Sequence[_Shares]) -> _Shares:
    return {name: np.concatenate([p[name] for p in parts]) for name in (parts[0] if parts else {})}


def _most(shares: Array, samples: int) -> float:
    """Bound of the mean share of noise of all samples, above it in one of ten cases.

    Args:
        shares: those of some; float64 [S].
        samples: how many different ones there are.
    """
    mean, count = float(shares.mean()), min(len(shares), samples)
    if count < 2:
        return math.inf
    logs = np.log(np.maximum(shares, max(mean * 1e-6, _SMALLEST)))
    variance = float(logs.var(ddof=1))
    doubt = math.sqrt(variance / count + variance**2 / (2 * (count - 1)))
    return max(math.exp(float(logs.mean()) + variance / 2 + _student(count - 1) * doubt), mean)


def _student(freedom: int) -> float:
    """The 90 % point of Student's distribution.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.5, the first
    terms of the expansion in 1 / n; 1 and 2 degrees of freedom have the numbers of table 26.10.
    """
    if freedom < 3:
        return (3.0777, 1.8856)[freedom - 1]
    z = 1.2815515655
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + float(sum(term / freedom ** (k + 1) for k, term in enumerate(terms)))


def _as_if_unseen(
    graph: Graph,
    data: Mapping[str, Array],
    fitted: Mapping[str, Array],
    judged: Mapping[str, Array],
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
