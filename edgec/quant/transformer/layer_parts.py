"""Integer weights, biases and multipliers of a Conv or Gemm with its fused end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, quantize_array
from edgec.floatrun.codes import unary_function
from edgec.ir import ops, qops
from edgec.ir.fusion import act_bounds
from edgec.ir.graph import Node
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import Range, per_channel
from edgec.quant.convert.context import LayerParts
from edgec.quant.convert.rules import INT8_REACH
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.pooled import pooled_codes, pooled_weight
from edgec.quant.transformer.search import LEAST_CODE, coded
from edgec.quant.transformer.tensors import Form, Tensors
from edgec.quant.transformer.weights import LayerCodes, Sums, Target, layer_codes

_RAW_SPAN, _CENTRED_SPAN = 128, 256
_BRANCH_ROOM = 4.0
"""Factor by which a branch may exceed its calibrated range before its 16 bits saturate."""
_PRE_SHIFT_ERROR = 0.01
_HUGE = 1e30
_TABLE_MIDDLE = qops.TABLE_SIZE // 2
_FLAT = 0.25
"""A function that moves by less than this share of an output step counts as flat."""
_GRID = 4096


@dataclass(frozen=True, slots=True, eq=False)
class _Ending:
    """Requantization of a layer's accumulators, and the table or residual after it.

    Attributes:
        target: quantization of the requantization.
        form: the form of the output.
        bounds: after the requantization.
        residual: the constant or value of the stream that is added, or None.
        table: the constant that holds the table, or None.
    """

    target: Target
    form: Form
    bounds: tuple[int, int] | None = None
    residual: str | None = None
    table: str | None = None


def layer_parts(tensors: Tensors, layer: Layer) -> LayerParts:
    """The integer operands and the end of a layer."""
    ending = _ending(tensors, layer)
    codes = _codes(tensors, layer, ending)
    dtype = tensors.quant_of(layer.output, ending.form).dtype
    output = tensors.output(codes.requant, dtype, ending.bounds)
    name, node = layer.node.name, layer.node
    shared = pooled_weight(tensors.graph, node)
    pooled = None if shared is None else shared.pooled
    inputs = qops.PlainLayer.Inputs(
        x=tensors.as_codes(node.first),
        w=tensors.builder.constant(f"{name}_weight", codes.weight, pooled=pooled),
        b=tensors.array(f"{name}_bias", codes.bias),
        multiplier=tensors.array(f"{name}_multiplier", codes.requant.multiplier),
        residual=ending.residual,
        table=ending.table,
    )
    residual = None if ending.residual is None else qops.StreamSum()
    return LayerParts(inputs, output, residual, raw=isinstance(node.attrs, ops.Gemm))


def _codes(tensors: Tensors, layer: Layer, ending: _Ending) -> LayerCodes:
    node = layer.node
    inputs = ops.layer_inputs(node)
    weight, bias_name = tensors.graph.constants[inputs.w].real64(), inputs.b
    bias = np.zeros(len(weight))
    if bias_name:
        bias = tensors.graph.constants[bias_name].real64().reshape(-1)
    codes = _coded(tensors, node, weight, bias, ending)
    if isinstance(node.attrs, ops.Conv) or not tensors.correct_biases:
        return codes
    better = bias + _mean_error(tensors, node, weight, codes)
    return _coded(tensors, node, weight, better, ending)


def _coded(tensors: Tensors, node: Node, weight: Array, bias: Array, ending: _Ending) -> LayerCodes:
    """Integer weights float64 [O, ...] of a layer, biases [O], and multipliers."""
    quant = tensors.plan.codes[node.first]
    scale: Array | float = 0.0
    if isinstance(node.attrs, ops.Conv):
        scale, zero, span = quant.tensor_scale, None, _CENTRED_SPAN
    else:
        scale, zero = per_channel(quant, weight.shape[1])
        span = _RAW_SPAN
    sums = Sums(bias, ending.target, zero, span, node.name)
    shared = pooled_weight(tensors.graph, node)
    # `make_plan` gives what pooled layers read one scale.
    if shared is not None:
        return pooled_codes(shared, quant.scale[0], sums)
    return layer_codes(weight * scale, sums)


def _mean_error(tensors: Tensors, node: Node, weight: Array, codes: LayerCodes) -> Array:
    """Mean over the rows of float minus integer output of a Gemm; float64 [N].

    Source: Nagel et al., ICCV 2019, section 4.2, with the float input of the layer.
    """
    rows = tensors.seen[node.first].rows.astype(np.float64)
    scale, zero = per_channel(tensors.plan.codes[node.first], rows.shape[1])
    found = coded(rows, scale, zero)
    centred = (found.codes - zero).mean(axis=0)
    wanted = (weight * rows.mean(axis=0)).sum(axis=1)
    return np.asarray(wanted - codes.scale * (codes.weight * centred).sum(axis=1))


# -- endings -------------------------------------------------------------------------------------


def _ending(tensors: Tensors, layer: Layer) -> _Ending:
    activation = layer.activation
    if activation is not None and isinstance(activation.attrs, ops.Unary):
        return _table_ending(tensors, layer, activation)
    native = tensors.native(layer.output)
    if native is Form.STREAM:
        return _stream_ending(tensors, layer)
    if native is Form.INT16:
        return _int16_ending(tensors, layer)
    quant = tensors.plan.codes[layer.output]
    zero = np.asarray(quant.zero_point, np.float64)
    target = Target(np.asarray(quant.scale), zero, INT8_REACH, _PRE_SHIFT_ERROR)
    bounds = None
    if activation is not None:
        clip = activation.attrs_as(ops.Clip)
        low, high = act_bounds(clip.low, clip.high, quant.tensor_scale, quant.tensor_zero_point)
        bounds = max(low, LEAST_CODE), max(high, LEAST_CODE)
    return _Ending(target, Form.CODES, bounds)


def _stream_ending(tensors: Tensors, layer: Layer) -> _Ending:
    quant = tensors.plan.stream[layer.output]
    scale = np.asarray(quant.scale)
    if quant.dtype is DType.INT8:
        # More than twice the largest code makes no difference to a sum.
        target = Target(scale, np.zeros(1), 2 * INT8_REACH, _PRE_SHIFT_ERROR)
    else:
        branch = tensors.seen[layer.node.output].range.magnitude / quant.tensor_scale
        reach = min(tensors.reach(DType.INT16), max(branch * _BRANCH_ROOM, 1.0))
        target = Target(scale, np.zeros(1), reach)
    residual = None
    if layer.add is not None and layer.residual in tensors.graph.constants:
        residual = tensors.wide_constant(layer.residual, quant, tensors.graph.shape(layer.output))
    elif layer.add is not None:
        residual = tensors.as_stream(layer.residual)
    bounds = None
    if layer.activation is not None:
        clip = layer.activation.attrs_as(ops.Clip)
        # Channels have scales of their own only where their bounds are 0 or none.
        one = QuantParams.per_tensor(quant.scale[0], 0, quant.dtype)
        codes = one.quantize(np.clip([clip.low, clip.high], -_HUGE, _HUGE))
        low, high = int(codes[0]), int(codes[1])
        bounds = (max(low, LEAST_CODE), high) if quant.dtype is DType.INT8 else (low, high)
    return _Ending(target, Form.STREAM, bounds, residual=residual)


def _int16_ending(tensors: Tensors, layer: Layer) -> _Ending:
    found = tensors.plan.int16[layer.output]
    least, most = found.limits
    if layer.activation is not None:
        clip = layer.activation.attrs_as(ops.Clip)
        low, high = found.quant.quantize(np.clip([clip.low, clip.high], -_HUGE, _HUGE))
        least, most = max(least, int(low)), min(most, int(high))
    target = Target(np.array([found.quant.tensor_scale]), np.zeros(1), tensors.reach(DType.INT16))
    return _Ending(target, Form.INT16, (least, most))


def _table_ending(tensors: Tensors, layer: Layer, unary: Node) -> _Ending:
    """The 10-bit table of a function, over the part of its calibrated domain where it moves."""
    quant = tensors.plan.codes[layer.output]
    domain = table_domain(unary.attrs_as(ops.Unary), tensors.seen[layer.node.output].range, quant)
    step = (domain.high - domain.low) / (qops.TABLE_SIZE - 1)
    inputs = domain.low + step * np.arange(qops.TABLE_SIZE)
    with np.errstate(over="ignore"):  # saturates
        values = unary_function(unary.attrs_as(ops.Unary))(inputs)
    entries = quantize_array(values, quant.tensor_scale, quant.tensor_zero_point, LEAST_CODE)
    target = Target(
        np.array([step]), np.array([-_TABLE_MIDDLE - domain.low / step]), _TABLE_MIDDLE + 1.0
    )
    bounds = (-_TABLE_MIDDLE, _TABLE_MIDDLE - 1)
    table = tensors.array(f"{unary.name}_table", entries)
    return _Ending(target, Form.CODES, bounds, table=table)


def table_domain(attrs: ops.Unary, seen: Range, y: QuantParams) -> Range:
    """The part of a domain that a table must cover: outside, the function stays within a step.

    Args:
        attrs: the function.
        seen: where it is evaluated.
        y: parameters of its output.
    """
    width = seen.high - seen.low
    if not width > 0:
        return Range(seen.low - 1.0, seen.low + 1.0)
    grid = np.linspace(seen.low, seen.high, _GRID)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steps = unary_function(attrs)(grid) / y.tensor_scale + y.tensor_zero_point
    steps = np.clip(np.nan_to_num(steps), INT8_MIN, INT8_MAX)
    first, last = _moving(steps), _GRID - 1 - _moving(steps[::-1])
    if last <= first:
        return seen
    return Range(float(grid[first]), float(grid[last]))


def _moving(steps: Array) -> int:
    """The last index up to which a function is flat, from the start."""
    low, high = np.minimum.accumulate(steps), np.maximum.accumulate(steps)
    return int(np.searchsorted(high - low, _FLAT, side="right")) - 1
