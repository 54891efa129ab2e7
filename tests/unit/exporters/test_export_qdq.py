"""`export_qdq`: what onnxruntime computes from it is what the integer graph computes.

onnxruntime runs without optimizations: its own int8 kernels saturate sums of 16 bits on processors
without VNNI.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from quant_samples import (
    Sketch,
    branches,
    gemm,
    perceptron,
    residual_network,
    samples,
    upsampler,
)
from rounding_ties import assert_same_codes

from edgec.base.dtypes import Array, DType
from edgec.base.options import QuantOptions
from edgec.exporters.onnx.export import export_qdq, export_real, tensor_names
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.floatrun.rounded import run_rounded
from edgec.importers.onnx.importer import import_model
from edgec.interp.int_interp import run_graph
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.verify import Stage, verify
from edgec.quant import annotate, to_integer


def integer_outputs(graph: Graph, data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Real values of the integer graph's outputs, [N, ...]."""
    count = len(next(iter(data.values())))
    results: dict[str, list[np.ndarray]] = {name: [] for name in graph.outputs}
    for i in range(count):
        inputs = {n: graph.quant(n).quantize(a[i : i + 1]) for n, a in data.items()}
        codes = run_graph(graph, inputs)
        for name in graph.outputs:
            results[name].append(graph.quant(name).dequantize(codes[name]))
    return {name: np.concatenate(parts) for name, parts in results.items()}


def unoptimized(annotated: Graph) -> FloatModel:
    return FloatModel(export_qdq(annotated), optimize=False)


NETWORKS = pytest.mark.parametrize(
    "graph",
    [residual_network(), branches(), perceptron(), upsampler(1), upsampler(2)],
    ids=["residual", "branches", "perceptron", "upsampler", "grouped"],
)


def reimported(annotated: Graph, folder: Path) -> Graph:
    if any(getattr(node.attrs, "group", 1) == 2 for node in annotated.nodes):
        pytest.skip("the importer takes no grouped transposed convolution with scales a channel")
    path = folder / "model.onnx"
    onnx.save(export_qdq(annotated), path)
    return import_model(path)


@NETWORKS
def test_the_file_means_what_the_annotated_graph_means(graph, tmp_path):
    """Imported again and executed in float64, it gives the codes of `run_rounded`."""
    annotated, _ = annotate(graph, samples(graph, 16), QuantOptions())
    model = reimported(annotated, tmp_path)
    data = {n: annotated.quant(n).quantize(a) for n, a in samples(graph, 8, seed=3).items()}
    wanted = run_rounded(annotated, data)
    real = [annotated.quant(n).dequantize64(codes) for n, codes in data.items()]
    found = Executor(model, model.outputs).run(dict(zip(model.inputs, real, strict=True)))
    for theirs, ours in zip(model.outputs, annotated.outputs, strict=True):
        np.testing.assert_array_equal(annotated.quant(ours).quantize(found[theirs]), wanted[ours])


@NETWORKS
def test_codes_of_every_tensor_are_those_of_onnxruntime_but_for_ties(graph, tmp_path):
    """Each tensor is computed in float64 from onnxruntime's codes of those before it."""
    annotated, _ = annotate(graph, samples(graph, 16), QuantOptions())
    model = reimported(annotated, tmp_path)
    rounding = [n for n in model.nodes if isinstance(n.attrs, ops.QuantizeLinear)]
    assert len(rounding) >= 2
    names = tensor_names(model)
    data = dict(zip(model.inputs, samples(graph, 8).values(), strict=True))
    exported = FloatModel(export_real(model, [n.output for n in rounding]), optimize=False)
    theirs = exported.run({names[name]: array for name, array in data.items()})
    seen = {name: array.astype(np.float64) for name, array in data.items()}

    def check(node: Node, output: Array, known: object) -> Array:
        seen[node.output] = output
        if node not in rounding:
            return output
        wanted, quant = theirs[names[node.output]].reshape(output.shape), model.quant(node.output)
        steps = seen[node.inputs[0]].reshape(output.shape) / quant.tensor_scale
        zero_point = quant.tensor_zero_point
        inside = np.clip(steps, -128 - zero_point, 127 - zero_point)
        assert_same_codes(output, wanted, inside)
        return wanted

    Executor(model, model.outputs).run(data, check)


