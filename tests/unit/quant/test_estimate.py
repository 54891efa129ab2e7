"""What to expect of fresh samples, against what they have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from quant_samples import Sketch, gemm, relu, samples

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.quant import quantize, sqnr_db
from edgec.quant.common.sample_codes import runs
from edgec.quant.estimate import _most, _student, estimated
from edgec.quant.features import with_feature_scales


def perceptron(seed: int, functions: bool = False) -> Graph:
    s = Sketch(f"perceptron{seed}", seed=seed)
    x = s.input("x", 1, 8)
    for width in (12, 12):
        x = gemm(s, x, width)
        x = s(ops.Unary(ops.UnaryKind.TANH), x) if functions else relu(s, x)
    return s.graph(gemm(s, x, 3))


def fresh_db(graph: Graph, integer: Graph, data: dict[str, Array]) -> float:
    (name,) = graph.outputs
    wanted = Executor(graph, [name]).run(data)[name]
    codes = {n: integer.quant(n).quantize(x) for n, x in data.items()}
    found = integer.quant(name).dequantize64(run_graph_batch(integer, codes)[name])
    return sqnr_db(wanted, found.reshape(wanted.shape))


@pytest.mark.parametrize("count", [16, 64])
def test_the_bound_holds_in_nine_of_ten_networks(count: int) -> None:
    """Of 10 networks; on the samples that it was fitted to, all of them have more."""
    kept, near, rosy = 0, 0, 0
    for seed in range(10):
        graph = perceptron(seed, functions=seed % 2 == 1)
        rng = np.random.default_rng(seed + 100)
        seen, fresh = (
            {"x": rng.normal(size=(size, 8)).astype(np.float32)} for size in (count, 1000)
        )
        found = quantize(graph, seen, CompileOptions())
        assert found.report.estimate is not None
        decibels = fresh_db(graph, found.integer, fresh)
        kept += found.report.estimate.lower_db <= decibels
        near += found.report.estimate.output_db <= decibels + 3.0
        rosy += found.report.estimate.fitted_db > decibels + 3.0
    assert kept >= 9
    assert near >= 7


def test_scales_of_features_are_those_of_the_other_samples() -> None:
    """A row that reaches further than all others is cut off in the estimate as it would be."""
    s = Sketch("columns")
    x = s.input("x", 1, 4)
    scaled = s(ops.Mul(), x, s.const("factor", np.array([1, 0.1, 10, 100], np.float32)))
    graph = s.graph(gemm(s, scaled, 3))
    rng = np.random.default_rng(0)
    data = (rng.normal(size=(32, 4)) / [1, 0.1, 10, 100]).astype(np.float32)
    expected = []
    for factor in (1.0, 8.0):
        rows = data.copy()
        rows[5, 3] = rows[:, 3].max() * factor
        steps, in_steps = with_feature_scales(graph, {"x": rows}, (-1.0, 1.0))
        assert in_steps is not None and steps.input_features
        found = quantize(steps, in_steps, CompileOptions()).report.estimate
        assert found is not None
        expected.append(found)
    assert expected[1].output_db < 25 < 30 < expected[0].output_db
    assert expected[1].fitted_db > 30
    assert expected[1].few_samples


@pytest.mark.parametrize("precision", [Precision.INT16, Precision.AUTO])
def test_int16_codes_stay(precision: Precision) -> None:
    graph = perceptron(1)
    options = CompileOptions(quant=QuantOptions(precision=precision, target_db=None))
    if precision is Precision.AUTO:
        options = CompileOptions(quant=QuantOptions(precision=precision, target_db=45.0))
    data = {"x": np.random.default_rng(3).normal(size=(256, 8)).astype(np.float32)}
    wide, plain = quantize(graph, data, options), quantize(graph, data, CompileOptions())
    assert wide.report.precision is not None and wide.report.precision.tensors
    assert wide.report.estimate is not None and plain.report.estimate is not None
    assert wide.report.estimate.output_db > plain.report.estimate.output_db + 1.0


def test_without_samples_to_spare_there_is_none() -> None:
    graph = perceptron(0)
    assert quantize(graph, samples(graph, 7), CompileOptions()).report.estimate is None
    assert quantize(graph, None, CompileOptions()).report.estimate is None


@pytest.mark.parametrize(("count", "judging"), [(8, 4), (16, 4), (32, 2), (61, 2)])
def test_no_fit_is_judged_by_what_it_has_seen(
    count: int, judging: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fits without two of the quarters, and to the other two.

    With few samples there are fits without each quarter, and to each, or to halves.
    """
    graph = perceptron(0)
    data = samples(graph, count)
    data["x"][:, 0] = np.arange(count)
    integer = quantize(graph, data, CompileOptions()).integer
    fits: list[list[int]] = []
    judged: list[list[int]] = []

    def refit(some: Mapping[str, Array]) -> Graph:
        fits.append([int(x) for x in some["x"][:, 0]])
        return integer

    def ran(graph: Graph, read: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
        judged.append([int(x) for x in read["x"][:, 0]])
        return runs(graph, read)

    monkeypatch.setattr("edgec.quant.estimate.runs", ran)
    found = estimated(graph, integer, refit, data)
    assert found is not None
    for fit, others in zip(fits, judged[: len(fits)], strict=True):
        assert sorted([*fit, *others]) == list(range(count))
    usual, fewer = fits[:judging], fits[judging:]
    unseen = [sorted(set(range(count)) - set(fit)) for fit in usual]
    assert found.samples == sum(map(len, unseen))
    # What was seen is what the network itself gives for the samples that judge.
    assert judged[len(fits) :] == unseen
    assert len(fewer) == (2 if count < 16 else judging)
    used = fewer if judging == 4 else [*unseen, *fewer]
    assert sorted(x for part in used for x in part) == list(range(count))


def test_the_point_of_student() -> None:
    """Against the table of the Handbook of Mathematical Functions, table 26.10."""
    table = {1: 3.078, 2: 1.886, 3: 1.638, 4: 1.533, 7: 1.415, 15: 1.341, 30: 1.310, 120: 1.289}
    for freedom, point in table.items():
        assert _student(freedom) == pytest.approx(point, abs=0.006)


def test_the_mean_of_lognormal_shares_is_above_the_bound_in_one_of_ten_cases() -> None:
    rng = np.random.default_rng(0)
    above = np.mean([_most(np.exp(rng.normal(size=24)), 24) < math.exp(0.5) for _ in range(1000)])
    assert 0.05 < above < 0.15
    assert _most(np.array([0.5]), 1) == math.inf
