"""Compression after training: legal results, what it is good for, and odd networks."""

from dataclasses import replace

import numpy as np
import pytest
from own_networks import OWN_NETWORKS, digits
from pooled_models import small_network
from trained_digits import accuracy

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import CompileOptions, QuantOptions, WeightPoolOptions
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.ir.verify import Stage, verify
from edgec.ir.weight_pool import WeightPool
from edgec.layererror.objective import plain_objective
from edgec.quant import annotate
from edgec.weightpool import (
    CompressionReport,
    compress_graph,
    compress_graphs,
    report_of,
    stored_sizes,
)
from edgec.weightpool.assign import assign
from edgec.weightpool.codebook import integer_pool, legal
from edgec.weightpool.layers import choose_layers
from edgec.weightpool.network import Network, own_objectives
from edgec.weightpool.ranges import least_error
from edgec.workflow.integer import real_model

FAST = WeightPoolOptions(size=16, rounds=1)


def noise(count: int = 24, seed: int = 1) -> dict[str, Array]:
    return {"x": np.random.default_rng(seed).normal(size=(count, 8, 8, 3)).astype(np.float32)}


def with_weight(graph: Graph, name: str, array: Array) -> Graph:
    return graph.replace(constants={**graph.constants, name: Constant(name, array)})


def pooled_constants(graph: Graph) -> list[Constant]:
    return [each for each in graph.constants.values() if each.pooled is not None]


def pools(graph: Graph) -> list[bytes]:
    return [each.pooled.pool.vectors.tobytes() for each in pooled_constants(graph) if each.pooled]


def total_error(report: CompressionReport) -> float:
    return sum(layer.weight_error for layer in report.layers)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("group", [4, 8, 16])
