from __future__ import annotations

import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.ir.qparams import QuantParams
from edgec.passes.clips import hoist_clip
from edgec.passes.merge_reduce import merge_reduce
from edgec.passes.simplify import simplify

P = QuantParams.per_tensor(0.1, 3)
RELU = ops.Clip(0.0)
MEAN, MAX = ops.ReduceKind.MEAN, ops.ReduceKind.MAX


def conv(m: Maker) -> str:
    return m.op(ops.Conv(), m.input(1, 6, 6, 4), m.const(5, 1, 1, 4), "")


def hoisted(graph):
    after = hoist_clip(graph)
    assert_same_function(graph, after)
    return after


@pytest.mark.parametrize(
    "attrs",
    [
        ops.MaxPool((2, 2), pads=(1, 0, 0, 1)),
        ops.Reduce(MAX, (1, 2)),
        ops.Reshape((1, 36, 5)),
        ops.Transpose((0, 3, 1, 2)),
    ],
    ids=lambda a: type(a).__name__,
)
def test_rules_1_and_2_clip_goes_before(attrs):
    m = Maker()
    y = m.op(RELU, m.op(attrs, conv(m)), quant=P)
    after = hoisted(m.graph(y))
    assert ops_of(after) == ["Conv", "Clip", type(attrs).__name__]
    assert [after.values[n.output].quant for n in after.nodes] == [None, P, P]


def test_rule_1_over_several():
    m = Maker()
    y = m.op(ops.Reshape((1, 45)), m.op(ops.MaxPool((2, 2), (2, 2)), conv(m)))
    assert ops_of(hoisted(m.graph(m.op(RELU, y)))) == ["Conv", "Clip", "MaxPool", "Reshape"]


def test_clips_that_gain_nothing_stay():
    m = Maker()
    pool = ops.MaxPool((2, 2))
    x = conv(m)
    shared = m.op(RELU, m.op(pool, x))
    pinned = m.op(pool, m.op(ops.Conv(), x, m.const(2, 1, 1, 5), ""), quant=P)
    plain = m.op(RELU, m.op(pool, m.input(1, 4, 4, 2, name="z")))
    graph = m.graph(shared, x, m.op(RELU, pinned), plain)
    assert ops_of(hoisted(graph)) == ops_of(graph)


def merged(graph):
    after = simplify(merge_reduce(graph))
    assert_same_function(graph, after)
    return after


SQUARES = ops.ReduceKind.SUM_SQUARE


def test_rule_1_not_for_sums_of_squares():
    m = Maker()
    y = m.op(ops.Reduce(SQUARES, (2,)), m.input(1, 3, 4, 5))
    after = merged(m.graph(m.op(ops.Reduce(SQUARES, (1,)), y)))
    assert len(after.nodes) == 2


@pytest.mark.parametrize("kind", [kind for kind in ops.ReduceKind if kind is not SQUARES])
def test_rule_1_nested(kind):
    m = Maker()
    y = m.op(ops.Reduce(kind, (2,)), m.input(1, 3, 4, 5))
    after = merged(m.graph(m.op(ops.Reduce(kind, (1,)), y)))
    assert [node.attrs for node in after.nodes] == [ops.Reduce(kind, (1, 2))]


def test_rule_1_through_unit_axes():
    m = Maker()
    y = m.op(ops.Reduce(MEAN, (2,)), m.input(1, 3, 4, 5))
    y = m.op(ops.Reduce(MEAN, (0, 2)), m.op(ops.Reshape((1, 1, 3, 5)), y))
    after = merged(m.graph(y))
    assert [n.attrs for n in after.nodes] == [ops.Reduce(MEAN, (1, 2))]


def test_other_reductions_stay():
    m = Maker()
    x = m.input(1, 4, 4, 5)
    kinds = m.op(ops.Reduce(MEAN, (1,)), m.op(ops.Reduce(MAX, (2,)), x))
    inner = m.op(ops.Reduce(MEAN, (1,)), x)
    shared = m.op(ops.Reduce(MEAN, (2,)), inner)
    pinned = m.op(ops.Reduce(MEAN, (2,)), m.op(ops.Reduce(MEAN, (1,)), x, quant=P))
    split = m.op(ops.Reshape((1, 2, 2, 5)), m.op(ops.Reduce(MEAN, (1,)), x))
    graph = m.graph(kinds, inner, shared, pinned, m.op(ops.Reduce(MEAN, (1,)), split))
    assert len(merged(graph).nodes) == len(graph.nodes)
