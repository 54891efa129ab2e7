"""Pipelines of scikit-learn, as skl2onnx writes them, on data that they were not fitted to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgec.commands.compile import compile_model
from edgec.workflow.evaluation import evaluate

CASES = [
    ("cancer", "standard", "mlp"),
    ("wine", "minmax", "logistic"),
    ("cancer", "robust", "svc"),
    ("wine", "standard", "pca"),
    ("cancer", "standard", "forest"),
    ("wine", "minmax", "boosting"),
]
MOST_LOST = 0.02
"""Share of the test data on which integers may be wrong where floats are right."""


@pytest.fixture(scope="module")
def models() -> Any:
    """The module `sklearn_models`, which takes seconds to load; skips where it cannot be."""
    pytest.importorskip("skl2onnx")
    import sklearn_models

    return sklearn_models


@pytest.mark.few_cases(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("data", "scaler", "model"), CASES)
def test_classifier(models: Any, tmp_path: Path, data: str, scaler: str, model: str) -> None:
    train, test, _, labels = models.split(data)
    fitted = models.fitted(data, scaler, model)
    path = models.saved(fitted, train.shape[1], tmp_path)
    result = compile_model(path, "host", calibration={"x": train}, out=tmp_path / "build")
    assert {output.labels for output in result.report.outputs} == {
        tuple(str(label) for label in fitted.classes_)
    }
    np.savez(tmp_path / "test.npz", x=test, y=labels)
    found = evaluate(tmp_path / "build", tmp_path / "test.npz")
    assert found.float_accuracy == pytest.approx(fitted.score(test, labels), abs=0.01)
    assert found.accuracy >= found.float_accuracy - MOST_LOST
    assert found.agreement >= 1 - MOST_LOST


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ["ridge", "forest of numbers"])
def test_regressor(models: Any, tmp_path: Path, model: str) -> None:
    train, test, _, wanted = models.split("diabetes")
    fitted = models.fitted("diabetes", "standard", model)
    path = models.saved(fitted, train.shape[1], tmp_path)
    result = compile_model(path, "host", calibration={"x": train}, out=tmp_path / "build")
    found = result.run(test).reshape(-1)
    spread = np.sum((wanted - wanted.mean()) ** 2)
    score = 1 - np.sum((found - wanted) ** 2) / spread
    assert score == pytest.approx(fitted.score(test, wanted), abs=0.02)


@pytest.mark.filterwarnings("ignore")
def test_labels_are_texts(models: Any, tmp_path: Path) -> None:
    train, test, _, labels = models.split("wine")
    names = np.asarray(["barolo", "grignolino", "barbera"])
    fitted = models.fitted("wine", "lengths", "logistic", names)
    path = models.saved(fitted, 13, tmp_path)
    result = compile_model(path, "host", calibration={"x": train}, out=tmp_path / "build")
    assert result.report.outputs[0].labels == ("barbera", "barolo", "grignolino")
    order = np.argsort(np.argsort(names))
    np.savez(tmp_path / "test.npz", x=test, y=order[labels])
    found = evaluate(tmp_path / "build", tmp_path / "test.npz")
    assert found.float_accuracy == pytest.approx(fitted.score(test, names[labels]), abs=0.01)
