"""Pipelines of scikit-learn, as skl2onnx writes them, on data that they were not fitted to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgec.base.dtypes import Array
from edgec.commands.compile import compile_model
from edgec.workflow.evaluation import evaluate

pytest.importorskip("skl2onnx")
pytest.importorskip("sklearn")

from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.svm import SVC

DATA = {"wine": load_wine, "cancer": load_breast_cancer, "diabetes": load_diabetes}
MODELS: dict[str, Any] = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "mlp": lambda: MLPClassifier((16,), max_iter=400, random_state=0),
    "forest": lambda: RandomForestClassifier(20, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=10, random_state=0),
    "svc": SVC,
    "pca": lambda: make_pipeline(PCA(4), LogisticRegression(max_iter=2000)),
}
SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "robust": RobustScaler}
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


def split(name: str) -> tuple[Array, Array, Array, Array]:
    x, y = DATA[name](return_X_y=True)
    stratify = None if name == "diabetes" else y
    x_train, x_test, y_train, y_test = train_test_split(
        x.astype(np.float32), y, test_size=0.3, random_state=0, stratify=stratify
    )
    return x_train, x_test, y_train, y_test


def saved(model: BaseEstimator, features: int, folder: Path) -> Path:
    kind = [("x", FloatTensorType([None, features]))]
    path = folder / "model.onnx"
    opsets = {"": 17, "ai.onnx.ml": 3}
    path.write_bytes(
        convert_sklearn(model, initial_types=kind, target_opset=opsets).SerializeToString()
    )
    return path


@pytest.mark.few_cases(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("data", "scaler", "model"), CASES)
def test_classifier(tmp_path: Path, data: str, scaler: str, model: str) -> None:
    train, test, train_labels, labels = split(data)
    fitted = make_pipeline(SCALERS[scaler](), MODELS[model]()).fit(train, train_labels)
    path = saved(fitted, train.shape[1], tmp_path)
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
@pytest.mark.parametrize(
    "model", [Ridge(), RandomForestRegressor(15, random_state=0)], ids=lambda m: type(m).__name__
)
def test_regressor(tmp_path: Path, model: BaseEstimator) -> None:
    train, test, targets, wanted = split("diabetes")
    fitted = make_pipeline(StandardScaler(), model).fit(train, targets)
    path = saved(fitted, train.shape[1], tmp_path)
    result = compile_model(path, "host", calibration={"x": train}, out=tmp_path / "build")
    found = result.run(test).reshape(-1)
    spread = np.sum((wanted - wanted.mean()) ** 2)
    score = 1 - np.sum((found - wanted) ** 2) / spread
    assert score == pytest.approx(fitted.score(test, wanted), abs=0.02)


@pytest.mark.filterwarnings("ignore")
def test_labels_are_texts(tmp_path: Path) -> None:
    train, test, numbers, labels = split("wine")
    names = np.asarray(["barolo", "grignolino", "barbera"])
    fitted = make_pipeline(Normalizer("l2"), LogisticRegression(max_iter=2000))
    fitted.fit(train, names[numbers])
    path = saved(fitted, 13, tmp_path)
    result = compile_model(path, "host", calibration={"x": train}, out=tmp_path / "build")
    assert result.report.outputs[0].labels == ("barbera", "barolo", "grignolino")
    order = np.argsort(np.argsort(names))
    np.savez(tmp_path / "test.npz", x=test, y=order[labels])
    found = evaluate(tmp_path / "build", tmp_path / "test.npz")
    assert found.float_accuracy == pytest.approx(fitted.score(test, names[labels]), abs=0.01)
