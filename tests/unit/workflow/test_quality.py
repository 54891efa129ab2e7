"""Poor outputs are named, with where their accuracy went and what to try."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sketch import Sketch

from edgec.base.options import Effort, Observer, Precision, QuantSettings, Residual
from edgec.ir.graph import Graph
from edgec.quant.common.report import (
    CalibrationSource,
    Cause,
    Decisions,
    InForce,
    LayerLoss,
    LayerQuality,
    QuantReport,
)
from edgec.workflow.quality import advice, quality_warnings

SETTINGS = QuantSettings()


def graph_of() -> Graph:
    s = Sketch()
    return s.graph(s.input("y", 1, 4))


def report_of(output_db: float, *losses: LayerLoss) -> QuantReport:
    in_force = InForce(Observer.MINMAX, equalize=False, bias_correction=False)
    layers = (LayerQuality("n", "Conv", "y", output_db, 0.0), LayerQuality("m", "Conv", "x", 1, 0))
    return QuantReport(CalibrationSource.USER, 64, in_force, (), layers, losses=losses)


def loss(codes: float, weights: float = 0.0, why: Cause = Cause.RANGE) -> LayerLoss:
    return LayerLoss("x", ("X",), weights, codes, why, "")


def test_a_good_output_needs_no_words() -> None:
    assert quality_warnings(graph_of(), report_of(20.0, loss(0.01)), SETTINGS) == ()


def test_a_poor_output_comes_with_its_causes() -> None:
    losses = (loss(0.03), loss(0.01, why=Cause.CLIPPED), loss(0.0))
    poor, causes = quality_warnings(graph_of(), report_of(4.2, *losses), SETTINGS)
    assert "'y' has 4.2 dB" in poor
    assert "75% from 'x' (range: --precision auto), 25% from 'x' (clipped: more sam" in causes
    assert causes.count("'x'") == 2
    synthetic = replace(report_of(4.2, *losses), source=CalibrationSource.SYNTHETIC)
    assert quality_warnings(graph_of(), synthetic, SETTINGS) == ()


def test_noise_of_many_layers_has_no_cause_to_name() -> None:
    losses = tuple(loss(0.001) for _ in range(40))
    _, causes = quality_warnings(graph_of(), report_of(4.2, *losses), SETTINGS)
    assert causes == "no layer adds more than 5% of the noise at the outputs"


@pytest.mark.parametrize(
    ("equal", "of", "warns"), [(58, 64, False), (57, 64, True), (7, 8, False), (6, 8, True)]
)
def test_few_equal_decisions(equal: int, of: int, warns: bool) -> None:
    report = replace(report_of(30.0), decisions=Decisions(equal, of, classes=True))
    found = quality_warnings(graph_of(), report, SETTINGS)
    assert bool(found) is warns
    assert all(f"on {equal} of {of} calibration samples" in text for text in found)


def test_numbers_that_may_be_no_scores_are_not_called_decisions() -> None:
    report = replace(report_of(30.0), decisions=Decisions(57, 64, classes=False))
    (found,) = quality_warnings(graph_of(), report, SETTINGS)
    assert found == (
        "the largest output is that of the float model on 57 of 64 calibration samples; "
        "if the outputs score classes, below 90% something is wrong"
    )
    (told,) = quality_warnings(graph_of(), report.about_classes(), SETTINGS)
    assert told.startswith("the integers decide as the float model on 57 of 64")


def test_advice_is_what_was_not_done_yet() -> None:
    report = report_of(4.2)
    weights = loss(0.0, 0.1, Cause.WEIGHTS)
    assert advice(weights, report, SETTINGS) == "--effort best"
    best = replace(SETTINGS, effort=Effort.BEST)
    assert advice(weights, report, best) == "edgec quantize --train"
    assert "16 calibration samples" in advice(weights, replace(report, samples=8), SETTINGS)
    auto = replace(SETTINGS, precision=Precision.AUTO)
    assert advice(loss(0.1), report, SETTINGS) == "--precision auto"
    assert advice(loss(0.1), report, auto) == "a higher --target-db"
    decisions = replace(auto, max_drop=1.0)
    assert advice(loss(0.1), report, decisions) == "a smaller --max-drop"


def test_codes_of_a_file_are_changed_where_the_file_is_made() -> None:
    report = replace(report_of(4.2), in_force=InForce(None, False, False))
    assert "the float model" in advice(loss(0.1), report, SETTINGS)


def test_advice_on_transformers_names_no_option_that_they_lack() -> None:
    stream = InForce(None, False, True, residual=Residual.INT16)
    report = replace(report_of(4.2), in_force=stream)
    arithmetic = loss(0.0, 0.1, Cause.ARITHMETIC)
    assert advice(arithmetic, report, SETTINGS) == "--precision auto"
    auto = replace(SETTINGS, precision=Precision.AUTO)
    assert advice(arithmetic, report, auto) == "more calibration samples, of all kinds"
    few = replace(report, samples=4)
    assert advice(arithmetic, few, SETTINGS).startswith("16 calibration samples")
    narrow = replace(report, in_force=replace(stream, residual=Residual.INT8))
    assert advice(arithmetic, narrow, SETTINGS) == "--residual int16"
