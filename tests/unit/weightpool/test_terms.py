"""Layers whose vectors are sums of vectors of the pool: search, allocation, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pooled_models import small_network

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import TermsRule, WeightPoolOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model
from edgec.ir.graph import Constant, Graph
from edgec.ir.verify import Stage, verify
from edgec.ir.weight_pool import PooledWeights, WeightPool
from edgec.weightpool import CompressionReport, chosen_layers, compress_graph, forecast
from edgec.weightpool.additive import closest
from edgec.weightpool.cluster import Cloud, cluster
from edgec.weightpool.codebook import integer_pool
from edgec.weightpool.noise import weight_error

LAYERS = ("inner_w", "second_w", "wide_w")
FAST = WeightPoolOptions(size=16, rounds=1, layers=LAYERS)
"""`inner` and `second` have as many weights, `wide` twice as many."""


def noise(count: int = 24) -> dict[str, Array]:
    return {"x": np.random.default_rng(1).normal(size=(count, 8, 8, 3)).astype(np.float32)}


def terms(report: CompressionReport) -> list[int]:
    return [layer.terms for layer in report.layers]


def pooled(graph: Graph) -> list[Constant]:
    return [each for each in graph.constants.values() if each.pooled is not None]


def rules(*texts: str) -> tuple[TermsRule, ...]:
    return tuple(map(TermsRule.parse, texts))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sums_are_as_close_as_an_exhaustive_search_finds(count: int):
    rng = np.random.default_rng(count)
    offered, wanted = rng.normal(size=(12, 4)), rng.normal(size=(40, 4)) * 1.5
    scale = rng.uniform(0.5, 2.0, 40)
    grids = np.meshgrid(*[np.arange(12)] * count)
    every = np.stack(grids, axis=-1).reshape(-1, count)
    best = np.linalg.norm(
        wanted[:, None] - scale[:, None, None] * offered[every].sum(axis=1), axis=2
    ).min(axis=1)
    chosen = closest(wanted, offered, scale, count)
    assert chosen.shape == (40, count)
    found = np.linalg.norm(wanted - scale[:, None] * offered[chosen].sum(axis=1), axis=1)
    assert (found >= best - 1e-12).all()
    assert np.mean(found) < 1.02 * np.mean(best)


def test_terms_of_one_pool_leave_more_than_theory_allows():
    """The errors of Gaussian vectors that docs/weight-pools.md tells."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6000, 8))
    pool = cluster(Cloud(points, np.ones(6000)), 32, False, rng)
    found = [weight_error(Cloud(points, np.ones(6000)), pool, count) for count in (1, 2, 3, 4)]
    assert found == pytest.approx([0.50, 0.28, 0.17, 0.11], abs=0.02)
    assert all(error > 4 ** (-5 * terms / 8) for terms, error in enumerate(found, 1))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_no_sum_of_an_integer_pool_is_beyond_int8(count: int):
    vectors = np.random.default_rng(0).standard_t(2, size=(64, 8))
    codes, unit = integer_pool(vectors, count)
    assert count * int(codes.max()) <= 127
    assert count * int(codes.min()) >= -128
    assert np.abs(vectors - unit * codes).max() <= unit * 1.01


def test_what_pooled_weights_refuse():
    pool = WeightPool(np.full((2, 8), 15, np.int8))
    with pytest.raises(WeightPoolError, match="3 indices cannot be sums of 2"):
        PooledWeights(pool, np.zeros((4, 3)), 2)
    with pytest.raises(WeightPoolError, match="sums of 5"):
        PooledWeights(pool, np.zeros((4, 5)), 5)
    large = WeightPool(np.array([[100] + [0] * 7] * 2, np.int8))
    with pytest.raises(WeightPoolError, match="beyond int8"):
        PooledWeights(large, np.zeros((4, 2)), 2)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("channels", [16, 12])
def test_terms_lower_the_error_and_survive_a_file(channels: int, tmp_path: Path):
    graph = small_network(channels=channels)
    plain, before = compress_graph(graph, noise(), FAST)
    options = replace(FAST, terms=rules("2", "inner_w=3"))
    found, report = compress_graph(graph, noise(), options)
    verify(found, Stage.REAL)
    assert terms(before) == [1, 1, 1]
    assert terms(report) == [3, 2, 2]
    for one, more in zip(before.layers, report.layers, strict=True):
        assert more.weight_error < one.weight_error
        assert more.index_bytes == pytest.approx(one.index_bytes * more.terms, abs=1)
    assert forecast(graph, chosen_layers(graph, options), options) == report.sizes
    path = tmp_path / "m.onnx"
    path.write_bytes(export_real(found).SerializeToString())
    again = pooled(import_model(path))
    assert len(again) == 3
    for old, new in zip(pooled(found), again, strict=True):
        assert old.pooled is not None
        assert new.pooled is not None
        assert np.array_equal(old.array, new.array)
        assert np.array_equal(old.pooled.indices, new.pooled.indices)
        assert (old.quant, old.pooled.terms) == (new.quant, new.pooled.terms)
    assert pooled(plain)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("data", [None, noise()], ids=["weights", "calibrated"])
def test_a_ratio_is_kept_and_spent(data: dict[str, Array] | None):
    graph = small_network()
    _, least = compress_graph(graph, data, FAST)
    most = least.sizes.compression
    for ratio in (0.8 * most, 0.6 * most):
        _, report = compress_graph(graph, data, replace(FAST, ratio=ratio))
        assert ratio <= report.sizes.compression < ratio * 1.35
        assert sum(terms(report)) > 3
    fixed = replace(FAST, ratio=0.6 * most, terms=rules("wide_w=1"))
    assert terms(compress_graph(graph, data, fixed)[1])[2] == 1


def test_small_layers_get_terms_first_where_nothing_is_measured():
    graph = small_network()
    compression = compress_graph(graph, None, FAST)[1].sizes.compression
    found = terms(compress_graph(graph, None, replace(FAST, ratio=0.8 * compression))[1])
    assert found[0] >= found[2] <= found[1]
    assert max(found) > found[2]


def test_what_terms_and_ratios_cannot_be():
    for text in ("0", "5", "x", "=2", "a=", "a=2.5"):
        with pytest.raises(ConfigError, match="PATTERN=NUMBER"):
            TermsRule.parse(text)
    for ratio in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="no ratio"):
            WeightPoolOptions(ratio=ratio)
    with pytest.raises(WeightPoolError, match="matches no layer that is pooled"):
        compress_graph(small_network(), None, replace(FAST, terms=rules("first_w=2")))
    with pytest.raises(WeightPoolError, match="smaller --pool-size"):
        compress_graph(small_network(), noise(), replace(FAST, ratio=50.0))
