from __future__ import annotations

from math import inf

import pytest
from pass_samples import Maker

from edgec.ir import ops
from edgec.ir.fusion import act_bounds, fused_clip, fused_producer, is_fused_clip
from edgec.ir.qparams import QuantParams

P, R = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5)


def graph_of(attrs=None, before=None, after=None, extra=False, as_output=False):
    m = Maker()
    x = m.input(1, 4)
    y = m.op(attrs or ops.Add(), *([x] if attrs else [x, m.const(4)]), name="y", quant=before)
    outputs = [m.op(ops.Clip(0.0), y, name="z", quant=after)]
    outputs += [m.op(ops.Softmax(), y)] if extra else []
    outputs += [y] if as_output else []
    return m.graph(*outputs)


@pytest.mark.parametrize(("before", "after"), [(None, None), (None, P), (P, P)])
def test_fused(before, after):
    graph = graph_of(before=before, after=after)
    add, clip = graph.nodes
    assert fused_clip(graph, add) is clip
    assert fused_producer(graph, clip) is add
    assert is_fused_clip(graph, clip)
    assert fused_producer(graph, add) is None


@pytest.mark.parametrize(
    "graph",
    [
        graph_of(before=P, after=R),
        graph_of(before=P),
        graph_of(extra=True),
        graph_of(as_output=True),
        graph_of(ops.Unary(ops.UnaryKind.TANH)),
        graph_of(ops.Reduce(ops.ReduceKind.MAX, (0,))),
    ],
)
def test_not_fused(graph):
    clip = graph.producers["z"]
    assert not is_fused_clip(graph, clip)
    assert fused_clip(graph, graph.producers["y"]) is None


def test_a_clip_of_an_input_is_alone():
    m = Maker()
    graph = m.graph(m.op(ops.Clip(0.0), m.input(1, 4)))
    assert not is_fused_clip(graph, graph.nodes[0])


def test_sums_end_in_a_clamp():
    graph = graph_of(ops.Reduce(ops.ReduceKind.MEAN, (0,)))
    assert is_fused_clip(graph, graph.producers["z"])


def test_act_bounds():
    assert act_bounds(-inf, inf, 0.1, 3) == (-128, 127)
    assert act_bounds(0.0, 6.0, 0.1, 3) == (3, 63)
    assert act_bounds(0.0, 1000.0, 0.1, -128) == (-128, 127)
    assert act_bounds(0.06, 0.14, 0.1, 0) == (1, 1)
