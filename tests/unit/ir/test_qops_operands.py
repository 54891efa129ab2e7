"""Records of integer operators say what kernels read as tensors; forms fit their layers."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Constant, Value
from edgec.ir.qops.base import need_operands
from edgec.ir.qparams import QuantParams

TENSORS = [
    (qops.QConv, "x weight bias multiplier", "x"),
    (qops.QConv, "x weight bias multiplier residual", "x residual"),
    (qops.QGemm, ["x", "weight", "bias", "multiplier", "", "table"], "x table"),
    (qops.QPooledConv, "x pool indices bias multiplier residual", "x residual"),
    (qops.QAttention, "q k v heads keys", "q k v keys"),
    (qops.QAttention, ["q", "k", "v", "heads", "", "steps", "places"], "q k v steps places"),
    (qops.QNorm, "x gamma beta k", "x k"),
    (qops.QRescale, "x k", "x k"),
    (qops.QEmbedding, "ids table", "ids table"),
    (qops.QLut, "x table", "x table"),
    (qops.QPRelu, "x slope", "x slope"),
    (qops.QSoftmax, "x exponentials", "x exponentials"),
    (qops.QConcat, "a b c", "a b c"),
]


@pytest.mark.parametrize(("operator", "names", "tensors"), TENSORS)
def test_tensors_of_a_kernel(operator, names, tensors):
    flat = names if isinstance(names, list) else names.split()
    record = operator.Inputs.of(flat)
    assert qops.tensors_of(record) == tuple(tensors.split())
    assert record.names() == tuple(flat)


def test_every_operand_has_a_mark():
    operators = [c for c in vars(qops).values() if isinstance(c, type)]
    for operator in operators:
        if issubclass(operator, qops.IntegerOperator) and operator is not qops.IntegerOperator:
            assert all(mark.dtypes for mark in qops.marks_of(operator.Inputs).values())


RESCALE, WIDE = qops.Rescale16x15(2, 20, -128, 127), qops.Requant31(32, 4)
ADDITION = qops.AddParams(4, 4, 9, 9, 3, 4)
QUANT = QuantParams.per_tensor(0.1, 4)
X, Y = (Value(name, (1, 3), DType.INT8, QUANT) for name in "xy")


def gemm(form, residual=None, *, multipliers=None, added=None, table=None):
    dtype = (multipliers or form.MULTIPLIERS).numpy
    inputs = qops.QGemm.Inputs(
        X,
        Constant("w", np.ones((3, 3), np.int8)),
        Constant("b", np.ones(3, np.int32)),
        Constant("m", np.ones(3, dtype)),
        added,
        table,
    )
    need_operands(inputs)
    qops.QGemm(form, residual).verify(inputs, Y)


def test_sound_ends():
    gemm(WIDE)
    gemm(RESCALE)
    gemm(WIDE, ADDITION, added=X)
    gemm(RESCALE, qops.StreamSum(), added=X)
    table = Constant("t", np.zeros(1024, np.int8))
    gemm(qops.Rescale16x15(2, 20, -512, 511), table=table)


TABLE = Constant("t", np.zeros(1024, np.int8))
ENDS = [
    (lambda: gemm(WIDE, multipliers=DType.INT16), "int16, not int32"),
    (lambda: gemm(RESCALE, multipliers=DType.INT32), "int32, not int16"),
    (lambda: gemm(WIDE, table=TABLE), "16 by 15 bits only"),
    (lambda: gemm(WIDE, ADDITION, added=X, table=TABLE), "a table and a residual"),
    (lambda: gemm(WIDE, ADDITION), "wrong number of inputs"),
    (lambda: gemm(WIDE, added=X), "wrong number of inputs"),
    (lambda: gemm(WIDE, qops.StreamSum(), added=X), "cannot add"),
    (lambda: gemm(RESCALE, ADDITION, added=X), "cannot add"),
    (lambda: gemm(qops.Requant31(32, 5)), "zero point of the output"),
    (lambda: gemm(qops.Rescale16x15(2, 31, -128, 127)), "bad shift"),
    (lambda: gemm(qops.Rescale16x15(2, 20, -129, 127)), "clamp"),
    (
        lambda: qops.QMul(WIDE, 1, bias=3).verify(qops.QMul.Inputs(X, X), Y),
        "a bias where the form has the zero point",
    ),
]


@pytest.mark.parametrize(("build", "message"), ENDS)
def test_ends_that_fit_no_layer(build, message):
    with pytest.raises(ValueError, match=message):
        build()
