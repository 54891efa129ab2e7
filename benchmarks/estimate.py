"""Does the accuracy that a compile promises hold on samples that it has not seen?

    python benchmarks/estimate.py [--data-dir FOLDER] [--only WORD ...]

Makes networks and data of its own, small ones of several kinds, with few calibration samples and
with many; with a data folder (docs/data.md) the public networks join them.  Calibration and fresh
samples are apart.  In dB at the worst output, for each network: on the calibration samples that
layers are reported with, expected on fresh samples, its lower bound, and found on fresh samples.
The bound is meant to hold in nine of ten networks.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from data_folder import DATA_VARIABLE, add_data_option, data_folder
from onnx import TensorProto, helper, numpy_helper
from public_data import TASKS

from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph_batch
from edgec.quant import sqnr_db
from edgec.workflow.integer import IntegerModel, graph_side, quantized_model, real_model

Array = npt.NDArray[Any]
ROOT = Path(__file__).parents[1]
_FRESH = 1000
_FRESH_IMAGES = 200
_PUBLIC = (("resnet8", 64), ("resnet8", 16), ("resnet20", 32), ("dscnn", 32), ("autoencoder", 64))


class Net:
    """Nodes and random weights of an ONNX graph; every method returns the name of its result."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        self.rng, self.shape = rng, shape
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        """An operator."""
        name = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def constant(self, array: npt.ArrayLike) -> str:
        """A constant."""
        name = f"constant_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        """A dense layer."""
        weight = self.constant(self.rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)))
        return self.op("Gemm", x, weight, self.constant(self.rng.normal(0, 0.1, outputs)))

    def conv(self, x: str, inputs: int, outputs: int, stride: int = 1, group: int = 1) -> str:
        """A convolution of 3 x 3 with a rectifier."""
        shape = (outputs, inputs // group, 3, 3)
        weight = self.constant(self.rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape))
        bias = self.constant(self.rng.normal(0, 0.1, outputs))
        more = {"strides": [stride] * 2, "pads": [1] * 4, "group": group}
        return self.op("Relu", self.op("Conv", x, weight, bias, **more))

    def write(self, path: Path, output: str) -> Path:
        """The file of the network."""
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *self.shape])
        found = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, "network", [given], [found], self._weights)
        opsets = [helper.make_opsetid("", 13)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path


Draw = Callable[[int], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A network, and samples apart: those that calibrate, and fresh ones."""

    name: str
    path: Path
    calibration: Array
    fresh: Array


def perceptron(net: Net, widths: tuple[int, ...], kind: str) -> str:
    """Dense layers with functions between them."""
    x, inputs = "x", net.shape[0]
    for width in widths[:-1]:
        x, inputs = net.op(kind, net.dense(x, inputs, width)), width
    return net.dense(x, inputs, widths[-1])


def table(net: Net, low: Array, scale: Array) -> str:
    """A scaler and a perceptron."""
    scaled = net.op("Div", net.op("Sub", "x", net.constant(low)), net.constant(scale))
    hidden = net.op("Relu", net.dense(scaled, net.shape[0], 12))
    return net.dense(hidden, 12, 3)


def images(net: Net, groups: bool) -> str:
    """Convolutions, a mean, a dense layer."""
    x = net.conv("x", net.shape[0], 16)
    x = net.conv(x, 16, 16, 2, 16 if groups else 1)
    x = net.op("Add", net.conv(x, 16, 16), x)
    x = net.op("Flatten", net.op("GlobalAveragePool", net.conv(x, 16, 24, 2)))
    return net.dense(x, 24, 10)


def signals(net: Net) -> str:
    """Functions of sums of a window, and their product: gates."""
    x = net.op("Flatten", "x")
    size = int(np.prod(net.shape))
    a, b = net.op("Tanh", net.dense(x, size, 16)), net.op("Sigmoid", net.dense(x, size, 16))
    return net.dense(net.op("Mul", a, b), 16, 2)


