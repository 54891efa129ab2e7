"""Evaluation data and decisions that are not those of the network that was compiled."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from edgec.report.model import TensorReport
from edgec.workflow.evaluation_check import agreement_warnings, evaluation_warnings


def report_of(low: float, high: float) -> TensorReport:
    """An input that was calibrated for a range."""
    scale = (high - low) / 255
    return TensorReport(
        "x", "float32", (1, 4), (1, 4), (), "int8", scale, round(-128 - low / scale), 4
    )


@pytest.mark.parametrize(
    ("low", "high", "warns"), [(0, 1, False), (0, 0.5, False), (0, 255, True), (0, 0.004, True)]
)
def test_evaluation_data_of_another_range(low, high, warns):
    data = np.linspace(low, high, 400, dtype=np.float32).reshape(-1, 4)
    found = evaluation_warnings([report_of(0, 1)], {"x": data})
    assert bool(found) is warns
    assert all("calibration data lay in [0, 1]" in text for text in found)


def test_few_equal_decisions():
    assert agreement_warnings(0.9) == ()
    (warning,) = agreement_warnings(0.08)
    assert "only 8% of the decisions" in warning


def test_evaluate_loads_neither_importer_nor_quantizer():
    """Loading them takes a second and a half of each `edgec evaluate`."""
    code = "import sys, edgec.workflow.evaluation; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = ("edgec.importers.", "edgec.quant.", "sympy.")
    assert not [name for name in done.stdout.split() if name.startswith(heavy)]
