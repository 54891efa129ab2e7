from __future__ import annotations

import pytest
from pass_samples import Maker

from edgec.base.errors import ImportModelError, InternalError
from edgec.ir import ops, qops
from edgec.ir.infer import infer_shape, macs
from edgec.ir.operator import Operands, Operator

IMAGE = (1, 6, 5, 4)
ONES = (1, 1)
NO_PADS = (0, 0, 0, 0)
MEAN = ops.ReduceKind.MEAN
NEAREST = ops.Resize(ops.ResizeMode.NEAREST, (0, 1), (0, 1), (0.0, 0.0), (4,), (4,), (0.0,))
FORM = qops.Requant31(9)

GOOD = [
    (ops.Conv(), [IMAGE, (8, 3, 3, 4), (8,)], (1, 4, 3, 8)),
    (ops.Conv((2, 2), (1, 0, 1, 2), (2, 1), 2), [IMAGE, (8, 3, 3, 2), None], (1, 2, 3, 8)),
    (ops.ConvTranspose((2, 2)), [IMAGE, (8, 3, 3, 4)], (1, 13, 11, 8)),
    (
        ops.ConvTranspose((2, 2), (1, 1, 1, 1), (1, 1), 4, (1, 0)),
        [IMAGE, (8, 3, 3, 1)],
        (1, 12, 9, 8),
    ),
    (ops.Gemm(), [(2, 3, 4), (7, 4), (7,)], (2, 3, 7)),
    (ops.Add(), [IMAGE, (5, 1)], IMAGE),
    (ops.Sub(), [(3, 1), (1, 2)], (3, 2)),
    (ops.Mul(), [(), (2,)], (2,)),
    (ops.Clip(), [IMAGE], IMAGE),
    (ops.Unary(ops.UnaryKind.TANH), [IMAGE], IMAGE),
    (ops.PRelu(), [IMAGE, (4,)], IMAGE),
    (ops.Softmax(), [IMAGE], IMAGE),
    (ops.MaxPool((3, 2), (2, 2)), [IMAGE], (1, 2, 2, 4)),
    (ops.AveragePool((3, 3), pads=(1, 1, 1, 1)), [IMAGE], IMAGE),
    (ops.Reduce(MEAN, (1, 2)), [IMAGE], (1, 1, 1, 4)),
    (ops.Reduce(MEAN, (1, 2), False), [IMAGE], (1, 4)),
    (ops.BatchNormalization(), [IMAGE, (4,), (4,), (4,), (4,)], IMAGE),
    (ops.Reshape((2, 60)), [IMAGE], (2, 60)),
    (ops.Transpose((0, 3, 1, 2)), [IMAGE], (1, 4, 6, 5)),
    (ops.Slice((0, 5, 0, 0), (1, -2, 1, 1), (1, 3, 5, 1)), [IMAGE], (1, 3, 5, 1)),
    (ops.Concat(1), [(1, 2), (1, 3)], (1, 5)),
    (ops.Pad(((0, 0), (1, 2))), [(3, 4)], (3, 7)),
    (NEAREST, [IMAGE], (1, 2, 1, 4)),
    (ops.ArgMax(3, False), [IMAGE], (1, 6, 5)),
    (ops.Maximum(), [IMAGE, (4,)], IMAGE),
    (ops.Div(), [(3, 1), (1, 2)], (3, 2)),
    (ops.Compare(ops.CompareKind.LESS), [IMAGE, ()], IMAGE),
    (ops.Where(), [(6, 1, 1), IMAGE, (4,)], IMAGE),
    (ops.LogSoftmax(), [IMAGE], IMAGE),
    (ops.TopK(3), [IMAGE], (1, 6, 5, 3)),
    (ops.SpaceToBatch((2, 3), ((0, 0), (0, 1))), [IMAGE], (6, 3, 2, 4)),
    (ops.BatchToSpace((2, 3), ((0, 0), (0, 1))), [(6, 3, 2, 4)], IMAGE),
    (ops.TreeEnsemble(), [(1, 9), (21, 3), (4,), (8, 3), (3,)], (1, 3)),
    (ops.QuantizeLinear(), [IMAGE], IMAGE),
    (ops.DequantizeLinear(), [IMAGE], IMAGE),
    (qops.QConv(ONES, NO_PADS, ONES, 1, FORM), [IMAGE, (8, 3, 3, 4), (8,), (8,)], (1, 4, 3, 8)),
    (qops.QGemm(FORM), [(1, 4), (7, 4), (7,), (7,)], (1, 7)),
    (qops.QLut(), [IMAGE, (256,)], IMAGE),
    (qops.QSoftmax(qops.Quotients(1, 9, 0)), [IMAGE, (256,)], IMAGE),
    (qops.QAveragePool((2, 2), ONES, NO_PADS, ONES, False, FORM), [IMAGE, (5,)], (1, 5, 4, 4)),
    (qops.QReduce(MEAN, (3,), True), [IMAGE], (1, 6, 5, 1)),
    (qops.QResizeNearest(), [IMAGE, (7,), (9,)], (1, 7, 9, 4)),
    (qops.QResizeLinear(), [IMAGE, (7, 3), (9, 3)], (1, 7, 9, 4)),
    (qops.QArgMax(1, True, False), [IMAGE], (1, 1, 5, 4)),
]

