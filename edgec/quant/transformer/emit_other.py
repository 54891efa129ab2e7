"""Everything but layers, attention and norms: sums, products, moves, functions, tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.graph import Node, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.convert import elementwise, linear, move
from edgec.quant.convert.context import SPAN, Conversion
from edgec.quant.convert.products import single_rescale
from edgec.quant.transformer.emitter import Emitter, Form
from edgec.quant.transformer.search import LEAST_CODE

_CONVERTERS: Mapping[type, Callable[[Conversion], None]] = MappingProxyType(
    {
        ops.Add: linear.add,
        ops.Sub: linear.add,
        ops.Clip: elementwise.table,
        ops.Unary: elementwise.table,
        ops.MaxPool: elementwise.max_pool,
        ops.ArgMax: elementwise.argmax,
        ops.Reduce: elementwise.reduce,
        ops.Reshape: move.reshape,
        ops.Transpose: move.transpose,
        ops.Slice: move.slice_,
        ops.Concat: move.concat,
        ops.Pad: move.pad,
        ops.Resize: move.resize,
    }
)
"""Operators whose integer form has no requantization of its own, or a 32-bit one."""
_CODES = (LEAST_CODE, INT8_MAX)
"""Codes of what operators compute."""
_STREAM_MOVES = (ops.Reshape, ops.Transpose, ops.Slice, ops.Concat)
SUPPORTED = (
    *_CONVERTERS,
    *(ops.Mul, ops.MatMul, ops.Embedding, ops.Conv, ops.Gemm, ops.Attention),
    *(ops.LayerNormalization, ops.RMSNormalization, ops.Softmax),
)
"""Real operators that have an integer form in a transformer."""


def emit_other(e: Emitter, node: Node) -> None:
    """Add the integer operator of a node that no layer holds."""
    attrs = node.attrs
    values = [name for name in node.inputs if name in e.graph.values]
    streaming = node.output in e.plan.stream and all(name in e.plan.stream for name in values)
    if isinstance(attrs, ops.Add) and streaming:
        _stream_add(e, node)
    elif isinstance(attrs, _STREAM_MOVES) and streaming:
        _convert(e, node, Form.STREAM)
    elif isinstance(attrs, ops.Mul | ops.MatMul):
        _product(e, node)
    elif isinstance(attrs, ops.Embedding):
        _embedding(e, node)
    elif isinstance(attrs, ops.Unary) and attrs.kind is ops.UnaryKind.NOT:
        _mask(e, node)
    elif isinstance(attrs, ops.Reduce) and attrs.kind is not ops.ReduceKind.MAX:
        _reduce(e, node)
    else:
        _convert(e, node, Form.CODES)


def _stream_add(e: Emitter, node: Node) -> None:
    quant = e.plan.stream[node.output]
    inputs = [
        e.wide_constant(name, quant, e.graph.shape(name))
        if name in e.graph.constants
        else e.as_stream(name)
        for name in node.inputs
    ]
    e.put(node.name, qops.QStreamAdd(quant.dtype), inputs, node.output, Form.STREAM, (node,))


def _convert(e: Emitter, node: Node, form: Form) -> None:
    """The converter of convolutional networks, on the form of the tensors that is wanted."""
    inputs = []
    values = dict(e.graph.values)
    constants = dict(e.graph.constants)
    for name in node.inputs:
        if name in e.graph.constants:
            found = _operand(e, node, name, form)
            constants[found] = e.builder.constants[found]
        elif e.graph.values[name].dtype is DType.INT32:
            found = name  # token ids and masks
        else:
            found = e.as_codes(name) if form is Form.CODES else e.as_stream(name)
            values[found] = e.builder.values[found]
        inputs.append(found)
    y = e.graph.values[node.output]
    if y.dtype is DType.FLOAT32:
        # The converter chooses the element type.
        y = replace(e.value_of(node.output, form), dtype=y.dtype)
    values[y.name] = y
    view = e.graph.replace(values=values, constants=constants)
    moved = replace(node, inputs=tuple(inputs), outputs=(y.name,))
    _CONVERTERS[type(node.attrs)](Conversion(view, e.builder, moved, None))
    if y.quant is not None:
        e.made(node.output, form)


def _operand(e: Emitter, node: Node, name: str, form: Form) -> str:
    """A constant that a node reads: of the stream, of a concatenation, or of a sum."""
    if form is Form.STREAM:
        return e.wide_constant(name, e.plan.stream[node.output], e.graph.shape(name))
    fixed = e.plan.codes[node.output] if isinstance(node.attrs, ops.Concat) else None
    return e.constant_codes(name, fixed)


def _operand_quant(e: Emitter, name: str) -> tuple[str, QuantParams]:
    if name in e.graph.constants:
        made = e.constant_codes(name)
        quant = e.builder.constants[made].quant
        if quant is None:
            raise QuantizationError("a constant operand has no parameters", where=name)
        return made, quant
    return e.as_codes(name), e.plan.codes[name]


def _mask(e: Emitter, node: Node) -> None:
    """Integers compared with a number."""
    shape = e.graph.shape(node.output)
    e.builder.value(Value(node.output, shape, DType.INT32))
    attrs = qops.QIsEqual(int(node.attrs_as(ops.Unary).alpha))
    e.builder.node(node.name, attrs, node.inputs, (node.output,), node.sources)


def _product(e: Emitter, node: Node) -> None:
    """Mul and MatMul of two int8 tensors."""
    factors = node.attrs_as(ops.Mul, ops.MatMul).Inputs.of(node.inputs)
    (a, qa), (b, qb) = (_operand_quant(e, name) for name in (factors.a, factors.b))
    y = e.plan.codes[node.output]
    factor = qa.tensor_scale * qb.tensor_scale / y.tensor_scale
    terms = 1
    if isinstance(node.attrs, ops.MatMul):
        factor *= node.attrs.scale
        terms = node.attrs.terms(node.attrs.Inputs.of(e.graph.shapes(node)))
    bound = float(SPAN * SPAN * terms)
    output, multiplier, bias = single_rescale(factor, bound, y, _CODES, node.name)
    attrs: qops.QMul | qops.QMatMul = qops.QMul(output, multiplier, bias)
    if isinstance(node.attrs, ops.MatMul):
        transposes = node.attrs.transpose_a, node.attrs.transpose_b
        attrs = qops.QMatMul(output, multiplier, bias, *transposes)
    e.put(node.name, attrs, (a, b), node.output, Form.CODES, (node,))


def _reduce(e: Emitter, node: Node) -> None:
    """Means and sums; of the stream as it is."""
    attrs = node.attrs_as(ops.Reduce)
    x = node.input
    wide = e.is_made(x, Form.STREAM) and e.plan.stream[x].axis is None
    quant, span = (e.plan.stream[x], INT16_MAX + 1) if wide else (e.plan.codes[x], SPAN)
    count = math.prod(e.graph.shape(x)[axis] for axis in attrs.axes)
    y = e.plan.codes[node.output]
    factor = quant.tensor_scale / y.tensor_scale
    factor /= count if attrs.kind is ops.ReduceKind.MEAN else 1
    bound = float(span * count)
    output, multiplier, bias = single_rescale(factor, bound, y, _CODES, node.name)
    integer = qops.QReduce(attrs.kind, attrs.axes, attrs.keepdims, output, multiplier, bias)
    source = e.as_stream(x) if wide else e.as_codes(x)
    e.put(node.name, integer, (source,), node.output, Form.CODES, (node,))


def _embedding(e: Emitter, node: Node) -> None:
    """Embedding to rows of int8 whose scale is a multiple of the stream's."""
    inputs = ops.Embedding.Inputs.of(node.inputs)
    real = e.graph.constants[inputs.table].real64()
    stream = e.plan.stream[node.output]
    scale, multiplier = np.asarray(stream.scale), 1
    if stream.dtype is DType.INT16:
        multiplier = math.ceil(float(np.abs(real).max()) / (INT8_MAX * stream.tensor_scale))
        multiplier = min(max(multiplier, 1), INT16_MAX)
        scale = multiplier * scale
    codes = round_half_up(np.clip(real / scale, -INT8_MAX, INT8_MAX)).astype(np.int8)
    rows = e.array(f"{inputs.table}/rows", codes)
    attrs = qops.QEmbedding(multiplier, stream.dtype)
    e.put(node.name, attrs, (inputs.ids, rows), node.output, Form.STREAM, (node,))
