"""Softmax and its logarithm, written out in many ways."""

from __future__ import annotations

from itertools import product

import pytest
from pass_samples import Maker, assert_same_function, ops_of

from edgec.ir import ops
from edgec.ir.ops import ReduceKind, UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.passes.fuse_softmax import fuse_softmax

EXP, LOG = ops.Unary(UnaryKind.EXP), ops.Unary(UnaryKind.LOG)
SHAPE = (2, 3, 4, 5)


class Written:
    """Writes the parts along an axis.

    Attributes:
        m: the graph.
        x: the logits.
        axes: what is reduced.
        kept: reductions keep their axis; else a reshape puts it back.
    """

    def __init__(
        self, axes: int | tuple[int, ...], kept: bool = True, shape: tuple[int, ...] = SHAPE
    ) -> None:
        self.m, self.kept = Maker(), kept
        self.axes = (axes,) if isinstance(axes, int) else axes
        self.x = self.m.input(*shape)

    def reduced(self, kind: ReduceKind, x: str) -> str:
        shape = self.m.shape(x)
        y = self.m.op(ops.Reduce(kind, self.axes, self.kept), x)
        whole = tuple(1 if axis in self.axes else size for axis, size in enumerate(shape))
        return y if self.kept else self.m.op(ops.Reshape(whole), y)

    def shifted(self) -> str:
        return self.m.op(ops.Sub(), self.x, self.reduced(ReduceKind.MAX, self.x))

    def softmax(self, x: str, form: int) -> str:
        powers = self.m.op(EXP, x)
        total = self.reduced(ReduceKind.SUM if form else ReduceKind.L1, powers)
        if form == 0:
            return self.m.op(ops.Div(), powers, total)
        inverse = self.m.op(ops.Unary(UnaryKind.RECIPROCAL), total)
        return self.m.op(ops.Mul(), *((powers, inverse) if form == 1 else (inverse, powers)))

    def log_softmax(self, x: str) -> str:
        total = self.reduced(ReduceKind.SUM, self.m.op(EXP, x))
        return self.m.op(ops.Sub(), x, self.m.op(LOG, total))

    def less_log_sum_exp(self, turned: bool) -> str:
        """``x - (log(sum(exp(x - max))) + max)``."""
        largest = self.reduced(ReduceKind.MAX, self.x)
        powers = self.m.op(EXP, self.m.op(ops.Sub(), self.x, largest))
        parts = [self.m.op(LOG, self.reduced(ReduceKind.SUM, powers)), largest]
        return self.m.op(
            ops.Sub(), self.x, self.m.op(ops.Add(), *(parts[::-1] if turned else parts))
        )


def found(graph) -> list[str]:
    after = fuse_softmax(graph)
    assert_same_function(graph, after)
    return [op for op in ops_of(after) if op not in ("Transpose", "Reshape")]


ALONG = (0, 1, 2, 3, (2, 3), (1, 2), (1, 3), (0, 2), (1, 2, 3), (0, 1, 2, 3))


@pytest.mark.parametrize("axis", ALONG)
def test_softmax(axis):
    for kept, shift, form in product((True, False), (True, False), range(3)):
        written = Written(axis, kept)
        x = written.shifted() if shift else written.x
        assert found(written.m.graph(written.softmax(x, form))) == ["Softmax"]


@pytest.mark.parametrize("axis", ALONG)
def test_log_softmax(axis):
    for kept, shift in product((True, False), (True, False)):
        written = Written(axis, kept)
        x = written.shifted() if shift else written.x
        assert found(written.m.graph(written.log_softmax(x))) == ["LogSoftmax"]
        written = Written(axis, kept)
        assert found(written.m.graph(written.less_log_sum_exp(shift))) == ["LogSoftmax"]


@pytest.mark.parametrize("axis", [1, 3])
def test_exponential_and_logarithm_of_the_whole(axis):
    written = Written(axis)
    y = written.m.op(EXP, written.log_softmax(written.x))
    assert found(written.m.graph(y)) == ["Softmax"]
    written = Written(axis)
    y = written.m.op(LOG, written.softmax(written.shifted(), 1))
    assert found(written.m.graph(y)) == ["LogSoftmax"]


def test_over_all_of_a_row():
    """All axes but one have one element."""
    m = Maker()
    powers = m.op(EXP, m.input(1, 10))
    graph = m.graph(m.op(ops.Div(), powers, m.op(ops.Reduce(ReduceKind.SUM, (0, 1)), powers)))
    assert found(graph) == ["Softmax"]


def test_a_shift_by_another_number_stays():
    """A lowest number that hides a whole row leaves nothing of its logits in float32."""
    m = Maker()
    x, mask = m.input(1, 4, 5), m.input(1, 4, 1, name="mask")
    graph = m.graph(m.op(ops.Softmax(), m.op(ops.Sub(), x, mask)))
    assert fuse_softmax(graph) is graph
    m = Maker()
    x = m.input(1, 4, 5)
    across = m.op(ops.Reduce(ReduceKind.MAX, (1,)), x)
    graph = m.graph(m.op(ops.Softmax(), m.op(ops.Sub(), x, across)))
    assert fuse_softmax(graph) is graph
    m = Maker()
    x = m.input(1, 4, 5)
    powers = m.op(EXP, m.op(ops.Sub(), x, m.op(ops.Reduce(ReduceKind.MAX, (1,)), x)))
    total = m.op(ops.Reduce(ReduceKind.SUM, (1, 2)), powers)
    assert found(m.graph(m.op(ops.Div(), powers, total))) == ["Reduce", "Sub", "Softmax"]


def test_what_is_no_softmax():
    m = Maker()
    x, z = m.input(1, 4, 5), m.input(1, 4, 5, name="z")
    powers = m.op(EXP, x)
    other = m.op(ops.Reduce(ReduceKind.SUM, (2,)), m.op(EXP, z))
    mean = m.op(ops.Reduce(ReduceKind.MEAN, (2,)), powers)
    graph = m.graph(*(m.op(ops.Div(), powers, each) for each in (other, mean)))
    assert fuse_softmax(graph) is graph


def test_codes_of_a_file_stay():
    m = Maker()
    powers = m.op(EXP, m.input(1, 10), quant=QuantParams.per_tensor(0.1, 0))
    graph = m.graph(m.op(ops.Div(), powers, m.op(ops.Reduce(ReduceKind.SUM, (1,)), powers)))
    assert fuse_softmax(graph) is graph
