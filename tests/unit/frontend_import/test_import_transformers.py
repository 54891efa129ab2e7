"""Whole transformers: PyTorch's exports become clean graphs that compute the same."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import random_feeds, run
from own_networks import OWN_NETWORKS

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model
from edgec.importers.onnx.summary import inspect_model
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.workflow.integer import integer_model

EXPORTERS = {"old-13": 13, "old-17": 17, "new-20": 20, "new-23": 23}
IMAGE = "image"
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


def network(name: str):
    """A network with fixed weights, its inputs and their names."""
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    import transformer_nets as nets

    makers = {
        "deit": nets.DeiT,
        "deit_flash": lambda: nets.DeiT(nets.FlashAttention, torch.nn.GELU("tanh")),
        "deit_einsum": lambda: nets.DeiT(nets.EinsumAttention, torch.nn.SiLU()),
        "cct": nets.CCT,
        "cvt": nets.CvT,
        "mobilevit": nets.MobileViT,
        "bert": nets.Bert,
        "bert_sdpa": lambda: nets.Bert(sdpa=True),
        "gated": nets.GatedEncoder,
        "encoder": nets.TorchEncoder,
        "padded": nets.PaddedEncoder,
        "causal": nets.CausalEncoder,
        "swin": nets.Swin,
        "pooled_keys": nets.PooledKeys,
    }
    torch.manual_seed(7)
    net = makers[name]().eval()
    mask = torch.tensor([[1] * 7 + [0] * 2])
    match name:
        case "bert" | "bert_sdpa":
            kinds = torch.tensor([[0] * 4 + [1] * 5])
            return torch, net, (torch.randint(0, 40, (1, 9)), mask, kinds)
        case "gated":
            return torch, net, (torch.randn(1, 9, 16), mask.bool())
        case "padded":
            return torch, net, (torch.randn(1, 9, 16), ~mask.bool())
        case "causal":
            return torch, net, (torch.randn(1, 9, 16), mask.bool())
        case "encoder":
            return torch, net, (torch.randn(1, 9, 16),)
        case _:
            return torch, net, (torch.randn(1, 3, 16, 16),)


def export(torch, net, inputs, opset: int, path: Path) -> None:
    """Export by the old exporter (opsets 13 and 17) or the new one, quietly."""
    sink, level = io.StringIO(), logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(sink):
            warnings.simplefilter("ignore")
            torch.onnx.export(
                net, inputs, str(path), dynamo=opset > 17, opset_version=opset, verbose=False
            )
    finally:
        logging.disable(level)


@pytest.mark.parametrize(("name", "exporter"), CASES, ids=lambda part: part)
def test_export_becomes_a_clean_graph_of_the_same_function(name, exporter, tmp_path):
    torch, net, inputs = network(name)
    with torch.no_grad():
        wanted = net(*inputs).numpy()
    path = tmp_path / "net.onnx"
    export(torch, net, inputs, EXPORTERS[exporter], path)
    graph = import_model(path)
    clean = cleaned(graph)
    feeds = {
        name: tensor.numpy() if tensor.dtype == torch.float32 else tensor.numpy().astype(np.int32)
        for name, tensor in zip(graph.inputs, inputs, strict=True)
    }
    for stage in (graph, clean):
        error = np.abs(outputs(stage, feeds) - wanted).max() / np.abs(wanted).max()
        assert error < 1e-5
    found = counted(clean)
    assert {op: found[op] for op in NETWORKS[name]} == NETWORKS[name]
    # Sequence pooling, and probabilities.
    allowed = {"Softmax": 1} if name in ("cct", "swin") else {}
    assert {op: found[op] for op in LEFT_OVER if found[op]} == allowed


@pytest.mark.parametrize("name", ["bert", "bert_sdpa", "gated"])
def test_masks_become_keys(name, tmp_path):
    torch, net, inputs = network(name)
    export(torch, net, inputs, 17, tmp_path / "net.onnx")
    clean = cleaned(import_model(tmp_path / "net.onnx"))
    for node in clean.nodes:
        if isinstance(node.attrs, ops.Attention):
            assert node.inputs[3:] == ("", clean.inputs[1])
            assert node.attrs.heads == 2


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_become_integer_graphs(name, tmp_path):
    torch, net, inputs = network(name)
    export(torch, net, inputs, 17, tmp_path / "net.onnx")
    data = {
        name: samples_like(tensor)
        for name, tensor in zip(import_model(tmp_path / "net.onnx").inputs, inputs, strict=True)
    }
    model = integer_model(tmp_path / "net.onnx", data, CompileOptions())
    assert model.annotated is None
    assert min(layer.sqnr_db for layer in model.quantization.layers) > 25


def samples_like(tensor) -> Array:
    """32 samples of the kind of an example: normal numbers, ids, or the very mask."""
    rng = np.random.default_rng(0)
    example = tensor.numpy()
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
