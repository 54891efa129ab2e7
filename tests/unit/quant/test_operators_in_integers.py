"""Operators through integers: an ONNX model of each is close to onnxruntime on fresh samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, model_of, run, save
from onnx import TensorProto

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.workflow.integer import integer_model

X = (1, 6, 8)
SAMPLES = 32


@dataclass(frozen=True)
class Case:
    """A model of one output and how close its integers must come.

    Attributes:
        nodes: the model.
        shapes: inputs; those named i hold integers from 0 to 9, those named m truth values.
        constants: initializers.
        decibels: least ratio of signal to error, on samples that did not calibrate.
        positive: real inputs are positive.
    """

    nodes: Sequence[onnx.NodeProto]
    shapes: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Array] = field(default_factory=dict)
    decibels: float = 34.0
    positive: bool = False


def axes(*numbers: int) -> dict[str, Array]:
    return {"a": np.array(numbers, np.int64)}


def one(op: str, **attributes: object) -> list[onnx.NodeProto]:
    return [N(op, ["x"], ["y"], **attributes)]


TWO = {"x": X, "z": X}
CASES = {
    **{op: Case(one(op), {"x": X}, positive=True) for op in ("Log", "Sqrt")},
    "Reciprocal": Case(one("Reciprocal"), {"x": X}, {}, 28.0, positive=True),
    **{op: Case(one(op), {"x": X}) for op in ("Mish", "Selu", "Celu", "Softsign", "Sin", "Cos")},
    # A step of the input decides about a whole unit of the output.
    **{op: Case(one(op), {"x": X}, {}, 17.0) for op in ("Sign", "Floor", "ThresholdedRelu")},
    **{
        op: Case([N(op, ["x", "a"], ["y"])], {"x": X}, axes(1), 38.0)
        for op in ("ReduceMin", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp")
    },
    "ReduceL2": Case([N("ReduceL2", ["x", "a"], ["y"])], {"x": X}, axes(1), 44.0),
    **{op: Case([N(op, ["x", "z"], ["y"])], TWO, {}, 38.0) for op in ("Min", "Max")},
    **{
        op: Case([N(op, ["x", "z"], ["c"]), N("Where", ["c", "x", "z"], ["y"])], TWO, {}, 36.0)
        for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    },
    "truth_made_real": Case(
        [N("Less", ["x", "z"], ["c"]), N("Cast", ["c"], ["f"], to=1), N("Mul", ["f", "x"], ["y"])],
        TWO,
        # Codes that are equal by rounding decide about a whole element.
        {},
        18.0,
    ),
    "and": Case(
        [
            N("Less", ["x", "z"], ["c"]),
            N("Greater", ["x", "k"], ["d"]),
            N("And", ["c", "d"], ["e"]),
            N("Where", ["e", "x", "z"], ["y"]),
        ],
        TWO,
        {"k": np.float32(0.5)},
        # As above: an element decides wrongly where its code is that of the constant.
        25.0,
    ),
    "integers_compared": Case(
        [N("Less", ["i", "k"], ["c"]), N("Where", ["c", "x", "z"], ["y"])],
        {"i": X, **TWO},
        {"k": np.int64(5)},
    ),
    "integers_made_real": Case(
        [N("Cast", ["i"], ["c"], to=1), N("Add", ["c", "x"], ["y"])], {"i": X, "x": X}
    ),
    "chosen_by_an_input": Case([N("Where", ["m", "x", "z"], ["y"])], {"m": X, **TWO}),
    "LpNormalization": Case(one("LpNormalization"), {"x": X}, {}, 36.0),
    "Div": Case([N("Div", ["x", "z"], ["y"])], TWO, {}, 29.0, positive=True),
    "LogSoftmax": Case(one("LogSoftmax"), {"x": X}, {}, 42.0),
    "Hardmax": Case(one("Hardmax"), {"x": X}, {}, 15.0),
    "cosine": Case(
        [
            N("ReduceL2", ["x", "a"], ["n"]),
            N("ReduceL2", ["z", "a"], ["m"]),
            N("Mul", ["x", "z"], ["p"]),
            N("ReduceSum", ["p", "a"], ["d"]),
            N("Mul", ["n", "m"], ["q"]),
            N("Div", ["d", "q"], ["y"]),
        ],
        {"x": (1, 6, 32), "z": (1, 6, 32)},
        axes(2),
        28.0,
    ),
    "Tile": Case([N("Tile", ["x", "a"], ["y"])], {"x": X}, axes(1, 2, 3), 38.0),
    "Gather": Case([N("Gather", ["x", "a"], ["y"], axis=1)], {"x": X}, axes(1, 2, 5, 0, 0), 38.0),
    "Expand": Case([N("Expand", ["x", "a"], ["y"])], {"x": (1, 6, 1, 8)}, axes(1, 6, 3, 8), 38.0),
    "Expand_before_a_sum": Case(
        [N("Expand", ["x", "a"], ["t"]), N("Add", ["t", "z"], ["y"])],
        {"x": (1, 6, 1), "z": (1, 6, 3)},
        axes(1, 6, 3),
    ),
    "Pad_wrap": Case([N("Pad", ["x", "a"], ["y"], mode="wrap")], {"x": X}, axes(0, 1, 2, 0, 3, 1)),
    "CumSum": Case([N("CumSum", ["x", "a"], ["y"])], {"x": X}, {"a": np.array(1, np.int64)}),
    "PRelu_axes": Case(
        [N("PRelu", ["x", "s"], ["y"])],
        {"x": (1, 3, 4, 5)},
        {"s": np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 1, 5)},
    ),
    "LpPool": Case(one("LpPool", kernel_shape=[2, 2]), {"x": (1, 3, 6, 6)}),
}


def model(case: Case) -> onnx.ModelProto:
    made = model_of(case.nodes, case.shapes, case.constants, opset=19)
    for info in made.graph.input:
        kinds = {"i": TensorProto.INT64, "m": TensorProto.BOOL}
        info.type.tensor_type.elem_type = kinds.get(info.name, TensorProto.FLOAT)
    return made


def samples(case: Case, seed: int = 3) -> list[dict[str, Array]]:
    rng = np.random.default_rng(seed)

    def drawn(name: str, shape: tuple[int, ...]) -> Array:
        if name in "im":
            return rng.integers(0, 10 if name == "i" else 2, shape)
        real = rng.normal(size=shape).astype(np.float32)
        return np.abs(real) + np.float32(0.1) if case.positive else real

    return [{n: drawn(n, shape) for n, shape in case.shapes.items()} for _ in range(SAMPLES)]


def real_output(graph: Graph, sample: Mapping[str, Array]) -> Array:
    feeds = {}
    for name in graph.inputs:
        value, array = graph.values[name], sample[name]
        array = array.transpose(graph.input_layouts.get(name, range(array.ndim)))
        quantized = value.quant is not None
        feeds[name] = value.quant.quantize(array) if quantized else array.astype(np.int32)
    (name,) = graph.outputs
    codes = run_graph(graph, feeds)[name]
    layout = graph.output_layouts.get(name, range(codes.ndim))
    return np.asarray(graph.quant(name).dequantize64(codes)).transpose(np.argsort(layout))


def decibels(graph: Graph, original: onnx.ModelProto, data: Sequence[dict[str, Array]]) -> float:
    signal = error = 0.0
    for sample in data:
        feeds = {n: a.astype(bool) if n == "m" else a for n, a in sample.items()}
        (wanted,) = run(original, feeds)
        found = real_output(graph, sample).reshape(wanted.shape)
        signal += float(np.sum(wanted.astype(np.float64) ** 2))
        error += float(np.sum((found - wanted) ** 2))
    return float(10 * np.log10(signal / error))


def quantized(original: onnx.ModelProto, data: Sequence[dict[str, Array]], folder: Path) -> Graph:
    joined = {n: np.concatenate([sample[n] for sample in data]) for n in data[0]}
    return integer_model(save(original, folder), joined, CompileOptions()).integer


@pytest.mark.few_cases(14)
@pytest.mark.parametrize("name", CASES)
def test_integers_are_close(name: str, tmp_path: Path):
    case = CASES[name]
    original, calibration = model(case), samples(case)
    fresh = [sample for seed in range(4, 8) for sample in samples(case, seed)]
    assert decibels(quantized(original, calibration, tmp_path), original, fresh) >= case.decibels
