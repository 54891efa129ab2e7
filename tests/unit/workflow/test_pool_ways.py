"""The pools that a search chooses from."""

import pytest
from pooled_models import small_network

from edgec.base.errors import WeightPoolError
from edgec.base.options import PoolSharing, TermsRule, WeightPoolOptions
from edgec.weightpool import compress_graph
from edgec.workflow import pool_search as pool_ways
from edgec.workflow.pool_search import Way, ways_of

GRAPH = small_network()
POOL = WeightPoolOptions(layers=("inner_w", "second_w", "wide_w"))
NETWORK = (PoolSharing.NETWORK,)


def ratios(ways: tuple[Way, ...]) -> list[float | None]:
    return [way.options.ratio for way in ways]


def test_they_are_sorted_and_save_something() -> None:
    ways = ways_of(GRAPH, POOL, tuple(PoolSharing))
    sizes = [way.most_bytes for way in ways]
    assert sizes == sorted(set(sizes))
    assert all(size < way.int8_bytes for size, way in zip(sizes, ways, strict=True))
    sums = [way.options for way in ways if way.options.ratio is not None]
    assert {each.sharing for each in sums} == {PoolSharing.NETWORK}
    assert {each.size for each in sums} <= set(pool_ways.SUM_SIZES)


def test_bytes_are_those_that_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_ways, "SIZES", (16,))
    monkeypatch.setattr(pool_ways, "SUM_SIZES", (16,))
    monkeypatch.setattr(pool_ways, "SUM_STEPS", (1.4,))
    plain, sums = ways_of(GRAPH, POOL, NETWORK)
    assert ratios((plain, sums))[0] is None
    for way in (plain, sums):
        _, report = compress_graph(GRAPH, None, way.options)
        assert report.sizes.int8_bytes == way.int8_bytes
        spare = way.most_bytes - report.sizes.pooled_bytes
        # What is left of the bytes is less than one more term of the smallest layer.
        assert spare == 0 if way is plain else 0 <= spare < 160
    terms = [layer.terms for layer in report.layers]
    assert max(terms) > 1


def test_a_ratio_that_buys_no_term_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_ways, "SIZES", (16,))
    monkeypatch.setattr(pool_ways, "SUM_SIZES", (16,))
    monkeypatch.setattr(pool_ways, "SUM_STEPS", (1.01, 1.4))
    assert len(ways_of(GRAPH, POOL, NETWORK)) == 2
    all_ruled = WeightPoolOptions(layers=POOL.layers, terms=(TermsRule("*", 2),))
    assert ratios(ways_of(GRAPH, all_ruled, NETWORK)) == [None]


def test_ratios_that_buy_the_same_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_ways, "SIZES", (16,))
    monkeypatch.setattr(pool_ways, "SUM_SIZES", (16,))
    one_layer = WeightPoolOptions(layers=("wide_w",))
    plain, *sums = ways_of(GRAPH, one_layer, NETWORK)
    _, report = compress_graph(GRAPH, None, plain.options)
    (layer,) = report.layers
    terms = []
    for way in sums:
        _, report = compress_graph(GRAPH, None, way.options)
        assert report.sizes.pooled_bytes == way.most_bytes
        terms.append(report.layers[0].terms)
    assert layer.terms == 1
    assert terms == sorted(set(terms))
    assert terms[0] > 1


def test_nothing_to_pool_is_refused() -> None:
    with pytest.raises(WeightPoolError, match="nowhere"):
        ways_of(GRAPH, WeightPoolOptions(layers=("nowhere",)), NETWORK)
