"""Activation functions that are written out, in every order of operands."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, assert_same_function

from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.passes.fuse_functions import fuse_functions
from edgec.passes.simplify import simplify

K = UnaryKind


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
