"""MLPerf Tiny's runner itself drives firmware in QEMU.

The environment variable EDGEC_MLPERF_RUNNER names the folder benchmark/runner of a clone of
mlcommons/tiny, whose packages this Python has (docs/mlperf.md).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import usb_port
from data_folder import needed_data_folder
from public_data import Split, signed_keywords, signed_pixels
from serial_lines import qemu_terminal

from edgec.cli.app import run_app
from edgec.workflow.session import open_session

pytestmark = [pytest.mark.slow, pytest.mark.data]

FOLDER_VARIABLE = "EDGEC_MLPERF_RUNNER"
BENCHMARKS = {
    "ic01": ("mlperf_resnet8_cifar10_int8.tflite", signed_pixels, 128),
    "kws01": ("mlperf_dscnn_kws_int8.tflite", signed_keywords, 0),
}
"""Network, samples as it takes them, and what the runner's bytes have more than these."""

SAMPLES_OF_A_CLASS = 2
WINDOWS = 5


def runner_folder() -> Path:
    name = os.environ.get(FOLDER_VARIABLE)
    if not name:
        pytest.skip(f"{FOLDER_VARIABLE} names no benchmark/runner of mlcommons/tiny")
    return Path(name).resolve()


def balanced(samples: Split) -> tuple[np.ndarray, np.ndarray]:
    """The first samples of every class, int8 [N, ...], and their classes [N]."""
    assert samples.y is not None
    found = [np.flatnonzero(samples.y == label) for label in np.unique(samples.y)]
    rows = np.concatenate([rows[:SAMPLES_OF_A_CLASS] for rows in found])
    return samples.x[rows], samples.y[rows]


def write_data_set(folder: Path, inputs: np.ndarray, labels: np.ndarray) -> None:
    """The runner's folder form: one file a sample, and the file of true classes."""
    folder.mkdir(parents=True)
    classes = len(np.unique(labels))
    rows = []
    for number, (sample, label) in enumerate(zip(inputs, labels, strict=True)):
        (folder / f"{number:04}.bin").write_bytes(sample.tobytes())
        rows.append(f"{number:04}.bin,{classes},{label}\n")
    (folder / "y_labels.csv").write_text("".join(rows), "utf-8")


def run_the_runner(runner: Path, port: str, folder: Path, mode: str, tests: str) -> Path:
    """Its folder of the session."""
    words = [sys.executable, usb_port.__file__, port, runner / "main.py", "--mode", mode]
    words += ["--dataset_path", folder / "datasets", "--test_script", runner / tests]
    words += ["--device_list", runner / "devices_kws_ic_vww.yaml"]
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return next((folder / "sessions").iterdir())


def results_of(session: Path) -> list[dict[str, Any]]:
    rows = json.loads((session / "results.json").read_text("utf-8"))
    return [row["infer"] for row in rows if "infer" in row]


Case = tuple[Path, Path, np.ndarray, np.ndarray]


@pytest.fixture(params=BENCHMARKS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Case]:
    """For a board: runner, build, what it must print for each sample, and the true classes."""
    runner, folder = runner_folder(), needed_data_folder()
    name, read, more = BENCHMARKS[request.param]

    def prepare(board: str) -> Case:
        inputs, labels = balanced(read(folder, "test"))
        sent = (inputs.astype(np.int16) + more).astype(np.uint8)
        write_data_set(tmp_path / "datasets" / request.param, sent, labels)
        words = ["compile", folder / "models" / name, "--app", "mlperf", "--no-verify"]
        words += ["--board", board, "--out", tmp_path / "out"]
        assert run_app([str(word) for word in words]) == 0
        session = open_session(tmp_path / "out", "host")
        (tensor,), (output,) = session.report.inputs, session.report.outputs
        codes = session.run({tensor.name: inputs})[output.name]
        return runner, tmp_path, output.quant.dequantize(codes), labels

    return prepare


def check_results(results: list[dict[str, Any]], expected: np.ndarray) -> None:
    printed = [[float(f"{value:.3f}") for value in row] for row in expected.tolist()]
    assert [result["results"] for result in results] == printed


def test_accuracy_mode(case: Callable[[str], Case]) -> None:
    """All results are those of edgec run, and the accuracy that of edgec evaluate."""
    board = "nucleo_f446re"
    runner, folder, expected, labels = case(board)
    with qemu_terminal(folder / "out" / "firmware.elf", board) as port:
        session = run_the_runner(runner, port, folder, "a", "tests_accuracy.yaml")
    check_results(results_of(session), expected)
    share = 100 * np.mean(expected.argmax(axis=1) == labels)
    assert f"Top 1% = {share:.1f}" in (session / "results.txt").read_text("utf-8")


def test_performance_mode(case: Callable[[str], Case]) -> None:
    """On a machine of QEMU whose clock counts, as the Nucleo's there does not."""
    board = "mps2_an386"
    runner, folder, expected, _ = case(board)
    with qemu_terminal(folder / "out" / "firmware.elf", board) as port:
        session = run_the_runner(runner, port, folder, "p", "tests_performance.yaml")
    results = results_of(session)
    check_results(results, expected[:WINDOWS])
    assert all(result["throughput"] > 0 for result in results)
