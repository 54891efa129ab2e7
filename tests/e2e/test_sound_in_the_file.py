"""A model that takes samples of sound and computes its own features: file, C and firmware."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from loop_models import info, model, node, open_info

import edgec
from edgec.base.options import CompileOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.formats import import_model
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES

RATE, POINTS, HOP, FILTERS, SAMPLES = 8000, 256, 128, 16, 1200


def keyword_model() -> onnx.ModelProto:
    """Mel energies of reflected, so centred, frames; a convolution over time; four classes."""
    rng = np.random.default_rng(5)
    stored = {
        "pads": np.array([0, 0, POINTS // 2, 0, 0, POINTS // 2]),
        "axis": np.array([2]),
        "flat": np.array([1, -1]),
        "hop": np.array(HOP),
        "size": np.array(POINTS),
        "filters": np.array(FILTERS),
        "rate": np.array(RATE),
        "low": np.array(60.0, np.float32),
        "high": np.array(3800.0, np.float32),
        "last": np.array([-1]),
        "few": np.array(1e-6, np.float32),
        "w": rng.normal(0, 0.2, (8, FILTERS, 3)).astype(np.float32),
        "head": rng.normal(0, 0.4, (8, 4)).astype(np.float32),
        "one": np.array([1]),
    }
    nodes = [
        node("Unsqueeze", "x one", "x3"),
        node("Pad", "x3 pads", "padded", mode="reflect"),
        node("Reshape", "padded flat", "signal"),
        node("Unsqueeze", "signal axis", "samples"),
        node("HannWindow", "size", "window"),
        node("MelWeightMatrix", "filters size rate low high", "bank"),
        node("STFT", "samples hop window size", "s"),
        node("ReduceSumSquare", "s last", "p", keepdims=0),
        node("MatMul", "p bank", "e0"),
        node("Add", "e0 few", "e"),
        node("Log", "e", "features"),
        node("Transpose", "features", "by_filter", perm=[0, 2, 1]),
        node("Conv", "by_filter w", "c"),
        node("Relu", "c", "r"),
        node("ReduceMean", "r last", "m", keepdims=0),
        node("MatMul", "m head", "y"),
    ]
    return model(nodes, [info("x", 1, SAMPLES)], [open_info("y")], stored, 18)


def sounds(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES) / RATE
    found = [
        rng.uniform(0.1, 0.6) * np.sin(2 * np.pi * rng.uniform(80, 3000) * t)
        + rng.normal(0, 10 ** rng.uniform(-3, -1.5), SAMPLES)
        for _ in range(count)
    ]
    return (np.round(np.clip(found, -1, 1) * 2.0**15) / 2.0**15).astype(np.float32)


def test_samples_to_classes(tmp_path: Path) -> None:
    path = tmp_path / "keywords.onnx"
    onnx.save(keyword_model(), path)
    made = edgec.compile_model(
        path,
        "nucleo_l4r5zi",
        calibration={"x": sounds(48, 1)},
        out=tmp_path / "out",
        options=CompileOptions(),
    )
    assert {check.what: check.skipped for check in made.report.checks} == {
        "host": "",
        "emulator": "",
    }
    assert [tensor.scale for tensor in made.report.inputs] == [2.0**-15]
    fresh = sounds(32, 2)
    session = onnxruntime.InferenceSession(path)
    wanted = np.concatenate([session.run(None, {"x": each[None]})[0] for each in fresh])
    found = made.run(fresh, "emulator").reshape(wanted.shape)
    assert 10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum()) > 22


def test_the_float_export_computes_the_same(tmp_path: Path) -> None:
    path = tmp_path / "keywords.onnx"
    onnx.save(keyword_model(), path)
    graph = run_passes(import_model(path), REAL_PASSES).graph
    again = tmp_path / "again.onnx"
    onnx.save(export_real(graph), again)
    first, second = (onnxruntime.InferenceSession(each) for each in (path, again))
    for sound in sounds(4, 3):
        one, two = (each.run(None, {"x": sound[None]})[0] for each in (first, second))
        assert np.allclose(one, two, atol=1e-4)