BAD = [
    (ops.Conv(), [IMAGE, (8, 3, 3, 3)]),
    (ops.Conv(), [IMAGE, (8, 7, 3, 4)]),
    (ops.Conv(group=3), [(1, 6, 5, 6), (8, 3, 3, 2)]),
    (ops.Conv((0, 1)), [IMAGE, (8, 3, 3, 4)]),
    (ops.Conv(pads=(-1, 0, 0, 0)), [IMAGE, (8, 3, 3, 4)]),
    (ops.Conv(), [IMAGE, (8, 3, 3, 4), (7,)]),
    (ops.Conv(), [(1, 6, 5), (8, 3, 3, 4)]),
    (ops.Conv(), [IMAGE, (8, 0, 3, 4)]),
    (ops.ConvTranspose(pads=(9, 9, 9, 9)), [IMAGE, (8, 3, 3, 4)]),
    (ops.Gemm(), [(1, 4), (7, 5)]),
    (ops.Gemm(), [(1, 4)]),
    (ops.Add(), [(2, 3), (2, 2)]),
    (ops.PRelu(), [IMAGE, (3,)]),
    (ops.MaxPool((9, 1)), [IMAGE]),
    (ops.Reduce(MEAN, (4,)), [IMAGE]),
    (ops.Reduce(MEAN, ()), [IMAGE]),
    (ops.Reshape((2, 61)), [IMAGE]),
    (ops.Transpose((0, 1, 1, 2)), [IMAGE]),
    (ops.Slice((0,), (1,), (5,)), [(4,)]),
    (ops.Slice((0,), (-1,), (2,)), [(4,)]),
    (ops.Slice((0,), (1,), (0,)), [(4,)]),
    (ops.Concat(0), [(1, 2), (1, 3)]),
    (ops.Concat(2), [(1, 2), (1, 3)]),
    (ops.Pad(((0, 0),)), [(3, 4)]),
    (ops.Pad(((0, 3),), ops.PadMode.REFLECT), [(3,)]),
    (NEAREST, [(1, 6, 4, 4)]),
    (ops.TopK(5), [IMAGE]),
    (ops.Where(), [(3,), IMAGE, (4,)]),
    (ops.SpaceToBatch((4, 1), ((0, 0), (0, 0))), [IMAGE]),
    (ops.BatchToSpace((2, 2), ((0, 0), (0, 0))), [(6, 3, 2, 4)]),
    (qops.QTopK(5, True, False), [IMAGE]),
    (qops.QResizeNearest(), [(1, 6), (7,), (9,)]),
]


@pytest.mark.parametrize(("attrs", "shapes", "expected"), GOOD)
def test_shapes(attrs, shapes, expected):
    assert infer_shape(attrs, shapes) == expected


@pytest.mark.parametrize(("attrs", "shapes"), BAD)
def test_impossible_shapes(attrs, shapes):
    with pytest.raises(ImportModelError, match=type(attrs).__name__):
        infer_shape(attrs, shapes)


INTEGER_BASES = (
    qops.IntegerOperator,
    qops.Weighted,
    qops.PlainLayer,
    qops.PooledLayer,
    qops.PlaneLayer,
    qops.BinaryLayer,
)
BASES = (ops.Weighted, *INTEGER_BASES)
"""Bases that leave the rule to the operators that derive from them."""


def test_every_operator_has_operands_and_a_rule():
    for module in (ops, qops):
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Operator) and cls not in BASES:
                assert issubclass(cls.Inputs, Operands), cls
                rules = cls.infer_shape, cls.infer_shapes
                assert rules != (Operator.infer_shape, Operator.infer_shapes), cls
    with pytest.raises(InternalError):
        infer_shape(3, [])


def test_macs():
    m = Maker()
    y = m.op(ops.Conv(group=2), m.input(1, 6, 5, 4), m.const(8, 3, 3, 2))
    z = m.op(ops.ConvTranspose(), y, m.const(2, 2, 2, 8))
    flat = m.op(ops.Reshape((1, 40)), z)
    graph = m.graph(m.op(ops.Gemm(), flat, m.const(3, 40)), stage=None)
    found = [macs(graph, node) for node in graph.nodes]
    assert found == [4 * 3 * 8 * 18, 4 * 3 * 2 * 4 * 8, 0, 120]
