"""A step of an LSTM by the rules of TensorFlow Lite Micro, for `recurrent.py`.

The float network is written as an int8 file: weights of the LSTM with one scale a matrix, input and
hidden state over the range of the calibration stream, the cell int16 with a scale that is a power
of 2.  Each product of a gate is rounded to steps of 2^-12.  edgec computes the codes of TensorFlow
Lite Micro for such files (`tests/unit/importers/test_tflite_recurrent.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from zoo_recurrent import NETWORKS

import edgec

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from tflite_models import Op, T, const, write_tflite
from tflite_recurrent import GATES, Lstm

Array = np.ndarray


def tflm_outputs(name: str, module: nn.Module, calibration: Array, x: Array, folder: Path) -> Array:
    """Outputs of one stream by these rules.

    Args:
        name: of the network: one step of an LSTM and a layer.
        module: the network.
        calibration: steps [N, features] of a stream that ranges are taken from.
        x: steps [N, features] of the stream.
        folder: receives the file and what is compiled.
    """
    path = _file(name, module, calibration, folder / f"{name}.tflite")
    built = edgec.compile_model(path, "host", out=folder / f"{name}_tflm")
    found = built.run({"input": x[:, None, None, :]})
    return np.asarray(found["output"] if isinstance(found, dict) else found)


def _file(name: str, module: nn.Module, calibration: Array, path: Path) -> Path:
    """The network in int8, by the ranges of a stream."""
    layer, out = module.layer, module.out
    ranges = _ranges(name, module, calibration)
    x, hidden, y = (_codes(ranges[each]) for each in ("x", "h", "y"))
    most = np.abs(ranges["c"]).max()
    case = Lstm(
        steps=1,
        features=layer.input_size,
        units=layer.hidden_size,
        cell_power=int(np.ceil(np.log2(most))) - 15,
        hidden=hidden,
        x=x,
    )
    tensors, op = case.parts("x", "all", "")
    w, r = (
        each.detach().numpy().reshape(4, layer.hidden_size, -1)
        for each in (layer.weight_ih_l0, layer.weight_hh_l0)
    )
    b = (layer.bias_ih_l0 + layer.bias_hh_l0).detach().numpy().reshape(4, -1)
    # PyTorch, too, has input, forget, cell and output gate.
    for number, gate in enumerate(GATES):
        tensors[f"w_{gate}"], tensors[f"r_{gate}"] = _matrix(w[number]), _matrix(r[number])
        scale = float(np.float32(x[0]) * np.float32(tensors[f"w_{gate}"].scale[0]))
        tensors[f"b_{gate}"] = const(np.round(b[number] / scale).astype(np.int32), [scale])
    weights, bias = (each.detach().numpy() for each in (out.weight, out.bias))
    scales = np.float32(np.abs(weights).max(1) / 127)
    steps = np.float32(hidden[0]) * scales
    tensors = {
        "input": T(case.shape),
        "x": T(case.shape, None, "int8", [x[0]], [x[1]]),
        **tensors,
        "w": const(np.round(weights / scales[:, None]).astype(np.int8), list(map(float, scales))),
        "b": const(np.round(bias / steps).astype(np.int32), list(map(float, steps))),
        "y": T((1, len(weights)), None, "int8", [y[0]], [y[1]]),
        "output": T((1, len(weights))),
    }
    operators = [
        Op("QUANTIZE", ["input"], ["x"]),
        op,
        Op("FULLY_CONNECTED", ["all", "w", "b"], ["y"], "FullyConnectedOptions"),
        Op("DEQUANTIZE", ["y"], ["output"]),
    ]
    return write_tflite(path, tensors, operators, ["input"], ["output"])


def _ranges(name: str, module: nn.Module, calibration: Array) -> dict[str, Array]:
    """Least and largest numbers of input, states and output over a stream."""
    states = [torch.zeros(1, *shape) for shape in NETWORKS[name].states.values()]
    seen: dict[str, list[Array]] = {each: [] for each in ("x", "y", "h", "c")}
    with torch.no_grad():
        for step in calibration:
            row = torch.from_numpy(step)[None]
            y, *states = module(row, *states)
            for each, tensor in zip(seen, (row, y, *states), strict=True):
                seen[each].append(tensor.numpy())
    return {each: np.array([np.min(arrays), np.max(arrays)]) for each, arrays in seen.items()}


def _codes(numbers: Array) -> tuple[float, int]:
    """Scale and zero point of int8 codes of a range, and 0 among them."""
    low, high = min(numbers[0], 0.0), max(numbers[1], 0.0)
    scale = float(np.float32((high - low) / 255))
    return scale, int(np.round(-128 - low / scale))


def _matrix(real: Array) -> T:
    """Weights as int8 codes of one scale."""
    scale = float(np.float32(np.abs(real).max() / 127))
    return const(np.round(real / scale).astype(np.int8), [scale])
