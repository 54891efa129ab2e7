"""Validation of models with integer outputs, with lengths, and with unlabelled data."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from dynamic_onnx import ids, write_bert
from tflite_networks import int8_network

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, MaxLength
from edgec.commands.compile import compile_model
from edgec.report.model.report import Report
from edgec.workflow.validation import validate
from edgec.workflow.validation_outputs import noise_inputs

QUICK = {"build": False, "verify": False}


def test_integer_model_is_compared_in_its_own_numbers(tmp_path: Path) -> None:
    model = int8_network(tmp_path / "int8.tflite")
    folder = compile_model(
        model, "host", out=tmp_path / "out", options=CompileOptions(**QUICK)
    ).folder
    found = validate(folder)
    assert found.exact
    assert found.first is None
    (output,) = found.outputs
    assert output.distance is not None
    assert output.distance.rmse < 1.0  # codes; the file itself computes with integers
    assert output.accuracy is None


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    return compile_model(
        write_bert(folder / "bert.onnx"),
        "host",
        calibration={"ids": ids(32, 12)},
        out=folder / "out",
        options=CompileOptions(max_length=MaxLength(12), **QUICK),
    ).folder


def test_shorter_runs(bert: Path, tmp_path: Path) -> None:
    for length in (12, 5, 1):
        path = tmp_path / f"{length}.npz"
        np.savez(path, ids=ids(3, length))
        found = validate(bert, path, limit=2)
        assert found.exact
        assert found.samples == 2
        assert len(found.outputs) == 2
        assert all(output.distance is not None for output in found.outputs)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_noise_reaches_all_codes(tmp_path: Path, dtype: str) -> None:
    folder = compile_model(
        int8_network(tmp_path / "int8.tflite"),
        "host",
        out=tmp_path / "out",
        options=CompileOptions(**QUICK),
    ).folder
    report = Report.read(folder)
    tensor = dataclasses.replace(report.inputs[0], dtype=dtype)
    samples = noise_inputs(dataclasses.replace(report, inputs=(tensor,))).samples[tensor.name]
    codes = samples / tensor.scale + tensor.zero_point if dtype == "float32" else samples
    assert codes.min() < -120
    assert codes.max() > 120


def test_noise_has_the_longest_length(bert: Path) -> None:
    found = validate(bert)
    assert found.exact
    assert "pseudo-random" in found.input


def test_progress_and_unknown_target(bert: Path) -> None:
    told: list[tuple[int, int]] = []
    validate(bert, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(ConfigError, match="cannot run on 'moon'"):
        validate(bert, on="moon")
