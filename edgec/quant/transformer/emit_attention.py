"""Attention, softmax and norms to their integer operators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.exact_functions import LOG2_E
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import ops, qops
from edgec.ir.graph import Node
from edgec.ir.qparams import QuantParams
from edgec.quant.common.numbers import (
    RealNorm,
    attention_bits,
    distance_numbers,
    exponential_bits,
    head_numbers,
    norm_numbers,
)
from edgec.quant.common.params import EMPTY_SCALE
from edgec.quant.transformer.bias import bias_steps
from edgec.quant.transformer.emitter import Emitter, Form, per_channel, stream_unit
from edgec.quant.transformer.layers import columns_of


def emit_attention(e: Emitter, node: Node) -> None:
    """Attention to `QAttention`."""
    attrs = node.attrs_as(ops.Attention)
    real_inputs = attrs.Inputs.of(node.inputs)
    columns = (e.graph.shape(name)[-1] for name in (real_inputs.q, real_inputs.v))
    width, value_width = (count // attrs.heads for count in columns)
    operands = [_operand(e, n) for n in (real_inputs.q, real_inputs.k, real_inputs.v)]
    q, k, v = (quant for _, _, quant in operands)
    starts = [start for _, start, _ in operands]
    bits, trimmed = attention_bits(e.graph.shape(real_inputs.k)[-2], node.name)
    y = e.plan.codes[node.output]
    bias, mask = real_inputs.bias, real_inputs.keys
    table = []
    for head in range(attrs.heads):
        # The scales of q and k multiply out: every channel of a head has the same product.
        step = _scale(q, starts[0] + head * width) * _scale(k, starts[1] + head * width)
        kappa = attrs.scale * step * LOG2_E
        ratio = _scale(v, starts[2] + head * value_width) / _scale(y, head * value_width)
        table.append(head_numbers(kappa, ratio, width, bits, node.name, bool(bias)))
    integer = qops.QAttention(
        heads=attrs.heads,
        width=width,
        value_width=value_width,
        q_start=starts[0],
        k_start=starts[1],
        v_start=starts[2],
        exp_bits=bits,
        trimmed=trimmed,
    )
    numbers = np.array(table, np.int32)
    inputs = [name for name, _, _ in operands]
    inputs += [e.array(f"{node.name}_heads", numbers), mask or ""]
    if bias:
        real = e.graph.constants[bias].real64()
        full = np.broadcast_to(real, (len(real), attrs.heads, *real.shape[2:]))
        steps, places = bias_steps(full, numbers, width, node.name)
        inputs += [e.array(f"{node.name}_steps", steps), e.array(f"{node.name}_places", places)]
    e.put(node.name, integer, inputs, node.output, Form.CODES, (node,))


def _operand(e: Emitter, name: str) -> tuple[str, int, QuantParams]:
    """The tensor of an operand, its first column there, and its parameters."""
    columns = columns_of(e.graph, name)
    if columns.root in e.graph.constants:
        most = float(np.abs(e.graph.constants[columns.root].real64()).max())
        quant = QuantParams.per_tensor(most / INT8_MAX if most > 0 else EMPTY_SCALE, 0)
        return e.constant_codes(columns.root, quant), columns.start, quant
    return e.as_codes(columns.root), columns.start, e.plan.codes[columns.root]


def _scale(quant: QuantParams, channel: int) -> float:
    return quant.scale[channel] if quant.axis is not None else quant.tensor_scale


def emit_softmax(e: Emitter, node: Node) -> None:
    """Softmax over the last axis to `QSoftmaxOctaves`."""
    bits = exponential_bits(e.graph.shape(node.first)[-1], node.name)
    kappa = e.plan.codes[node.first].tensor_scale * LOG2_E
    multiplier, limit = distance_numbers(kappa, bits, INT8_MAX - INT8_MIN)
    attrs = qops.QSoftmaxOctaves(multiplier, limit, bits)
    e.put(node.name, attrs, (e.as_codes(node.first),), node.output, Form.CODES, (node,))


def emit_norm(e: Emitter, node: Node) -> None:
    """LayerNormalization and RMSNormalization to `QNorm`."""
    x, channels = e.as_stream(node.first), e.graph.shape(node.first)[-1]
    form = e.native(node.output)
    quant, stream = e.quant_of(node.output, form), e.plan.stream[node.first]
    parameters = ops.Norm.Inputs.of(node.inputs)
    beta = parameters.beta
    scale, zero = per_channel(quant, channels)
    norm = RealNorm(
        centred=isinstance(node.attrs, ops.LayerNormalization),
        gamma=e.graph.constants[parameters.gamma].real64(),
        beta=e.graph.constants[beta].real64() if beta else np.zeros(channels),
        epsilon=node.attrs_as(ops.Norm).epsilon,
        x_scale=stream_unit(stream),
        y_scale=scale,
        y_zero=zero,
        dtype=quant.dtype,
    )
    found = norm_numbers(norm, node.name)
    inputs = [x, e.array(f"{node.name}_gamma", found.gamma)]
    inputs.append(e.array(f"{node.name}_beta", found.beta))
    attrs = found.attrs
    if stream.dtype is DType.INT8:
        inputs.append(e.shifts(node.first))
        attrs = replace(attrs, shifted=True)
    e.put(node.name, attrs, inputs, node.output, form, (node,))
