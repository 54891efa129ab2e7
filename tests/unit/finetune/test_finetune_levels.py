"""Fine-tuning of weights of few bits: it helps, stays within the bits, repeats and resumes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from pooled_digits import constants, data, interrupting
from trained_digits import accuracy, digits, trained_digits

from edgec.base.dtypes import Array
from edgec.base.errors import WeightPoolError
from edgec.base.options import FewBitsOptions, WeightBits
from edgec.finetune.layers import Layer
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.finetune.pooled.levels import TrainedLevels
from edgec.finetune.pooled.model import discrete_weights
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.weightpool import narrowed

pytestmark = pytest.mark.torch
LAYERS = ("conv2", "conv3")
FAST = FinetuneOptions(epochs=2, batch=64, bits=(8,), levels=WeightBits.TERNARY.levels)


@cache
def ternary_digits() -> Graph:
    options = FewBitsOptions(WeightBits.TERNARY, LAYERS)
    return narrowed(trained_digits(), {"x": digits().train_x[:200]}, options)


def codes(graph: Graph) -> list[Array]:
    nodes = [node for node in graph.nodes if node.name in LAYERS]
    return [graph.constants[node.inputs[1]].array for node in nodes]


def test_improves_accuracy_and_keeps_to_the_numbers():
    start = ternary_digits()
    tuned = finetune(trained_digits(), start, data(1200), replace(FAST, epochs=10))
    verify(tuned, Stage.REAL)
    before, after = (accuracy(graph, digits().test_x, digits().test_y) for graph in (start, tuned))
    assert after > max(0.8, before)
    for old, new in zip(codes(start), codes(tuned), strict=True):
        assert new.dtype == np.int8
        assert set(np.unique(new)) == {-1, 0, 1}
        assert 0.001 < np.mean(old != new) < 0.5
    assert [node.name for node in tuned.nodes] == [node.name for node in start.nodes]


def test_repeats_and_resumes_after_an_interruption(tmp_path: Path):
    options = replace(FAST, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), ternary_digits(), data(), FAST)
    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), ternary_digits(), data(), options, interrupting(1))
    resumed = finetune(trained_digits(), ternary_digits(), data(), options)
    assert constants(resumed) == constants(whole)


def test_a_network_without_such_weights_is_refused():
    with pytest.raises(WeightPoolError, match="has weights of few bits"):
        finetune(trained_digits(), trained_digits(), data(), FAST)


def layer_of(graph: Graph, name: str) -> Layer:
    (node,) = (node for node in graph.nodes if node.name == name)
    return Layer(graph, node)


def test_steps_have_the_gradient_of_learned_step_sizes():
    """With the factor after the products equal to the step, that is round(v) - v within the bounds
    (Esser et al. 2020, equation 3), times the unit of the latent weights."""
    graph, name = ternary_digits(), "conv3"
    layer = layer_of(graph, name)
    original = torch.tensor(graph.constants[layer.node.inputs[1]].real())
    whole = codes(graph)[1]
    levels = TrainedLevels(layer, whole, original, (-1, 1))
    with torch.no_grad():
        layer.weight.normal_(generator=torch.Generator().manual_seed(3))
    levels.assign()
    levels.apply_to_layers()
    assert layer.pooled is not None
    (found,) = levels.found()
    hard = torch.tensor(found.codes.astype(np.float32)) * found.unit
    assert torch.equal(layer.pooled.detach(), hard)
    factor = torch.exp(levels.spread)  # the step is a factor after the products, too
    upstream = torch.randn(whole.shape, generator=torch.Generator().manual_seed(4))
    (layer.pooled * factor * upstream).sum().backward()
    v = (layer.weight / found.unit).detach()
    within = (v > -1.5) & (v < 1.5)
    wanted = torch.where(within, torch.tensor(found.codes) - v, v.clamp(-1, 1)) * found.unit
    axes = tuple(range(1, v.ndim))
    assert torch.allclose(levels.spread.grad, (upstream * wanted).sum(axes, True), atol=1e-4)
    assert torch.allclose(layer.weight.grad, upstream * within, atol=1e-5)


def test_codes_of_other_layers_are_not_trained():
    samples = {"x": digits().train_x[:200]}
    both = narrowed(ternary_digits(), samples, FewBitsOptions(WeightBits.FOUR, ("conv1",)))
    assert set(discrete_weights(both, WeightBits.TERNARY.levels)) == set(LAYERS)
    assert set(discrete_weights(both, WeightBits.FOUR.levels)) == {"conv1", *LAYERS}
