"""Functions of functions as one: the function stays, and what must not be joined is not."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.base.fixedpoint import round_half_up
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import Loop, Part
from edgec.passes.compose_functions import compose_functions
from edgec.quant.common.params import lut

K = UnaryKind
RELU = ops.Clip(0.0)


def number(m: Maker, value: float) -> str:
    return m.const(array=np.full((1,), value, np.float32))


def gauss(m: Maker, x: str) -> str:
    return m.op(ops.Unary(K.EXP), m.op(ops.Unary(K.NEG), m.op(ops.Mul(), x, x)))


def snake(m: Maker, x: str) -> str:
    wave = m.op(ops.Unary(K.SIN), m.op(ops.Mul(), x, number(m, 2.0)))
    return m.op(ops.Add(), x, m.op(ops.Mul(), m.op(ops.Mul(), wave, wave), number(m, 0.5)))


def phish(m: Maker, x: str) -> str:
    return m.op(ops.Mul(), x, m.op(ops.Unary(K.TANH), m.op(ops.Unary(K.GELU), x)))


def squared_relu(m: Maker, x: str) -> str:
    return m.op(ops.Unary(K.POW, 2.0), m.op(RELU, x))


MADE = {
    gauss: lambda x: np.exp(-x * x),
    snake: lambda x: x + np.sin(2 * x) ** 2 / 2,
    phish: None,
    squared_relu: lambda x: np.maximum(x, 0) ** 2,
}


def written(function) -> Graph:
    m = Maker()
    x = m.input(2, 7)
    return m.graph(function(m, x))


@pytest.mark.parametrize("function", MADE)
def test_a_composition_is_one_function_and_a_file_again(function) -> None:
    graph = written(function)
    joined = compose_functions(graph)
    assert ops_of(joined) == ["Unary"]
    (node,) = joined.nodes
    assert node.attrs.kind is K.COMPOSED
    assert set(node.sources) == {each for part in graph.nodes for each in part.sources}
    assert_same_function(graph, joined)


@pytest.mark.parametrize("function", [each for each, exact in MADE.items() if exact])
def test_its_table_rounds_once(function) -> None:
    (node,) = compose_functions(written(function)).nodes
    x, y = QuantParams.per_tensor(0.05, 17), QuantParams.per_tensor(0.02, -40)
    real = (np.arange(-128, 128) - 17) * 0.05
    wanted = np.clip(round_half_up(MADE[function](real) / 0.02) - 40, -128, 127)
    assert np.array_equal(lut(node.attrs, x, y), wanted)


def test_where_a_composition_has_no_value_its_table_has_zero() -> None:
    m = Maker()
    x = m.input(2, 7)
    inverse = m.op(ops.Unary(K.RECIPROCAL), x)
    (node,) = compose_functions(m.graph(m.op(ops.Mul(), x, inverse))).nodes
    table = lut(node.attrs, QuantParams.per_tensor(0.1, 0), QuantParams.per_tensor(0.1, 0))
    assert table[128] == 0
    assert set(np.delete(table, 128)) == {10}


def test_straight_pieces_stay() -> None:
    m = Maker()
    x = m.input(2, 7)
    y = m.op(RELU, m.op(ops.Unary(K.NEG), m.op(ops.Mul(), x, number(m, 0.3))))
    graph = m.graph(y)
    assert compose_functions(graph) is graph


def test_a_value_that_others_read_stays() -> None:
    m = Maker()
    x = m.input(2, 7)
    inner = m.op(ops.Unary(K.SIN), x)
    graph = m.graph(m.op(ops.Unary(K.EXP), inner), inner)
    assert compose_functions(graph) is graph


def test_two_tensors_are_no_composition() -> None:
    m = Maker()
    x, other = m.input(2, 7), m.input(2, 7, name="other")
    y = m.op(ops.Unary(K.EXP), m.op(ops.Add(), m.op(ops.Unary(K.SIN), x), other))
    found = compose_functions(m.graph(y))
    assert ops_of(found) == ["Unary", "Add", "Unary"]


def test_the_clip_of_a_layer_stays_with_it() -> None:
    m = Maker()
    x = m.input(1, 4, 4, 3)
    y = m.op(ops.Conv((3, 3)), x, m.const(8, 3, 3, 3), m.const(8))
    graph = m.graph(m.op(ops.Unary(K.SQRT), m.op(ops.Unary(K.SIN), m.op(RELU, y))))
    found = compose_functions(graph)
    assert ops_of(found) == ["Conv", "Clip", "Unary"]
    assert_same_function(graph, found)


def test_cells_of_loops_keep_their_parts() -> None:
    m, loop = Maker(), Loop("steps", 3)
    x = m.input(1, 3, 4)
    part = m.op(ops.TurnSlice(loop, Part(1)), x)
    y = m.op(ops.Unary(K.SIGMOID), m.op(ops.Unary(K.SIN), part))
    graph = m.graph(m.op(ops.TurnStack(loop, Part(1)), y), stage=None)
    assert compose_functions(graph) is graph
