"""Models whose first axes are no batch inside, or at the output: samples stay apart."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, model_of, run, save

import edgec
from edgec.base.options import CompileOptions

MODELS = {
    "moved_input": [N("Transpose", ["x"], ["t"], perm=[3, 0, 2, 1]), N("Relu", ["t"], ["y"])],
    "rows_of_outputs": [
        N("Reshape", ["x", "rows"], ["r"]),
        N("Softmax", ["r"], ["y"], axis=-1),
    ],
    "moved_rows": [
        N("Transpose", ["x"], ["t"], perm=[2, 0, 1, 3]),
        N("Softmax", ["t"], ["s"], axis=1),
        N("Relu", ["s"], ["y"]),
    ],
}


@pytest.mark.parametrize("name", MODELS)
def test_samples_stay_apart(name, tmp_path):
    nodes = MODELS[name]
    model = model_of(nodes, {"x": (1, 2, 3, 4)}, {"rows": np.array([6, 4])})
    samples = np.random.default_rng(1).uniform(-1, 1, (5, 2, 3, 4)).astype(np.float32)
    built = edgec.compile_model(
        save(model, tmp_path),
        "host",
        calibration={"x": samples},
        out=tmp_path / "out",
        options=CompileOptions(build=False),
    )
    found = built.run(samples)
    wanted = [run(model, {"x": sample[None]})[0] for sample in samples]
    joined = np.concatenate(wanted) if wanted[0].shape[0] == 1 else np.stack(wanted)
    assert found.shape == joined.shape
    np.testing.assert_allclose(found, joined, atol=0.02)
