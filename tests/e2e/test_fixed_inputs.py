"""A network whose sample rate is given, from the file to figures beside onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from typer.testing import CliRunner
from vad_model import WINDOWS, speech, vad

from edgec.base.options import CompileOptions
from edgec.cli.app import app
from edgec.commands.compile_cached import compile_key
from edgec.report.model import Report
from edgec.target.board import load_board
from edgec.workflow.validation import validate

RATE = 8000
SAMPLES = 5 * WINDOWS[RATE] // 2
GIVEN = ["--value", f"sr={RATE}", "--shape", f"input=1,{SAMPLES}"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    onnx.save(vad(), tmp_path / "vad.onnx")
    for seed, name in enumerate(("known", "fresh")):
        np.savez(tmp_path / f"{name}.npz", input=speech(160, SAMPLES, seed))
    return tmp_path


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_a_build_is_near_the_file_at_this_rate(files: Path) -> None:
    words = ["--board", "host", "--calibration", files / "known.npz", "--no-build"]
    out = files / "out"
    run("compile", files / "vad.onnx", *GIVEN, *words, "--out", out)
    report = Report.read(out)
    assert f"fixed inputs: sr = {RATE}" in report.notes
    assert [each.name for each in report.inputs] == ["input"]
    assert dict(report.state) == {"state": "stateN"}
    found = validate(out, files / "fresh.npz")
    (output,) = found.outputs
    assert output.largest_gap == 0
    assert output.distance is not None
    assert output.distance.cosine > 0.99
    session = onnxruntime.InferenceSession(str(out / "model.onnx"))
    assert [each.name for each in session.get_inputs()] == ["input", "state"]


def test_inspect_and_quantize_take_it(files: Path) -> None:
    shown = json.loads(
        CliRunner().invoke(app, ["inspect", str(files / "vad.onnx"), *GIVEN, "--json"]).stdout
    )
    assert shown["supported"]
    quantized = files / "q.onnx"
    words = ("--calibration", files / "known.npz", "-o", quantized)
    run("quantize", files / "vad.onnx", *GIVEN, *words)
    session = onnxruntime.InferenceSession(str(quantized))
    assert [each.name for each in session.get_inputs()] == ["input", "state"]


def test_another_value_is_another_build(files: Path) -> None:
    board = load_board("host")
    keys = {
        compile_key(files / "vad.onnx", board, None, CompileOptions(values=values))
        for values in ({}, {"sr": (8000,)}, {"sr": (16000,)}, {"sr": (8000.5,)})
    }
    assert len(keys - {None}) == 4