@NETWORKS
def test_onnxruntime_and_the_integer_graph_agree(graph):
    annotated, _ = annotate(graph, samples(graph, 16), QuantOptions())
    verify(annotated, Stage.ANNOTATED)
    integer = to_integer(annotated)
    verify(integer, Stage.INTEGER)
    model = unoptimized(annotated)
    data = samples(graph, 32, seed=7)
    names = tensor_names(annotated)
    theirs = model.run({names[n]: a for n, a in data.items()})
    for name, ours in integer_outputs(integer, data).items():
        step = integer.quant(name).tensor_scale
        gap = np.abs(theirs[names[name]].reshape(ours.shape) - ours) / step
        assert gap.max() < 2.5, f"{name}: {gap.max()} steps"
        assert np.mean(gap > 0.5) < 0.05


def test_nothing_rounds_between_an_operator_and_its_fused_clip():
    graph = residual_network()
    annotated, _ = annotate(graph, samples(graph, 4), QuantOptions())
    model = export_qdq(annotated)
    readers = {name: node.op_type for node in model.graph.node for name in node.input}
    followers = [readers[node.output[0]] for node in model.graph.node if node.op_type == "Conv"]
    assert followers == ["Relu", "Relu", "QuantizeLinear"]
    assert (
        "Transpose" not in {node.op_type for node in model.graph.node}
        or len([n for n in model.graph.node if n.op_type == "Transpose"]) == 1
    )  # the input is channels last in this graph


def test_weights_are_int8_and_biases_int32_per_channel():
    graph = perceptron()
    annotated, _ = annotate(graph, samples(graph, 4), QuantOptions())
    model = export_qdq(annotated)
    tensors = {t.name: t for t in model.graph.initializer}
    dequantized = {n.output[0]: n for n in model.graph.node if n.op_type == "DequantizeLinear"}
    products = [n for n in model.graph.node if n.op_type == "Gemm"]
    assert len(products) == 2
    for node in products:
        weight, bias = (dequantized[name] for name in node.input[1:])
        assert tensors[weight.input[0]].data_type == 3  # INT8
        assert tensors[bias.input[0]].data_type == 6  # INT32
        assert tensors[weight.input[1]].dims == tensors[bias.input[1]].dims
        assert weight.attribute[0].i == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integer_inputs_and_outputs_stay_integer(dtype):
    graph = perceptron()
    annotated, _ = annotate(graph, samples(graph, 8), QuantOptions())
    (x,), (y,) = annotated.inputs, annotated.outputs
    metadata = {f"edgec.integer_io.{x}": dtype, f"edgec.integer_io.{y}": dtype}
    float_model = unoptimized(annotated)
    model = unoptimized(annotated.replace(metadata=metadata))
    assert model.inputs[0].dtype == model.outputs[0].dtype == dtype
    data = samples(graph, 5, seed=3)["x"]
    offset = 128 if dtype == "uint8" else 0
    codes = (annotated.quant(x).quantize(data).astype(np.int16) + offset).astype(dtype)
    real = float_model.run({x: data})[y]
    result = model.run({x: codes})[y].astype(np.int16) - offset
    np.testing.assert_array_equal(result, annotated.quant(y).quantize(real))


def test_model_side_layout_and_same_bytes():
    graph = residual_network().replace(input_layouts={"x": (0, 2, 3, 1)})
    annotated, _ = annotate(graph, samples(graph, 4), QuantOptions())
    model = export_qdq(annotated)
    assert FloatModel(model).inputs[0].shape == (1, 3, 8, 8)
    assert model.SerializeToString() == export_qdq(annotated).SerializeToString()
    assert "Transpose" not in {node.op_type for node in model.graph.node}


def test_indices_and_hostile_names():
    s = Sketch('a"b\n../c')
    x = s.input("in\nput/../" + "x" * 10_000, 1, 6)
    y = s(ops.ArgMax(1, keepdims=False), gemm(s, x, 4, name="w\"'\\"), name="int")
    graph = s.graph(s(ops.Reshape((1, 1)), y, name="int"))
    graph = graph.replace(
        values={
            n: replace(v, dtype=DType.INT32) if "int" in n else v for n, v in graph.values.items()
        }
    )
    data = samples(graph, 16)
    annotated, _ = annotate(graph, data, QuantOptions())
    integer = to_integer(annotated)
    verify(integer, Stage.INTEGER)
    model = unoptimized(annotated)
    names = tensor_names(annotated)
    theirs = model.run({names[x]: data[x]})[names[graph.outputs[0]]]
    assert theirs.dtype == np.int64
    for i in range(16):
        codes = run_graph(integer, {x: integer.quant(x).quantize(data[x][i : i + 1])})
        assert codes[graph.outputs[0]][0, 0] == theirs[i, 0]
