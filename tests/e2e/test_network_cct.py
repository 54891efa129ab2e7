"""The CCT that networks/ holds, all in integers, beside its float form on CIFAR-10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data_folder import needed_data_folder
from own_networks import MEAN, OWN_NETWORKS, STD, digit_images
from public_data import cifar_part

from edgec.base.options import CompileOptions, QuantOptions, Residual
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.quant import sqnr_db

NETWORK = OWN_NETWORKS["cct"]
CALIBRATION = 128


def images(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Normalised images float32 [count, 3, 32, 32] and labels of a part of CIFAR-10."""
    part = cifar_part(needed_data_folder() / "data", name, count)
    normal = (part.x / 255.0 - np.array(MEAN)) / np.array(STD)
    return normal.transpose(0, 3, 1, 2).astype(np.float32), part.y


def compiled(samples: np.ndarray, folder: Path, residual: Residual) -> CompileResult:
    options = CompileOptions(quant=QuantOptions(residual=residual))
    return compile_model(
        NETWORK, "host", calibration={"input": samples}, out=folder, options=options
    )


def logits(built: CompileResult, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the float network and of the generated C."""
    wanted, found = FloatModel(NETWORK).run({"input": x}), built.run({"input": x}, on="host")
    return wanted["logits"], found["logits"]


def test_integer_cct_says_of_digits_what_float_says(tmp_path):
    """Digits are no images of CIFAR-10, and show as well whether integers do what floats do."""
    built = compiled(digit_images("calibration", CALIBRATION), tmp_path / "cct", Residual.INT16)
    wanted, found = logits(built, digit_images("test", 200))
    assert sqnr_db(wanted, found) > 25
    assert np.mean(wanted.argmax(1) == found.argmax(1)) >= 0.97


@pytest.mark.data
@pytest.mark.parametrize(
    ("residual", "part", "count", "least", "loss"),
    [
        pytest.param(Residual.INT16, "cifar10_train_1", 200, 0.97, 0.005, marks=pytest.mark.slow),
        pytest.param(
            Residual.INT16, "cifar10_test_5000", 5000, 0.98, 0.005, marks=pytest.mark.slow
        ),
        pytest.param(Residual.INT8, "cifar10_test_5000", 5000, 0.95, 0.01, marks=pytest.mark.slow),
    ],
)
def test_integer_cct_is_as_good_as_float(residual, part, count, least, loss, tmp_path):
    built = compiled(images("cifar10_train_0", CALIBRATION)[0], tmp_path / "cct", residual)
    x, y = images(part, count)
    wanted, found = (array.argmax(1) for array in logits(built, x))
    assert np.mean(wanted == found) >= least
    assert abs(np.mean(wanted == y) - np.mean(found == y)) <= loss
