"""Scales of channels, and bias correction."""

from __future__ import annotations

import numpy as np
import pytest
from quant_samples import Sketch, conv, gemm, relu, samples

from edgec.base.options import Effort, QuantOptions
from edgec.exporters.onnx.export import export_real, tensor_names
from edgec.floatrun.float_model import FloatModel
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.quant import annotate
from edgec.quant.cnn import fit_weights
from edgec.quant.cnn.balance import balance, can_balance
from edgec.quant.cnn.bias_correct import channel_means, correct_biases, wanted_of
from edgec.quant.cnn.channel_classes import channel_classes, input_channels
from edgec.quant.common.importance import importance
from edgec.quant.common.statistics import channel_statistics


def unbalanced(s: Sketch, name: str, factors: np.ndarray) -> None:
    """Multiply a layer's output channels."""
    for constant in (f"{name}_w", f"{name}_b"):
        array = s.builder.constants[constant].array
        shaped = factors.reshape(-1, *[1] * (array.ndim - 1))
        s.builder.constant(constant, (array * shaped).astype(np.float32), keep_name=True)


RELU = ops.Clip(0.0)
MEAN = ops.Reduce(ops.ReduceKind.MEAN, (1, 2))


def mobile(activation: ops.Clip | ops.Unary = RELU) -> Graph:
    """1x1, depthwise 3x3, 1x1, with channels of very different size."""
    s = Sketch()
    x = s.input("x", 1, 6, 6, 3)
    a = s(activation, conv(s, x, 8, 1, name="first"))
    b = s(activation, conv(s, a, 16, depthwise=True, name="middle"))
    c = conv(s, b, 4, 1, name="last")
    unbalanced(s, "first", np.geomspace(1e-2, 1e2, 8))
    unbalanced(s, "middle", np.geomspace(1e2, 1e-2, 16))
    return s.graph(c)


def outputs(graph: Graph, data):
    names = tensor_names(graph)
    found = FloatModel(export_real(graph)).run({names[n]: a for n, a in data.items()})
    return [found[names[n]] for n in graph.outputs]


def channel_ranges(graph: Graph, name: str, data) -> np.ndarray:
    found = channel_statistics(graph, [name], data)[name]
    return np.maximum(found.high, -found.low)


@pytest.mark.parametrize(
    "activation", [ops.Clip(0.0), ops.Unary(ops.UnaryKind.LEAKY_RELU, 0.1), ops.Clip(0.0, 2.0)]
)
def test_balancing_keeps_the_function_and_evens_the_ranges(activation):
    """A bound stays where it is: channels within it, and scaled within it, are never clipped."""
    graph = mobile(activation)
    data = samples(graph, 8)
    balanced = balance(graph, data)
    even = balanced.graph
    verify(even, Stage.REAL)
    (before,), (after,) = outputs(graph, data), outputs(even, data)
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4 * np.abs(before).max())
    for name, found in channel_statistics(even, even.values, data).items():
        for figure in ("low", "high", "mean", "power"):
            known, wanted = getattr(balanced.statistics[name], figure), getattr(found, figure)
            np.testing.assert_allclose(known, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())
    scaled = 0
    for node in graph.nodes[:-1]:
        apart, flat = (channel_ranges(each, node.output, data) for each in (graph, even))
        assert flat.max() <= apart.max() * 1.001
        assert flat.min() >= apart.min() * 0.999
        scaled += flat.min() > 3 * apart.min()
    assert scaled


def test_balancing_saves_networks_with_uneven_channels():
    """Activations are quantized per tensor: small channels drown without it."""
    graph = mobile()
    data = samples(graph, 16)
    quality = []
    for choice in (False, True):
        _, report = annotate(graph, data, QuantOptions(equalize=choice))
        quality.append(report.layers[-1].sqnr_db)
    assert quality[1] > quality[0] + 3


def test_factors_pass_through_residuals_gates_and_concatenations():
    """What is joined has the classes of its parts, what adds up one class; a gate has none."""
    s = Sketch()
    x = s.input("x", 1, 4, 4, 3)
    a, b = (conv(s, x, 4, 1, name=name) for name in ("a", "b"))
    total = s(ops.Add(), a, b)
    gate = s(ops.Unary(ops.UnaryKind.SIGMOID), s(MEAN, conv(s, total, 4, 1, name="gate")))
    joined = s(ops.Concat(3), s(ops.Mul(), total, gate), conv(s, x, 2, 1, name="c"))
    graph = s.graph(conv(s, joined, 2, 1, name="last"))
    found = channel_classes(graph).classes
    np.testing.assert_array_equal(found[a], found[b])
    np.testing.assert_array_equal(found[joined][:4], found[total])
    assert len(set(found[joined])) == 6
    assert gate not in found
    assert x not in found