def attention(net: Net, classes: int = 4) -> str:
    """One head of attention with a norm, over a sequence."""
    tokens, width = net.shape
    made = [net.constant(net.rng.normal(0, 1 / np.sqrt(width), (width, width))) for _ in "qkv"]
    q, k, v = (net.op("MatMul", "x", weight) for weight in made)
    scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 2, 1]))
    scores = net.op("Mul", scores, net.constant(1 / np.sqrt(width)))
    x = net.op("Add", "x", net.op("MatMul", net.op("Softmax", scores, axis=-1), v))
    return net.dense(net.op("Flatten", x), tokens * width, classes)


def _smooth(rng: np.random.Generator, shape: tuple[int, ...], count: int) -> Array:
    """Images of a few waves, of differing contrast."""
    channels, height, width = shape
    y, x = np.mgrid[:height, :width] / height
    found = np.zeros((count, *shape))
    for _ in range(4):
        fy, fx, turn = (rng.normal(0, 6, (count, channels, 1, 1)) for _ in range(3))
        found += np.sin(fy * y + fx * x + turn) * rng.random((count, 1, 1, 1))
    return found + rng.normal(0, 0.1, found.shape)


def own_cases(folder: Path) -> Iterator[Case]:
    """Networks that are made here; each with a generator of its own."""

    def case(name: str, count: int, shape: tuple[int, ...], build: Any, draw: Any) -> Case:
        rng = np.random.default_rng(sum(map(ord, name)) + count)
        net = Net(rng, shape)
        path = net.write(folder / f"{name}_{count}.onnx", build(net))
        fresh = _FRESH_IMAGES if len(shape) == 3 else _FRESH
        x = draw(rng, count + fresh).astype(np.float32)
        return Case(f"{name} {count}", path, x[:count], x[count:])

    def normal(size: int) -> Any:
        return lambda rng, n: rng.normal(size=(n, size))

    def columns(size: int, spread: float) -> tuple[Array, Array]:
        scale = 10.0 ** np.linspace(-spread, spread, size)
        return scale * 3, scale

    for count in (16, 64, 256):
        yield case(
            "perceptron", count, (8,), lambda n: perceptron(n, (16, 16, 4), "Relu"), normal(8)
        )
        yield case(
            "deep", count, (16,), lambda n: perceptron(n, (24,) * 4 + (1,), "Relu"), normal(16)
        )
        yield case("tanh", count, (6,), lambda n: perceptron(n, (12, 3), "Tanh"), normal(6))
    for count in (16, 32, 128):
        low, scale = columns(4, 1.5)
        yield case(
            "table", count, (4,), lambda n, low=low, scale=scale: table(n, low, scale),
            lambda rng, n, low=low, scale=scale: low + scale * rng.normal(size=(n, 4)),
        )  # fmt: skip
        yield case(
            "long tails", count, (6,), lambda n: table(n, np.ones(6), np.full(6, 2.0)),
            lambda rng, n: rng.exponential(size=(n, 6)) * 2,
        )  # fmt: skip
        yield case(
            "lognormal", count, (5,), lambda n: table(n, np.ones(5), np.full(5, 2.0)),
            lambda rng, n: np.exp(rng.normal(size=(n, 5))),
        )  # fmt: skip
        yield case(
            "switches", count, (8,), lambda n: perceptron(n, (16, 2), "Relu"),
            lambda rng, n: (rng.random((n, 8)) < 0.3).astype(float),
        )  # fmt: skip
    for count in (8, 16, 64):
        shape = (3, 16, 16)
        yield case(
            "images", count, shape, lambda n: images(n, False),
            lambda rng, n, shape=shape: _smooth(rng, shape, n),
        )  # fmt: skip
        yield case(
            "depthwise", count, shape, lambda n: images(n, True),
            lambda rng, n, shape=shape: _smooth(rng, shape, n),
        )  # fmt: skip
        yield case(
            "gates", count, (1, 8, 8), signals,
            lambda rng, n: _smooth(rng, (1, 8, 8), n),
        )  # fmt: skip
        yield case(
            "attention", count, (12, 16), attention,
            lambda rng, n: rng.normal(size=(n, 12, 16)) * np.exp(rng.normal(size=(n, 1, 1)) / 3),
        )  # fmt: skip


