"""Attention to `QAttention`, token embeddings to `QEmbedding`."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, round_half_up
from edgec.base.portable_functions import LOG2_E
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.ir.qparams import QuantParams
from edgec.quant.common.logit_bias import bias_steps
from edgec.quant.common.numbers import attention_bits, head_numbers
from edgec.quant.common.weights import operand_codes
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Attention)
def attention(c: Conversion) -> None:
    """Attention over columns of the tensors that hold its operands."""
    attrs = c.node.attrs_as(ops.Attention)
    real = attrs.Inputs.of(c.node.inputs)
    shapes = attrs.Inputs.of(c.graph.shapes(c.node))
    width, value_width = shapes.q[-1] // attrs.heads, shapes.v[-1] // attrs.heads
    (q, q_start), (k, k_start), (v, v_start) = (c.columns(n) for n in (real.q, real.k, real.v))
    bits, trimmed = attention_bits(shapes.k[-2], c.node.name)
    table = []
    for head in range(attrs.heads):
        # The scales of q and k multiply out: every channel of a head has the same product.
        step = _scale(q.params, q_start + head * width) * _scale(k.params, k_start + head * width)
        kappa = attrs.scale * step * LOG2_E
        ratio = _scale(v.params, v_start + head * value_width) / _scale(c.y, head * value_width)
        table.append(head_numbers(kappa, ratio, width, bits, c.node.name, bool(real.bias)))
    numbers = np.array(table, np.int32)
    heads = c.constant("heads", numbers)
    steps = places = None
    if real.bias is not None:
        found = bias_steps(_full_bias(c, real.bias), numbers, width, c.node.name)
        steps, places = c.constant("steps", found[0]), c.constant("places", found[1])
    integer = qops.QAttention(
        heads=attrs.heads,
        width=width,
        value_width=value_width,
        q_start=q_start,
        k_start=k_start,
        v_start=v_start,
        exp_bits=bits,
        trimmed=trimmed,
    )
    keys = None if real.keys is None else c.operand(real.keys).name
    inputs = qops.QAttention.Inputs(q.name, k.name, v.name, heads, keys, steps, places)
    c.emit(integer, inputs)


def _scale(quant: QuantParams, channel: int) -> float:
    return quant.scale[channel] if quant.axis is not None else quant.tensor_scale


def _full_bias(c: Conversion, name: str) -> Array:
    """The bias of every head: float64 [P, heads, N, M]."""
    real = c.graph.constants[name].real64()
    heads = c.node.attrs_as(ops.Attention).heads
    return np.broadcast_to(real, (len(real), heads, *real.shape[2:]))


@CONVERTERS.entry(ops.Embedding)
def embedding(c: Conversion) -> None:
    """Embedding to rows of int8: the output's codes, or multiples of the stream's scale."""
    real = ops.Embedding.Inputs.of(c.node.inputs)
    table, stream = c.graph.constants[real.table], c.y
    multiplier = 1
    if stream.dtype is DType.INT8 and stream.axis is None:
        codes, _ = operand_codes(table, stream)
    else:
        codes, multiplier = _rows_of_stream(table.real64(), stream)
    rows = c.builder.constant(f"{real.table}/rows", codes)
    inputs = qops.QEmbedding.Inputs(c.operand(real.ids).name, rows)
    c.emit(qops.QEmbedding(multiplier, stream.dtype), inputs)


def _rows_of_stream(table: Array, stream: QuantParams) -> tuple[Array, int]:
    """int8 rows for a table of real numbers, and what multiplies them in the stream."""
    scale, multiplier = np.asarray(stream.scale), 1
    if stream.dtype is DType.INT16:
        multiplier = math.ceil(float(np.abs(table).max()) / (INT8_MAX * stream.tensor_scale))
        multiplier = min(max(multiplier, 1), INT16_MAX)
        scale = multiplier * scale
    codes = round_half_up(np.clip(table / scale, -INT8_MAX, INT8_MAX)).astype(np.int8)
    return codes, multiplier
