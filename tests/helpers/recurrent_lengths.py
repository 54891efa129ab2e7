"""Recurrent networks whose runs differ in their number of steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from loop_models import info, model, node, open_info
from recurrent_models import FEATURES, recurrent

from edgec.base.options import IntegerOptions, MaxLength
from edgec.workflow.integer import IntegerModel, integer_model

MOST = 7
LENGTHS = (1, 2, 5, MOST)
UNITS = 5


def _of_steps(proto: onnx.ModelProto, axis: int) -> onnx.ModelProto:
    """The model with a number of steps that each run chooses."""
    proto.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = "steps"
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    return proto


def operator(op: str, direction: str, *outputs: str) -> onnx.ModelProto:
    """A recurrent operator alone, with some of its outputs."""
    made = recurrent(op, steps=MOST, direction=direction, units=UNITS, outputs=outputs or None)
    return _of_steps(made, 0)


def headed(op: str, direction: str, head: str) -> onnx.ModelProto:
    """Batch first: a layer, the operator, and a layer on all steps, the last step or the mean."""
    rng = np.random.default_rng(3)
    rows = {"LSTM": 4, "GRU": 3}[op] * UNITS
    sides = 2 if direction == "bidirectional" else 1
    stored = {
        "w0": rng.normal(size=(FEATURES, 4)).astype(np.float32),
        "W": rng.normal(size=(sides, rows, 4)).astype(np.float32) * 0.5,
        "R": rng.normal(size=(sides, rows, UNITS)).astype(np.float32) * 0.5,
        "w1": rng.normal(size=(UNITS * sides, 3)).astype(np.float32),
        "shape": np.array([0, 0, -1]),
        "axes": np.array([1]),
        "last": np.array(-1),
    }
    nodes = [
        node("MatMul", "x w0", "a0"),
        node("Transpose", "a0", "a", perm=[1, 0, 2]),
        node(op, "a W R", "steps", hidden_size=UNITS, direction=direction),
        node("Transpose", "steps", "sides", perm=[2, 0, 1, 3]),
        node("Reshape", "sides shape", "y"),
        *{
            "steps": [node("Identity", "y", "z")],
            "last": [node("Gather", "y last", "z", axis=1)],
            "mean": [node("ReduceMean", "y", "z", axes=[1], keepdims=0)],
        }[head],
        node("MatMul", "z w1", "out"),
    ]
    made = model(nodes, [info("x", 1, MOST, FEATURES)], [open_info("out")], stored, 17)
    return _of_steps(made, 1)


def uneven() -> onnx.ModelProto:
    """Features in units of their own, made equal within the network."""
    made = headed("GRU", "forward", "last")
    scale = onnx.numpy_helper.from_array(np.array([1.0, 0.001, 50.0], np.float32), "units")
    made.graph.initializer.append(scale)
    made.graph.node.insert(0, node("Mul", "x units", "even"))
    made.graph.node[1].input[0] = "even"
    return made


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "gru": lambda: operator("GRU", "forward"),
    "gru_last": lambda: operator("GRU", "reverse", "h"),
    "lstm_both": lambda: operator("LSTM", "bidirectional", "y"),
    "rnn": lambda: operator("RNN", "reverse", "y"),
    "steps": lambda: headed("LSTM", "bidirectional", "steps"),
    "last": lambda: headed("GRU", "forward", "last"),
    "mean": lambda: headed("GRU", "forward", "mean"),
    "uneven": uneven,
}


BATCH_FIRST = ("steps", "last", "mean", "uneven")


def calibration(name: str, count: int = 48, seed: int = 0) -> np.ndarray:
    """Sequences of all steps, float32 [N, ...input shape without its batch...]."""
    rng = np.random.default_rng(seed)
    sequences = np.cumsum(rng.normal(size=(count, MOST, FEATURES)) * 0.5, axis=1)
    if name == "uneven":
        sequences /= [1.0, 0.001, 50.0]
    found = sequences.astype(np.float32)
    return found if name in BATCH_FIRST else found.reshape(count, MOST, 1, FEATURES)


def for_all_lengths(name: str, folder: Path) -> tuple[Path, IntegerModel]:
    """The file of a model, and the integer graph that serves all numbers of steps."""
    path = folder / f"{name}.onnx"
    onnx.save(MODELS[name](), path)
    options = IntegerOptions(max_length=MaxLength(MOST))
    return path, integer_model(path, {"x": calibration(name)}, options)