def digits_cases() -> Iterator[Case]:
    """The networks of `examples/`."""
    seen, fresh = (
        np.load(ROOT / f"examples/digits_{part}.npz")["x"] for part in ("calibration", "test")
    )
    for name in ("digits_mlp", "digits_resnet", "digits_vit"):
        for count in (16, 64, 200):
            yield Case(f"{name} {count}", ROOT / f"examples/{name}.onnx", seen[:count], fresh)


def public_cases(folder: Path) -> Iterator[Case]:
    """Public networks on the data of the folder."""
    for name, count in _PUBLIC:
        task = TASKS[name]
        if not (folder / "models" / task.model).is_file():
            continue
        pool = task.data(folder, "calibration").x[:count]
        fresh = task.data(folder, "validation").x[:_FRESH_IMAGES]
        yield Case(f"{name} {count}", folder / "models" / task.model, pool, fresh)
    path = folder / "cases" / "RobustScaler_SGD.onnx"
    if path.is_file():  # its samples are Fisher's irises: half of them calibrate
        x = np.load(path.with_suffix(".npz"))["X"]
        yield Case("RobustScaler_SGD 16", path, x[:16], x[16:])


def fresh_db(model: IntegerModel, real: Any, fresh: Array) -> float:
    """DB of the worst output on samples that the integer network has not seen."""
    graph = real.imported
    names = [n for n in graph.outputs if n in model.integer.values]
    names = [n for n in names if model.integer.values[n].quant is not None]
    (given,) = graph.inputs
    wanted = Executor(graph, names).run({given: fresh})
    data = graph_side(graph, real.graph, {given: fresh})
    codes = {n: model.integer.quant(n).quantize(x) for n, x in data.items()}
    found = run_graph_batch(model.integer, codes)
    results = []
    for name in names:
        numbers = model.integer.quant(name).dequantize64(found[name])
        axes = model.integer.output_layouts.get(name)
        if axes is not None:
            numbers = numbers.transpose(np.argsort(axes))
        results.append(sqnr_db(wanted[name].reshape(-1), numbers.reshape(-1)))
    return min(results)


def main() -> None:
    """Print a line for each network, and in how many the bound holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--only", nargs="*", default=[], help="words of the names to take")
    arguments = parser.parse_args()
    if arguments.data_dir:
        os.environ[DATA_VARIABLE] = arguments.data_dir
    data, kept, near, total = data_folder(), 0, 0, 0
    with tempfile.TemporaryDirectory() as made:
        cases = [*own_cases(Path(made)), *digits_cases(), *(public_cases(data) if data else ())]
        print(f"{'network, samples':24}{'reported':>9}{'expected':>9}{'bound':>7}{'fresh':>7}")
        for each in cases:
            if arguments.only and not any(word in each.name for word in arguments.only):
                continue
            real = real_model(each.path, None, CompileOptions())
            (name,) = real.imported.inputs
            real = real_model(each.path, {name: each.calibration}, CompileOptions())
            model = quantized_model(real, CompileOptions())
            layers = {layer.value: layer.sqnr_db for layer in model.quantization.layers}
            reported = min(layers[n] for n in model.integer.outputs if n in layers)
            fresh = fresh_db(model, real, each.fresh)
            found = model.quantization.estimate
            expected, bound = (found.output_db, found.lower_db) if found else (np.nan, np.nan)
            kept, total = kept + (bound <= fresh), total + 1
            near += abs(expected - fresh) <= 3
            few = " few samples" if found and found.few_samples else ""
            print(
                f"{each.name:24}{reported:9.1f}{expected:9.1f}{bound:7.1f}{fresh:7.1f}"
                f"{'' if bound <= fresh else ' BELOW'}{few}",
                flush=True,
            )
    print(f"bound kept in {kept} of {total}, expected within 3 dB in {near}")


if __name__ == "__main__":
    main()
