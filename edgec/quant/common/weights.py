"""Weights to int8 per output channel, biases to int32, constant operands to int8.

The integer operators promise that no accumulator overflows int32 for any input and any order of
summation; kernels may subtract the input's zero point from each element or fold it into the bias.
Both hold when, for each output channel, ``|bias| + 256 * sum |weight| < 2**31``
(`accumulator_bound`).  Where a channel breaks this its weight scale grows until it does not.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, round_half_up
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.signs import is_binary
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.passes.edit import below_layout
from edgec.quant.common.coarse_weights import coarse_steps
from edgec.quant.common.params import (
    ANY_SCALE,
    EMPTY_SCALE,
    Scales,
    activation_params,
    as_int8,
    range_of,
)

_LOG = logging.getLogger(__name__)

_OPERANDS = (
    *(ops.Arithmetic, ops.MatMul, ops.Concat, ops.Where),
    *(ops.TurnSlice, ops.TurnStack, ops.TurnLast, ops.Carry, ops.Update),
)
_INPUT_SPAN = 256
"""Bound of |x - zero_point| for int8 x, and of |x| + |zero_point|."""
_EMPTY_CHANNEL_BITS = 20
"""Bits of the bias of a channel whose weights are all zero, where its scale is free."""
_LARGEST_BIAS_BITS = 29
"""Most bits of a bias: leaves three quarters of int32 to the products."""
_SAME_SCALE = 1e-5
"""Relative difference below which a pinned bias scale counts as sx * sw: files hold float32."""
_REPAIR_STEPS = 16
_ZERO_FACTOR = 2.0**13
"""Most steps of an output that a step of a constant of zeros is worth."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """Integer weights of one layer.

    Attributes:
        weight: int8, output channels on axis 0.
        scale: float64 [O], each exact in float32.
        bias: int32 [O], or None.
        notes: what a user should know, e.g. that pinned weights had to be requantized.
    """

    weight: Array
    scale: Array
    bias: Array | None
    notes: tuple[str, ...] = ()


def quantize_layers(graph: Graph) -> tuple[Graph, tuple[str, ...]]:
    """As `quantize_constants`, of layers with weights alone."""
    builder = GraphBuilder.of(graph)
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    notes = [note for node in layers for note in _quantize_layer(graph, builder, node)]
    return builder.build(), tuple(notes)


def quantize_constants(graph: Graph) -> tuple[Graph, tuple[str, ...]]:
    """Quantize weights, biases and constant operands of a graph whose values have parameters.

    Args:
        graph: REAL stage, `quant` set on every activation.

    Returns:
        The graph with integer constants, and notes for the user.

    Raises:
        QuantizationError: a constant is not finite, or a layer's accumulators cannot be bounded.
    """
    builder = GraphBuilder.of(graph)
    notes: list[str] = []
    for node in graph.nodes:
        if isinstance(node.attrs, ops.Weighted):
            notes += _quantize_layer(graph, builder, node)
        elif isinstance(node.attrs, _OPERANDS):
            _quantize_operands(graph, builder, node)
    return builder.build(), tuple(notes)


def accumulator_bound(weight: Array, bias: Array | None, span: int = _INPUT_SPAN) -> Array:
    """Bound of |accumulator| for each output channel; float64 [O] (see the module's text).

    Args:
        weight: codes [O, ...].
        bias: whole numbers [O], or None.
        span: bound of the magnitude of an input as the operator reads it.
    """
    rows = np.abs(weight.reshape(weight.shape[0], -1).astype(np.int64)).sum(axis=1)
    bound: Array = rows.astype(np.float64) * span
    return bound if bias is None else bound + np.abs(np.asarray(bias, np.float64))


def bias_params(input_scale: float, weight_scale: Array) -> QuantParams:
    """Parameters of a bias: scale ``input_scale * weight_scale[o]``, zero point 0, axis 0."""
    scale = tuple(float(s) * input_scale for s in weight_scale)
    return QuantParams(scale, (0,) * len(scale), DType.INT32, axis=0)


# -- one layer -----------------------------------------------------------------------------------


def _quantize_layer(graph: Graph, builder: GraphBuilder, node: Node) -> list[str]:
    operands = ops.layer_inputs(node)
    weight = graph.constants[operands.w]
    bias = graph.constants[operands.b] if operands.b is not None else None
    input_scale = graph.quant(operands.x).tensor_scale
    for constant in (weight, bias):
        if constant is not None and not np.isfinite(constant.real64()).all():
            raise QuantizationError("the weights hold NaN or infinite numbers", where=constant.name)
    # Binary weights of signs become bits; in coarse steps biases would move their thresholds.
    coarse = not (_reads_signs(graph, node) and is_binary(weight.real64()))
    layer = layer_weights(weight, bias, input_scale, node.name, coarse=coarse)
    w = _put(graph, builder, weight.name, layer.weight, QuantParams.per_output(layer.scale))
    b = None
    if bias is not None and layer.bias is not None:
        b = _put(graph, builder, bias.name, layer.bias, bias_params(input_scale, layer.scale))
    inputs = ops.Weighted.Inputs(operands.x, w, b).names()
    builder.put(replace(builder.nodes[node.name], inputs=inputs))
    moved = _moved_bias(bias, layer, input_scale, graph.quant(node.output).tensor_scale)
    for note in moved:
        _LOG.warning("%s: %s", node.name, note)
    return [f"{node.name}: {note}" for note in (*layer.notes, *moved)]


def _moved_bias(
    bias: Constant | None, layer: LayerWeights, input_scale: float, output_scale: float
) -> tuple[str, ...]:
    """A note where the codes of a pinned bias had to change: how far outputs move by it."""
    scale = input_scale * layer.scale
    if bias is None or bias.quant is None or layer.bias is None or _keeps_codes(bias, scale):
        return ()
    error = np.abs(bias.real64().reshape(-1) - layer.bias * scale).max(initial=0.0)
    wanted, found = float(scale.max()), max(bias.quant.scale)
    return (
        f"the bias had to be requantized: its scale is {found:.4g}, input scale times weight scale "
        f"is {wanted:.4g}; that moves outputs by up to {error / output_scale:.3g} codes",
    )


def _reads_signs(graph: Graph, node: Node) -> bool:
    """Whether a layer reads signs, as they are, flattened or padded by ones."""
    made = below_layout(graph, ops.layer_inputs(node).x)
    if made is None or not isinstance(made.attrs, ops.Unary):
        return False
    return made.attrs.kind is ops.UnaryKind.BINARIZE


def _put(graph: Graph, builder: GraphBuilder, name: str, array: Array, quant: QuantParams) -> str:
    """Store a quantized constant: under its name if one node alone reads it and it does so once."""
    readers = graph.consumers[name]
    alone = len(readers) == 1 and readers[0].inputs.count(name) == 1
    original = graph.constants[name]
    # Only codes that stayed as they are still are what the pool says.
    kept = original.pooled is not None and np.array_equal(original.array, array)
    pooled = original.pooled if kept else None
    return builder.constant(name, array, quant, pooled=pooled, keep_name=alone)


def layer_weights(
    weight: Constant,
    bias: Constant | None,
    input_scale: float,
    where: str,
    *,
    coarse: bool = True,
) -> LayerWeights:
    """Integer weights of a layer: pinned ones as they are where possible, else nearest codes.

    Args:
        weight: [O, ...], float32 or with pinned integer codes.
        bias: [O], float32 or pinned, or None.
        input_scale: scale of the layer's input.
        where: the layer's name, for messages.
        coarse: weights of few bits keep their steps, where they have such.

    Raises:
        QuantizationError: the accumulator bound cannot be met.
    """
    bias_real = None if bias is None else bias.real64().reshape(-1)
    pinned = _pinned_codes(weight)
    notes: tuple[str, ...] = ()
    if pinned is None:
        real = weight.real64()
        scale = _symmetric_scale(real, bias_real, input_scale)
        steps = coarse_steps(real) if coarse and weight.quant is None else None
        if steps is not None:
            scale = np.maximum(scale, _rounded_scale(steps))
        if weight.quant is not None:
            notes = ("the model's weights are not symmetric int8 per channel; requantized",)
        codes = nearest_codes(real, scale)
    else:
        codes, scale = pinned
    if bias is not None and _keeps_codes(bias, input_scale * scale):
        integer_bias: Array | None = bias.array.astype(np.int64).reshape(-1)
    else:
        integer_bias = _bias_codes(bias_real, input_scale * scale)
    if np.all(accumulator_bound(codes, integer_bias) <= INT32_MAX):
        for note in notes:
            _LOG.warning("%s: %s", where, note)
        return LayerWeights(codes, scale, _int32(integer_bias), notes)
    layer = _repaired(weight.real64(), bias_real, scale, input_scale, where)
    _LOG.warning("%s: %s", where, layer.notes[0])
    return replace(layer, notes=(*notes, *layer.notes))


def _pinned_codes(weight: Constant) -> tuple[Array, Array] | None:
    """Symmetric int8 codes and scales [O] equal to a pinned constant's; None if there are none."""
    quant = weight.quant
    if quant is None or quant.dtype not in (DType.INT8, DType.UINT8) or quant.axis not in (None, 0):
        return None
    outputs = weight.shape[0]
    zero_point = np.broadcast_to(np.asarray(quant.zero_point, np.int64), (outputs,))
    centred = weight.array.astype(np.int64) - zero_point.reshape(-1, *[1] * (weight.array.ndim - 1))
    if centred.min() < INT8_MIN or centred.max() > INT8_MAX:
        return None
    scale = np.broadcast_to(np.asarray(quant.scale, np.float64), (outputs,))
    return centred.astype(np.int8), np.array(scale)


def _symmetric_scale(real: Array, bias: Array | None, input_scale: float) -> Array:
    """Scales [O] that map each channel's largest weight to 127 and keep the bias inside int32.

    A channel without weights takes a scale that suits its bias, but no larger than the others':
    one shift serves all channels, and the largest factor limits it.
    """
    largest = np.abs(real.reshape(real.shape[0], -1)).max(axis=1)
    magnitude = np.zeros_like(largest) if bias is None else np.abs(bias)
    least = magnitude / (input_scale * 2.0**_LARGEST_BIAS_BITS)
    others = float(largest.max()) / INT8_MAX or 1.0
    fine = magnitude / (input_scale * 2.0**_EMPTY_CHANNEL_BITS)
    empty = np.where(fine > 0, np.minimum(fine, others), others)
    return _rounded_scale(np.maximum(np.where(largest > 0, largest / INT8_MAX, empty), least))


def _rounded_scale(scale: Array) -> Array:
    info = np.finfo(np.float32)
    return np.clip(scale, float(info.tiny), float(info.max)).astype(np.float32).astype(np.float64)


def nearest_codes(real: Array, scale: Array) -> Array:
    """Symmetric int8 codes of weights [O, ...] for the scale of each output [O]."""
    steps = real / scale.reshape(-1, *[1] * (real.ndim - 1))
    return np.clip(round_half_up(steps), -INT8_MAX, INT8_MAX).astype(np.int8)


def _keeps_codes(bias: Constant, scale: Array) -> bool:
    """True when a pinned int32 bias has the very scale it needs."""
    quant = bias.quant
    if quant is None or quant.dtype is not DType.INT32 or any(quant.zero_point):
        return False
    return bool(np.allclose(np.asarray(quant.scale), scale, rtol=_SAME_SCALE, atol=0.0))


def _bias_codes(bias: Array | None, scale: Array) -> Array | None:
    """Nearest codes as int64; None: there is no bias."""
    return None if bias is None else whole_steps(bias / scale)


def whole_steps(bias: Array) -> Array:
    """Biases in steps of their scale as whole numbers; absurd ones stay so, for bounds to see."""
    return round_half_up(np.clip(bias, -(2.0**40), 2.0**40))


def _int32(codes: Array | None) -> Array | None:
    return None if codes is None else codes.astype(np.int32)


def _repaired(
    real: Array, bias: Array | None, scale: Array, input_scale: float, where: str
) -> LayerWeights:
    """Raise the scales of channels whose accumulators could overflow, until none can."""
    scale = scale.copy()
    for _ in range(_REPAIR_STEPS):
        codes = nearest_codes(real, scale)
        integer_bias = _bias_codes(bias, input_scale * scale)
        excess = accumulator_bound(codes, integer_bias) / INT32_MAX
        if np.all(excess <= 1.0):
            note = "the weight scale of some channels was raised so that accumulators fit int32"
            return LayerWeights(codes, scale, _int32(integer_bias), (note,))
        # Rounding keeps the bound from shrinking exactly in proportion: one part in 256 more.
        scale = _rounded_scale(np.where(excess > 1.0, scale * excess * (1 + 2.0**-8), scale))
    raise QuantizationError(
        "the accumulators of this layer cannot be kept inside 32 bits",
        where=where,
        hint="check the layer's bias and the calibrated range of its input",
    )


# -- operands ------------------------------------------------------------------------------------


def _quantize_operands(graph: Graph, builder: GraphBuilder, node: Node) -> None:
    """Constants among real numbers that an operator reads; those beside integers stay."""
    attrs, inputs = node.attrs_as(RealOperator), list(builder.nodes[node.name].inputs)
    integers = _beside_integers(graph, node)
    for index, name in enumerate(node.inputs):
        if name not in graph.constants or name in integers:
            continue
        constant = graph.constants[name]
        if not np.isfinite(constant.real64()).all():
            raise QuantizationError("a constant holds NaN or infinite numbers", where=name)
        output = graph.values[node.output].quant
        fixed = output if attrs.moves_codes else None
        codes, quant = operand_codes(constant, fixed, beside_of(output))
        inputs[index] = _put(graph, builder, name, codes, quant)
    builder.put(replace(builder.nodes[node.name], inputs=tuple(inputs)))


def _beside_integers(graph: Graph, node: Node) -> tuple[str, ...]:
    """The operands that are int32 numbers in the integer graph, if they are constants."""
    if isinstance(node.attrs, ops.Where):
        real = ops.Where.Inputs.of(node.inputs)
        chosen = graph.values[node.output].dtype is DType.INT32
        return node.inputs if chosen else (real.condition,)
    values = [graph.values[name] for name in node.inputs if name in graph.values]
    return node.inputs if any(value.dtype is DType.INT32 for value in values) else ()


def beside_of(output: QuantParams | None) -> Scales:
    """The scales of a constant from which an operator computes an output: zeros stay near it."""
    zero = EMPTY_SCALE if output is None else min(EMPTY_SCALE, max(output.scale) * _ZERO_FACTOR)
    return Scales(empty=zero)


def operand_codes(
    constant: Constant, fixed: QuantParams | None, scales: Scales = ANY_SCALE
) -> tuple[Array, QuantParams]:
    """int8 codes and parameters of a constant operand.

    Args:
        constant: float32, or pinned int8 or uint8 per tensor.
        fixed: parameters it must have; None: its own.
        scales: what its own scale may be.
    """
    own = constant.quant
    if own is not None and own.axis is None and own.dtype in (DType.INT8, DType.UINT8):
        quant = as_int8(own, constant.name)
        if fixed is None or fixed == quant:
            offset = own.tensor_zero_point - quant.tensor_zero_point
            return (constant.array.astype(np.int64) - offset).astype(np.int8), quant
    real = constant.real64()
    params = fixed or activation_params(range_of(real), scales=scales)
    return params.quantize(real), params
