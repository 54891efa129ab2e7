"""The search for an order of channels that pools fit well, and the swaps that it is made of."""

from dataclasses import replace

import numpy as np
import pytest
from pass_samples import assert_same_function
from pooled_models import small_network

from edgec.base.dtypes import Array
from edgec.base.errors import WeightPoolError
from edgec.base.options import WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.weightpool import with_best_order
from edgec.weightpool.cluster import Cloud, cluster, improved, joined
from edgec.weightpool.layers import choose_layers
from edgec.weightpool.swaps import Swaps

OPTIONS = WeightPoolOptions(size=16, layers=("inner_w", "second_w", "wide_w"))


def left(rows: Array, worth: Array, pool: Array) -> float:
    """The squared error of rows whose vectors are the nearest of a pool."""
    vectors = rows.reshape(len(rows), -1, pool.shape[1])
    nearest = ((vectors[:, :, None] - pool) ** 2).sum(axis=-1).min(axis=-1)
    return float((worth[:, None] * nearest).sum())


@pytest.mark.parametrize("group", [4, 8, 16])
def test_swaps_gain_what_they_say(group: int) -> None:
    """Against the errors of all vectors, computed anew after each swap."""
    rng = np.random.default_rng(group)
    rows, pool = rng.normal(size=(40, 2 * group)), rng.normal(size=(6, group))
    # Whole numbers of units, so that nothing is rounded.
    rows, pool = np.rint(rows * 64) / 64, np.rint(pool * 64) / 64
    worth = rng.integers(0, 1024, 40).astype(float)
    worth[3] = 1023
    swaps = Swaps(rows, worth, pool)
    assert swaps.power == round(float((worth[:, None] * rows**2).sum()) * 64**2)
    taken = 0
    for _ in range(300):
        one, other = rng.choice(2 * group, 2, replace=False)
        after = rows.copy()
        after[:, [one, other]] = rows[:, [other, one]]
        gain = round((left(rows, worth, pool) - left(after, worth, pool)) * 64**2)
        for least in (gain, gain + 1):
            assert not swaps.swap(one, other, least)
        if gain > -(10**7):
            assert swaps.swap(one, other, gain - 1)
            rows, taken = after, taken + 1
    assert taken > 20


def test_rows_that_count_nothing_do_no_harm() -> None:
    swaps = Swaps(np.ones((3, 8)), np.zeros(3), np.ones((2, 4)))
    assert swaps.power == 0
    assert not swaps.swap(0, 5, 0)


def error(graph: Graph) -> float:
    """What 16 vectors leave of the weights, each layer relative to itself."""
    clouds = []
    for layer in choose_layers(graph, OPTIONS).pooled:
        power = np.repeat(np.mean(layer.rows**2, axis=1), layer.weight.shape[1])
        points = layer.weight.reshape(-1, 8) / np.sqrt(power)[:, None]
        clouds.append(Cloud(points, power / power.sum()))
    cloud = joined(clouds)
    errors = []
    for seed in range(3):
        pool = cluster(cloud, 16, signed=False, rng=np.random.default_rng(seed))
        errors.append(left(cloud.points, cloud.weights, pool))
    return float(np.mean(errors))


def mixed(graph: Graph) -> Graph:
    """A network whose channels have two kinds of weights, in no order: one kind for each filter."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder.of(graph)
    for name in ("inner_w", "second_w", "wide_w"):
        shape = graph.shape(name)
        kinds = rng.normal(size=(*shape[:-1], 2)) * (1.0, 1.5)
        kind = rng.permutation(np.arange(shape[-1]) % 2)
        weights = kinds[..., kind] + 0.3 * rng.normal(size=shape)
        builder.constant(name, weights.astype(np.float32), keep_name=True)
    return builder.build()


def test_channels_that_are_alike_become_neighbours() -> None:
    graph = mixed(small_network())
    after = with_best_order(graph, OPTIONS)
    assert_same_function(graph, after)
    assert error(after) < 0.85 * error(graph)


def test_an_order_of_weights_without_structure_is_no_worse() -> None:
    graph = small_network()
    assert error(with_best_order(graph, OPTIONS)) < error(graph)


def test_the_order_hangs_on_layers_and_seed_alone() -> None:
    graph = small_network()

    def weights(options: WeightPoolOptions) -> Array:
        return with_best_order(graph, options).constants["wide_w"].array

    first = weights(OPTIONS)
    assert np.array_equal(first, weights(replace(OPTIONS, size=64, ratio=2.0, signed=True)))
    assert not np.array_equal(first, weights(replace(OPTIONS, seed=1)))
    assert not np.array_equal(first, weights(replace(OPTIONS, layers=("wide_w",))))


def test_a_layer_of_zeros_is_ordered_with_the_others() -> None:
    graph = small_network()
    builder = GraphBuilder.of(graph)
    builder.constant("inner_w", np.zeros(graph.shape("inner_w"), np.float32), keep_name=True)
    zeros = builder.build()
    assert_same_function(zeros, with_best_order(zeros, OPTIONS))


def test_channels_that_do_not_fill_vectors_stay() -> None:
    graph = small_network(channels=12)
    after = with_best_order(graph, replace(OPTIONS, layers=("inner_w", "second_w", "wide_w")))
    assert after is graph


def test_a_network_without_layers_to_pool_is_refused() -> None:
    with pytest.raises(WeightPoolError, match="matches no layer"):
        with_best_order(small_network(), WeightPoolOptions(layers=("none*",)))


def test_an_iteration_of_clustering_does_not_harm() -> None:
    rng = np.random.default_rng(0)
    cloud = Cloud(rng.normal(size=(200, 8)), rng.uniform(size=200))
    pool = cloud.points[:10]
    for _ in range(5):
        after = improved(cloud, pool)
        assert left(cloud.points, cloud.weights, after) <= left(cloud.points, cloud.weights, pool)
        pool = after