@pytest.mark.parametrize("channels", [16, 12])
def test_result_is_legal_and_counted(group: int, channels: int):
    graph = small_network(channels=channels)
    options = replace(FAST, group=group, size=20, layers=("inner_w", "second_w", "wide_w"))
    found, report = compress_graph(graph, noise(), options)
    verify(found, Stage.REAL)
    assert [n.name for n in found.nodes] == [n.name for n in graph.nodes]
    assert len(set(pools(found))) == 1
    for constant in pooled_constants(found):
        assert constant.pooled is not None
        assert constant.quant is not None
        assert min(constant.quant.scale) > 0
        expanded = constant.pooled.expand(channels)
        assert np.array_equal(expanded, constant.array)
    # `inner`, `second` (channels x 9 taps) and `wide` (32 x 9 taps) in 5-bit indices.
    groups = -(-channels // group)
    vectors = [channels * 9 * groups, channels * 9 * groups, 32 * 9 * groups]
    assert [layer.vectors for layer in report.layers] == vectors
    assert [layer.index_bytes for layer in report.layers] == [-(-5 * v // 8) for v in vectors]
    outputs = 3 * channels - channels + 32 + 10 + channels
    rest = channels * 9 * 3 + 320
    assert report.sizes.pooled_weights == sum(-(-5 * v // 8) for v in vectors) + 20 * group + rest
    # Numbers of channels that come from the pool take 4 bytes, others 8.
    numbers = 8 * outputs - 4 * (2 * channels + 32)
    assert report.sizes.pooled_bytes == report.sizes.pooled_weights + numbers
    assert report.sizes == stored_sizes(found, signed=False)


def test_deterministic_and_seeded():
    first, again, other = (
        compress_graph(small_network(), noise(), replace(FAST, seed=seed))[0] for seed in (0, 0, 1)
    )
    assert pools(first) == pools(again)
    assert pools(first) != pools(other)
    assert all(
        np.array_equal(first.constants[name].real(), again.constants[name].real())
        for name in first.constants
    )


def test_calibration_data_make_a_trained_network_usable():
    options = WeightPoolOptions(size=16)
    graph = real_model(OWN_NETWORKS["digits_resnet"], None, CompileOptions()).graph
    test = digits("test")
    data = {"x": digits("calibration")[0]}
    with_data, _ = compress_graph(graph, data, options)
    without, report = compress_graph(graph, None, options)
    better, worse = accuracy(with_data, *test), accuracy(without, *test)
    assert better > worse + 0.2
    assert better > accuracy(graph, *test) - 0.15
    assert report.samples == 0
    assert all(layer.sqnr_db is None for layer in report.layers)


def test_larger_pools_and_signs_of_vectors():
    errors = [
        total_error(compress_graph(small_network(), None, replace(FAST, size=size))[1])
        for size in (2, 16, 128)
    ]
    assert errors[0] > errors[1] > errors[2]
    found, report = compress_graph(small_network(), noise(), replace(FAST, size=16, signed=True))
    vectors = np.frombuffer(pools(found)[0], np.int8).reshape(16, 8)
    assert np.array_equal(vectors[8:], -vectors[:8])
    assert report.sizes.pool == 64


def test_one_pool_for_several_networks():
    graphs = [small_network(seed=1), small_network(seed=2, channels=24)]
    results = compress_graphs(graphs, [noise(), None], FAST)
    assert len({pool for graph, _ in results for pool in pools(graph)}) == 1


def test_pool_size_against_the_number_of_vectors():
    graph = small_network()
    options = WeightPoolOptions(layers=("inner_w",), rounds=1)
    count = choose_layers(graph, options).pooled[0].vectors
    found, _ = compress_graph(graph, noise(), replace(options, size=count))
    assert len(pools(found)) == 1
    with pytest.raises(WeightPoolError, match=f"larger than the {count} vectors") as error:
        compress_graph(graph, noise(), replace(options, size=count + 1))
    assert "--pool-size" in str(error.value.hint)


@pytest.mark.parametrize("data", [None, noise()], ids=["no data", "data"])
def test_filters_of_zeros(data: dict[str, Array] | None):
    """A dead filter gets a small scale; quantization keeps its layer's pool."""
    graph = small_network()
    weight = graph.constants["inner_w"].array.copy()
    weight[[0, 5]] = 0
    graph = with_weight(graph, "inner_w", weight)
    bias = graph.constants["inner_b"].array.copy()
    bias[0] = 2.0
    found, _ = compress_graph(with_weight(graph, "inner_b", bias), data, FAST)
    real = found.constants["inner_w"].real()
    usual = np.abs(real).reshape(len(real), -1).max(1)
    assert 0 < usual[[0, 5]].max() < usual.max() / 200
    annotated, _ = annotate(found, noise(), QuantOptions())
    assert len(pools(annotated)) == 3


def test_layers_of_zeros_and_networks_of_zeros():
    graph = small_network()
    graph = with_weight(graph, "inner_w", np.zeros_like(graph.constants["inner_w"].array))
    found, report = compress_graph(graph, noise(), FAST)
    assert np.abs(found.constants["inner_w"].real()).max() < 1e-3
    assert all(np.isfinite(layer.weight_error) for layer in report.layers)
    for name in ("second_w", "wide_w"):
        graph = with_weight(graph, name, np.zeros_like(graph.constants[name].array))
    for data in (noise(), None):
        found, _ = compress_graph(graph, data, FAST)
        verify(found, Stage.REAL)
        assert np.abs(found.constants["wide_w"].real()).max() < 1e-3


def test_constant_inputs_and_single_samples():
    """Data that show nothing: the weights themselves are kept as well as can be."""
    for data in ({"x": np.zeros((4, 8, 8, 3), np.float32)}, noise(1)):
        found, report = compress_graph(small_network(), data, FAST)
        verify(found, Stage.REAL)
        assert all(np.isfinite(layer.weight_error) for layer in report.layers)


@pytest.mark.parametrize("name", ["inner_w", "inner_b", "wide_w"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite(name: str, bad: float):
    array = small_network().constants[name].array.copy()
    array.flat[7] = bad
    with pytest.raises(WeightPoolError, match="NaN or infinite") as error:
        compress_graph(with_weight(small_network(), name, array), noise(), FAST)
    assert name in str(error.value)


def test_patterns():
    graph = small_network()
    found, report = compress_graph(graph, noise(), replace(FAST, layers=("*ond*", "first_w")))
    assert [layer.node for layer in report.layers] == ["first_node", "second_node"]
    assert {each.reason for each in report.left_alone} == {"not among --layers"}
    # 3 channels in a vector of 8: more bits a weight, and the table says so.
    assert report.layers[0].bits_per_weight == pytest.approx(4 / 3, rel=0.01)
    assert found.constants["first_w"].shape == (16, 3, 3, 3)
    with pytest.raises(WeightPoolError, match="matches no layer"):
        compress_graph(graph, noise(), replace(FAST, layers=("wide*", "nothing*")))


def test_nothing_to_pool():
    reasons = "do not fill a vector of 16.*last layer"
    with pytest.raises(WeightPoolError, match=f"no layer to pool .*{reasons}"):
        compress_graph(small_network(channels=8), None, replace(FAST, group=16))


def test_a_pool_of_a_pool():
    found, _ = compress_graph(small_network(), noise(), FAST)
    with pytest.raises(WeightPoolError, match="in a pool already .16 vectors of 8."):
        compress_graph(found, noise(), FAST)


def test_calibration_of_a_wrong_shape():
    with pytest.raises(ConfigError, match="shape"):
        compress_graph(small_network(), {"x": np.zeros((4, 8, 8, 1), np.float32)}, FAST)


def test_report_of_a_changed_network():
    graph = small_network()
    found, report = compress_graph(graph, noise(), FAST)
    assert report_of(graph, found, noise(), FAST) == report


def test_integer_pools_are_legal():
    rng = np.random.default_rng(0)
    for spread in (1e-30, 1e-3, 1.0, 1e30):
        vectors = rng.normal(size=(64, 16)) * spread
        codes, unit = integer_pool(vectors)
        assert legal(codes.astype(np.int64)).all()
        assert np.abs(vectors - unit * codes).max() <= unit * 1.01
        WeightPool(codes)
    assert not integer_pool(np.zeros((4, 8)))[0].any()


def test_assignment_minimises_the_error_of_the_output():
    """Not that of the weights: on correlated inputs the two have different assignments."""
    graph = small_network()
    network = Network(graph, noise(), choose_layers(graph, FAST))
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(16, 8))
    for layer, objective in zip(network.choice.pooled, own_objectives(network, rng), strict=True):
        by_output, by_weight = assign(objective, pool, 1), assign(plain_objective(layer), pool, 1)
        found, other = (objective.error(each.rows(pool)).sum() for each in (by_output, by_weight))
        assert found < 0.8 * other


def test_ranges_for_few_bits():
    """ReLUs before pooled layers are clipped, the others and those of 8 bits are not."""
    graph = small_network()

    def highs(bits: int, data: dict[str, Array] | None) -> dict[str, float]:
        found, _ = compress_graph(graph, data, replace(FAST, range_bits=bits))
        return {n.name: n.attrs.high for n in found.nodes if isinstance(n.attrs, ops.Clip)}

    narrow, wide = highs(4, noise()), highs(8, noise())
    assert set(wide.values()) == set(highs(4, None).values()) == {np.inf}
    clipped = {name for name, high in narrow.items() if high < np.inf}
    assert clipped == {"first_relu_node", "inner_relu_node", "total_relu_node"}
    for bits in (0, 9):
        with pytest.raises(ConfigError):
            WeightPoolOptions(range_bits=bits)


def test_range_of_least_error():
    values = np.abs(np.random.default_rng(0).normal(size=20_000)).astype(np.float32)
    ends = [least_error(values, bits) for bits in (1, 2, 4, 7)]
    assert ends == sorted(ends)
    assert 1.0 < ends[0] < ends[2] < 0.9 * values.max()
    assert least_error(np.zeros(10, np.float32), 4) == 0.0
    assert least_error(np.full(10, 3.0, np.float32), 4) == pytest.approx(3.0, rel=0.05)
