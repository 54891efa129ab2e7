"""Joined tensors, one of which reaches a thousand times as far as the other, in int8."""

# ruff: noqa: E501  (a table of networks, one node a line)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from import_models import N, model_of, save

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.interp import run_graph_batch
from edgec.workflow.integer import graph_side, integer_model

RNG = np.random.default_rng(0)
LEAST_DECIBELS = 25.0
IMAGE, ROWS, ROW = (1, 3, 6, 6), (1, 4, 6), (1, 12)
FAR = 1000.0


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def uneven(count: int) -> Array:
    """Factors that make halves of `count` numbers, one a thousand times as large, alike."""
    return np.repeat([1.0, 1.0 / FAR], count // 2).astype(np.float32)


@dataclass(frozen=True)
class Net:
    """The inputs, constants and nodes of a network whose output is y."""

    inputs: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Array]
    nodes: Sequence[onnx.NodeProto]


def of_functions(
    shape: tuple[int, ...], axis: int, more: Sequence[onnx.NodeProto], **constants: Array
) -> Net:
    """Sigmoid of x beside z a thousand times over, as j."""
    nodes = [
        N("Sigmoid", ["x"], ["a"]),
        N("Mul", ["z", "far"], ["b"]),
        N("Concat", ["a", "b"], ["j"], axis=axis),
    ]
    return Net({"x": shape, "z": shape}, {"far": np.float32(FAR), **constants}, [*nodes, *more])


def of_layers(more: Sequence[onnx.NodeProto], **constants: Array) -> Net:
    """Two convolutions and rectifiers as a and b."""
    nodes = [N("Conv", ["x", f"w{i}"], [f"{y}0"]) for i, y in enumerate("ab")]
    nodes += [N("Relu", [f"{y}0"], [y]) for y in "ab"]
    weights = {"w0": f(8, 3, 3, 3) / 5, "w1": f(8, 3, 3, 3) / 5 * FAR}
    return Net({"x": IMAGE}, {**weights, **constants}, [*nodes, *more])


GEMM = (N("Flatten", ["j"], ["f"]), N("Gemm", ["f", "w"], ["y"]))
FACTORS = uneven(6).reshape(6, 1, 1)
NETS = {
    "features": of_functions(ROW, 1, GEMM, w=f(24, 5) * uneven(24)[:, None]),
    "flatten": of_functions(IMAGE, 1, GEMM, w=f(216, 5) * uneven(216)[:, None]),
    "flatten rows of an image": of_functions(
        IMAGE, 2, GEMM, w=(f(3, 12, 6, 5) * uneven(12)[:, None, None]).reshape(216, 5)
    ),
    "flatten rows": of_functions(ROWS, 1, GEMM, w=f(48, 5) * uneven(48)[:, None]),
    "flatten layers": of_layers(
        [N("Concat", ["a", "b"], ["j"], axis=1), *GEMM], w=f(256, 5) * uneven(256)[:, None]
    ),
    "layers flattened before": of_layers(
        [N("Flatten", ["a"], ["fa"]), N("Flatten", ["b"], ["fb"]), N("Concat", ["fa", "fb"], ["j"], axis=1), N("Gemm", ["j", "w"], ["y"])],
        w=f(256, 5) * uneven(256)[:, None],
    ),
    "factors": of_functions(IMAGE, 1, [N("Mul", ["j", "c"], ["y"])], c=FACTORS),
    "factors of layers": of_layers(
        [N("Concat", ["a", "b"], ["j"], axis=1), N("Mul", ["j", "c"], ["y"])], c=uneven(16).reshape(16, 1, 1)
    ),
    "factors and layer": of_functions(
        IMAGE, 1, [N("Mul", ["j", "c"], ["m"]), N("Flatten", ["m"], ["f"]), N("Gemm", ["f", "w"], ["y"])], c=FACTORS, w=f(216, 5)
    ),
}  # fmt: skip


def drawn(net: Net, count: int, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=(count, *shape[1:])).astype(np.float32)
        for name, shape in net.inputs.items()
    }


@pytest.mark.parametrize("name", NETS)
def test_parts_of_all_sizes_keep_their_digits(name: str, tmp_path: Path) -> None:
    """On samples that were not calibrated on."""
    net = NETS[name]
    path = save(model_of(net.nodes, net.inputs, net.constants), tmp_path)
    found, fresh = integer_model(path, drawn(net, 128, 1), CompileOptions()), drawn(net, 64, 2)
    real = graph_side(found.imported, found.integer, fresh)
    codes = {name: found.integer.quant(name).quantize(real[name]) for name in found.integer.inputs}
    y = found.integer.quant("y").dequantize64(run_graph_batch(found.integer, codes)["y"])
    axes = found.integer.output_layouts.get("y")
    y = y if axes is None else y.transpose(np.argsort(axes))
    session = onnxruntime.InferenceSession(str(path))
    wanted = np.concatenate(
        [session.run(None, {k: v[i : i + 1] for k, v in fresh.items()})[0] for i in range(64)]
    )
    noise = float(np.mean((y.reshape(wanted.shape) - wanted) ** 2))
    assert 10 * np.log10(float(np.mean(wanted**2)) / noise) > LEAST_DECIBELS
