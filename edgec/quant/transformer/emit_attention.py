"""Attention and norms to their integer operators."""

from __future__ import annotations

import math

import numpy as np

from edgec.dtypes import DType
from edgec.fixedpoint import INT8_MAX
from edgec.ir import ops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Node
from edgec.ir.qparams import QuantParams
from edgec.quant.params import EMPTY_SCALE, real64
from edgec.quant.transformer.emitter import Emitter, per_channel
from edgec.quant.transformer.layers import columns_of
from edgec.quant.transformer.numbers import RealNorm, exponential_bits, head_numbers, norm_numbers


def emit_attention(e: Emitter, node: Node) -> None:
    """Attention to `QAttention`."""
    attrs: ops.Attention = node.attrs
    width, _, value_width = (e.graph.shape(n)[-1] // attrs.heads for n in node.inputs[:3])
    operands = [_operand(e, name) for name in node.inputs[:3]]
    q, k, v = (quant for _, _, quant in operands)
    starts = [start for _, start, _ in operands]
    bits = exponential_bits(e.graph.shape(node.inputs[1])[-2], node.name)
    y = e.plan.codes[node.output]
    table = []
    for head in range(attrs.heads):
        # The scales of q and k multiply out: every channel of a head has the same product.
        step = _scale(q, starts[0] + head * width) * _scale(k, starts[1] + head * width)
        kappa = attrs.scale * step * math.log2(math.e)
        ratio = _scale(v, starts[2] + head * value_width) / _scale(y, head * value_width)
        table.append(head_numbers(kappa, ratio, width, bits, node.name))
    mask = node.inputs[4] if len(node.inputs) > 4 else ""
    integer = qt.QAttention(
        heads=attrs.heads,
        width=width,
        value_width=value_width,
        q_start=starts[0],
        k_start=starts[1],
        v_start=starts[2],
        exp_bits=bits,
        keys=bool(mask),
    )
    inputs = [name for name, _, _ in operands]
    inputs.append(e.array(f"{node.name}_heads", np.array(table, np.int32)))
    inputs += [mask] if mask else []
    e.put(node.name, integer, inputs, node.output, DType.INT8, (node,))


def _operand(e: Emitter, name: str) -> tuple[str, int, QuantParams]:
    """The tensor of an operand, its first column there, and its parameters."""
    columns = columns_of(e.graph, name)
    if columns.root in e.graph.constants:
        most = float(np.abs(real64(e.graph.constants[columns.root])).max())
        quant = QuantParams.per_tensor(most / INT8_MAX if most > 0 else EMPTY_SCALE, 0)
        return e.narrow_constant(columns.root, quant), columns.start, quant
    return e.narrow(columns.root), columns.start, e.plan.codes[columns.root]


def _scale(quant: QuantParams, channel: int) -> float:
    return quant.scale[channel] if quant.axis is not None else quant.tensor_scale


def emit_norm(e: Emitter, node: Node) -> None:
    """LayerNormalization and RMSNormalization to `QNorm`."""
    x, channels = e.wide(node.inputs[0]), e.graph.shape(node.inputs[0])[-1]
    dtype = e.native(node.output)
    beta = node.inputs[2] if len(node.inputs) > 2 else ""
    scale, zero = per_channel(e.quant_of(node.output, dtype), channels)
    norm = RealNorm(
        centred=isinstance(node.attrs, ops.LayerNormalization),
        gamma=real64(e.graph.constants[node.inputs[1]]),
        beta=real64(e.graph.constants[beta]) if beta else np.zeros(channels),
        epsilon=node.attrs.epsilon,
        x_scale=e.plan.stream[node.inputs[0]].tensor_scale,
        y_scale=scale,
        y_zero=zero,
        dtype=dtype,
    )
    found = norm_numbers(norm, node.name)
    constants = (
        e.array(f"{node.name}_gamma", found.gamma),
        e.array(f"{node.name}_beta", found.beta),
    )
    e.put(node.name, found.attrs, (x, *constants), node.output, dtype, (node,))
