"""Activations that a quantized file leaves to its codes."""

from __future__ import annotations

import math

import pytest
from pass_samples import Maker, ops_of

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.passes.clips import restore_clip

FROM_ZERO = QuantParams.per_tensor(0.1, -128)
TO_SIX = QuantParams.per_tensor(6 / 255, -128)


def pinned_layer(quant: QuantParams, attrs: ops.Conv | ops.Add) -> Graph:
    m = Maker()
    if isinstance(attrs, ops.Add):
        x = m.input(1, 6, 6, 4)
        return m.graph(m.op(attrs, x, m.input(1, 6, 6, 4, name="z"), quant=quant))
    return m.graph(m.op(attrs, m.input(1, 6, 6, 4), m.const(5, 1, 1, 4), "", quant=quant))


@pytest.mark.parametrize("attrs", [ops.Conv(), ops.Add()], ids=lambda a: type(a).__name__)
@pytest.mark.parametrize(("quant", "high"), [(FROM_ZERO, math.inf), (TO_SIX, 6.0)])
def test_codes_that_begin_at_zero_are_a_clip(
    attrs: ops.Conv | ops.Add, quant: QuantParams, high: float
) -> None:
    before = pinned_layer(quant, attrs)
    after = restore_clip(before)
    assert ops_of(after) == [type(attrs).__name__, "Clip"]
    layer, clip = after.nodes
    assert clip.attrs == ops.Clip(0.0, high)
    assert after.values[layer.output].quant is None
    assert after.outputs == before.outputs and after.values[clip.output].quant == quant
    assert layer.name == before.nodes[0].name and clip.sources == ()
    assert restore_clip(after) is after


def test_others_stay() -> None:
    """Codes that begin below zero, operators with their own Clip, and those that clip nothing."""
    m = Maker()
    x = m.input(1, 6, 6, 4)
    below = m.op(ops.Conv(), x, m.const(5, 1, 1, 4), "", quant=QuantParams.per_tensor(0.1, -127))
    free = m.op(ops.Conv(), x, m.const(5, 1, 1, 4), "")
    clipped = m.op(ops.Clip(0.0), free, quant=FROM_ZERO)
    moved = m.op(ops.Reshape((1, 180)), clipped, quant=FROM_ZERO)
    graph = m.graph(below, moved)
    assert restore_clip(graph) is graph
