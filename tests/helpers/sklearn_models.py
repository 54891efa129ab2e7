"""Pipelines of scikit-learn by name, their data and their ONNX files.

Whoever imports this waits some seconds for skl2onnx.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
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

from edgec.base.dtypes import Array

DATA = {"wine": load_wine, "cancer": load_breast_cancer, "diabetes": load_diabetes}
MODELS: dict[str, Any] = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "mlp": lambda: MLPClassifier((16,), max_iter=400, random_state=0),
    "forest": lambda: RandomForestClassifier(20, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=10, random_state=0),
    "svc": SVC,
    "ridge": Ridge,
    "forest of numbers": lambda: RandomForestRegressor(15, random_state=0),
    "pca": lambda: make_pipeline(PCA(4), LogisticRegression(max_iter=2000)),
}
SCALERS = {
    "lengths": lambda: Normalizer("l2"),
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
}


def fitted(data: str, scaler: str, model: str, labels: Any = None) -> Any:
    """A pipeline, fitted to the first part of its data; `labels`: instead of those of the data."""
    x, _, y, _ = split(data)
    chosen = y if labels is None else labels[y]
    return make_pipeline(SCALERS[scaler](), MODELS[model]()).fit(x, chosen)


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
