"""Activation functions that are written out, in every order of operands."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function

from edgec.base.dtypes import DType
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.passes.fuse_functions import fuse_functions
from edgec.passes.simplify import simplify

K = UnaryKind
INF = float("inf")


class Written:
    """Writes functions with operands in the order that a seed draws, numbers as a tensor or not."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.m = Maker()
        self.x = self.m.input(2, 7)

    def number(self, value: float) -> str:
        shape = [(), (1,), (7,), (2, 7)][self.rng.integers(4)]
        return self.m.const(array=np.full(shape, value, np.float32))

    def both(self, operator, a, b) -> str:
        names = [self.number(each) if isinstance(each, float) else each for each in (a, b)]
        if self.rng.integers(2):
            names.reverse()
        return self.m.op(operator, *names)

    def add(self, a, b) -> str:
        return self.both(ops.Add(), a, b)

    def mul(self, a, b) -> str:
        return self.both(ops.Mul(), a, b)

    def unary(self, kind, x) -> str:
        return self.m.op(ops.Unary(kind), x)

    def neg(self, x) -> str:
        return self.mul(x, -1.0) if self.rng.integers(2) else self.unary(K.NEG, x)

    def exp(self, x) -> str:
        return self.unary(K.EXP, x)

    def over(self, a, b) -> str:
        return self.mul(a, self.unary(K.RECIPROCAL, b))

    def sigmoid(self, x=None) -> str:
        x = x or self.x
        form = self.rng.integers(3)
        if form == 0:
            return self.unary(K.RECIPROCAL, self.add(self.exp(self.neg(x)), 1.0))
        if form == 1:
            return self.over(1.0, self.add(1.0, self.exp(self.neg(x))))
        e = self.exp(x)
        return self.over(e, self.add(e, 1.0))

    def tanh(self, x=None) -> str:
        x = x or self.x
        if self.rng.integers(2):
            return self.add(self.mul(self.sigmoid(self.mul(x, 2.0)), 2.0), -1.0)
        up, down = self.exp(x), self.exp(self.neg(x))
        return self.over(self.m.op(ops.Sub(), up, down), self.add(up, down))

    def softplus(self) -> str:
        return self.unary(K.LOG, self.add(self.exp(self.x), 1.0))

    def silu(self) -> str:
        return self.mul(self.x, self.sigmoid())

    def mish(self) -> str:
        return self.mul(self.x, self.tanh(self.softplus()))

    def hard_swish(self) -> str:
        gate = self.m.op(ops.Clip(0.0, 6.0), self.add(self.x, 3.0))
        if self.rng.integers(2):
            return self.mul(self.mul(gate, self.x), 1.0 / 6.0)
        return self.mul(self.x, self.mul(gate, 1.0 / 6.0))

    def hard_sigmoid(self) -> str:
        form = self.rng.integers(3)
        if form == 0:
            return self.mul(self.m.op(ops.Clip(0.0, 6.0), self.add(self.x, 3.0)), 1.0 / 6.0)
        straight = self.add(self.mul(self.x, 1.0 / 6.0), 0.5)
        if form == 1:
            return self.m.op(ops.Clip(0.0, 1.0), straight)
        return self.m.op(ops.Clip(-INF, 1.0), self.m.op(ops.Clip(0.0, INF), straight))

    def positive(self) -> str:
        """A mask of the elements above 0."""
        zero = self.number(0.0)
        return self.m.op(ops.Compare(ops.CompareKind.LESS), zero, self.x, dtype=DType.INT32)

    def chosen(self, a, b) -> str:
        """A where x is positive, else b."""
        a, b = (self.number(each) if isinstance(each, float) else each for each in (a, b))
        if self.rng.integers(2):
            return self.m.op(ops.Where(), self.positive(), a, b)
        other = self.m.op(ops.Unary(K.NOT), self.positive(), dtype=DType.INT32)
        return self.m.op(ops.Where(), other, b, a)

    def leaky_relu(self) -> str:
        if self.rng.integers(2):
            return self.both(ops.Maximum(), self.x, self.mul(self.x, 0.25))
        return self.chosen(self.x, self.mul(self.x, 0.25))

    def elu(self) -> str:
        if self.rng.integers(2):
            return self.chosen(self.x, self.add(self.exp(self.x), -1.0))
        below = self.exp(self.m.op(ops.Clip(-INF, 0.0), self.x))
        return self.add(self.m.op(ops.Clip(0.0, INF), self.x), self.add(below, -1.0))

    def selu(self) -> str:
        below = self.mul(self.add(self.exp(self.x), -1.0), 1.6732632)
        return self.mul(self.chosen(self.x, below), 1.050701)

    def softsign(self) -> str:
        return self.over(self.x, self.add(self.unary(K.ABS, self.x), 1.0))

    def softplus_in_two(self) -> str:
        return self.m.op(
            ops.Where(),
            self.m.op(
                ops.Compare(ops.CompareKind.LESS), self.number(20.0), self.x, dtype=DType.INT32
            ),
            self.x,
            self.softplus(),
        )

    def relu(self) -> str:
        if self.rng.integers(2):
            return self.chosen(self.x, 0.0)
        mask = self.m.op(ops.Cast(), self.positive(), dtype=DType.FLOAT32)
        return self.mul(mask, self.x)

    def gelu_tanh(self) -> str:
        cube = self.mul(self.mul(self.x, self.x), self.x)
        if self.rng.integers(2):
            cube = self.m.op(ops.Unary(K.POW, alpha=3.0), self.x)
        inner = self.mul(self.add(self.x, self.mul(cube, 0.044715)), (2.0 / np.pi) ** 0.5)
        return self.mul(self.mul(self.x, 0.5), self.add(self.unary(K.TANH, inner), 1.0))

    def gelu(self) -> str:
        erf = self.unary(K.ERF, self.mul(self.x, 0.5**0.5))
        return self.mul(self.mul(self.add(erf, 1.0), 0.5), self.x)


