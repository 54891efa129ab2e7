"""Every ONNX operator that edgec imports, with the function that does it.

The docstring of a handler states what the operator may be like; the operator table of the
documentation is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.importers.common.obstacle import Obstacle
from edgec.importers.common.tensors import Tensor
from edgec.importers.onnx import (
    op_attention,
    op_conv,
    op_einsum,
    op_elementwise,
    op_mask,
    op_matmul,
    op_norm,
    op_pooling,
    op_quant,
    op_reduce,
    op_resize,
    op_select,
    op_shape,
)
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode

Handler = Callable[[Context, OnnxNode], Tensor | tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """One row of the table of operators."""

    op: str
    constraints: str


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "Abs": op_elementwise.unary,
        "Add": op_elementwise.add,
        "And": op_mask.and_,
        "ArgMax": op_reduce.arg_max,
        "Attention": op_attention.attention,
        "AveragePool": op_pooling.average_pool,
        "BatchNormalization": op_reduce.batch_normalization,
        "Cast": op_shape.cast,
        "Clip": op_elementwise.clip,
        "Concat": op_select.concat,
        "Conv": op_conv.conv,
        "ConvTranspose": op_conv.conv_transpose,
        "DepthToSpace": op_shape.depth_to_space,
        "DequantizeLinear": op_quant.dequantize_linear,
        "Div": op_elementwise.div,
        "Dropout": op_shape.dropout,
        "Einsum": op_einsum.einsum,
        "Elu": op_elementwise.elu,
        "Equal": op_mask.equal,
        "Erf": op_elementwise.unary,
        "Exp": op_elementwise.unary,
        "Expand": op_mask.expand,
        "Flatten": op_shape.flatten,
        "Gather": op_select.gather,
        "GatherElements": op_select.gather_elements,
        "GatherND": op_select.gather_nd,
        "Gelu": op_elementwise.gelu,
        "Gemm": op_matmul.gemm,
        "GlobalAveragePool": op_pooling.global_average_pool,
        "GlobalMaxPool": op_pooling.global_max_pool,
        "HardSigmoid": op_elementwise.hard_sigmoid,
        "HardSwish": op_elementwise.unary,
        "Identity": op_shape.identity,
        "IsNaN": op_mask.is_nan,
        "LayerNormalization": op_norm.layer_normalization,
        "LeakyRelu": op_elementwise.leaky_relu,
        "MatMul": op_matmul.matmul,
        "Max": op_elementwise.maximum,
        "MaxPool": op_pooling.max_pool,
        "Min": op_elementwise.minimum,
        "Mul": op_elementwise.mul,
        "Neg": op_elementwise.unary,
        "Not": op_mask.not_,
        "Or": op_mask.or_,
        "PRelu": op_elementwise.prelu,
        "Pad": op_select.pad,
        "Pow": op_elementwise.power,
        "QuantizeLinear": op_quant.quantize_linear,
        "RMSNormalization": op_norm.rms_normalization,
        "Reciprocal": op_elementwise.unary,
        "ReduceMax": op_reduce.reduce,
        "ReduceMean": op_reduce.reduce,
        "ReduceSum": op_reduce.reduce,
        "Relu": op_elementwise.relu,
        "Reshape": op_shape.reshape,
        "Resize": op_resize.resize,
        "Sigmoid": op_elementwise.unary,
        "Slice": op_select.slice_,
        "Softmax": op_elementwise.softmax,
        "Softplus": op_elementwise.unary,
        "SpaceToDepth": op_shape.space_to_depth,
        "Split": op_select.split,
        "Sqrt": op_elementwise.unary,
        "Squeeze": op_shape.squeeze,
        "Sub": op_elementwise.sub,
        "Sum": op_elementwise.variadic_sum,
        "Tanh": op_elementwise.unary,
        "Transpose": op_shape.transpose,
        "Unsqueeze": op_shape.unsqueeze,
        "Upsample": op_resize.resize,
        "Where": op_mask.where,
    }
)

ML_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {"ArrayFeatureExtractor": op_select.class_labels, "Scaler": op_elementwise.scaler}
)
"""The handlers of the operators of the domain ai.onnx.ml, by name."""

_FOLDED = (
    ("Constant", "All attribute forms; becomes a constant."),
    (
        "ConstantOfShape, Shape, Size, Range, Tile, ...",
        "Only if all inputs are known at compile time; computed at import.",
    ),
)
"""Operators that never reach a handler, for the table."""

_QDQ = Obstacle(
    "it is of the QOperator format", "export in the QDQ format (QuantFormat.QDQ of onnxruntime)"
)
_CONTROL = Obstacle(
    "control flow is not compiled", "export the model by tracing, with fixed shapes"
)
_RECURRENT = Obstacle("recurrent networks are not supported", "use convolutions over time")
_OBSTACLES: Mapping[str, Obstacle] = MappingProxyType(
    {
        **dict.fromkeys(("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"), _QDQ),
        **dict.fromkeys(("QLinearAdd", "QLinearGlobalAveragePool", "QLinearConcat"), _QDQ),
        **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), _CONTROL),
        **dict.fromkeys(("LSTM", "GRU", "RNN"), _RECURRENT),
        "DynamicQuantizeLinear": Obstacle(
            "its scale is computed at run time", "quantize statically, with calibration data"
        ),
        "ZipMap": Obstacle(
            "it makes dictionaries", "export with options={'zipmap': False} of skl2onnx"
        ),
        "LogSoftmax": Obstacle(
            "logarithms of probabilities are not computed", "end with Softmax or with the logits"
        ),
        "CumSum": Obstacle(
            "positions are not counted at run time",
            "export the model with the positions (position_ids) as an input",
        ),
        "Constant": Obstacle("it is a constant output, or no number", "remove it from the outputs"),
    }
)
_UNKNOWN = Obstacle(
    "edgec has no such operator", "replace it by supported ones (see the table of operators)"
)


def supported_operators() -> tuple[OperatorSupport, ...]:
    """The table of operators, sorted by name."""
    handlers = (*HANDLERS.items(), *ML_HANDLERS.items())
    rows = [OperatorSupport(op, _first_sentence(handler)) for op, handler in handlers]
    return tuple(sorted((*rows, *(OperatorSupport(*row) for row in _FOLDED)), key=lambda r: r.op))


NO_HANDLERS: Mapping[str, Handler] = MappingProxyType({})


def find_handler(op: str, domain: str, more: Mapping[str, Handler] = NO_HANDLERS) -> Handler | None:
    """The handler of an operator; None when there is none.

    Args:
        op: the operator.
        domain: its domain.
        more: handlers by operator, of any domain, that come before edgec's own.
    """
    if op in more:
        return more[op]
    if domain == "ai.onnx.ml":
        return ML_HANDLERS.get(op)
    return HANDLERS.get(op) if domain in ("", "ai.onnx") else None


def obstacle(op: str, domain: str) -> Obstacle:
    """What to tell about an operator without a handler."""
    if op in _OBSTACLES:
        return _OBSTACLES[op]
    if domain not in ("", "ai.onnx"):
        return Obstacle(
            f"operators of the domain {domain!r} are not standard ONNX",
            "export the model with standard operators only",
        )
    return _UNKNOWN


def _first_sentence(handler: Handler) -> str:
    text = " ".join((handler.__doc__ or "").split())
    return text.removesuffix(".")[:1].upper() + text[1:]
