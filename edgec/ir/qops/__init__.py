"""Integer operators: what a graph holds from quantization to lowering.  All numbers are final.

Owns: one module for each operator, which is its home: the written definition, the operands, the
rule of its shape, the oracle in numpy (`compute`), the bounds of its intermediates and its
contract.  This is the definition of edgec's integer arithmetic; the C templates implement it again,
and the tests compare the two bit for bit.  `base` explains the notation, `forms` has the
requantizations in which layers end, `operands` says which operands a kernel reads as tensors.
May import: layer 0 and its own layer.
"""

from edgec.ir.qops.add import Add20, AddParams, QAdd
from edgec.ir.qops.arg_max import QArgMax
from edgec.ir.qops.attention import (
    ATTENTION_MIN,
    ATTENTION_SHIFT,
    HEAD_COLUMNS,
    SUM_BITS,
    SUM_MARGIN,
    QAttention,
)
from edgec.ir.qops.average_codes import QAverageCodes
from edgec.ir.qops.average_pool import QAveragePool
from edgec.ir.qops.base import IntegerOperator, computed
from edgec.ir.qops.compare import COMPARE_BITS, QCompare
from edgec.ir.qops.concat import QConcat
from edgec.ir.qops.conv import QConv
from edgec.ir.qops.conv_transpose import QConvTranspose
from edgec.ir.qops.div import DIV_BITS, QDiv
from edgec.ir.qops.embedding import QEmbedding
from edgec.ir.qops.exponentials import DISTANCE_BITS, DISTANCE_SHIFT
from edgec.ir.qops.extremum import QExtremum
from edgec.ir.qops.fine import FineNumbers
from edgec.ir.qops.forms import Monotone31, Requant31, Requantization, Rescale16x15
from edgec.ir.qops.from_integer import QFromInteger
from edgec.ir.qops.gemm import QGemm
from edgec.ir.qops.is_equal import QIsEqual
from edgec.ir.qops.layer_end import TABLE_SIZE, Residual, StreamSum
from edgec.ir.qops.log_softmax import LOG_BITS, QLogSoftmax
from edgec.ir.qops.lut import QLut
from edgec.ir.qops.matmul import QMatMul
from edgec.ir.qops.max_pool import QMaxPool
from edgec.ir.qops.mixed import (
    MIXED_FACTOR_BITS,
    MIXED_STEP_BITS,
    MIXED_TABLE_ENTRIES,
    QMixedAdd,
    QMixedAverage,
    QMixedConv,
    QMixedDiv,
    QMixedMatMul,
    QMixedMul,
    QMixedTable,
)
from edgec.ir.qops.mul import QMul
from edgec.ir.qops.norm import UNIT_BOUND, QNorm
from edgec.ir.qops.operands import Operand, marks_of, tensors_of
from edgec.ir.qops.pad import QPad
from edgec.ir.qops.pool_rounding import PoolRounding
from edgec.ir.qops.pooled_conv import QPooledConv
from edgec.ir.qops.pooled_gemm import QPooledGemm
from edgec.ir.qops.prelu import QPRelu
from edgec.ir.qops.prelu_codes import QPReluCodes
from edgec.ir.qops.reduce import QReduce
from edgec.ir.qops.rescale import QRescale
from edgec.ir.qops.reshape import QReshape
from edgec.ir.qops.resize_linear import RESIZE_FRACTION_BITS, QResizeLinear
from edgec.ir.qops.resize_nearest import QResizeNearest
from edgec.ir.qops.slice import QSlice
from edgec.ir.qops.softmax import QSoftmax
from edgec.ir.qops.softmax31 import SOFTMAX31_LONGEST, QSoftmax31
from edgec.ir.qops.softmax_octaves import QSoftmaxOctaves
from edgec.ir.qops.squared_difference import QSquaredDifference
from edgec.ir.qops.stream import MOST_CHANNEL_SHIFT
from edgec.ir.qops.stream_add import QStreamAdd
from edgec.ir.qops.top_k import QTopK
from edgec.ir.qops.transpose import QTranspose
from edgec.ir.qops.tree_ensemble import QTreeEnsemble
from edgec.ir.qops.twice import Offset31, Twice31
from edgec.ir.qops.weighted import PlainLayer, PooledLayer, Weighted
from edgec.ir.qops.where import QWhere
from edgec.ir.qops.wide import (
    Factor,
    QWideAdd,
    QWideAverage,
    QWideConv,
    QWideMul,
    QWideRescale,
)
from edgec.ir.qops.wide_functions import (
    LOOKUP_ENTRIES,
    SIGMOID_ENTRIES,
    QWideSigmoid,
    QWideSoftmax,
)

__all__ = [
    "ATTENTION_MIN",
    "ATTENTION_SHIFT",
    "COMPARE_BITS",
    "DISTANCE_BITS",
    "DISTANCE_SHIFT",
    "DIV_BITS",
    "HEAD_COLUMNS",
    "LOG_BITS",
    "LOOKUP_ENTRIES",
    "MIXED_FACTOR_BITS",
    "MIXED_STEP_BITS",
    "MIXED_TABLE_ENTRIES",
    "MOST_CHANNEL_SHIFT",
    "RESIZE_FRACTION_BITS",
    "SIGMOID_ENTRIES",
    "SOFTMAX31_LONGEST",
    "SUM_BITS",
    "SUM_MARGIN",
    "TABLE_SIZE",
    "UNIT_BOUND",
    "Add20",
    "AddParams",
    "Factor",
    "FineNumbers",
    "IntegerOperator",
    "Monotone31",
    "Offset31",
    "Operand",
    "PlainLayer",
    "PoolRounding",
    "PooledLayer",
    "QAdd",
    "QArgMax",
    "QAttention",
    "QAverageCodes",
    "QAveragePool",
    "QCompare",
    "QConcat",
    "QConv",
    "QConvTranspose",
    "QDiv",
    "QEmbedding",
    "QExtremum",
    "QFromInteger",
    "QGemm",
    "QIsEqual",
    "QLogSoftmax",
    "QLut",
    "QMatMul",
    "QMaxPool",
    "QMixedAdd",
    "QMixedAverage",
    "QMixedConv",
    "QMixedDiv",
    "QMixedMatMul",
    "QMixedMul",
    "QMixedTable",
    "QMul",
    "QNorm",
    "QPRelu",
    "QPReluCodes",
    "QPad",
    "QPooledConv",
    "QPooledGemm",
    "QReduce",
    "QRescale",
    "QReshape",
    "QResizeLinear",
    "QResizeNearest",
    "QSlice",
    "QSoftmax",
    "QSoftmax31",
    "QSoftmaxOctaves",
    "QSquaredDifference",
    "QStreamAdd",
    "QTopK",
    "QTranspose",
    "QTreeEnsemble",
    "QWhere",
    "QWideAdd",
    "QWideAverage",
    "QWideConv",
    "QWideMul",
    "QWideRescale",
    "QWideSigmoid",
    "QWideSoftmax",
    "Requant31",
    "Requantization",
    "Rescale16x15",
    "Residual",
    "StreamSum",
    "Twice31",
    "Weighted",
    "computed",
    "marks_of",
    "tensors_of",
]
