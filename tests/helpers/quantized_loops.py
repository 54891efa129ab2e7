"""Quantized networks with loops and state beside the float file in onnxruntime."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import onnx
from loop_models import Array, info, model, node
from recurrent_models import recurrent

from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.base.streams import RESETS
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import import_model
from edgec.interp import run_graph_batch
from edgec.ir.graph import Graph
from edgec.ir.metadata import state_pairs
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.quant.entry import Quantized, quantize
from edgec.workflow.integer import graph_side

STREAM = 16
"""Steps of a stream of the data."""


class Network:
    """A model, and its integer graph by some samples; without a precision, by the default."""

    def __init__(
        self,
        proto: onnx.ModelProto,
        folder: Path,
        precision: Precision | None = None,
        samples: int = 32,
    ) -> None:
        path = folder / "model.onnx"
        onnx.save(proto, path)
        self.proto, self.imported = proto, import_model(path)
        self.real: Graph = run_passes(self.imported, REAL_PASSES).graph
        options = CompileOptions(quant=QuantOptions(precision=precision))
        self.quantized: Quantized = quantize(self.real, self.side(self.data(samples, 1)), options)
        self.integer = self.quantized.integer
        verify(self.integer, Stage.INTEGER)

    def data(self, count: int, seed: int) -> dict[str, Array]:
        shape = self.imported.shape("x")[1:]
        x = np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)
        resets = {RESETS: np.arange(count) % STREAM == 0} if self.imported.has_state else {}
        return {"x": x, **resets}

    def side(self, data: dict[str, Array]) -> dict[str, Array]:
        return graph_side(self.imported, self.real, data)

    def codes(self, data: dict[str, Array]) -> dict[str, Array]:
        found = self.side(data)
        return {**found, "x": self.integer.quant("x").quantize(found["x"])}

    def outputs(self, data: dict[str, Array]) -> dict[str, Array]:
        """What the integers give, with the axes of the file."""
        found = run_graph_batch(self.integer, self.codes(data))
        return {name: self._of_file(name, codes, len(data["x"])) for name, codes in found.items()}

    def _of_file(self, name: str, codes: Array, count: int) -> Array:
        shape = self.integer.shape(name)
        real = self.integer.quant(name).dequantize64(codes).reshape(count, *shape)
        axes = self.integer.output_layouts.get(name)
        back = [0, *(np.argsort(axes) + 1)] if axes else range(real.ndim)
        return real.transpose(back)

    def wanted(self, data: dict[str, Array]) -> dict[str, Array]:
        names = self.imported.outputs
        return FloatModel(self.proto).run_steps(data, state_pairs(self.imported), names)


def one_step(units: int = 8, features: int = 5, gain: float = 0.5) -> onnx.ModelProto:
    """A step of an LSTM and a layer: states are inputs and outputs, as PyTorch writes them."""
    rng = np.random.default_rng(4)
    sizes = {"W": (1, 4 * units, features), "R": (1, 4 * units, units), "B": (1, 8 * units)}
    stored: dict[str, Array] = {
        name: (rng.normal(size=shape) * gain).astype(np.float32) for name, shape in sizes.items()
    }
    stored["last"] = rng.normal(size=(units, 3)).astype(np.float32)
    stored["one"] = np.array([1], np.int64)
    return model(
        [
            node("LSTM", "x W R B - h0 c0", "all hn cn", hidden_size=units),
            node("Squeeze", "all one", "steps"),
            node("MatMul", "steps last", "y"),
        ],
        [info("x", 1, 1, features), info("h0", 1, 1, units), info("c0", 1, 1, units)],
        [info("y", 1, 1, 3), info("hn", 1, 1, units), info("cn", 1, 1, units)],
        stored,
    )


RECURRENT = {
    "gru": lambda: recurrent("GRU", steps=3, units=6, gain=0.4, linear_before_reset=1),
    "bidirectional lstm": lambda: recurrent(
        "LSTM", steps=3, units=4, gain=0.5, direction="bidirectional", states=True
    ),
    "lstm with state": one_step,
}


@functools.cache
def recurrent_graph(name: str) -> Graph:
    """The integer graph of one of `RECURRENT`."""
    with tempfile.TemporaryDirectory() as folder:
        return Network(RECURRENT[name](), Path(folder)).integer
