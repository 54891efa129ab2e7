"""Codes of weights by the error of what their layer computes."""

from dataclasses import replace

import numpy as np
import pytest
from quant_samples import conv, gemm, perceptron, relu, residual_network, samples
from sketch import Sketch

from edgec.base.dtypes import Array
from edgec.base.options import Effort, Precision, QuantOptions
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.verify import Stage, verify
from edgec.quant import annotate
from edgec.quant.cnn import weight_codes
from edgec.quant.cnn.fit_weights import LEAST_SAMPLES
from edgec.quant.cnn.weight_codes import better_codes, read_rows
from edgec.quant.common.report import WeightsReport, weights_notes
from edgec.quant.common.weights import layer_weights


def related(rng: np.random.Generator, groups: int, rows: int, size: int) -> Array:
    """Rows whose elements go together, as neighbouring pixels do."""
    mixing = rng.normal(size=(groups, size, size)) * np.geomspace(3.0, 0.05, size)[:, None]
    return rng.normal(size=(groups, rows, size)) @ mixing


def error(codes: Array, wanted: Array, rows: Array) -> float:
    """Mean square of what a layer misses but for its bias."""
    return float((rows @ (codes - wanted).swapaxes(-1, -2)).var(axis=1).mean())


@pytest.mark.parametrize(("groups", "filters", "size"), [(1, 24, 130), (1, 3, 5), (12, 1, 9)])
def test_less_error_on_rows_that_were_not_seen(groups: int, filters: int, size: int):
    rng = np.random.default_rng(3)
    mixed = related(rng, groups, 3000, size)
    seen, held, other = mixed[:, :1500], mixed[:, 1500:2000], mixed[:, 2000:]
    wanted = rng.normal(size=(groups, filters, size)) * 20.0
    nearest = np.floor(wanted + 0.5).astype(np.int8)
    found = better_codes(wanted, nearest, seen, held)
    assert found.dtype == np.int8
    assert np.abs(found.astype(int)).max() <= 127
    assert error(found, wanted, other) < 0.6 * error(nearest, wanted, other)


def test_codes_stay_in_their_range():
    rng = np.random.default_rng(4)
    rows = related(rng, 1, 400, 16)
    wanted = np.where(rng.normal(size=(1, 8, 16)) > 0, 127.0, -127.0) + rng.normal(size=(1, 8, 16))
    nearest = np.clip(np.floor(wanted + 0.5), -127, 127).astype(np.int8)
    found = better_codes(wanted, nearest, rows[:, :300], rows[:, 300:])
    assert found.min() >= -127


def test_what_gains_nothing_stays_nearest():
    """Inputs that never change leave nothing to choose by; nor do seen rows unlike the others."""
    rng = np.random.default_rng(5)
    wanted = rng.normal(size=(1, 4, 6)) * 30.0
    nearest = np.floor(wanted + 0.5).astype(np.int8)
    still = np.ones((1, 40, 6))
    assert better_codes(wanted, nearest, still, still) is nearest
    misleading = related(rng, 1, 300, 6)
    even = rng.normal(size=(1, 3000, 6))
    found = better_codes(wanted, nearest, misleading, even)
    assert error(found, wanted, even) <= error(nearest, wanted, even)


@pytest.mark.parametrize(
    ("attrs", "shape"),
    [
        (ops.Conv(pads=(1, 1, 1, 1)), (5, 3, 3, 4)),
        (ops.Conv(strides=(2, 1), pads=(0, 2, 1, 0), dilations=(1, 2)), (5, 3, 2, 4)),
        (ops.Conv(group=4, pads=(1, 0, 1, 0)), (8, 3, 1, 1)),
        (ops.Conv(group=2), (6, 1, 1, 2)),
    ],
)
def test_rows_times_weights_are_the_layer(attrs: ops.Conv, shape: tuple[int, ...]):
    s = Sketch()
    x = s.input("x", 1, 7, 8, 4)
    graph = s.graph(s(attrs, x, s.normal("w", *shape)))
    data = samples(graph, 3)
    (node,) = graph.nodes
    wanted = Executor(graph, graph.outputs).run(data)[node.output]
    rows = read_rows(node, shape, data["x"].astype(np.float64)[:, None])
    weights = graph.constants["w"].array.reshape(attrs.group, shape[0] // attrs.group, -1)
    found = np.concatenate(list(rows @ weights.swapaxes(-1, -2)), axis=-1)
    np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=1e-5, atol=1e-5)


def test_rows_of_a_long_layer_are_drawn_alike_in_every_run():
    s = Sketch()
    x = s.input("x", 1, 96, 96, 16)
    graph = s.graph(s(ops.Conv(pads=(1, 1, 1, 1)), x, s.normal("w", 2, 3, 3, 16)))
    image = np.random.default_rng(0).normal(size=(4, 96, 96, 16))
    first, second = (read_rows(graph.nodes[0], (2, 3, 3, 16), image) for _ in range(2))
    assert first.shape == (1, (1 << 21) // 144, 144)
    np.testing.assert_array_equal(first, second)


def uneven() -> Graph:
    """Filters whose largest weight leaves few codes to the others."""
    s = Sketch("uneven", 2)
    x = s.input("x", 1, 8, 8, 3)
    y = relu(s, conv(s, relu(s, conv(s, x, 8, name="a")), 8, name="b"))
    y = relu(s, conv(s, y, 8, depthwise=True, name="c"))
    y = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), y)
    graph = s.graph(gemm(s, y, 4))
    for name in ("a_w", "b_w", "fc_w"):
        weight = s.builder.constants[name].array.copy()
        weight.reshape(len(weight), -1)[:, 0] = 12.0
        s.builder.constant(name, weight, keep_name=True)
    return graph.replace(constants={**graph.constants, **s.builder.constants})


