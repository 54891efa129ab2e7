"""Poor outputs are named, with where their accuracy went and what to try."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sketch import Sketch

from edgec.base.options import Observer, Precision, QuantSettings, Residual
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.output_noise import cause_of_codes
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
    in_force = InForce(Observer.MSE, equalize=False, bias_correction=False)
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
    assert "75% from 'x' (range: --precision auto), 25% from 'x' (clipped: --observer m" in causes
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


def advised(made: LayerLoss, report: QuantReport, settings: QuantSettings = SETTINGS) -> str:
    return advice(made, graph_of(), report, settings)


def test_nothing_is_advised_where_nothing_is_poor() -> None:
    good = replace(report_of(30.0), decisions=Decisions(64, 64, classes=True))
    for why in Cause:
        assert advised(loss(0.1, why=why), good) == ""


def test_advice_is_what_provably_helps() -> None:
    report = report_of(4.2)
    assert advised(loss(0.0, 0.1, Cause.WEIGHTS), report) == "edgec quantize --train"
    assert advised(loss(0.0, 0.1, Cause.ARITHMETIC), report) == ""
    assert advised(loss(0.1, why=Cause.CLIPPED), report) == "--observer minmax"
    reaching = replace(report, in_force=replace(report.in_force, observer=Observer.MINMAX))
    assert advised(loss(0.1, why=Cause.CLIPPED), reaching) == "--precision auto"
    assert advised(loss(0.1), report) == "--precision auto"


def test_an_option_that_would_change_nothing_is_not_advised() -> None:
    """`auto` stops at its goal: what is missed already is no goal to raise."""
    report = report_of(4.2)
    auto = replace(SETTINGS, precision=Precision.AUTO)
    assert advised(loss(0.1), report, auto) == ""
    assert advised(loss(0.1), report, replace(auto, target_db=3.0)) == "a higher --target-db"
    assert advised(loss(0.1), report, replace(SETTINGS, precision=Precision.INT16)) == ""
    decided = replace(report_of(35.0), decisions=Decisions(50, 64, classes=True))
    assert advised(loss(0.1), decided) == "--precision auto --max-drop 1"
    unnamed = replace(decided, decisions=Decisions(50, 64, classes=False))
    assert advised(loss(0.1), unnamed) == ""
    wide, close = (replace(auto, max_drop=drop) for drop in (30.0, 1.0))
    assert advised(loss(0.1), decided, wide) == "a smaller --max-drop"
    assert advised(loss(0.1), decided, close) == ""


def test_codes_of_a_file_are_changed_where_the_file_is_made() -> None:
    report = replace(report_of(4.2), in_force=InForce(None, False, False))
    assert "the float model" in advised(loss(0.1), report)


def test_advice_on_transformers_names_no_option_that_they_lack() -> None:
    stream = InForce(None, False, True, residual=Residual.INT16)
    report = replace(report_of(4.2), in_force=stream)
    arithmetic = loss(0.0, 0.1, Cause.ARITHMETIC)
    assert advised(arithmetic, report) == "--precision auto"
    auto = replace(SETTINGS, precision=Precision.AUTO)
    assert advised(arithmetic, report, auto) == ""
    narrow = replace(report, in_force=replace(stream, residual=Residual.INT8))
    assert advised(arithmetic, narrow) == "--residual int16"


def test_clipping_is_the_cause_where_a_wider_range_has_less_noise() -> None:
    quant = QuantParams.per_tensor(1 / 127, 0)
    values = np.random.default_rng(0).normal(0, 0.1, (4, 2000, 1))
    reaching, endless = values.copy(), values.copy()
    reaching[:, :5] = 1.6
    endless[:, :5] = -np.inf  # a Pad put it there, and no code reaches it
    found = [cause_of_codes(each, quant)[0] for each in (reaching, endless, values)]
    assert found == [Cause.CLIPPED, Cause.RANGE, Cause.RANGE]
