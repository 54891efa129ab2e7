"""Small ONNX models, and the comparison of what the importer makes of them with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from rounding_ties import assert_same_codes

from edgec.base.dtypes import Array
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.importers.onnx.importer import import_model
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify

N = helper.make_node


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str | None]],
    constants: Mapping[str, Array] | None = None,
    *,
    outputs: Sequence[str] = ("y",),
    opset: int = 13,
    input_type: int = TensorProto.FLOAT,
    output_type: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A model of these nodes; opset also decides the form of the operators."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(n, input_type, list(s)) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, output_type, None) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def save(model: onnx.ModelProto, folder: Path, name: str = "model.onnx") -> Path:
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def imported(
    model: onnx.ModelProto, folder: Path, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> Graph:
    graph = import_model(save(model, folder), _declared(model) if shapes is None else shapes)
    verify(graph, Stage.REAL, "import")
    return graph


def _declared(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """The declared shapes, given explicitly: the first dimension of a test need not be a batch."""
    return {
        info.name: tuple(d.dim_value for d in info.type.tensor_type.shape.dim)
        for info in model.graph.input
    }


def run(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Outputs by onnxruntime, unoptimised, so that Q/DQ nodes mean exactly what ONNX says."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(feeds))


def random_feeds(graph: Graph, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    feeds = {}
    for name in graph.inputs:
        value = graph.values[name]
        if value.dtype.value == "float32":
            feeds[name] = (3 * rng.normal(size=value.shape)).astype(np.float32)
        else:
            info = np.iinfo(value.dtype.numpy)
            feeds[name] = rng.integers(info.min, info.max + 1, value.shape).astype(info.dtype)
    return feeds


def assert_same(
    model: onnx.ModelProto,
    folder: Path,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Graph:
    """Import the model and compare: the graph exported and run by onnxruntime, and executed."""
    graph = imported(model, folder, shapes)
    feeds = random_feeds(graph)
    expected = run(model, feeds)
    for found, wanted in zip(run(export_real(graph), feeds), expected, strict=True):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert_executed(graph, feeds, expected)
    return graph


def assert_executed(graph: Graph, feeds: Mapping[str, Array], expected: Sequence[Array]) -> None:
    """Check the outputs that the float64 executor computes for one sample."""
    executor = Executor(graph, list(graph.values))
    results = executor.run({name: array[None] for name, array in feeds.items()})
    for name, wanted in zip(graph.outputs, expected, strict=True):
        found, node = results[name][0], graph.producers[name]
        assert found.shape == wanted.shape
        if isinstance(node.attrs, ops.QuantizeLinear):
            steps = results[node.inputs[0]][0] / graph.quant(name).tensor_scale
            assert_same_codes(found, wanted, steps)
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
