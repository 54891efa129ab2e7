"""The integer operators of transformers, until their readers take them from `ir.qops`."""

from edgec.ir.qops import *  # noqa: F403
from edgec.ir.qops import (
    QAdd16,
    QAttention,
    QConv16x15,
    QEmbedding,
    QGemm16x15,
    QIsEqual,
    QMatMul16x15,
    QMul16x15,
    QNorm,
    QReduce16x15,
    QRescale16x15,
    QSoftmax16x15,
)

TRANSFORMER = (
    *(QGemm16x15, QConv16x15, QMatMul16x15, QMul16x15, QReduce16x15, QRescale16x15),
    *(QAdd16, QEmbedding, QNorm, QAttention, QIsEqual, QSoftmax16x15),
)
