"""Calibration samples that judge a choice of precision, and those that a network is fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from mixed_nets import squeezed
from quant_samples import samples

from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.ir.text import graph_text
from edgec.quant import quantize
from edgec.quant.precision.held import folds
from edgec.quant.precision.notes import precision_notes, precision_warnings


@pytest.mark.parametrize(("count", "parts"), [(8, 4), (11, 4), (63, 4), (64, 2), (101, 2)])
def test_every_sample_judges_once_and_no_fit_that_has_seen_it(count: int, parts: int) -> None:
    data = {"x": np.arange(count), "y": np.arange(count) * 2}
    found = folds(data)
    assert len(found) == parts
    for fold in found:
        assert sorted([*fold.fitted["x"], *fold.judged["x"]]) == list(range(count))
        assert (fold.judged["y"] == fold.judged["x"] * 2).all()
    assert sorted(x for fold in found for x in fold.judged["x"]) == list(range(count))
    assert found[1].judged["x"].tolist() == list(range(1, count, parts))


def test_of_few_samples_none_is_spared() -> None:
    assert folds({"x": np.arange(7)}) == ()


def _report(count: int, precision: Precision = Precision.INT16):
    graph = squeezed()
    options = CompileOptions(quant=QuantOptions(precision=precision))
    report = quantize(graph, samples(graph, count), options).report
    assert report.precision is not None
    return report.precision


def test_the_report_says_what_judged() -> None:
    enough, few = _report(32), _report(4)
    assert (enough.samples, enough.held_back) == (32, True)
    assert (few.samples, few.held_back) == (4, False)
    assert precision_warnings(enough) == precision_warnings(None) == ()
    (warning,) = precision_warnings(few)
    assert "fitted to" in warning
    assert "on 32 calibration samples held back" in precision_notes(enough)[0]
    assert "on 4 calibration samples," in precision_notes(few)[0]


def test_what_is_compiled_is_fitted_to_all_samples() -> None:
    graph = squeezed()
    data = samples(graph, 16)
    low = QuantOptions(precision=Precision.AUTO, target_db=1.0)
    found = quantize(graph, data, CompileOptions(quant=low))
    plain = quantize(graph, data, CompileOptions())
    assert graph_text(found.integer) == graph_text(plain.integer)