def smooth(graph: Graph, count: int, seed: int = 1) -> dict[str, Array]:
    """Images whose pixels are like their neighbours."""
    data = samples(graph, count, seed)["x"]
    return {"x": (data + 3.0 * data.mean(axis=(1, 2), keepdims=True)).astype(np.float32)}


def weights_noise(graph: Graph, annotated: Graph, data: dict[str, Array]) -> float:
    """What integer weights and biases alone leave of the outputs, as mean square error."""
    (name,) = graph.outputs
    pairs = (Executor(each, [name]).run(data)[name] for each in (graph, annotated))
    wanted, found = pairs
    return float(((wanted - found) ** 2).mean())


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT16])
def test_a_network_gains_on_other_data(precision: Precision):
    graph = uneven()
    data, other = smooth(graph, 64), smooth(graph, 64, seed=9)
    noise = {}
    for effort in Effort:
        options = QuantOptions(equalize=False, precision=precision, effort=effort)
        annotated, report = annotate(graph, data, options)
        verify(annotated, Stage.ANNOTATED)
        assert report.in_force.effort is effort
        noise[effort] = weights_noise(graph, annotated, other)
        assert (report.weights is None) == (effort is Effort.FAST)
        if report.weights is not None and precision is Precision.INT16:
            assert report.weights.kept
            assert report.weights.output_db > report.weights.nearest_db + 3.0
            assert "chosen by the error" in weights_notes(report.weights)[0]
    if precision is Precision.INT16:
        assert noise[Effort.NORMAL] < 0.5 * noise[Effort.FAST]


def test_few_samples_keep_the_nearest_codes():
    graph = residual_network()
    data = samples(graph, LEAST_SAMPLES - 1)
    annotated, report = annotate(graph, data, QuantOptions())
    fast, _ = annotate(graph, data, QuantOptions(effort=Effort.FAST))
    assert (report.weights, report.in_force.effort) == (None, Effort.FAST)
    for name, constant in fast.constants.items():
        np.testing.assert_array_equal(annotated.constants[name].array, constant.array)


def test_nearest_codes_stay_where_outputs_do_not_gain():
    """Then everything is as with nearest codes, but for biases of the same samples."""
    graph = perceptron()
    annotated, report = annotate(graph, samples(graph, 32), QuantOptions())
    weights = report.weights
    assert weights is not None
    if not weights.kept:
        fast, _ = annotate(graph, samples(graph, 32), QuantOptions(effort=Effort.FAST))
        for name, constant in fast.constants.items():
            np.testing.assert_array_equal(annotated.constants[name].array, constant.array)
    assert weights.kept == (weights.output_db >= weights.nearest_db)


def test_scales_are_those_of_nearest_codes():
    graph = uneven()
    annotated, _ = annotate(graph, smooth(graph, 32), QuantOptions(equalize=False))
    for node in graph.nodes:
        if isinstance(node.attrs, ops.Conv | ops.Gemm):
            name = ops.layer_inputs(node).w
            nearest = layer_weights(graph.constants[name], None, 1.0, name)
            np.testing.assert_array_equal(annotated.quant(name).scale, nearest.scale)


def test_nothing_is_said_where_no_layer_has_other_codes() -> None:
    report = WeightsReport(layers=0, kept=True, nearest_db=40.0, output_db=40.0, samples=64)
    assert weights_notes(report) == ()
    assert weights_notes(replace(report, layers=1))


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 2, 3, 0), (6, 6, 6, 6)])
@pytest.mark.parametrize("most", [1 << 22, 900])
def test_rows_of_chosen_samples_are_those_of_their_windows(monkeypatch, pads, most):
    monkeypatch.setattr(weight_codes, "_MOST_ELEMENTS", most)
    x = np.random.default_rng(6).normal(size=(8, 2, 7, 6, 4))
    chosen = np.arange(8) % 4 == 3
    node = Node("layer", ops.Conv((2, 1), pads, (1, 2), 2), ("x", "w"), ("y",))
    found = read_rows(node, (6, 3, 2, 2), x, chosen)
    top, left, bottom, right = pads
    images = np.pad(x[chosen].reshape(-1, 7, 6, 4), ((0, 0), (top, bottom), (left, right), (0, 0)))
    windows = [
        image[r : r + 3, c : c + 3 : 2].reshape(6, 2, 2).transpose(1, 0, 2).reshape(2, 12)
        for image in images
        for r in range(0, image.shape[0] - 2, 2)
        for c in range(image.shape[1] - 2)
    ]
    wanted = np.stack(windows, axis=1)
    if most == 900:
        count = 900 // (6 * 4)
        drawn = np.sort(np.random.default_rng(0).choice(len(windows), count, replace=False))
        wanted = wanted[:, drawn]
    np.testing.assert_array_equal(found, wanted)
