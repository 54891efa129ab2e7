from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.ir.qparams import QuantParams
from edgec.passes.simplify import simplify

P, Q = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5)
IDENTITY = ops.Unary(ops.UnaryKind.IDENTITY)
TANH = ops.Unary(ops.UnaryKind.TANH)

NOTHING = [
    IDENTITY,
    ops.Reshape((1, 2, 3, 4)),
    ops.Transpose((0, 1, 2, 3)),
    ops.Pad(((0, 0),) * 4),
    ops.Slice((0, 0, 0, 0), (1, 1, 1, 1), (1, 2, 3, 4)),
    ops.Concat(1),
    ops.Clip(),
]


def check(graph):
    after = simplify(graph)
    assert_same_function(graph, after)
    return after


@pytest.mark.parametrize("attrs", NOTHING, ids=lambda a: type(a).__name__)
def test_rules_1_to_7_nothing_done_in_the_middle(attrs):
    m = Maker()
    y = m.op(attrs, m.op(TANH, m.input(1, 2, 3, 4)))
    assert ops_of(check(m.graph(m.op(TANH, y)))) == ["Unary", "Unary"]


@pytest.mark.parametrize("attrs", NOTHING, ids=lambda a: type(a).__name__)
def test_rules_1_to_7_nothing_done_at_an_output(attrs):
    m = Maker()
    y = m.op(attrs, m.op(TANH, m.input(1, 2, 3, 4)), name="result")
    after = check(m.graph(y))
    assert ops_of(after) == ["Unary"]
    assert after.outputs == ("result",)


@pytest.mark.parametrize("attrs", NOTHING, ids=lambda a: type(a).__name__)
def test_an_output_that_is_an_input_or_another_output_is_copied(attrs):
    m = Maker()
    x = m.input(1, 2, 3, 4)
    y = m.op(TANH, x)
    after = check(m.graph(y, m.op(attrs, y), m.op(attrs, x)))
    assert ops_of(after) == ["Unary"] * 3


def test_rule_1_requantizations_stay():
    m = Maker()
    y = m.op(TANH, m.input(1, 4), quant=P)
    z = m.op(IDENTITY, y, quant=Q)
    assert len(check(m.graph(m.op(TANH, z))).nodes) == 3


def test_rule_1_a_pin_moves_to_the_source_when_nobody_else_reads_it():
    m = Maker()
    z = m.op(ops.Clip(), m.op(TANH, m.input(1, 4), name="y"), quant=Q)
    after = check(m.graph(m.op(TANH, z)))
    assert after.values["y"].quant == Q
    m = Maker()
    y = m.op(TANH, m.input(1, 4), name="y")
    z = m.op(ops.Clip(), y, quant=Q)
    after = check(m.graph(m.op(TANH, z), m.op(TANH, y)))
    assert after.values["y"].quant is None
    assert ops_of(after).count("Unary") == 4


def test_rule_2_reshapes_merge():
    m = Maker()
    y = m.op(ops.Reshape((2, 12)), m.input(1, 2, 3, 4))
    y = m.op(ops.Reshape((1, 4, 6)), m.op(ops.Reshape((24,)), y))
    assert ops_of(check(m.graph(y))) == ["Reshape"]
    m = Maker()
    x = m.input(1, 6)
    y = m.op(TANH, x)
    back = m.op(ops.Reshape((1, 6)), m.op(ops.Reshape((6, 1)), y))
    assert ops_of(check(m.graph(m.op(TANH, back)))) == ["Unary", "Unary"]


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        (((0, 1), (1, 2), (2, 4)), ((0, 1), (1, 1), (2, 2)), ((0, 3), (1, 2), (2, 2))),
        (((2, 8), (-1, -1), (3, 6)), ((1, 1), (1, 2), (2, 3)), ((1, 7), (-1, -2), (2, 3))),
    ],
)
def test_rule_5_slices_merge(first, second, merged):
    m = Maker()
    y = m.op(ops.Slice(*second), m.op(ops.Slice(*first), m.input(3, 9)))
    after = check(m.graph(y))
    assert [node.attrs for node in after.nodes] == [ops.Slice(*merged)]


def test_rule_5_a_pin_between_slices_stays():
    m = Maker()
    part = m.op(ops.Slice((0, 0), (1, 1), (3, 4)), m.input(3, 9), quant=Q)
    y = m.op(ops.Slice((0, 0), (1, 1), (3, 2)), part)
    assert ops_of(check(m.graph(y))) == ["Slice", "Slice"]


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ((0.0, 6.0), (-1.0, 1.0), (0.0, 1.0)),
        ((-3.0, -2.0), (0.0, 1.0), (0.0, 0.0)),
        ((2.0, 3.0), (0.0, 1.0), (1.0, 1.0)),
        ((0.0, np.inf), (-np.inf, 6.0), (0.0, 6.0)),
    ],
)
def test_rule_7_clips_merge(first, second, merged):
    m = Maker()
    y = m.op(ops.Clip(*second), m.op(ops.Clip(*first), m.input(1, 50)))
    assert [node.attrs for node in check(m.graph(y)).nodes] == [ops.Clip(*merged)]


def test_rule_7_a_rounded_clip_between_stays():
    m = Maker()
    y = m.op(ops.Clip(0.0, 1.0), m.op(ops.Clip(0.0, 6.0), m.input(1, 5), quant=P), quant=Q)
    assert len(check(m.graph(y)).nodes) == 2


def test_rule_8_constants_fold():
    m = Maker()
    c = m.op(ops.Transpose((1, 0)), m.const(3, 4))
    c = m.op(ops.Slice((3, 0), (-2, 1), (2, 3)), c)
    c = m.op(ops.Pad(((0, 0), (1, 0)), value=2.0), c)
    c = m.op(ops.Reshape((8,)), m.op(ops.Clip(-1.0, 1.0), c))
    c = m.op(ops.Concat(0), c, m.op(ops.Mul(), m.const(2), m.const(1)))
    c = m.op(ops.Sub(), m.op(ops.Add(), c, m.const(10)), m.op(IDENTITY, m.const(1)))
    y = m.op(ops.Add(), m.input(1, 10), c)
    assert ops_of(check(m.graph(y))) == ["Add"]
