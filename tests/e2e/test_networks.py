"""Whole networks, the whole way: exact on host and emulated firmware, good enough."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from data_folder import needed_data_folder
from original_model import outputs_of
from own_networks import OWN_NETWORKS, digit_images
from public_data import QDQ_TASKS, TASKS, Task

import edgec
from edgec.base.options import CompileOptions
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.quant import sqnr_db

ALL = {**TASKS, **QDQ_TASKS}


@dataclass(frozen=True)
class Expected:
    """What a network must reach on `samples` of its test data.

    arena: bytes, at most; the bound is the largest sum of tensors and scratch alive at one step.
    loss: points of top-1 accuracy that it may lose against the float model, at most.
    agreement: percent of equal decisions, at least.
    sqnr: dB of the output, at least.
    """

    arena: int
    samples: int
    loss: float | None = None
    agreement: float | None = None
    sqnr: float | None = None


EXPECTED = {
    "resnet8": Expected(arena=49_152, samples=2000, loss=0.5),
    "resnet20": Expected(arena=49_152, samples=500, loss=0.5),
    "dscnn": Expected(arena=16_000, samples=400, loss=0.5),
    "vww": Expected(arena=73_728, samples=300, agreement=98),
    "mcunet": Expected(arena=160_000, samples=200, agreement=98),
    "autoencoder": Expected(arena=2_184, samples=400, sqnr=25),
    "resnet8-qdq": Expected(arena=49_152, samples=2000, loss=0.2),
    "dscnn-qdq": Expected(arena=16_000, samples=400, loss=0.2),
    "vww-qdq": Expected(arena=73_728, samples=300, agreement=98),
}

SLOW = ("resnet20", "mcunet", "vww", "resnet8-qdq")
"""Another network of the same kind stays in the default set."""


def compiled(name: str, folder: Path, board: str = "nucleo") -> CompileResult:
    task = ALL[name]
    data = needed_data_folder()
    path = data / "models" / task.model
    if name in QDQ_TASKS:
        return compile_model(path, board, out=folder)
    (input_name,) = FloatModel(path).input_names
    samples = {input_name: task.data(data, "calibration").x}
    return compile_model(path, board, calibration=samples, out=folder)


def check_equal(result: CompileResult, arena: int) -> None:
    """The checks compared every intermediate tensor; they raise on a difference."""
    assert [check.skipped for check in result.report.checks] == ["", ""]
    assert all(check.steps == len(result.program.steps) for check in result.report.checks)
    assert result.report.memory.arena_bytes <= arena


@pytest.mark.slow
def test_own_network_is_equal_and_says_what_float_says(tmp_path: Path):
    path = OWN_NETWORKS["resnet8"]
    samples = {"input": digit_images("calibration", 200)}
    result = compile_model(path, "nucleo", calibration=samples, out=tmp_path / "out")
    check_equal(result, 49_152)
    x = digit_images("test", 500)
    (wanted,) = FloatModel(path).run({"input": x}).values()
    check_quality(Expected(arena=0, samples=0, agreement=95, sqnr=25), result.run(x), wanted, None)


@pytest.mark.few_cases(2)
@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in ALL],
)
def test_every_tensor_is_equal_and_quality_is_kept(name: str, tmp_path: Path):
    expected = EXPECTED[name]
    result = compiled(name, tmp_path / "out")
    check_equal(result, expected.arena)

    task: Task = ALL[name]
    folder = needed_data_folder()
    data = task.data(folder, "test")
    x = data.x[: expected.samples]
    found = np.asarray(result.run(x))
    wanted = outputs_of(folder / "models" / task.model, x)
    check_quality(expected, found, wanted, data.y)


def check_quality(expected: Expected, found, wanted, labels) -> None:
    if expected.loss is not None:
        y = labels[: len(found)]
        accuracy = np.mean(found.argmax(1) == y)
        assert accuracy >= np.mean(wanted.argmax(1) == y) - expected.loss / 100
    if expected.agreement is not None:
        assert np.mean(found.argmax(1) == wanted.argmax(1)) >= expected.agreement / 100
    if expected.sqnr is not None:
        assert sqnr_db(wanted, found) >= expected.sqnr


@pytest.mark.data
def test_half_of_the_wake_word_network_is_dead():
    summary = edgec.inspect(needed_data_folder() / "models" / TASKS["vww"].model)
    assert summary.summary.macs == 7_489_664
    assert summary.live_macs == pytest.approx(3_742_091, rel=0.01)


@pytest.mark.data
def test_dscnn_code_is_small(tmp_path: Path):
    memory = compiled("dscnn", tmp_path / "out").report.memory
    assert memory.code_bytes is not None
    assert memory.code_bytes < 12 * 1024


@pytest.mark.data
@pytest.mark.parametrize("name", ["resnet20"])
def test_the_exporters_raw_output_is_the_same_network(name: str, tmp_path: Path):
    """PyTorch's shape arithmetic folds away: the same integers as from the tidy file."""
    options = CompileOptions(build=False, verify=False)
    data = needed_data_folder()
    samples = {"input": TASKS[name].data(data, "calibration").x[:8]}
    digests = {
        compile_model(
            data / "models" / file,
            "host",
            calibration=samples,
            out=tmp_path / file,
            options=options,
        ).program.constants
        for file in ("resnet20_cifar10.onnx", "resnet20_cifar10_torch_raw.onnx")
    }
    tidy, raw = digests
    assert len(tidy) == len(raw)
    for one, other in zip(tidy, raw, strict=True):
        np.testing.assert_array_equal(one.array, other.array)
