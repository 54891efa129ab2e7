"""What the campaigns of tests/fuzz found, each as the smallest file that showed it."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, RESNET, edgec
from import_models import N, model_of, save

HUGE = 1 << 20


def compiled(capsys, folder: Path, model, *words: object):
    path = model if isinstance(model, Path) else save(model, folder)
    out = folder / "out"
    return edgec(capsys, "compile", path, "--board", "host", "--out", out, "--no-build", *words)


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("AveragePool", {"kernel_shape": [3, 3], "ceil_mode": 16}, "neither 0 nor 1"),
        ("MaxPool", {"kernel_shape": [HUGE, 1]}, "larger than 32,768"),
        ("MaxPool", {"kernel_shape": [1024, 1024]}, "more than 65,536 taps"),
        ("AveragePool", {"kernel_shape": [1, 1], "strides": [2**32, 2]}, "larger than 32,768"),
        ("MaxPool", {"kernel_shape": [3, 3], "pads": [0, HUGE, 0, 0]}, "larger than 32,768"),
        ("ReduceMean", {"axes": [1], "keepdims": 2}, "neither 0 nor 1"),
    ],
)
def test_windows_and_flags_are_bounded(op, attributes, reason, tmp_path, capsys):
    model = model_of([N(op, ["x"], ["y"], **attributes)], {"x": (1, 3, 8, 9)})
    start = time.monotonic()
    done = compiled(capsys, tmp_path, model)
    assert done.code == 3, done.err
    assert reason in " ".join(done.err.split())
    assert time.monotonic() - start < 20


def test_a_transposed_convolution_of_huge_strides(tmp_path, capsys):
    attributes = {"output_shape": [16, 17], "strides": [2**32, 2]}
    node = N("ConvTranspose", ["x", "w"], ["y"], **attributes)
    weight = np.ones((3, 5, 3, 3), np.float32)
    done = compiled(capsys, tmp_path, model_of([node], {"x": (1, 3, 8, 9)}, {"w": weight}))
    assert done.code == 3, done.err


def test_an_output_that_is_one_number(tmp_path, capsys):
    """Without axes and without their dimensions: a scalar a sample."""
    model = model_of([N("ReduceMean", ["x"], ["y"], keepdims=0)], {"x": (1, 3, 8, 9)})
    done = compiled(capsys, tmp_path, model, "--verify")
    assert done.code == 0, done.err


def test_nothing_but_an_argmax(tmp_path, capsys):
    model = model_of([N("ArgMax", ["x"], ["y"])], {"x": (1, 3, 8, 9)}, output_type=7)
    assert compiled(capsys, tmp_path, model, "--no-verify").code == 0


@pytest.mark.parametrize(
    ("shape", "weights", "reason"),
    [
        ((1, 1 << 24), (4, 4), "more than 8,388,608 elements"),
        ((1, 6000), (6000, 6000), "36,000,000 weights; the limit is 33,554,432"),
    ],
)
def test_sizes_are_decided_at_import(shape, weights, reason, tmp_path, capsys):
    nodes = [N("Relu", ["x"], ["y"])]
    if weights[0] == shape[1]:
        nodes = [N("MatMul", ["x", "w"], ["y"])]
    model = model_of(nodes, {"x": shape}, {"w": np.ones(weights, np.float32)})
    start = time.monotonic()
    done = compiled(capsys, tmp_path, model)
    assert done.code == 3, done.err
    assert reason in " ".join(done.err.split())
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(("width", "memory"), [(400_000, "RAM"), (2000, "flash")])
def test_what_cannot_fit_is_refused_before_calibration(width, memory, tmp_path, capsys):
    node = N("Relu", ["x"], ["y"])
    constants = {}
    if memory == "flash":
        node = N("MatMul", ["x", "w"], ["y"])
        constants = {"w": np.ones((width, 2000), np.float32)}
    path = save(model_of([node], {"x": (1, width)}, constants), tmp_path)
    words = ("compile", path, "--board", "microbit", "--out", tmp_path / "out")
    done = edgec(capsys, *words)
    assert done.code == 6, done.err
    assert f"does not fit: {memory}" in done.err
    assert "no calibration data" not in done.err


def test_a_board_file_of_unknown_keys(tmp_path, capsys):
    path = tmp_path / "board.toml"
    path.write_text("".join(f"k{i} = 1\n" for i in range(3000)), "utf-8")
    done = edgec(capsys, "compile", MLP, "--board", path)
    assert done.code == 2
    assert len(done.err) < 2000
    assert "more" in done.err


def test_arrays_compressed_by_other_methods_than_numpys(tmp_path, capsys):
    path = tmp_path / "data.npz"
    with np.load(CALIBRATION) as data, zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name in data.files:
            with archive.open(f"{name}.npy", "w") as stream:
                np.lib.format.write_array(stream, data[name])
    done = compiled(capsys, tmp_path, RESNET, "--calibration", path)
    assert done.code == 2
    assert "compressed by another method" in done.err
