"""What a study and a pooled model are known by."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import onnx
import pytest
from explore_trials import synthetic_task
from import_models import N, model_of

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

from edgec.base.options import WeightPoolOptions

POOL = WeightPoolOptions(size=32)


def written(folder: Path, seed: int) -> Path:
    """A model whose weights lie in a file beside it; the model's own file has no seed in it."""
    weights = np.random.default_rng(seed).normal(size=(32, 32)).astype(np.float32)
    model = model_of([N("MatMul", ["x", "w"], ["y"])], {"x": (1, 32)}, {"w": weights})
    beside = {"save_as_external_data": True, "location": "weights", "size_threshold": 0}
    (folder / "weights").unlink(missing_ok=True)
    onnx.save(model, folder / "m.onnx", **beside)
    return folder / "m.onnx"


def test_weights_beside_a_model_are_part_of_it(tmp_path: Path):
    path = written(tmp_path, 1)
    task = dataclasses.replace(synthetic_task({}), models={"net": str(path)})
    own, pool, text = task.identity(), task.pool_key("net", POOL), path.read_bytes()
    assert (task.identity(), task.pool_key("net", POOL)) == (own, pool)
    written(tmp_path, 2)
    assert path.read_bytes() == text
    assert task.identity()["model"] != own["model"]
    assert task.pool_key("net", POOL) != pool


def test_pools_do_not_hang_on_what_they_do_not_follow_from(tmp_path: Path):
    task = dataclasses.replace(synthetic_task({}), models={"net": str(written(tmp_path, 1))})
    other = dataclasses.replace(task, seed=7, limits="flash=64K", data=str(tmp_path / "none"))
    assert other.pool_key("net", POOL) == task.pool_key("net", POOL)
    more = dataclasses.replace(POOL, size=64)
    assert task.pool_key("net", more) != task.pool_key("net", POOL)
