"""`annotate`: calibration data good and bad, pinned models, fallbacks, the report."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from quant_samples import Sketch, branches, conv, gemm, perceptron, relu, residual_network, samples

from edgec.base.errors import ConfigError, QuantizationError
from edgec.base.options import Observer, QuantOptions
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.activations import activations, checked_calibration
from edgec.floatrun.float_model import FloatModel
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.quant import CalibrationSource, annotate, sqnr_db, to_integer

PIN = QuantParams.per_tensor(0.05, 4)


@pytest.mark.parametrize("observer", Observer)
@pytest.mark.parametrize("graph", [residual_network(), branches(), perceptron()])
def test_every_observer_gives_a_valid_graph_of_good_quality(graph, observer):
    data = samples(graph, 16)
    options = QuantOptions(observer=observer)
    annotated, report = annotate(graph, data, options)
    verify(annotated, Stage.ANNOTATED)
    verify(to_integer(annotated), Stage.INTEGER)
    assert report.source is CalibrationSource.USER
    assert report.samples == 16
    assert min(layer.sqnr_db for layer in report.layers) > 20


def test_ranges_are_those_of_the_float_network():
    graph = residual_network()
    data = samples(graph, 20)
    annotated, _ = annotate(graph, data, QuantOptions(observer=Observer.MINMAX))
    names = [n.output for n in graph.nodes if fused_clip(graph, n) is None]
    seen = dict.fromkeys(names, 0.0)
    for _, batch in activations(graph, names, data):
        for name, values in batch.items():
            seen[name] = max(seen[name], float(values.max()))
    for name in names[:-1]:
        quant = annotated.quant(name)
        high = quant.tensor_scale * (127 - quant.tensor_zero_point)
        assert high == pytest.approx(seen[name], abs=quant.tensor_scale)


def test_tied_values_share_parameters_and_fused_ones_the_clips():
    graph = branches()
    annotated, _ = annotate(graph, samples(graph, 8), QuantOptions())
    for node in annotated.nodes:
        if node.attrs.moves_codes:
            for name in node.inputs:
                assert annotated.quant(name) == annotated.quant(node.output)
    network = residual_network()
    annotated, _ = annotate(network, samples(network, 8), QuantOptions())
    fused = [(n, fused_clip(annotated, n)) for n in annotated.nodes]
    assert sum(clip is not None for _, clip in fused) == 3
    for node, clip in fused:
        if clip is not None:
            assert annotated.quant(node.output) == annotated.quant(clip.output)


def test_known_ranges_need_no_calibration():
    s = Sketch()
    x = s.input("x", 1, 4)
    outputs = [
        s(ops.Softmax(), x),
        s(ops.Reshape((2, 2)), s(ops.Unary(ops.UnaryKind.SIGMOID), x)),
        s(ops.Unary(ops.UnaryKind.TANH), x),
    ]
    graph = s.graph(*outputs)
    annotated, _ = annotate(graph, samples(graph, 4), QuantOptions())
    found = [annotated.quant(name) for name in outputs]
    unit = QuantParams.per_tensor(1 / 256, -128)
    assert found == [unit, unit, QuantParams.per_tensor(1 / 128, 0)]


def test_concat_of_a_known_and_a_calibrated_range_covers_both():
    s = Sketch()
    x = s.input("x", 1, 4)
    y = s(ops.Concat(1), s(ops.Softmax(), x), x, s.const("c", [[9.0]]))
    graph = s.graph(y)
    annotated, _ = annotate(graph, samples(graph, 4), QuantOptions())
    quant = annotated.quant(y)
    assert quant.tensor_scale * (127 - quant.tensor_zero_point) == pytest.approx(9, abs=0.05)
    (name,) = [n for n in annotated.nodes[-1].inputs if n in annotated.constants]
    assert annotated.constants[name].real()[0, 0] == pytest.approx(9, abs=0.05)


@pytest.mark.parametrize(("value", "covered"), [(2.0, True), (-1e30, False), (-math.inf, False)])
def test_padding_values(value, covered, caplog):
    s = Sketch()
    x = s.input("x", 1, 4)
    y = s(ops.Pad(((0, 0), (1, 0)), value=value), x)
    graph = s.graph(y)
    with caplog.at_level(logging.WARNING):
        annotated, _ = annotate(graph, {"x": np.ones((2, 4), np.float32)}, QuantOptions())
    quant = annotated.quant(y)
    assert (quant.tensor_scale * 255 == pytest.approx(2.0)) == covered
    assert ("that saturates" in caplog.text) != covered
    to_integer(annotated)


@pytest.mark.parametrize(
    "bad",
    [
        {"percentile": 99.99e9},
        {"percentile": 1.0},
        {"percentile": math.nan},
        {"synthetic_range": (1.0, 1.0)},
        {"synthetic_range": (0.0, math.inf)},
    ],
)
def test_options_out_of_range(bad):
    with pytest.raises(ConfigError):
        QuantOptions(**bad)


# -- calibration data ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no data for input 'x'"),
        ({"y": np.zeros((2, 12))}, "no input 'y'"),
        ({"x": np.zeros((2, 12)), "y": np.zeros((2, 12))}, "no input 'y'"),
        ({"x": np.zeros((0, 12))}, "no samples"),
        ({"x": np.zeros((2, 13))}, r"shape is \[2, 13\]"),
        ({"x": np.zeros(12)}, r"shape is \[12\]"),
        ({"x": np.float32(1)}, r"shape is \[\]"),
        ({"x": np.zeros((2, 3, 4))}, r"shape is \[2, 3, 4\]"),
        ({"x": np.array([["a"] * 12])}, "elements are"),
        ({"x": np.zeros((2, 12), complex)}, "elements are complex"),
        ({"x": np.zeros((2, 12), object)}, "elements are object"),
        ({"x": np.zeros((2, 12), bool)}, "elements are bool"),
        ({"x": np.full((2, 12), np.nan)}, "sample 0 holds NaN"),
        ({"x": np.vstack([np.zeros((3, 12)), np.full((1, 12), np.inf)])}, "sample 3 holds NaN"),
        ({"x": np.full((1, 12), 1e39)}, "sample 0 holds NaN"),
    ],
)
def test_bad_calibration_data(data, message):
    with pytest.raises(ConfigError, match=message) as caught:
        annotate(perceptron(), data, QuantOptions())
    if "shape" in message:
        assert "float32 [N, 12]" in caught.value.hint


def test_inputs_with_different_numbers_of_samples():
    s = Sketch()
    graph = s.graph(s(ops.Add(), s.input("a", 1, 2), s.input("b", 1, 2)))
    with pytest.raises(ConfigError, match="different numbers"):
        annotate(graph, {"a": np.zeros((2, 2)), "b": np.zeros((3, 2))}, QuantOptions())


def test_integers_are_taken_as_real_values():
    found = checked_calibration(perceptron(), {"x": np.full((1, 12), 7, np.uint8)})
    assert found["x"].dtype == np.float32
    assert found["x"][0, 0] == 7.0


def test_activations_that_are_not_finite_name_the_tensor():
    s = Sketch()
    x = s.input("x", 1, 2)
    y = s(ops.Unary(ops.UnaryKind.EXP), x, name="boom")
    graph = s.graph(s(ops.Unary(ops.UnaryKind.NEG), y))
    with pytest.raises(QuantizationError, match=r"boom: .*NaN or infinite"):
        annotate(graph, {"x": np.full((3, 2), 500.0)}, QuantOptions())


def test_progress_is_told_and_memory_stays_bounded():
    graph = residual_network()
    seen: list[tuple[int, int]] = []
    annotate(graph, samples(graph, 150), QuantOptions(), lambda *step: seen.append(step))
    assert seen[:3] == [(64, 150), (128, 150), (150, 150)]
    assert all(done <= total for done, total in seen)


# -- no data ---------------------------------------------------------------------------------------


def test_without_data_a_float_model_is_calibrated_on_noise_with_a_warning(caplog):
    graph = residual_network()
    with caplog.at_level(logging.WARNING):
        annotated, report = annotate(graph, None, QuantOptions(synthetic_range=(-3.0, 3.0)))
    assert "no calibration data" in caplog.text
    assert report.source is CalibrationSource.SYNTHETIC
    assert "32 samples of noise in [-3, 3]" in report.warnings[0]
    verify(annotated, Stage.ANNOTATED)
    assert annotated.quant("x").tensor_scale == pytest.approx(6 / 255, rel=0.01)
    again, _ = annotate(graph, None, QuantOptions(synthetic_range=(-3.0, 3.0)))
    assert dict(annotated.values) == dict(again.values)


def test_a_fully_pinned_model_needs_no_data(caplog):
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2, quant=PIN)
    y = s(ops.Clip(0.0), conv(s, x, 3), quant=PIN)
    graph = s.graph(s(ops.MaxPool((2, 2)), y))
    with caplog.at_level(logging.WARNING):
        annotated, report = annotate(graph, None, QuantOptions())
    assert not caplog.text
    assert report.source is CalibrationSource.NONE
    assert report.layers == ()
    assert all(value.quant == PIN for value in annotated.values.values())


def test_what_follows_from_pinned_parameters_needs_no_data():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2, quant=PIN)
    mean = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2)), s(ops.AveragePool((2, 2)), x))
    negative = s(ops.Unary(ops.UnaryKind.NEG), mean)
    annotated, _ = annotate(s.graph(negative), None, QuantOptions())
    assert annotated.quant(mean) == PIN
    assert annotated.quant(negative).tensor_zero_point == pytest.approx(-5, abs=1)


def test_a_partly_pinned_model_asks_for_data_and_uses_it():
    s = Sketch()
    x = s.input("x", 1, 4, quant=PIN)
    graph = s.graph(gemm(s, relu(s, gemm(s, x, 5)), 3, name="last"))
    with pytest.raises(QuantizationError, match="but not these: 'relu', 'last'"):
        annotate(graph, None, QuantOptions())
    annotated, report = annotate(graph, samples(graph, 8), QuantOptions())
    assert annotated.quant("x") == PIN
    assert annotated.quant("last") != PIN
    assert report.layers


def test_a_conflict_is_requantized_end_to_end():
    s = Sketch()
    other = QuantParams.per_tensor(0.02, -10)
    x, y = s.input("x", 1, 2, quant=PIN), s.input("y", 1, 2, quant=other)
    graph = s.graph(s(ops.Concat(1), x, y, quant=other))
    annotated, _ = annotate(graph, None, QuantOptions())
    verify(annotated, Stage.ANNOTATED)
    assert [n.op for n in to_integer(annotated).nodes] == ["QLut", "QConcat"]


# -- report ----------------------------------------------------------------------------------------


def test_quality_of_each_layer():
    graph = residual_network()
    annotated, report = annotate(graph, samples(graph, 16), QuantOptions())
    integer = to_integer(annotated)
    assert [layer.node for layer in report.layers] == [node.name for node in integer.nodes]
    assert all(25 < layer.sqnr_db < 80 for layer in report.layers)
    assert all(layer.saturated < 0.01 for layer in report.layers)


def test_values_beyond_the_codes_are_counted():
    s = Sketch()
    x = s.input("x", 1, 4, quant=QuantParams.per_tensor(1.0, 0))
    y = s(ops.Unary(ops.UnaryKind.NEG), x, quant=QuantParams.per_tensor(0.5, 0))
    graph = s.graph(y)
    data = {"x": np.array([[1.0, 63.0, 65.0, -100.0]], np.float32)}
    _, report = annotate(graph, data, QuantOptions())
    (layer,) = report.layers
    assert layer.saturated == 0.5
    signal, noise = 1 + 63**2 + 65**2 + 100**2, 1.0**2 + 36.5**2
    assert layer.sqnr_db == pytest.approx(10 * math.log10(signal / noise))


def test_sqnr():
    assert sqnr_db(np.ones(4), np.ones(4)) == math.inf
    assert sqnr_db(np.zeros(4), np.ones(4)) == -math.inf
    assert sqnr_db(np.full(4, 10.0), np.full(4, 11.0)) == pytest.approx(20.0)


def test_quantization_error_is_small_against_onnxruntime():
    """The float graph is what onnxruntime says, the integer graph what the report says."""
    graph = perceptron()
    annotated, report = annotate(graph, samples(graph, 64), QuantOptions())
    model = FloatModel(export_real(graph))
    data = samples(graph, 64)
    wanted = model.run(data)[graph.outputs[0]]
    assert wanted.shape == (64, 2, 4)
    assert report.layers[-1].value == graph.outputs[0]
    assert report.layers[-1].sqnr_db > 30
    assert annotated.outputs == graph.outputs
