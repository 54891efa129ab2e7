"""networks/gpu.sh on a processor: what it trains, in which order, and how it goes on."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import psutil
import pytest
from PIL import Image
from places import NETWORKS

pytestmark = pytest.mark.torch
COUNTS = {"cifar10_train_0": 512, "cifar10_train_1": 256, "cifar10_test_5000": 256}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder as docs/data.md describes it, with 512 images to train on: ten colours in noise."""
    rng = np.random.default_rng(3)
    folder = tmp_path / "small" / "data"
    folder.mkdir(parents=True)
    colours = rng.integers(40, 216, (10, 1, 1, 3))
    for name, count in COUNTS.items():
        labels = rng.integers(0, 10, count).astype(np.uint8)
        noise = rng.integers(-40, 40, (count, 32, 32, 3))
        tiles = (colours[labels] + noise).astype(np.uint8).reshape(count // 16, 16, 32, 32, 3)
        mosaic = tiles.transpose(0, 2, 1, 3, 4).reshape(count // 16 * 32, 16 * 32, 3)
        Image.fromarray(mosaic).save(folder / f"{name}.webp", lossless=True)
        np.savez(folder / f"{name}_labels.npz", y=labels)
    return folder.parent


def script(
    data: Path, out: Path, *more: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    words = [str(NETWORKS / "gpu.sh"), "--data-dir", str(data), "--out", str(out)]
    return subprocess.run(
        [*words, "--device", "cpu", "--seeds", "1", "--epochs", "1", *more],
        cwd=folder,
        env={**os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_it_trains_a_teacher_and_what_learns_from_it(data: Path, tmp_path: Path):
    out = tmp_path / "out"
    only = ("--only", "resnet18", "resnet8_ternary", "binary", "--minutes", "30")
    done = script(data, out, *only)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = (out / "table.md").read_text("utf-8").splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["resnet18", "resnet8_ternary", "binary"]
    assert all(row.endswith("% | done |") for row in rows), rows
    files = ("resnet18_cifar10.onnx", "resnet8_ternary_cifar10.bits.onnx", "binary_cifar10.onnx")
    before = [(out / "seed1" / name).read_bytes() for name in files]
    ternary = onnx.load(out / "seed1" / files[1])
    assert any(each.data_type == onnx.TensorProto.INT8 for each in ternary.graph.initializer)
    assert script(data, out, *only).returncode == 0
    assert [(out / "seed1" / name).read_bytes() for name in files] == before


def test_its_plan_and_its_end(monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path):
    monkeypatch.syspath_prepend(str(NETWORKS))
    import gpu

    names = [(seed, job.name) for seed, job in gpu.plan(2, [])]
    assert names[0] == (1, gpu.TEACHER)
    assert (2, gpu.TEACHER) not in names
    assert len(names) == 2 * len(gpu.JOBS) - 1
    assert names.index((1, "resnet14")) < names.index((1, "resnet14_sums"))
    out = tmp_path / "out"
    found = gpu.main(["--data-dir", str(data), "--out", str(out), "--minutes", "0", "--seeds", "1"])
    assert found == 0
    rows = (out / "table.md").read_text("utf-8").splitlines()[2:]
    assert len(rows) == len(gpu.JOBS)
    assert all(row.endswith("|  | open |") for row in rows)


def test_folders_are_those_of_the_caller(data: Path, tmp_path: Path):
    done = script(Path("small"), Path("out"), "--minutes", "0", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "table.md").read_text("utf-8") == done.stdout


def test_a_training_whose_time_is_over_ends_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path
):
    monkeypatch.syspath_prepend(str(NETWORKS))
    monkeypatch.setenv("PYTHONPATH", str(NETWORKS.parent))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    import gpu

    wait, seen = subprocess.Popen.wait, []

    def until_it_compresses(process: subprocess.Popen[bytes], seconds: float | None = None) -> int:
        if seconds is None:
            return wait(process)
        while process.poll() is None:
            below = psutil.Process(process.pid).children(recursive=True)
            if any("compress" in each.cmdline() for each in below):
                seen.extend(below)
                raise subprocess.TimeoutExpired("", seconds)
            time.sleep(0.05)
        return wait(process)

    monkeypatch.setattr(subprocess.Popen, "wait", until_it_compresses)
    args = argparse.Namespace(data_dir=data, out=tmp_path / "out", device="cpu", epochs=None)
    job = gpu.Job("resnet8_ternary", "pool_cifar10.py", 1000)
    assert gpu.run(job, args, 1, 60.0) == "interrupted"
    left = psutil.wait_procs(seen, timeout=10)[1]
    for each in left:
        each.kill()
    assert seen
    assert not left
    assert not list(temporary.iterdir())
