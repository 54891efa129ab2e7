"""Pooled weights as ONNX: the operator chain, its values in onnxruntime, and the way back."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import onnx
import pytest
from data_folder import needed_data_folder
from places import NETWORKS
from quant_samples import Sketch, samples
from random_pools import pooled_constant, random_pool
from rich.console import Console

from edgec.base.errors import InternalError
from edgec.base.options import CompileOptions, QuantOptions
from edgec.cli.inspect import print_inspection
from edgec.commands.inspect import inspect
from edgec.commands.quantize import quantize_model
from edgec.exporters.onnx.export import export_qdq, export_real, tensor_names
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.ir.weight_pool import WeightPool
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.quant import annotate
from edgec.workflow.integer import integer_model

LEAST_CHANNELS = 4


def file_of(model: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def add_weight(s: Sketch, pool: WeightPool, *shape: int) -> str:
    name = f"weight{len(s.builder.constants)}"
    constant = pooled_constant(s.rng, name, shape, pool)
    s.builder.constants[constant.name] = constant
    return constant.name


def random_network(seed: int, size: int = 64, group: int = 8) -> Graph:
    """Convolutions of odd channels, strides and kernels, a pixel-wise Gemm and a last one."""
    s = Sketch("network", seed)
    pool = random_pool(s.rng, size, group)
    channels = int(s.rng.integers(1, 20))
    y = s.input("x", 1, 9, 8, channels)
    for _ in range(3):
        outputs, kernel = int(s.rng.integers(1, 20)), int(s.rng.integers(1, 4))
        stride = int(s.rng.integers(1, 3))
        pad = kernel // 2
        attrs = ops.Conv((stride, stride), (pad, pad, pad, pad))
        weight = add_weight(s, pool, outputs, kernel, kernel, channels)
        bias = s.normal(s.builder.fresh("bias"), outputs)
        y, channels = s(ops.Clip(0.0), s(attrs, y, weight, bias)), outputs
    y = s(ops.Gemm(), y, add_weight(s, pool, 11, channels), "")
    y = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), y)
    fc = add_weight(s, pool, 7, 11)
    return s.graph(s(ops.Gemm(), y, fc, s.normal("fc_bias", 7)))


def with_pools(graph: Graph, pool: WeightPool) -> Graph:
    """Random pooled weights in every convolution and Gemm of enough channels."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Conv | ops.Gemm):
            continue
        shape = graph.shape(node.inputs[1])
        if shape[-1] >= LEAST_CHANNELS and getattr(node.attrs, "group", 1) == 1:
            name = node.inputs[1]
            builder.constants[name] = pooled_constant(rng, name, shape, pool)
    return builder.build()


def dense(graph: Graph) -> Graph:
    """The same weights in float."""
    builder = GraphBuilder.of(graph)
    for name, constant in graph.constants.items():
        if constant.pooled is not None:
            builder.constants[name] = Constant(name, constant.real())
    return builder.build()


def pooled(graph: Graph) -> dict[str, Constant]:
    return {name: c for name, c in graph.constants.items() if c.pooled is not None}


def assert_same_pools(ours: Graph, theirs: Graph) -> None:
    assert pooled(ours).keys() == pooled(theirs).keys()
    for name, constant in pooled(ours).items():
        other = theirs.constants[name]
        np.testing.assert_array_equal(constant.array, other.array)
        np.testing.assert_array_equal(constant.pooled.indices, other.pooled.indices)
        assert constant.pooled.indices.dtype == other.pooled.indices.dtype == np.uint16
        vectors = other.pooled.pool.vectors
        np.testing.assert_array_equal(constant.pooled.pool.vectors, vectors)
        assert constant.quant == other.quant
    assert len({id(c.pooled.pool) for c in pooled(theirs).values()}) == 1


def assert_runs_like_dense(graph: Graph) -> None:
    """With and without onnxruntime's optimizations, against the model of float weights."""
    names = tensor_names(graph)
    feeds = {names[n]: a[:1] for n, a in samples(graph, 1).items()}
    wanted = FloatModel(export_real(dense(graph))).run(feeds)
    for optimize in (False, True):
        found = FloatModel(export_real(graph), optimize=optimize).run(feeds)
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-4)


