"""Hand-made graphs and comparison of graphs by onnxruntime, for the tests of passes."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort

from edgec.exporters.onnx.export import export_real
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.verify import Stage, verify


class Maker:
    """Writes a graph one operator a line; values are named after `name`."""

    def __init__(self, seed: int = 0) -> None:
        self.builder = GraphBuilder("test")
        self.rng = np.random.default_rng(seed)

    def input(self, *shape: int, name: str = "x", **fields) -> str:
        self.builder.inputs.append(name)
        return self.builder.value(Value(name, shape, **fields))

    def const(self, *shape: int, name: str = "c", array=None, quant=None) -> str:
        data = self.rng.normal(0, 1, shape).astype(np.float32) if array is None else array
        return self.builder.constant(name, np.asarray(data), quant)

    def op(self, attrs, *inputs: str, name: str | None = None, **fields) -> str:
        name = self.builder.fresh(name or type(attrs).__name__.lower())
        shapes = [self.shape(i) if i else None for i in inputs]
        self.builder.value(Value(name, infer_shape(attrs, shapes), **fields))
        self.builder.node(name + ".node", attrs, inputs, (name,), (name,))
        return name

    def shape(self, name: str) -> tuple[int, ...]:
        if name in self.builder.constants:
            return self.builder.constants[name].shape
        return self.builder.values[name].shape

    def graph(self, *outputs: str, stage: Stage | None = Stage.REAL) -> Graph:
        self.builder.outputs = list(outputs)
        graph = self.builder.build()
        if stage is not None:
            verify(graph, stage)
        return graph


def run_float(graph: Graph, seed: int = 1) -> dict[str, np.ndarray]:
    """Outputs in the model's layout on random inputs that depend on the model's layout only."""
    rng = np.random.default_rng(seed)
    feeds = {}
    for name in graph.inputs:
        shape = list(graph.shape(name))
        perm = graph.input_layouts.get(name)
        if perm is not None:
            model_shape = [0] * len(shape)
            for graph_axis, model_axis in enumerate(perm):
                model_shape[model_axis] = shape[graph_axis]
            shape = model_shape
        feeds[name] = rng.normal(0, 1, shape).astype(np.float32)
    options = ort.SessionOptions()
    # The optimizer fuses Quantize/DequantizeLinear into integer kernels that round differently.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    model = export_real(graph, model_layout=True).SerializeToString()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [argument.name for argument in session.get_inputs()]
    outputs = session.run(None, dict(zip(names, feeds.values(), strict=True)))
    return dict(zip(graph.outputs, outputs, strict=True))


def assert_same_function(before: Graph, after: Graph) -> None:
    """Both graphs compute the same outputs, under the same names, up to float rounding."""
    verify(after, Stage.REAL, "the pass under test")
    assert before.inputs == after.inputs
    assert before.outputs == after.outputs
    expected, found = run_float(before), run_float(after)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-4)


def ops_of(graph: Graph) -> list[str]:
    """Operator names in order."""
    return [node.op for node in graph.nodes]
