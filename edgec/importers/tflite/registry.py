"""Every TensorFlow Lite operator that edgec imports, with the function that does it.

The docstring of a handler states what the operator may be like; the operator table of the
documentation is made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.importers.common.attempt import Obstacle
from edgec.importers.common.masks import Relation
from edgec.importers.common.tensors import Tensor
from edgec.importers.tflite import (
    op_elementwise,
    op_larq,
    op_layers,
    op_pooling,
    op_recurrent,
    op_select,
    op_shape,
    op_svdf,
    op_variables,
    op_while,
)
from edgec.importers.tflite import op_elementwise as op_mask
from edgec.importers.tflite import op_pooling as op_resize
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.load import RING
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.ops import ReduceKind, UnaryKind

Handler = Callable[[Context, TfliteNode], Tensor | tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class Entry:
    """Import of one operator.

    Attributes:
        handler: emits what it stands for.
        options: the schema's name of its attributes; "" if it has none that matter.
        packs_signs: its outputs of type int32 are packed signs in the file, and real numbers here.
    """

    handler: Handler
    options: str = ""
    packs_signs: bool = False


HANDLERS: Mapping[str, Entry] = MappingProxyType(
    {
        "ABS": Entry(op_elementwise.unary(UnaryKind.ABS)),
        "ADD": Entry(op_elementwise.binary(ops.Add()), "AddOptions"),
        "ADD_N": Entry(op_elementwise.add_n),
        "ARG_MAX": Entry(op_pooling.arg_max, "ArgMaxOptions"),
        "ARG_MIN": Entry(op_pooling.arg_min, "ArgMinOptions"),
        "AVERAGE_POOL_2D": Entry(op_pooling.average_pool_2d, "Pool2DOptions"),
        "ASSIGN_VARIABLE": Entry(op_variables.assign_variable),
        "BATCH_TO_SPACE_ND": Entry(op_shape.batch_to_space_nd),
        "BATCH_MATMUL": Entry(op_layers.batch_matmul, "BatchMatMulOptions"),
        "BROADCAST_TO": Entry(op_select.broadcast_to),
        "CALL_ONCE": Entry(op_variables.call_once, "CallOnceOptions"),
        "CAST": Entry(op_shape.cast),
        "CEIL": Entry(op_elementwise.unary(UnaryKind.CEIL)),
        "CONCATENATION": Entry(op_select.concatenation, "ConcatenationOptions"),
        "CONV_2D": Entry(op_layers.conv_2d, "Conv2DOptions"),
        "CUMSUM": Entry(op_pooling.cumulative_sum, "CumsumOptions"),
        RING: Entry(op_variables.circular_buffer),
        "COS": Entry(op_elementwise.unary(UnaryKind.COS)),
        "CUSTOM LceBMaxPool2d": Entry(op_larq.max_pool, packs_signs=True),
        "CUSTOM LceBconv2d": Entry(op_larq.convolution, packs_signs=True),
        "CUSTOM LceDequantize": Entry(op_larq.dequantize),
        "CUSTOM LceQuantize": Entry(op_larq.quantize, packs_signs=True),
        "DENSIFY": Entry(op_shape.densify),
        "DEPTHWISE_CONV_2D": Entry(op_layers.depthwise_conv_2d, "DepthwiseConv2DOptions"),
        "DEPTH_TO_SPACE": Entry(op_shape.depth_to_space, "DepthToSpaceOptions"),
        "DEQUANTIZE": Entry(op_shape.dequantize),
        "DIV": Entry(op_elementwise.div, "DivOptions"),
        "ELU": Entry(op_elementwise.unary(UnaryKind.ELU, 1.0)),
        "EQUAL": Entry(op_mask.compare(Relation.EQUAL)),
        "EXP": Entry(op_elementwise.unary(UnaryKind.EXP)),
        "EXPAND_DIMS": Entry(op_shape.expand_dims),
        "FILL": Entry(op_shape.fill),
        "FLOOR": Entry(op_elementwise.unary(UnaryKind.FLOOR)),
        "FULLY_CONNECTED": Entry(op_layers.fully_connected, "FullyConnectedOptions"),
        "GATHER": Entry(op_select.gather, "GatherOptions"),
        "GATHER_ND": Entry(op_select.gather_nd),
        "GELU": Entry(op_elementwise.gelu, "GeluOptions"),
        "GREATER": Entry(op_mask.compare(Relation.GREATER)),
        "GREATER_EQUAL": Entry(op_mask.compare(Relation.GREATER_OR_EQUAL)),
        "HARD_SWISH": Entry(op_elementwise.unary(UnaryKind.HARD_SWISH)),
        "L2_NORMALIZATION": Entry(op_pooling.l2_normalization, "L2NormOptions"),
        "LEAKY_RELU": Entry(op_elementwise.leaky_relu, "LeakyReluOptions"),
        "LESS": Entry(op_mask.compare(Relation.LESS)),
        "LESS_EQUAL": Entry(op_mask.compare(Relation.LESS_OR_EQUAL)),
        "LOG": Entry(op_elementwise.unary(UnaryKind.LOG)),
        "LOGICAL_AND": Entry(op_mask.combine(absorbing=False)),
        "LOGICAL_NOT": Entry(op_mask.logical_not),
        "LOGICAL_OR": Entry(op_mask.combine(absorbing=True)),
        "LOGISTIC": Entry(op_elementwise.unary(UnaryKind.SIGMOID)),
        "LOG_SOFTMAX": Entry(op_elementwise.log_softmax),
        "MAXIMUM": Entry(op_elementwise.maximum),
        "MAX_POOL_2D": Entry(op_pooling.max_pool_2d, "Pool2DOptions"),
        "MEAN": Entry(op_pooling.reduce(ReduceKind.MEAN), "ReducerOptions"),
        "MINIMUM": Entry(op_elementwise.minimum),
        "MIRROR_PAD": Entry(op_select.mirror_pad, "MirrorPadOptions"),
        "MUL": Entry(op_elementwise.binary(ops.Mul()), "MulOptions"),
        "NEG": Entry(op_elementwise.unary(UnaryKind.NEG)),
        "NOT_EQUAL": Entry(op_mask.not_equal),
        "PACK": Entry(op_select.pack, "PackOptions"),
        "PAD": Entry(op_select.pad),
        "PADV2": Entry(op_select.pad),
        "POW": Entry(op_elementwise.power),
        "PRELU": Entry(op_elementwise.prelu),
        "QUANTIZE": Entry(op_shape.quantize),
        "READ_VARIABLE": Entry(op_variables.read_variable),
        "REDUCE_ALL": Entry(op_mask.reduce(absorbing=False), "ReducerOptions"),
        "REDUCE_ANY": Entry(op_mask.reduce(absorbing=True), "ReducerOptions"),
        "REDUCE_MAX": Entry(op_pooling.reduce(ReduceKind.MAX), "ReducerOptions"),
        "REDUCE_MIN": Entry(op_pooling.reduce(ReduceKind.MIN), "ReducerOptions"),
        "RELU": Entry(op_elementwise.clip(0.0, math.inf)),
        "RELU6": Entry(op_elementwise.clip(0.0, 6.0)),
        "RELU_0_TO_1": Entry(op_elementwise.clip(0.0, 1.0)),
        "RELU_N1_TO_1": Entry(op_elementwise.clip(-1.0, 1.0)),
        "RESHAPE": Entry(op_shape.reshape, "ReshapeOptions"),
        "RESIZE_BILINEAR": Entry(op_resize.resize_bilinear, "ResizeBilinearOptions"),
        "RESIZE_NEAREST_NEIGHBOR": Entry(
            op_resize.resize_nearest_neighbor, "ResizeNearestNeighborOptions"
        ),
        "REVERSE_V2": Entry(op_select.reverse),
        "ROUND": Entry(op_elementwise.unary(UnaryKind.ROUND)),
        "RSQRT": Entry(op_elementwise.unary(UnaryKind.RSQRT)),
        "SELECT": Entry(op_mask.select),
        "SELECT_V2": Entry(op_mask.select),
        "SHAPE": Entry(op_shape.shape),
        "SIGN": Entry(op_elementwise.unary(UnaryKind.SIGN)),
        "SIN": Entry(op_elementwise.unary(UnaryKind.SIN)),
        "SLICE": Entry(op_select.slice_),
        "SOFTMAX": Entry(op_elementwise.softmax, "SoftmaxOptions"),
        "SPACE_TO_BATCH_ND": Entry(op_shape.space_to_batch_nd),
        "SPACE_TO_DEPTH": Entry(op_shape.space_to_depth, "SpaceToDepthOptions"),
        "SPLIT": Entry(op_select.split),
        "SPLIT_V": Entry(op_select.split_v),
        "SQRT": Entry(op_elementwise.unary(UnaryKind.SQRT)),
        "SQUARE": Entry(op_elementwise.unary(UnaryKind.POW, 2.0)),
        "SQUARED_DIFFERENCE": Entry(op_elementwise.squared_difference),
        "SQUEEZE": Entry(op_shape.squeeze, "SqueezeOptions"),
        "STRIDED_SLICE": Entry(op_select.strided_slice, "StridedSliceOptions"),
        "SUB": Entry(op_elementwise.binary(ops.Sub()), "SubOptions"),
        "SUM": Entry(op_pooling.reduce(ReduceKind.SUM), "ReducerOptions"),
        "SVDF": Entry(op_svdf.svdf, "SVDFOptions"),
        "TANH": Entry(op_elementwise.unary(UnaryKind.TANH)),
        "TILE": Entry(op_select.tile),
        "TOPK_V2": Entry(op_pooling.top_k),
        "TRANSPOSE": Entry(op_shape.transpose),
        "TRANSPOSE_CONV": Entry(op_layers.transpose_conv, "TransposeConvOptions"),
        "UNIDIRECTIONAL_SEQUENCE_LSTM": Entry(
            op_recurrent.unidirectional_sequence_lstm, "UnidirectionalSequenceLSTMOptions"
        ),
        "UNPACK": Entry(op_select.unpack, "UnpackOptions"),
        "VAR_HANDLE": Entry(op_variables.var_handle, "VarHandleOptions"),
        "WHILE": Entry(op_while.while_, "WhileOptions"),
        "ZEROS_LIKE": Entry(op_elementwise.zeros_like),
    }
)

_RECURRENT = Obstacle(
    "of recurrent operators only UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF are imported",
    "convert an LSTM of one direction, or import the network as ONNX",
)
_CONTROL = Obstacle(
    "of control flow only WHILE and CALL_ONCE are imported", "convert the network without it"
)
_OBSTACLES: Mapping[str, Obstacle] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "LSTM",
                "RNN",
                "BIDIRECTIONAL_SEQUENCE_LSTM",
                "BIDIRECTIONAL_SEQUENCE_RNN",
                "UNIDIRECTIONAL_SEQUENCE_RNN",
            ),
            _RECURRENT,
        ),
        **dict.fromkeys(("IF", "CALL"), _CONTROL),
    }
)
_UNKNOWN = Obstacle(
    "edgec has no such operator", "replace it by supported ones (docs/tflite.md lists them)"
)


def obstacle(op: str) -> Obstacle:
    """Reason and remedy for an operator without a handler."""
    if op.startswith("CUSTOM Flex"):
        return Obstacle(
            "TensorFlow itself computes it", "convert with TFLITE_BUILTINS only (no SELECT_TF_OPS)"
        )
    if op.startswith("CUSTOM"):
        return Obstacle("it is an operator of somebody's own", "end the network before it")
    return _OBSTACLES.get(op, _UNKNOWN)


def supported_operators() -> tuple[tuple[str, str], ...]:
    """The table of operators, sorted by name: the operator, and what it may be like."""
    return tuple((op, _sentence(entry.handler)) for op, entry in sorted(HANDLERS.items()))


def _sentence(handler: Handler) -> str:
    return " ".join((handler.__doc__ or "").split()).removesuffix(".")
