"""A transformer whose layers come from a weight pool, from the float model to checked C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, PoolKernelOptions, WeightPoolOptions
from edgec.commands.compile import compile_model
from edgec.commands.compress import CompressOptions, compress_models
from edgec.commands.compress_jobs import Job
from edgec.commands.training import Training
from edgec.ir import ops
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.workflow.integer import real_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODEL = EXAMPLES / "digits_vit.onnx"
LAYERS = 8
"""Matrix products between the patches and the classes."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Calibration and evaluation data: 64 samples each."""
    folder = tmp_path_factory.mktemp("data")
    with np.load(EXAMPLES / "digits_calibration.npz") as file:
        np.savez(folder / "calibration.npz", x=file["x"][:64])
    with np.load(EXAMPLES / "digits_test.npz") as file:
        np.savez(folder / "test.npz", x=file["x"][:64], y=file["y"][:64])
    return folder


@pytest.fixture(scope="module")
def pooled(data):
    """The model with 64 vectors, and what compression says about it."""
    job = Job(MODEL, data / "vit.pool.onnx", data / "calibration.npz", None, data / "test.npz")
    (found,) = compress_models([job], CompressOptions(WeightPoolOptions(size=64)))
    return found


def compiled(model: Path, data: Path, folder: Path):
    options = CompileOptions(build=False)
    calibration = str(data / "calibration.npz")
    return compile_model(model, "nucleo", calibration=calibration, out=folder, options=options)


@pytest.mark.slow
def test_all_inner_layers_are_pooled(pooled):
    assert len(pooled.report.layers) == LAYERS
    assert pooled.accuracy.int8 >= 0.95
    # Activations of a transformer have 8 bits, so there is one width only.
    assert len(pooled.accuracy.pooled) == 1
    assert pooled.accuracy.pooled[0] >= 0.9


def test_firmware_stores_indices_instead_of_weights(pooled, data, tmp_path):
    plain = compiled(MODEL, data, tmp_path / "plain").program
    result = compiled(pooled.output, data, tmp_path / "pooled")
    program = result.program
    assert len(result.report.checks) == 1
    specs = [program.kernels[step.kernel].spec for step in program.steps]
    decoded = [spec for spec in specs if isinstance(spec, PooledDecodeDsp)]
    assert len(decoded) == LAYERS
    # 16,384 weights of a byte become 2,048 indices of 6 bits and a pool of 512 bytes.
    saved = plain.constant_bytes - program.constant_bytes
    assert abs(saved - (16384 - 1536 - 512)) < 256


@pytest.mark.torch
def test_fine_tuning(data, tmp_path):
    job = Job(MODEL, tmp_path / "tuned.onnx", None, data / "test.npz")
    options = CompressOptions(WeightPoolOptions(rounds=1), Training(epochs=1, device="cpu"))
    (tuned,) = compress_models([job], options)
    assert tuned.epochs == 1
    layers = real_model(tuned.output, None, CompileOptions()).graph.nodes
    assert sum(isinstance(node.attrs, ops.Attention) for node in layers) == 2
    model = compiled(tuned.output, data, tmp_path / "out").model
    weights = [model.integer.constants[n.inputs[1]] for n in model.integer.nodes if "Gemm" in n.op]
    assert sum(weight.pooled is not None for weight in weights) == LAYERS


@pytest.mark.parametrize(
    "wanted", [{"activation_bits": 4}, {"runtime_bits": True}, {"table_bytes": 8192}]
)
def test_options_of_kernels_that_transformers_lack(pooled, data, tmp_path, wanted):
    options = CompileOptions(build=False, pool=PoolKernelOptions(**wanted))
    calibration = str(data / "calibration.npz")
    with pytest.raises(ConfigError, match="pooled layers of a transformer"):
        compile_model(
            pooled.output, "nucleo", calibration=calibration, out=tmp_path / "o", options=options
        )
