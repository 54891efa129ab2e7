"""What noise of one tensor does at the outputs, and the report of the worst."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from quant_samples import Sketch, conv, gemm, relu, residual_network, samples

from edgec.base.dtypes import Array, DType
from edgec.base.options import CompileOptions, Observer, Precision, QuantOptions
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.quant import quantize
from edgec.quant.common.calibration import few_of
from edgec.quant.common.decisions import decisions_of
from edgec.quant.common.output_noise import OutputNoise, trial_samples
from edgec.quant.common.quality import quality_of, share_db
from edgec.quant.common.report import CalibrationSource, Cause, LayerLoss, QuantReport
from edgec.quant.common.sample_codes import Outputs


def two_layers(outputs: int = 4) -> Graph:
    s = Sketch()
    x = s.input("x", 1, 8)
    return s.graph(gemm(s, relu(s, gemm(s, x, 16, name="first")), outputs, name="last"))


def test_noise_is_the_share_of_energy_at_the_output() -> None:
    graph = two_layers()
    noise = OutputNoise(graph, samples(graph, 4))
    (output,) = graph.outputs
    assert noise.of(output, noise.value(output) * 1.1) == pytest.approx(0.01)
    first = graph.nodes[0].output
    assert noise.of(first, noise.value(first)) == 0.0
    assert noise.of(first, noise.value(first) * 0.0) > 0.01


def losses_of(graph: Graph, data: dict[str, Array], **options: object) -> QuantReport:
    found = quantize(graph, data, CompileOptions(quant=QuantOptions(**options)))
    assert found.report.source is CalibrationSource.USER
    return found.report


def worst(report: QuantReport) -> LayerLoss:
    return max(report.losses, key=lambda loss: loss.noise)


def test_every_layer_and_input_has_its_loss() -> None:
    graph = two_layers()
    report = losses_of(graph, samples(graph, 32))
    clip = graph.nodes[1].output
    assert [loss.value for loss in report.losses] == ["x", clip, *graph.outputs]
    first = report.losses[1]
    assert first.weights > 0 < first.codes  # the layer's weights stand with its Clip's codes
    assert report.losses[0].weights == 0.0 < report.losses[0].codes


def test_losses_add_up_to_the_noise_at_the_output() -> None:
    """Nearly: they are not quite independent."""
    graph = residual_network()
    report = losses_of(graph, samples(graph, 32))
    (measured,) = (each.sqnr_db for each in report.layers if each.value in graph.outputs)
    assert share_db(sum(loss.noise for loss in report.losses)) == pytest.approx(measured, abs=5.0)


def test_few_levels() -> None:
    """One sample far beyond the others: extremes leave the others few levels."""
    graph = two_layers()
    data = samples(graph, 64)
    wild = {"x": np.concatenate([data["x"], data["x"][:1] * 500])}
    found = worst(losses_of(graph, wild, observer=Observer.MINMAX))
    assert found.why is Cause.LEVELS
    assert "steps" in found.detail


def test_one_channel_has_the_range_for_itself() -> None:
    graph = two_layers()
    data = samples(graph, 32)
    uneven = data["x"] * np.array([40, 1, 1, 1, 1, 1, 1, 1], np.float32)
    report = losses_of(graph, {"x": uneven}, equalize=False)
    found = report.losses[0]
    assert (found.value, found.why) == ("x", Cause.CHANNEL)
    assert "channel 0 reaches" in found.detail


def test_int16_codes_lose_next_to_nothing() -> None:
    graph = two_layers()
    narrow = losses_of(graph, samples(graph, 32))
    wide = losses_of(graph, samples(graph, 32), precision=Precision.INT16)
    assert sum(x.codes for x in wide.losses) < 1e-2 * sum(x.codes for x in narrow.losses)
    assert worst(wide).why is Cause.WEIGHTS


def test_without_own_data_nothing_is_lost() -> None:
    graph = two_layers()
    found = quantize(graph, None, CompileOptions()).report
    assert (found.losses, found.decisions) == ((), None)


def test_equal_decisions() -> None:
    graph = two_layers()
    data = samples(graph, 40)
    integer = quantize(graph, data, CompileOptions()).integer
    found = decisions_of(graph, integer, data)
    assert found is not None
    assert found.samples == 40
    assert 36 <= found.equal <= 40
    assert not found.classes  # they may be the coordinates of something
    restored = two_layers(outputs=8)  # as long as its input
    assert quantize(restored, samples(restored, 8), CompileOptions()).report.decisions is None


def test_decisions_are_the_same_where_outputs_are_known() -> None:
    graph = two_layers()
    data = samples(graph, 40)
    integer = quantize(graph, data, CompileOptions()).integer
    known = Outputs()
    quality_of(graph, integer, few_of(data), None, known)
    assert len(known.real) == len(known.codes) == 8
    assert decisions_of(graph, integer, data, known) == decisions_of(graph, integer, data)
    known.codes[0] = {name: -codes for name, codes in known.codes[0].items()}
    less = decisions_of(graph, integer, data, known)
    assert less is not None
    assert less.equal < 40  # they are counted as they are given


def test_a_network_that_names_the_class_itself() -> None:
    """Its scores are compared, and its one number is the decision."""
    s = Sketch()
    scores = gemm(s, relu(s, gemm(s, s.input("x", 1, 8), 16)), 4)
    graph = s.graph(s(ops.Reshape((1,)), s(ops.ArgMax(1), scores)))
    number = dataclasses.replace(graph.values[graph.outputs[0]], dtype=DType.INT32)
    graph = graph.replace(values={**graph.values, number.name: number})
    report = losses_of(graph, samples(graph, 40))
    assert report.decisions is not None
    assert report.decisions.samples == 40
    assert report.decisions.classes
    assert report.losses[-1].value == scores
    assert report.losses[-1].noise > 0.0


@pytest.mark.filterwarnings("error")
def test_padding_by_minus_infinity_has_no_error() -> None:
    s = Sketch()
    pad = ops.Pad(((0, 0), (1, 0), (0, 1), (0, 0)), value=float("-inf"))
    wide = s(pad, s.input("x", 1, 6, 6, 4))
    graph = s.graph(s(ops.MaxPool((3, 3)), s(ops.Transpose((0, 2, 1, 3)), wide)))
    losses = losses_of(graph, samples(graph, 16)).losses
    assert np.isfinite([each.noise for each in losses]).all()


def test_a_softmax_over_one_class_decides_nothing() -> None:
    s = Sketch()
    graph = s.graph(s(ops.Softmax(), gemm(s, s.input("x", 1, 8), 1)))
    assert losses_of(graph, samples(graph, 16)).decisions is None


def test_several_numbers_of_classes_are_no_decision() -> None:
    s = Sketch()
    graph = s.graph(s(ops.ArgMax(2, keepdims=False), gemm(s, s.input("x", 1, 6, 8), 4)))
    assert losses_of(graph, samples(graph, 16)).decisions is None


def test_large_networks_are_not_tried() -> None:
    s = Sketch()
    x = s.input("x", 1, 512, 512, 64)
    for number in range(3):
        x = conv(s, x, 64, name=f"layer_{number}")
    graph = s.graph(x)
    assert trial_samples(graph, list(graph.values), 8) == 0
    assert trial_samples(two_layers(), list(two_layers().values), 2) == 2
