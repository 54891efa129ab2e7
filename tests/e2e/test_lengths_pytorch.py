"""Encoders that PyTorch's exporters write with a dynamic number of tokens, at every length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.options import CompileOptions, MaxLength
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel

pytestmark = [pytest.mark.slow, pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

MAXIMUM = 12


def exported(name: str, path: Path, dynamo: bool) -> Path:
    """A network of `transformer_nets` whose inputs are [1, tokens, ...]."""
    import transformer_nets as nets

    torch.manual_seed(0)
    ids = torch.randint(0, 40, (1, MAXIMUM))
    inputs = {
        "Bert": {"ids": ids, "mask": torch.ones_like(ids), "types": torch.zeros_like(ids)},
        "GatedEncoder": {
            "x": torch.randn(1, MAXIMUM, 16),
            "keep": torch.ones(1, MAXIMUM, dtype=torch.bool),
        },
        "TorchEncoder": {"x": torch.randn(1, MAXIMUM, 16)},
    }[name]
    options = {"input_names": list(inputs), "output_names": ["y"]}
    if dynamo:
        tokens = torch.export.Dim("tokens", min=2, max=MAXIMUM)
        shapes = tuple({1: tokens} for _ in inputs)
        options |= {"dynamo": True, "dynamic_shapes": shapes, "verbose": False}
    else:
        axes = {tensor: {1: "tokens"} for tensor in inputs}
        options |= {"dynamo": False, "dynamic_axes": axes, "opset_version": 17}
    model = getattr(nets, name)().eval()
    torch.onnx.export(model, tuple(inputs.values()), path, **options)
    return path


def data_of(model: FloatModel, length: int, count: int) -> dict[str, Array]:
    rng = np.random.default_rng(length)
    found = {}
    for info in model.inputs:
        shape = (count, length, *info.shape[2:])
        if info.is_float:
            found[info.name] = rng.normal(size=shape).astype(np.float32)
        elif info.name == "ids":
            found[info.name] = rng.integers(0, 40, shape)
        else:  # a mask of ones, types of zeros
            fill = 0 if info.name == "types" else 1
            found[info.name] = np.full(shape, fill, info.dtype)
    return found


@pytest.mark.parametrize("dynamo", [False, True], ids=["old", "new"])
@pytest.mark.parametrize("name", ["Bert", "GatedEncoder", "TorchEncoder"])
def test_an_exported_encoder(name: str, dynamo: bool, tmp_path: Path) -> None:
    path = exported(name, tmp_path / "model.onnx", dynamo)
    original = FloatModel(path)
    whole = {n: a.astype(np.int32) if a.dtype == np.bool_ else a for n, a in _calibration(original)}
    options = CompileOptions(max_length=MaxLength(MAXIMUM, "tokens" if not dynamo else ""))
    arguments = {"calibration": whole, "out": tmp_path / "out", "options": options}
    if name == "TorchEncoder" and not dynamo:
        # The old exporter fixes the length inside of nn.MultiheadAttention.
        with pytest.raises(ImportModelError, match="shorter by 1"):
            compile_model(path, "nucleo_f446re", **arguments)
        return
    result = compile_model(path, "nucleo_f446re", **arguments)
    assert {check.lengths for check in result.report.checks} == {(1, 6, MAXIMUM)}
    assert not any(check.skipped for check in result.report.checks)
    for length in (2, 7, MAXIMUM):
        data = data_of(original, length, 8)
        wanted = original.run(data)["y"]
        samples = {n: a.astype(np.int32) if a.dtype == np.bool_ else a for n, a in data.items()}
        found = result.run(samples)["y"]
        assert found.shape == wanted.shape
        assert np.sqrt(np.mean((found - wanted) ** 2)) < 0.15 * np.std(wanted)


def _calibration(model: FloatModel) -> list[tuple[str, Array]]:
    return list(data_of(model, MAXIMUM, 48).items())
