"""Layers of a transformer run one by one: their noises, and the one that was damaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_transformers import inputs_of, vit

from edgec.base.dtypes import Array
from edgec.base.options import QuantOptions
from edgec.ir.graph import Graph, Node
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.common.losses import layer_losses
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import Cause, QuantReport
from edgec.quant.transformer import quantize_transformer

Found = tuple[Graph, Graph, dict[str, Array], QuantReport]


@pytest.fixture(scope="module")
def found() -> Found:
    real = run_passes(vit(), TRANSFORMER_PASSES).graph
    data = inputs_of(real, 32)
    integer, report = quantize_transformer(real, data, QuantOptions())
    return real, integer, data, report


def test_losses_of_a_transformer_add_up_to_the_noise_at_its_output(found: Found) -> None:
    real, _, _, report = found
    (measured,) = (each.sqnr_db for each in report.layers if each.value in real.outputs)
    assert share_db(sum(loss.noise for loss in report.losses)) == pytest.approx(measured, abs=5.0)


def test_a_layer_with_damaged_weights_is_the_worst(found: Found) -> None:
    real, integer, data, _ = found
    layers = [node for node in integer.nodes if _weights(integer, node)]
    assert len(layers) > 3
    for node in layers[:4]:
        losses = layer_losses(real, _damaged(integer, node), data, corrected=True)
        worst = max(losses, key=lambda x: x.noise)
        assert (worst.value, worst.why) == (node.output, Cause.WEIGHTS)


def test_without_own_data_no_layer_is_tried(found: Found) -> None:
    assert quantize_transformer(found[0], None, QuantOptions())[1].losses == ()


def _weights(graph: Graph, node: Node) -> list[str]:
    """The int8 matrices that a node reads."""
    constants = (graph.constants[name] for name in node.inputs if name in graph.constants)
    return [c.name for c in constants if c.array.dtype == np.int8 and c.array.ndim > 1]


def _damaged(graph: Graph, node: Node) -> Graph:
    """The graph with every other code of a layer's weights set to 0."""
    (name,) = _weights(graph, node)
    array = graph.constants[name].array.copy()
    array.reshape(-1)[::2] = 0
    damaged = replace(graph.constants[name], array=array)
    return graph.replace(constants={**graph.constants, name: damaged})
