"""Whole transformers: PyTorch's exports become clean graphs that compute the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from exported_transformers import (
    EXPORTERS,
    STORED,
    export,
    inputs_of,
    outputs_of,
    stored,
)
from import_models import random_feeds, run
from own_networks import OWN_NETWORKS

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model, inspect_model
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.workflow.integer import integer_model

# name -> what its clean graph must hold; fewer exporters where PyTorch refuses.
NETWORKS: dict[str, dict[str, int]] = {
    "deit": {"LayerNormalization": 5, "Attention": 2, "Gelu": 2, "Transpose": 0},
    "deit_flash": {"LayerNormalization": 5, "Attention": 2, "GeluTanh": 2, "Transpose": 0},
    "deit_einsum": {"LayerNormalization": 5, "Attention": 2, "Swish": 2, "Transpose": 0},
    "cct": {"LayerNormalization": 3, "Attention": 1, "Gelu": 1, "MatMul": 1, "Transpose": 0},
    "cvt": {"LayerNormalization": 1, "Attention": 1, "Transpose": 0},
    "mobilevit": {"LayerNormalization": 2, "Attention": 1, "Swish": 3, "Transpose": 2},
    "bert": {"LayerNormalization": 5, "Attention": 2, "GeluTanh": 2, "Embedding": 2},
    "bert_sdpa": {"LayerNormalization": 5, "Attention": 2, "GeluTanh": 2, "Embedding": 2},
    "gated": {"RMSNormalization": 2, "Attention": 1, "Swish": 1, "Transpose": 0},
    "encoder": {"LayerNormalization": 4, "Attention": 2, "Gelu": 2, "Transpose": 0},
    "padded": {"LayerNormalization": 4, "Attention": 2, "Gelu": 2, "Not": 1},
    "causal": {"LayerNormalization": 1, "Attention": 1},
    "swin": {"LayerNormalization": 3, "Attention": 2, "Softmax": 1},
    "pooled_keys": {"LayerNormalization": 2, "Attention": 1, "AveragePool": 1},
}
LEFT_OVER = ("Softmax", "Where", "Cast", "Expand", "Erf", "Sqrt", "Reciprocal", "Pow", "Sub")
NEEDS_OPSET_14 = ("deit_flash", "bert_sdpa", "encoder", "padded", "causal", "pooled_keys")
QUICK = ("old-13", "old-17")
"""The new exporter takes seconds: it runs for two networks, and for the others when time allows."""
QUICK_NEW = (("deit_flash", "new-23"), ("bert", "new-20"))
CASES = [
    pytest.param(
        name, exporter,
        marks=[] if exporter in QUICK or (name, exporter) in QUICK_NEW else [pytest.mark.slow],
    )
    for name in NETWORKS
    for exporter, opset in EXPORTERS.items()
    if opset > 13 or name not in NEEDS_OPSET_14
]  # fmt: skip


def counted(graph: Graph) -> Counter[str]:
    """Operators, element functions by their own names."""
    return Counter(
        n.attrs.kind.value if isinstance(n.attrs, ops.Unary) else n.op for n in graph.nodes
    )


def cleaned(graph: Graph) -> Graph:
    verify(graph, Stage.REAL, "import")
    return run_passes(graph, REAL_PASSES).graph


def outputs(graph: Graph, feeds: dict[str, Array]) -> Array:
    (found,) = run(export_real(graph, model_layout=True), feeds)
    return found


def examples_of(name: str, graph: Graph) -> dict[str, Array]:
    """The example by names of inputs, with ids and masks as the importer takes them."""
    arrays = [a if a.dtype == np.float32 else a.astype(np.int32) for a in inputs_of(name)]
    return dict(zip(graph.inputs, arrays, strict=True))


def check_clean(name: str, path: Path, wanted: Array) -> None:
    """Imported, and cleaned: the same outputs, and the operators that are to be found."""
    graph = import_model(path)
    clean = cleaned(graph)
    for stage in (graph, clean):
        error = np.abs(outputs(stage, examples_of(name, graph)) - wanted).max()
        assert error / np.abs(wanted).max() < 1e-5
    found = counted(clean)
    assert {op: found[op] for op in NETWORKS[name]} == NETWORKS[name]
    # Sequence pooling, and probabilities.
    allowed = {"Softmax": 1} if name in ("cct", "swin") else {}
    assert {op: found[op] for op in LEFT_OVER if found[op]} == allowed


@pytest.mark.few_cases(10)
@pytest.mark.parametrize("exporter", STORED)
@pytest.mark.parametrize("name", NETWORKS)
def test_stored_export_becomes_a_clean_graph_of_the_same_function(name, exporter):
    model = onnx.load(stored(name, exporter))
    feeds = zip((i.name for i in model.graph.input), inputs_of(name), strict=True)
    check_clean(name, stored(name, exporter), run(model, dict(feeds))[0])


@pytest.mark.torch
@pytest.mark.parametrize(("name", "exporter"), CASES, ids=lambda part: part)
def test_export_becomes_a_clean_graph_of_the_same_function(name, exporter, tmp_path):
    export(name, EXPORTERS[exporter], tmp_path / "net.onnx")
    check_clean(name, tmp_path / "net.onnx", outputs_of(name))


@pytest.mark.parametrize("name", ["bert", "bert_sdpa", "gated"])
def test_masks_become_keys(name):
    clean = cleaned(import_model(stored(name, "old-17")))
    for node in clean.nodes:
        if isinstance(node.attrs, ops.Attention):
            assert node.inputs[3:] == ("", clean.inputs[1])
            assert node.attrs.heads == 2


@pytest.mark.few_cases(5)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_become_integer_graphs(name):
    path = stored(name, "old-17")
    examples = zip(import_model(path).inputs, inputs_of(name), strict=True)
    data = {tensor: samples_like(example) for tensor, example in examples}
    model = integer_model(path, data, CompileOptions())
    assert model.annotated is None
    assert min(layer.sqnr_db for layer in model.quantization.layers) > 25


def samples_like(example: Array) -> Array:
    """32 samples of the kind of an example: normal numbers, ids, or the very mask."""
    rng = np.random.default_rng(0)
    if example.dtype == np.float32:
        return rng.normal(0, 1, (32, *example.shape[1:])).astype(np.float32)
    if example.max() > 1:
        return rng.integers(0, 40, (32, *example.shape[1:])).astype(np.int32)
    return example.astype(np.int32).repeat(32, 0)


CLEAN = {
    "cct": {
        "Conv": 2, "Clip": 2, "MaxPool": 2, "Reshape": 3, "Add": 9, "LayerNormalization": 9,
        "Gemm": 18, "Slice": 12, "Attention": 4, "Gelu": 4, "MatMul": 1, "Softmax": 1,
    },
    "digits_vit": {
        "Conv": 1, "Reshape": 3, "Concat": 1, "Add": 5, "LayerNormalization": 5, "Gemm": 9,
        "Slice": 7, "Attention": 2, "Gelu": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_trained_transformer(name):
    """A whole trained network keeps its function and its products, and is read as a transformer."""
    path = OWN_NETWORKS[name]
    graph = import_model(path)
    clean = cleaned(graph)
    feeds = random_feeds(graph)
    (wanted,) = run(onnx.load(path), feeds)
    for stage in (graph, clean):
        error = np.abs(outputs(stage, feeds) - wanted).max() / np.abs(wanted).max()
        assert error < 1e-5
        assert total_macs(stage) == inspect_model(path).macs
    assert counted(clean) == CLEAN[name]
