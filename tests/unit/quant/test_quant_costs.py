"""What noise of one tensor does at the outputs, and the report of the worst."""

from __future__ import annotations

import numpy as np
import pytest
from quant_samples import Sketch, conv, gemm, relu, samples

from edgec.base.options import Observer, QuantOptions
from edgec.ir import ops
from edgec.quant import annotate
from edgec.quant.cnn.costs import layer_costs
from edgec.quant.common.output_noise import OutputNoise, trial_samples


def two_layers():
    s = Sketch()
    x = s.input("x", 1, 8)
    return s.graph(gemm(s, relu(s, gemm(s, x, 16, name="first")), 4, name="last"))


def test_noise_is_the_share_of_energy_at_the_output() -> None:
    graph = two_layers()
    noise = OutputNoise(graph, samples(graph, 4))
    (output,) = graph.outputs
    assert noise.of(output, noise.value(output) * 1.1) == pytest.approx(0.01)
    first = graph.nodes[0].output
    assert noise.of(first, noise.value(first)) == 0.0
    assert noise.of(first, noise.value(first) * 0.0) > 0.01


def test_the_worst_tensor_is_named_with_its_cause() -> None:
    """One sample far beyond the others: extremes leave the others few levels."""
    graph = two_layers()
    data = samples(graph, 64)
    wild = {"x": np.concatenate([data["x"], data["x"][:1] * 500])}
    annotated, report = annotate(graph, wild, QuantOptions(observer=Observer.MINMAX))
    assert report.costs == layer_costs(graph, annotated, wild)
    shares = [cost.share for cost in report.costs]
    assert 1 <= len(shares) <= 3
    assert shares == sorted(shares, reverse=True)
    assert report.costs[0].why == "few levels"


def test_poor_outputs_come_with_their_causes() -> None:
    s = Sketch()
    x = s.input("x", 1, 6, 6, 3)
    a = conv(s, x, 8, 1, name="first")
    graph = s.graph(conv(s, s(ops.Unary(ops.UnaryKind.POW, 5.0), a), 4, 1, name="last"))
    _, report = annotate(graph, samples(graph, 16), QuantOptions())
    (output,) = graph.outputs
    (quality,) = (layer.sqnr_db for layer in report.layers if layer.value == output)
    assert bool(report.costs) == (quality < 20.0)


def test_large_networks_are_not_tried() -> None:
    s = Sketch()
    x = s.input("x", 1, 512, 512, 64)
    for number in range(3):
        x = conv(s, x, 64, name=f"layer_{number}")
    graph = s.graph(x)
    assert trial_samples(graph, 8) == 0
    assert trial_samples(two_layers(), 2) == 2
