"""The CCT that networks/ holds, all in integers, beside its float form on CIFAR-10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import edgec
from edgec.floatrun.float_model import FloatModel

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
NETWORK = ROOT / "networks" / "cct_cifar10.onnx"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # networks/cifar10.py
CALIBRATION = 128
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared is not there"),
]


def images(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Normalised images float32 [count, 3, 32, 32] and labels of a part of CIFAR-10."""
    pytest.importorskip("PIL", reason="needs Pillow: pip install pillow")
    from shared_data import cifar_part

    part = cifar_part(DATA, name, count)
    normal = (part.x / 255.0 - np.array(MEAN)) / np.array(STD)
    return normal.transpose(0, 3, 1, 2).astype(np.float32), part.y


@pytest.mark.parametrize(
    ("part", "count", "least"),
    [
        ("cifar10_train_1", 200, 0.97),
        pytest.param("cifar10_test_5000", 5000, 0.98, marks=pytest.mark.slow),
    ],
)
def test_integer_cct_is_within_half_a_point_of_float(part, count, least, tmp_path):
    calibration = {"input": images("cifar10_train_0", CALIBRATION)[0]}
    built = edgec.compile_model(NETWORK, "host", calibration=calibration, out=tmp_path / "cct")
    x, y = images(part, count)
    wanted = FloatModel(NETWORK).run({"input": x})["logits"].argmax(1)
    found = built.run({"input": x}, on="host")["logits"].argmax(1)
    assert np.mean(wanted == found) >= least
    assert abs(np.mean(wanted == y) - np.mean(found == y)) <= 0.005
