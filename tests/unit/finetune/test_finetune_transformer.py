"""Transformers in PyTorch compute what their graphs mean."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_transformers import NETS, inputs_of

from edgec.base.errors import TrainingError
from edgec.base.options import WeightPoolOptions
from edgec.finetune.network import Network
from edgec.finetune.options import TrainingData
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.floatrun.activations import activations
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.weightpool import compress_graph

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("name", ["vit", "vit_rms", "cct", "gated", "convolutional"])
def test_forward_equals_onnxruntime(name):
    graph = run_passes(NETS[name](), REAL_PASSES).graph
    data = inputs_of(graph, 3)
    (output,) = graph.outputs
    wanted = np.concatenate([batch[output] for _, batch in activations(graph, [output], data)])
    tensors = {key: torch.from_numpy(array) for key, array in data.items()}
    with torch.no_grad():
        found = Network(graph).eval()(tensors).numpy()
    np.testing.assert_allclose(found, wanted.reshape(3, -1), rtol=1e-3, atol=1e-4)


def test_gradients_reach_the_first_layer():
    graph = run_passes(NETS["vit"](), REAL_PASSES).graph
    network = Network(graph)
    data = {key: torch.from_numpy(array) for key, array in inputs_of(graph, 2).items()}
    network(data).square().sum().backward()
    for layer in network.layers.values():
        assert layer.weight.grad is not None
        assert float(layer.weight.grad.abs().max()) > 0


def test_masks_are_refused():
    graph = run_passes(NETS["post_norm"](), REAL_PASSES).graph
    with pytest.raises(TrainingError, match="cannot be fine-tuned"):
        Network(graph)


def test_gamma_and_beta_of_norms_are_trained():
    graph = run_passes(NETS["vit"](), REAL_PASSES).graph
    data = TrainingData(inputs_of(graph, 64), np.arange(64) % 2)
    pooled, _ = compress_graph(graph, data.inputs, WeightPoolOptions(size=16, rounds=1))
    tuned = finetune(graph, pooled, data, FinetuneOptions(epochs=2, batch=32, bits=(8,)))
    verify(tuned, Stage.REAL)
    before, after = ([node for node in g.nodes if norm_of(node)] for g in (pooled, tuned))
    assert [node.name for node in before] == [node.name for node in after] != []
    for old, new in zip(before, after, strict=True):
        for name, again in zip(old.inputs[1:], new.inputs[1:], strict=True):
            was, now = pooled.constants[name].real(), tuned.constants[again].real()
            assert was.shape == now.shape
            assert not np.array_equal(was, now), old.name


def norm_of(node: Node) -> bool:
    return isinstance(node.attrs, ops.Norm)
