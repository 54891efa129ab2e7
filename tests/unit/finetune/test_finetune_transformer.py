"""Transformers in PyTorch compute what their graphs mean."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_transformers import NETS, inputs_of

from edgec.base.errors import TrainingError
from edgec.finetune.network import Network
from edgec.floatrun.activations import activations
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES

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