FUNCTIONS = {
    "sigmoid": K.SIGMOID,
    "tanh": K.TANH,
    "softplus": K.SOFTPLUS,
    "silu": K.SWISH,
    "mish": K.MISH,
    "hard_swish": K.HARD_SWISH,
    "gelu": K.GELU,
    "gelu_tanh": K.GELU_TANH,
    "hard_sigmoid": K.HARD_SIGMOID,
    "leaky_relu": K.LEAKY_RELU,
    "elu": K.ELU,
    "selu": K.SELU,
    "softsign": K.SOFTSIGN,
    "softplus_in_two": K.SOFTPLUS,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_in_every_order(name):
    for seed in range(12):
        written = Written(seed)
        graph = written.m.graph(getattr(written, name)())
        after = simplify(fuse_functions(graph))
        assert_same_function(graph, after)
        (node,) = after.nodes
        assert node.attrs.kind is FUNCTIONS[name], seed


@pytest.mark.parametrize("factor", [-1.0, 1.702, 0.5])
def test_sigmoid_of_a_multiple(factor):
    written = Written(0)
    m, x = written.m, written.x
    e = m.op(ops.Unary(K.EXP), m.op(ops.Mul(), x, written.number(-factor)))
    graph = m.graph(m.op(ops.Unary(K.RECIPROCAL), m.op(ops.Add(), e, written.number(1.0))))
    after = simplify(fuse_functions(graph))
    assert_same_function(graph, after)
    assert after.nodes[-1].attrs.kind is K.SIGMOID
    assert len(after.nodes) == 2


@pytest.mark.parametrize("slope", [1e-7, 1e-3])
def test_a_flat_line_is_no_tanh(slope):
    written = Written(0)
    graph = written.m.graph(written.mul(written.mul(written.mul(written.x, slope), 2.0), 0.5))
    kinds = [n.attrs for n in fuse_functions(graph).nodes]
    assert all(isinstance(attrs, ops.Mul) for attrs in kinds)


def test_relu_by_a_choice():
    for seed in range(12):
        written = Written(seed)
        graph = written.m.graph(written.relu())
        after = simplify(fuse_functions(graph))
        assert_same_function(graph, after)
        assert [node.attrs for node in after.nodes] == [ops.Clip(0.0, INF)]


def test_functions_that_differ_far_from_zero_are_others():
    """A softplus that is cut at 15, two slopes that are equal."""
    written = Written(0)
    cut = written.m.op(ops.Clip(-INF, 15.0), written.softplus())
    line = written.chosen(written.x, written.mul(written.mul(written.x, 0.5), 2.0))
    after = fuse_functions(written.m.graph(cut, line))
    found = [node.attrs.kind for node in after.nodes if isinstance(node.attrs, ops.Unary)]
    assert K.LEAKY_RELU not in found
    assert any(node.attrs == ops.Clip(-INF, 15.0) for node in after.nodes)


@pytest.mark.parametrize("scale", [1e6, 1000.0, 30.0, 1.0, 0.03, 1e-3, 1e-6])
@pytest.mark.parametrize("kind", [K.SIGMOID, K.TANH, K.GELU, K.SOFTSIGN])
def test_steps_and_bounds_of_any_size_stay(kind, scale):
    """A sigmoid of 1000 x lies between two of the middle points; a bound of 200 beyond them."""
    m = Maker()
    x = m.input(1, 64)
    steep = m.op(ops.Unary(kind), m.op(ops.Mul(), x, m.const(array=np.float32(scale))))
    bounds = 0.5 * scale, 2.0 * scale
    bounded = m.op(ops.Clip(*bounds), m.op(ops.Clip(0.0, INF), x))
    graph = m.graph(steep, bounded)
    after = simplify(fuse_functions(graph))
    points = np.linspace(-4.0, 4.0, 128).reshape(2, 64)
    for unit in (1.0, scale, 1.0 / scale):
        data = {x: (points * unit).astype(np.float32)}
        wanted, found = (dict(Executor(g, g.outputs).run(data)) for g in (graph, after))
        for name in graph.outputs:
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-4, atol=1e-5 * unit)


def test_a_hard_sigmoid_after_a_layer_becomes_part_of_it():
    m = Maker()
    y = m.op(ops.Gemm(), m.input(1, 6), m.const(4, 6), m.const(4))
    straight = m.op(ops.Add(), m.op(ops.Mul(), y, m.const(array=np.float32(0.2))), m.const(1))
    graph = m.graph(m.op(ops.Clip(0.0, 1.0), straight))
    assert fuse_functions(graph) is graph


def test_choices_by_integers_are_no_functions():
    m = Maker()
    ids = m.input(2, 7, dtype=DType.INT32)
    zero, one = m.const(array=np.float32(0.0)), m.const(array=np.float32(1.0))
    mask = m.op(ops.Compare(ops.CompareKind.LESS), ids, zero, dtype=DType.INT32)
    graph = m.graph(m.op(ops.Where(), mask, zero, one))
    assert fuse_functions(graph) is graph