def test_channels_pass_through_shuffles():
    """Groups of channels that change places keep their factors."""
    s = Sketch()
    x = s.input("x", 1, 2, 2, 3)
    a = conv(s, x, 6, 1, name="a")
    flat = s(ops.Reshape((1, 24)), a)
    graph = s.graph(gemm(s, flat, 2, name="last"))
    found = channel_classes(graph).classes
    np.testing.assert_array_equal(found[flat], np.tile(found[a], 4))


def test_importance_of_channels_that_nothing_reads():
    """Noise in a channel counts by the square of the weights that read it."""
    s = Sketch()
    x = s.input("x", 1, 4)
    weight = np.array([[2, 1, 0]], np.float32)
    a = gemm(s, x, 3, name="a")
    graph = s.graph(s(ops.Gemm(), a, s.const("w", weight)))
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 32)))
    np.testing.assert_allclose(found[a] / found[a].max(), [1, 0.25, 0])


def test_input_channels_of_grouped_weights():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 6)
    y = s(ops.Conv(group=2), x, s.normal("w", 4, 1, 1, 3))
    (node,) = s.graph(y).nodes
    expected = [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]
    assert input_channels(node, (4, 1, 1, 3)).tolist() == expected


def test_dead_channels_stay_as_they_are():
    graph = mobile()
    builder = GraphBuilder.of(graph)
    for name in ("first_w", "first_b"):
        dead = graph.constants[name].array.copy()
        dead[1] = 0.0
        builder.constant(name, dead, keep_name=True)
    graph = builder.build()
    even = balance(graph, samples(graph, 8)).graph
    assert not even.constants["first_w"].array[1].any()
    assert np.isfinite(even.constants["middle_w"].array).all()


def test_pinned_or_shared_layers_stay_as_they_are():
    quant = QuantParams.per_tensor(0.1, 0)
    s = Sketch()
    x = s.input("x", 1, 4)
    pinned = s(ops.Gemm(), x, s.normal("a", 4, 4), quant=quant)
    codes = s.const("codes", np.ones((4, 4), np.int8), QuantParams.per_tensor(0.5, 0))
    second = s(ops.Gemm(), pinned, codes)
    shared = s.normal("shared", 4, 4)
    third = s(ops.Gemm(), s(ops.Gemm(), second, shared), shared)
    assert not can_balance(s.graph(third))


def coarse() -> Graph:
    """Weights with one giant a channel, so that the others round coarsely; inputs of mean 2."""
    s = Sketch()
    x = s.input("x", 1, 5, 5, 4)
    a = relu(s, conv(s, x, 6, bias=False, name="first"))
    y = conv(s, a, 5, name="second")
    weight = s.builder.constants["first_w"].array.copy()
    weight[:, 0, 0, 0] = 40.0
    s.builder.constant("first_w", weight, keep_name=True)
    return s.graph(y)


def test_bias_correction_removes_the_mean_error_of_weights():
    graph = coarse()
    data = {"x": samples(graph, 32)["x"] + np.float32(2.0)}
    plain, _ = annotate(graph, data, QuantOptions(bias_correction=False))
    corrected, _ = annotate(graph, data, QuantOptions(bias_correction=True))
    verify(corrected, Stage.ANNOTATED)
    names = ["first", "second"]
    wanted = channel_means(graph, names, data)
    errors = []
    for annotated in (plain, corrected):
        found = channel_means(annotated, names, data)
        errors.append({n: np.abs(found[n] - wanted[n]).max() for n in names})
    for name in names:
        assert errors[1][name] < 0.1 * errors[0][name]


def test_bias_correction_leaves_pinned_weights_alone():
    s = Sketch()
    x = s.input("x", 1, 4)
    w = s.const("w", np.array([[1, 2, 3, 4]], np.int8), QuantParams.per_tensor(0.5, 0))
    graph = s.graph(s(ops.Gemm(), x, w))
    data = samples(graph, 4)
    annotated, _ = annotate(graph, data, QuantOptions())
    assert correct_biases(annotated, data, wanted_of(graph, data)).graph is annotated


@pytest.mark.parametrize(("effort", "count", "runs"), [("fast", 16, 1), ("normal", 16, 2)])
def test_a_network_is_corrected_no_more_often_than_it_differs(monkeypatch, effort, count, runs):
    """Where no other samples are taken, rejected codes do not correct the biases again."""
    graph = mobile()
    data = samples(graph, count)
    settings = QuantOptions(effort=Effort(effort)).settings()
    annotated, _ = annotate(graph, data, QuantOptions(bias_correction=False))
    real, made = fit_weights.correct_biases, []

    def counted(*args, **more):
        made.append(real(*args, **more))
        return made[-1]

    monkeypatch.setattr(fit_weights, "correct_biases", counted)
    noises = iter([1.0, 2.0])
    monkeypatch.setattr(fit_weights, "_noise", lambda *_: next(noises))
    found, _ = fit_weights.fitted(graph, annotated, data, settings, Effort(effort))
    assert len(made) == runs
    assert found is made[0].graph