def test_the_chain_of_operators():
    s = Sketch()
    pool = random_pool(s.rng, 16, 8)
    x = s.input("x", 1, 5, 5, 12)
    y = s(ops.Conv(), x, add_weight(s, pool, 4, 3, 3, 12), "")
    model = export_real(s.graph(y))
    kinds = [n.op_type for n in model.graph.node]
    # The image and its weights do not wait for each other.
    assert [kind for kind in kinds if kind != "Transpose"] == [
        *("Cast", "Gather", "Reshape", "Slice", "DequantizeLinear", "Conv")
    ]
    assert kinds.count("Transpose") == 3
    stored = {t.name: t for t in model.graph.initializer}
    assert list(stored["weight_pool"].dims) == [16, 8]
    assert stored["weight_pool"].data_type == onnx.TensorProto.INT8
    assert list(stored["weight0_indices"].dims) == [4, 3, 3, 2]
    assert stored["weight0_indices"].data_type == onnx.TensorProto.UINT8
    assert list(stored["weight0_scale"].dims) == [4]


@pytest.mark.parametrize(
    ("size", "group", "kind"),
    [(256, 4, onnx.TensorProto.UINT8), (257, 16, onnx.TensorProto.UINT16)],
)
def test_one_pool_for_all_layers_and_the_type_of_indices(size, group, kind, tmp_path):
    graph = random_network(3, size, group)
    model = export_real(graph)
    stored = model.graph.initializer
    assert [list(t.dims) for t in stored if t.data_type == onnx.TensorProto.INT8] == [[size, group]]
    assert sum(t.data_type == kind for t in stored) == len(pooled(graph)) == 5
    assert_same_pools(graph, import_model(file_of(model, tmp_path / "m.onnx")))


@pytest.mark.parametrize("seed", range(6))
def test_onnxruntime_and_the_round_trip(seed, tmp_path):
    graph = random_network(seed, (2, 16, 64)[seed % 3], (4, 8, 16)[seed % 3])
    verify(graph, Stage.REAL)
    assert_runs_like_dense(graph)
    path = file_of(export_real(graph), tmp_path / "m.onnx")
    assert path.read_bytes() == export_real(graph).SerializeToString(deterministic=True)
    back = import_model(path)
    verify(back, Stage.REAL)
    assert_same_pools(graph, back)
    again = export_real(back).SerializeToString(deterministic=True)
    assert again == export_real(import_model(path)).SerializeToString(deterministic=True)


def test_a_weight_that_two_layers_share_is_stored_once(tmp_path):
    s = Sketch()
    weight = add_weight(s, random_pool(s.rng, 16, 4), 8, 1, 1, 8)
    y = s(ops.Conv(), s(ops.Conv(), s.input("x", 1, 3, 3, 8), weight, ""), weight, "")
    graph = s.graph(y)
    model = export_real(graph)
    assert sum(n.op_type == "Gather" for n in model.graph.node) == 1
    back = import_model(file_of(model, tmp_path / "m.onnx"))
    assert_same_pools(graph, back)


def test_a_pooled_gemm_behind_a_flattened_image_survives_the_layout_pass(tmp_path):
    s = Sketch()
    x = s.input("x", 1, 4, 3, 8)
    flat = s(ops.Reshape((1, 96)), s(ops.Clip(0.0), x))
    graph = s.graph(s(ops.Gemm(), flat, add_weight(s, random_pool(s.rng, 16, 8), 5, 96), ""))
    graph = graph.replace(input_layouts={"x": (0, 2, 3, 1)})
    path = file_of(export_real(graph, model_layout=True), tmp_path / "m.onnx")
    back = run_passes(import_model(path), REAL_PASSES).graph
    assert_same_pools(graph, back)


def test_weights_without_symmetric_scales_are_a_bug():
    s = Sketch()
    x = s.input("x", 1, 8)
    y = s(ops.Gemm(), x, add_weight(s, random_pool(s.rng, 16, 8), 5, 8), "")
    weight = s.builder.constants["weight0"]
    single = Constant("weight0", weight.array, QuantParams.per_tensor(0.1, 0), weight.pooled)
    s.builder.constants["weight0"] = single
    with pytest.raises(InternalError, match="symmetric"):
        export_real(s.graph(y))


