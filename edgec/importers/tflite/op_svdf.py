"""SVDF: a layer, the memory of what it gave in the last runs, and filters over this memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.importers.tflite.attributes import fused
from edgec.importers.tflite.context import Context, bias_params
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.states import keep, pinned, slid, state_before
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams

_FEATURE, _TIME, _BIAS, _MEMORY = 1, 2, 3, 4


def svdf(ctx: Context, node: TfliteNode) -> Tensor:
    """Float32 or int8; the memory, int8 or int16, is kept between runs; any rank.

    ``memory' = (memory without its oldest row, x @ feature.T)`` and
    ``y[u] = bias[u] + sum of memory'[t, u * rank + r] * time[u * rank + r, t]`` over t and r.

    Source: TensorFlow Lite Micro, micro/kernels/svdf_common.cc.
    """
    x = node.real(0)
    feature, time = (node.constant(index, "weight") for index in (_FEATURE, _TIME))
    rank = node.integer("Rank")
    filters, steps = (feature.shape[0], time.shape[-1]) if feature.shape and time.shape else (0, 0)
    fits = len(x.shape) == 2 and feature.shape == (filters, x.shape[-1])
    if not fits or time.shape != (filters, steps) or rank < 1 or filters % rank or not steps:
        raise UnsupportedError(
            f"its input {list(x.shape)}, its weights {list(feature.shape)} and "
            f"{list(time.shape)} and its rank {rank} do not fit",
            "correct the model",
        )
    batch, units = x.shape[0], filters // rank
    memory = state_before(ctx, node, _MEMORY, (batch, steps, 1, filters))
    if isinstance(memory, Constant):
        raise UnsupportedError("it is nothing without its memory", "leave out --state none")
    feature, time = _weights(node, feature, time, memory.quant)
    fresh = pinned(ctx, ctx.emit(ops.Gemm(), x, feature, None), memory.quant)
    row = ctx.reshape(fresh, (batch, 1, 1, filters))
    assert isinstance(row, Value)
    row = pinned(ctx, row, memory.quant)
    after = slid(ctx, memory, row)
    keep(ctx, after, memory)
    whole = moved_constant(
        time, lambda array: array.reshape(units, rank, 1, steps).transpose(0, 3, 2, 1)
    )
    attrs = ops.Conv((1, 1), (0, 0, 0, 0), (1, 1), units)
    y = ctx.emit(attrs, after, whole, _bias(node, memory.quant, time, units))
    found = ctx.reshape(y, (batch, units))
    assert isinstance(found, Value)
    # The integer kernel leaves the function to the bounds of int8.
    return found if memory.quant is not None else fused(ctx, node, found)


def _weights(
    node: TfliteNode, feature: Constant, time: Constant, memory: QuantParams | None
) -> tuple[Constant, Constant]:
    """Real weights, or codes whose scales give the factors that float32 arithmetic gives."""
    x, y = node.input_params(0), node.output_scale
    if memory is None and x is None:
        return _real(feature), _real(time)
    fq, tq = feature.quant, time.quant
    if memory is None or x is None or fq is None or tq is None or y <= 0.0:
        raise UnsupportedError(
            "its input, memory and weights are codes in part", "quantize the whole operator"
        )
    types = x.dtype, fq.dtype, tq.dtype, node.output_dtype
    alike = types[:2] == (DType.INT8, DType.INT8) and tq.dtype is memory.dtype
    centred = fq.zero_point == tq.zero_point == (0,)
    if not alike or node.output_dtype is not DType.INT8 or not centred:
        raise UnsupportedError(
            f"its codes are {', '.join(each.value for each in types)} around others than 0, or "
            f"its memory is {memory.dtype.value}",
            "quantize it to int8, with a memory of int8 or int16",
        )
    single = np.float32
    first = single(x.tensor_scale) * single(fq.tensor_scale) / single(memory.tensor_scale)
    second = single(memory.tensor_scale) * single(tq.tensor_scale) / single(y)
    return (
        _scaled(feature, float(first) * memory.tensor_scale / x.tensor_scale),
        _scaled(time, float(second) * y / memory.tensor_scale),
    )


def _scaled(weight: Constant, scale: float) -> Constant:
    assert weight.quant is not None
    return replace(weight, quant=replace(weight.quant, scale=(scale,)))


def _real(weight: Constant) -> Constant:
    if weight.quant is None and weight.dtype is not DType.FLOAT32:
        raise UnsupportedError("a weight holds no real numbers", "convert the model again")
    if not np.isfinite(weight.real()).all():
        raise UnsupportedError("a weight holds no finite numbers", "convert the model again")
    return Constant(weight.name, weight.real())


def _bias(
    node: TfliteNode, memory: QuantParams | None, time: Constant, units: int
) -> Constant | None:
    if not node.has(_BIAS):
        return None
    bias = node.constant(_BIAS, "bias")
    wanted = DType.FLOAT32 if memory is None else DType.INT32
    if bias.shape != (units,) or bias.dtype is not wanted:
        raise UnsupportedError(
            f"its bias is {bias.dtype.value} {list(bias.shape)}, not {wanted.value} [{units}]",
            "convert the model again",
        )
    if memory is None:
        return bias
    return Constant(bias.name, bias.array, bias_params(memory, time.quant, units))
