"""`fuse_division` and `expand_by_copies`: what becomes of reciprocals and repetitions."""

from __future__ import annotations

from pass_samples import Maker, assert_same_function

from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.passes.expand_by_copies import expand_by_copies
from edgec.passes.fuse_factors import fuse_division

RECIPROCAL = ops.Unary(UnaryKind.RECIPROCAL)
POSITIVE = ops.Unary(UnaryKind.EXP)


def names(graph):
    return [node.op for node in graph.nodes]


def divided(graph):
    after = fuse_division(graph)
    assert_same_function(graph, after)
    return after


def test_rule_1_quotient_on_either_side():
    for turned in (False, True):
        m = Maker()
        x = m.input(1, 3, 4)
        inverse = m.op(RECIPROCAL, m.op(POSITIVE, x))
        y = m.op(ops.Mul(), *((inverse, x) if turned else (x, inverse)))
        after = divided(m.graph(y))
        assert names(after) == ["Unary", "Div"]


def test_rule_1_not_where_the_reciprocal_is_read_twice():
    m = Maker()
    x = m.input(1, 3, 4)
    inverse = m.op(RECIPROCAL, m.op(POSITIVE, x))
    y = m.op(ops.Add(), m.op(ops.Mul(), x, inverse), inverse)
    assert "Div" not in names(divided(m.graph(y)))


def test_rule_2_root():
    m = Maker()
    root = m.op(ops.Unary(UnaryKind.SQRT), m.op(POSITIVE, m.input(1, 3, 4)))
    after = divided(m.graph(m.op(RECIPROCAL, root)))
    assert [node.attrs.kind for node in after.nodes] == [UnaryKind.EXP, UnaryKind.RSQRT]


def test_rule_1_repetition_before_a_sum_goes():
    m = Maker()
    x, z = m.input(1, 3, 1), m.input(1, 3, 4, name="z")
    graph = m.graph(m.op(ops.Add(), m.op(ops.Expand((1, 3, 4)), x), z))
    after = expand_by_copies(graph)
    assert_same_function(graph, after)
    assert names(after) == ["Add"]


def test_rule_2_repetition_becomes_copies():
    m = Maker()
    graph = m.graph(m.op(ops.Expand((2, 3, 4)), m.input(1, 3, 1)))
    after = expand_by_copies(graph)
    assert_same_function(graph, after)
    assert "Expand" not in names(after) and "Resize" in names(after)
