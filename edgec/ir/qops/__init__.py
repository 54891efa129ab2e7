"""Integer operators: what a graph holds from quantization to lowering.  All numbers are final.

Owns: one module for each operator, which is its home: the written definition, the operands, the
rule of its shape, the oracle in numpy (`compute`), the bounds of its intermediates and its
contract.  This is the definition of edgec's integer arithmetic; the C templates implement it again,
and the tests compare the two bit for bit.  `base` explains the notation, `forms` has the
requantizations in which layers end, `operands` says which operands a kernel reads as tensors.
May import: layer 0 and its own layer.
"""

from edgec.ir.qops.add import AddParams, CodeSum, QAdd, SumForm, TfliteSum
from edgec.ir.qops.arithmetic import TfliteSumNumbers
from edgec.ir.qops.attention import (
    ATTENTION_MIN,
    ATTENTION_SHIFT,
    HEAD_COLUMNS,
    SUM_BITS,
    SUM_MARGIN,
    QAttention,
    QEmbedding,
)
from edgec.ir.qops.base import IntegerOperator, computed
from edgec.ir.qops.binary import QDiv, QMul, QSquaredDifference
from edgec.ir.qops.binary_layers import LARGEST_DEPTH, BinaryLayer, QBinaryConv, QBinaryGemm
from edgec.ir.qops.biquad import QBiquad
from edgec.ir.qops.chain import (
    BROADCAST,
    CHAINED,
    Link,
    QChain,
    can_link,
    chained,
    table_count,
    unchained,
)
from edgec.ir.qops.choice import QCompare, QExtremum, QIsEqual, QWhere
from edgec.ir.qops.forms import CodeMean, Monotone31, Requant31, Requantization, Rescale16x15
from edgec.ir.qops.frame import QFrame
from edgec.ir.qops.functions import Entries, Line, Logistic, QLut, QPRelu, QRescale, TableRule
from edgec.ir.qops.layer_end import TABLE_SIZE, Residual, StreamSum
from edgec.ir.qops.log_mel import QLogMel
from edgec.ir.qops.micro_features import QMicroFeatures
from edgec.ir.qops.move import QConcat, QPad, QReshape, QSlice, QSlide, QTranspose
from edgec.ir.qops.norm import UNIT_BOUND, QNorm
from edgec.ir.qops.operands import INT8_SPAN, Operand, marks_of, tensors_of
from edgec.ir.qops.plane_layers import LARGEST_PLANE_SUM, PlaneLayer, QPlaneConv, QPlaneGemm
from edgec.ir.qops.planes import MOST_PLANES, QPlanes
from edgec.ir.qops.pooled import PoolRounding, QPooledConv, QPooledGemm
from edgec.ir.qops.products import (
    PlainLayer,
    PooledLayer,
    QConv,
    QConvTranspose,
    QGemm,
    QMatMul,
    Weighted,
)
from edgec.ir.qops.reductions import QArgMax, QAveragePool, QMaxPool, QReduce, QTopK
from edgec.ir.qops.residual import MOST_CHANNEL_SHIFT
from edgec.ir.qops.resize import RESIZE_FRACTION_BITS, QResizeLinear, QResizeNearest, repeats
from edgec.ir.qops.rows import (
    COLUMN_COPIES,
    QChannelsJoined,
    QColumnsFrom,
    QColumnsInto,
    QColumnsJoined,
    QRowsFrom,
    QRowsInto,
    RowView,
)
from edgec.ir.qops.sensor_features import QSensorFeatures
from edgec.ir.qops.signs import SIGNS, WORD_BITS, QSigns
from edgec.ir.qops.softmax import LOG_BITS, QLogSoftmax, QSoftmax
from edgec.ir.qops.softmax_rules import (
    DISTANCE_BITS,
    DISTANCE_SHIFT,
    LOOKUP_ENTRIES,
    Factor,
    Interpolated,
    Octaves,
    Quotients,
    Reciprocal31,
    SoftmaxRule,
)
from edgec.ir.qops.tflite_forms import Offset31, Once15, TwoRoundings31
from edgec.ir.qops.tree_ensemble import QTreeEnsemble
from edgec.ir.qops.turns import QCarry, QTurnLast, QTurnSlice, QTurnStack, QUpdate
from edgec.ir.qops.window_dot import QWindowDot

__all__ = [
    "ATTENTION_MIN",
    "ATTENTION_SHIFT",
    "BROADCAST",
    "CHAINED",
    "COLUMN_COPIES",
    "DISTANCE_BITS",
    "DISTANCE_SHIFT",
    "HEAD_COLUMNS",
    "INT8_SPAN",
    "LARGEST_DEPTH",
    "LARGEST_PLANE_SUM",
    "LOG_BITS",
    "LOOKUP_ENTRIES",
    "MOST_CHANNEL_SHIFT",
    "MOST_PLANES",
    "RESIZE_FRACTION_BITS",
    "SIGNS",
    "SUM_BITS",
    "SUM_MARGIN",
    "TABLE_SIZE",
    "UNIT_BOUND",
    "WORD_BITS",
    "AddParams",
    "BinaryLayer",
    "CodeMean",
    "CodeSum",
    "Entries",
    "Factor",
    "IntegerOperator",
    "Interpolated",
    "Line",
    "Link",
    "Logistic",
    "Monotone31",
    "Octaves",
    "Offset31",
    "Once15",
    "Operand",
    "PlainLayer",
    "PlaneLayer",
    "PoolRounding",
    "PooledLayer",
    "QAdd",
    "QArgMax",
    "QAttention",
    "QAveragePool",
    "QBinaryConv",
    "QBinaryGemm",
    "QBiquad",
    "QCarry",
    "QChain",
    "QChannelsJoined",
    "QColumnsFrom",
    "QColumnsInto",
    "QColumnsJoined",
    "QCompare",
    "QConcat",
    "QConv",
    "QConvTranspose",
    "QDiv",
    "QEmbedding",
    "QExtremum",
    "QFrame",
    "QGemm",
    "QIsEqual",
    "QLogMel",
    "QLogSoftmax",
    "QLut",
    "QMatMul",
    "QMaxPool",
    "QMicroFeatures",
    "QMul",
    "QNorm",
    "QPRelu",
    "QPad",
    "QPlaneConv",
    "QPlaneGemm",
    "QPlanes",
    "QPooledConv",
    "QPooledGemm",
    "QReduce",
    "QRescale",
    "QReshape",
    "QResizeLinear",
    "QResizeNearest",
    "QRowsFrom",
    "QRowsInto",
    "QSensorFeatures",
    "QSigns",
    "QSlice",
    "QSlide",
    "QSoftmax",
    "QSquaredDifference",
    "QTopK",
    "QTranspose",
    "QTreeEnsemble",
    "QTurnLast",
    "QTurnSlice",
    "QTurnStack",
    "QUpdate",
    "QWhere",
    "QWindowDot",
    "Quotients",
    "Reciprocal31",
    "Requant31",
    "Requantization",
    "Rescale16x15",
    "Residual",
    "RowView",
    "SoftmaxRule",
    "StreamSum",
    "SumForm",
    "TableRule",
    "TfliteSum",
    "TfliteSumNumbers",
    "TwoRoundings31",
    "Weighted",
    "can_link",
    "chained",
    "computed",
    "marks_of",
    "repeats",
    "table_count",
    "tensors_of",
    "unchained",
]