# -- quantization ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_qdq_models_keep_the_pool(seed, tmp_path):
    graph = random_network(seed)
    annotated, _ = annotate(graph, samples(graph, 8), QuantOptions())
    model = export_qdq(annotated)
    assert sum(list(t.dims) == [64, 8] for t in model.graph.initializer) == 1
    back = run_passes(import_model(file_of(model, tmp_path / "m.onnx")), REAL_PASSES).graph
    assert_same_pools(graph, back)
    names = tensor_names(annotated)
    feeds = {names[n]: a for n, a in samples(graph, 8).items()}
    # Not optimized: onnxruntime's own int8 kernels saturate on processors without VNNI.
    found = FloatModel(model, optimize=False).run(feeds)
    real = FloatModel(export_real(graph)).run(feeds)
    for name, wanted in real.items():
        span = np.abs(wanted).max()
        assert np.abs(found[name] - wanted).max() < 0.1 * span


def test_quantize_command_keeps_the_pool_and_compiles_to_the_same_integers(tmp_path):
    graph = random_network(1)
    path = file_of(export_real(graph), tmp_path / "pool.onnx")
    data = samples(graph, 8)
    ours = integer_model(path, data, CompileOptions())
    assert_same_pools(graph, ours.annotated)
    quantize_model(path, tmp_path / "qdq.onnx", calibration=data)
    theirs = integer_model(tmp_path / "qdq.onnx", None, CompileOptions())
    assert_same_pools(graph, theirs.annotated)
    assert sum("Pooled" in node.op for node in ours.integer.nodes) == 5
    assert [n.attrs for n in ours.integer.nodes] == [n.attrs for n in theirs.integer.nodes]


def test_inspect_shows_the_pool(tmp_path):
    path = file_of(export_real(random_network(1)), tmp_path / "pool.onnx")
    inspection = inspect(path)
    pools = [node.pool for node in inspection.summary.nodes if node.pool is not None]
    assert [(p.vectors, p.group, p.index_bits) for p in pools] == [(64, 8, 6)] * 5
    assert not {"Gather", "Cast", "Slice"} & {node.op for node in inspection.summary.nodes}
    assert inspection.live_macs is not None
    assert inspection.to_json()["nodes"][1]["pool"]["vectors"] == 64
    text = io.StringIO()
    print_inspection(inspection, Console(file=text, width=200))
    assert "64 vectors of 8, 6-bit indices" in text.getvalue()


# -- whole networks --------------------------------------------------------------------------------


def check_network(path: Path, folder: Path, layers: int, rest_bytes: int) -> None:
    """Pool a trained network's layers at random: values, way back, and size of the file."""
    graph = run_passes(import_model(path), REAL_PASSES).graph
    graph = with_pools(graph, random_pool(np.random.default_rng(0), 64, 8))
    assert len(pooled(graph)) == layers
    assert_runs_like_dense(graph)
    file = file_of(export_real(graph, model_layout=True), folder / "pool.onnx")
    back = run_passes(import_model(file), REAL_PASSES).graph
    assert_same_pools(graph, back)
    eighth = sum(c.array.size for c in pooled(graph).values()) / 8
    plain = sum(c.array.nbytes for c in graph.constants.values() if c.pooled is None)
    scales = sum(4 * len(c.quant.scale) for c in pooled(graph).values())
    assert file.stat().st_size < 1.01 * eighth + plain + scales + rest_bytes


def test_resnet8(tmp_path):
    check_network(NETWORKS / "resnet8_cifar10.onnx", tmp_path, 9, 9_500)


@pytest.mark.data
@pytest.mark.parametrize("name", ["resnet20_cifar10", "resnet20_cifar10_torch_raw"])
def test_resnet20(name, tmp_path):
    check_network(needed_data_folder() / "models" / f"{name}.onnx", tmp_path, 19, 23_000)
