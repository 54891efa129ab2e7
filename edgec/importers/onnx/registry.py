"""Every ONNX operator that edgec imports, with the function that does it.

The docstring of a handler states what the operator may be like; the operator table of the
documentation is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.importers.common.tensors import Tensor
from edgec.importers.onnx import (
    op_attention,
    op_cache,
    op_conv,
    op_elementwise,
    op_fold,
    op_loops,
    op_matmul,
    op_ml,
    op_pooling,
    op_quant,
    op_recurrent,
    op_reduce,
    op_resize,
    op_select,
    op_shape,
    op_sound,
    op_trees,
)
from edgec.importers.onnx import op_attention as op_rotary
from edgec.importers.onnx import op_elementwise as op_mask
from edgec.importers.onnx import op_matmul as op_einsum
from edgec.importers.onnx import op_ml as op_svm
from edgec.importers.onnx import op_reduce as op_norm
from edgec.importers.onnx import op_resize as op_grid
from edgec.importers.onnx.node import Context, OnnxNode

Handler = Callable[[Context, OnnxNode], Tensor | tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """One row of the table of operators."""

    op: str
    constraints: str


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "Abs": op_elementwise.unary,
        "Acos": op_elementwise.unary,
        "Acosh": op_elementwise.unary,
        "Add": op_elementwise.add,
        "AffineGrid": op_grid.grid_of_maps,
        "And": op_mask.and_,
        "ArgMax": op_reduce.arg_max,
        "ArgMin": op_reduce.arg_max,
        "Asin": op_elementwise.unary,
        "Asinh": op_elementwise.unary,
        "Atan": op_elementwise.unary,
        "Atanh": op_elementwise.unary,
        "Attention": op_attention.attention,
        "AveragePool": op_pooling.average_pool,
        "BatchNormalization": op_reduce.batch_normalization,
        "BlackmanWindow": op_sound.window,
        "Cast": op_shape.cast,
        "CausalConvWithState": op_cache.defined_by_onnx,
        "Ceil": op_elementwise.unary,
        "Celu": op_elementwise.parametric,
        "CenterCropPad": op_select.center_crop_pad,
        "Clip": op_elementwise.clip,
        "Concat": op_select.concat,
        "Col2Im": op_fold.col2im,
        "Conv": op_conv.conv,
        "ConvTranspose": op_conv.conv_transpose,
        "Cos": op_elementwise.unary,
        "Cosh": op_elementwise.unary,
        "CumProd": op_reduce.cumulative_product,
        "CumSum": op_reduce.cumulative_sum,
        "DFT": op_sound.dft,
        "DepthToSpace": op_shape.depth_to_space,
        "DequantizeLinear": op_quant.dequantize_linear,
        "Div": op_elementwise.div,
        "Dropout": op_shape.dropout,
        "Einsum": op_einsum.einsum,
        "Elu": op_elementwise.parametric,
        "Equal": op_mask.compare,
        "Erf": op_elementwise.unary,
        "Exp": op_elementwise.unary,
        "Expand": op_mask.expand,
        "Flatten": op_shape.flatten,
        "Floor": op_elementwise.unary,
        "GRU": op_recurrent.recurrent,
        "Gather": op_select.gather,
        "GatherElements": op_select.gather_elements,
        "GatherND": op_select.gather_nd,
        "Gelu": op_elementwise.gelu,
        "Gemm": op_matmul.gemm,
        "GlobalAveragePool": op_pooling.global_average_pool,
        "GlobalLpPool": op_pooling.global_lp_pool,
        "GlobalMaxPool": op_pooling.global_max_pool,
        "Greater": op_mask.compare,
        "GreaterOrEqual": op_mask.compare,
        "GridSample": op_grid.grid_sample,
        "GroupNormalization": op_norm.group_normalization,
        "HammingWindow": op_sound.window,
        "HannWindow": op_sound.window,
        "Hardmax": op_elementwise.hardmax,
        "HardSigmoid": op_elementwise.parametric,
        "HardSwish": op_elementwise.unary,
        "Identity": op_shape.identity,
        "If": op_loops.if_,
        "InstanceNormalization": op_norm.instance_normalization,
        "IsNaN": op_mask.is_nan,
        "LSTM": op_recurrent.recurrent,
        "LayerNormalization": op_norm.layer_normalization,
        "LeakyRelu": op_elementwise.parametric,
        "Less": op_mask.compare,
        "LessOrEqual": op_mask.compare,
        "LinearAttention": op_cache.defined_by_onnx,
        "Log": op_elementwise.unary,
        "LogSoftmax": op_elementwise.log_softmax,
        "LpNormalization": op_reduce.lp_normalization,
        "LpPool": op_pooling.lp_pool,
        "Loop": op_loops.loop,
        "LRN": op_norm.local_response_normalization,
        "MatMul": op_matmul.matmul,
        "Max": op_elementwise.maximum,
        "MaxPool": op_pooling.max_pool,
        "Mean": op_elementwise.mean,
        "MeanVarianceNormalization": op_norm.mean_variance_normalization,
        "MelWeightMatrix": op_sound.mel_weight_matrix,
        "Min": op_elementwise.minimum,
        "Mish": op_elementwise.unary,
        "Mod": op_elementwise.mod,
        "Mul": op_elementwise.mul,
        "Neg": op_elementwise.unary,
        "Not": op_mask.not_,
        "OneHot": op_mask.one_hot,
        "Or": op_mask.or_,
        "Pad": op_select.pad,
        "Pow": op_elementwise.power,
        "PRelu": op_elementwise.prelu,
        "QuantizeLinear": op_quant.quantize_linear,
        "RNN": op_recurrent.recurrent,
        "Reciprocal": op_elementwise.unary,
        "ReduceL1": op_reduce.reduce,
        "ReduceL2": op_reduce.reduce,
        "ReduceLogSum": op_reduce.reduce_log_sum,
        "ReduceLogSumExp": op_reduce.reduce_log_sum_exp,
        "ReduceMax": op_reduce.reduce,
        "ReduceMean": op_reduce.reduce,
        "ReduceMin": op_reduce.reduce,
        "ReduceProd": op_reduce.reduce_product,
        "ReduceSum": op_reduce.reduce,
        "ReduceSumSquare": op_reduce.reduce,
        "Relu": op_elementwise.relu,
        "Reshape": op_shape.reshape,
        "Resize": op_resize.resize,
        "ReverseSequence": op_select.reverse_sequence,
        "RMSNormalization": op_norm.rms_normalization,
        "RotaryEmbedding": op_rotary.rotary_embedding,
        "Round": op_elementwise.unary,
        "Scan": op_loops.scan,
        "Scatter": op_select.scatter_elements,
        "ScatterElements": op_select.scatter_elements,
        "ScatterND": op_select.scatter_nd,
        "Selu": op_elementwise.parametric,
        "Shape": op_shape.shape,
        "Shrink": op_elementwise.parametric,
        "Sigmoid": op_elementwise.unary,
        "Sign": op_elementwise.unary,
        "Sin": op_elementwise.unary,
        "Sinh": op_elementwise.unary,
        "Slice": op_select.slice_,
        "STFT": op_sound.stft,
        "Size": op_shape.size,
        "Softmax": op_elementwise.softmax,
        "Softplus": op_elementwise.unary,
        "Softsign": op_elementwise.unary,
        "SpaceToDepth": op_shape.space_to_depth,
        "Split": op_select.split,
        "Sqrt": op_elementwise.unary,
        "Squeeze": op_shape.squeeze,
        "Sub": op_elementwise.sub,
        "Sum": op_elementwise.variadic_sum,
        "SwiGLU": op_elementwise.swiglu,
        "Swish": op_elementwise.parametric,
        "Tan": op_elementwise.unary,
        "Tanh": op_elementwise.unary,
        "TensorScatter": op_cache.tensor_scatter,
        "ThresholdedRelu": op_elementwise.parametric,
        "Tile": op_select.tile,
        "TopK": op_reduce.top_k,
        "Transpose": op_shape.transpose,
        "Trilu": op_mask.trilu,
        "Unsqueeze": op_shape.unsqueeze,
        "Upsample": op_resize.resize,
        "Where": op_mask.where,
        "Xor": op_mask.xor,
    }
)

ML_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "ArrayFeatureExtractor": op_select.array_features,
        "Binarizer": op_ml.binarizer,
        "FeatureVectorizer": op_ml.feature_vectorizer,
        "Imputer": op_ml.imputer,
        "LinearClassifier": op_ml.linear_classifier,
        "LinearRegressor": op_ml.linear_regressor,
        "Normalizer": op_ml.normalizer,
        "Scaler": op_elementwise.scaler,
        "SVMClassifier": op_svm.svm_classifier,
        "SVMRegressor": op_svm.svm_regressor,
        "TreeEnsembleClassifier": op_trees.tree_ensemble_classifier,
        "TreeEnsembleRegressor": op_trees.tree_ensemble_regressor,
        "ZipMap": op_ml.zip_map,
    }
)
"""The handlers of the operators of the domain ai.onnx.ml, by name."""

_FOLDED = (
    ("Constant", "All attribute forms; becomes a constant."),
    (
        "ConstantOfShape, Shape, Size, Range, ...",
        "Only if all inputs are known at compile time; computed at import.",
    ),
)
"""Operators that never reach a handler, for the table."""


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


def _first_sentence(handler: Handler) -> str:
    text = " ".join((handler.__doc__ or "").split())
    return text.removesuffix(".")[:1].upper() + text[1:]
