"""Turn a QDQ model into real operators on values with pinned quantization.

Afterwards no `QuantizeLinear` or `DequantizeLinear` is left, and every value that the model rounds
to integer codes carries those parameters in `Value.quant`; nothing else is pinned.

Rules:
1. codes: a value of integer dtype becomes the real value it stands for, pinned.  Operators that
   move codes (Transpose, Reshape, MaxPool, ...) thereby become real operators.
2. unsigned: parameters of unsigned codes become the equal ones of signed codes (of 8 bits, both
   minus 128).
3. integer io: graph inputs and outputs that were integer are recorded (`ir.metadata`).
4. constant: (de)quantized constants keep integer codes with `quant`.
5. dequantize: the output of a `DequantizeLinear` is its (now real) input.
6. pin: ``v -> QuantizeLinear`` pins v, when only `QuantizeLinear` of equal parameters read v.
7. requantize: otherwise the `QuantizeLinear` becomes `Unary(IDENTITY)` with a pinned output.
8. move: `Transpose` and `Reshape` have one quantization on both sides; where a model pins both
   sides differently, a `Unary(IDENTITY)` requantizes before the move.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.metadata import record_integer_io
from edgec.ir.qparams import QuantParams

_CODES = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
_SIGNED = MappingProxyType({DType.UINT8: DType.INT8, DType.UINT16: DType.INT16})
_IDENTITY = ops.Unary(ops.UnaryKind.IDENTITY)


def absorb_qdq(graph: Graph) -> Graph:
    """Apply the rules.

    Raises:
        ImportModelError: the model quantizes activations to other types of codes.
    """
    builder = GraphBuilder.of(graph)
    _record_integer_io(builder)
    _signed_constants(builder)
    _real_values(builder)
    for node in graph.nodes:
        if isinstance(node.attrs, ops.QuantizeLinear | ops.DequantizeLinear):
            # The builder's node: earlier steps may have rewired its input.
            _absorb(builder, builder.nodes[node.name])
    _spread_over_moves(builder)
    return builder.build()


def _record_integer_io(builder: GraphBuilder) -> None:
    for name in (*builder.inputs, *builder.outputs):
        dtype = builder.values[name].dtype
        if dtype in _CODES:
            record_integer_io(builder.metadata, name, dtype)


def _signed(quant: QuantParams) -> QuantParams:
    signed = _SIGNED.get(quant.dtype)
    if signed is None:
        return quant
    offset = int(np.iinfo(signed.numpy).min)
    zero_point = tuple(z + offset for z in quant.zero_point)
    return replace(quant, zero_point=zero_point, dtype=signed)


def _signed_constants(builder: GraphBuilder) -> None:
    for name, constant in builder.constants.items():
        if constant.quant is not None and constant.dtype is DType.UINT8:
            array = (constant.array.astype(np.int16) - 128).astype(np.int8)
            builder.constants[name] = Constant(name, array, _signed(constant.quant))


def _real_values(builder: GraphBuilder) -> None:
    for name, value in builder.values.items():
        if value.quant is None:
            continue
        if value.quant.dtype not in _CODES:
            raise ImportModelError(
                f"activations of type {value.quant.dtype.value} are not supported",
                where=name,
                hint="quantize the model's activations to int8 or uint8",
            )
        builder.values[name] = replace(value, dtype=DType.FLOAT32, quant=_signed(value.quant))


def _absorb(builder: GraphBuilder, node: Node) -> None:
    source, target = node.first, node.output
    if source in builder.constants:
        _absorb_constant(builder, node)
        return
    pin = builder.values[target].quant
    value = builder.values[source]
    if isinstance(node.attrs, ops.QuantizeLinear) and value.quant != pin:
        if not _may_pin(builder, source, pin):
            builder.put(replace(node, attrs=_IDENTITY))
            return
        builder.value(replace(value, quant=pin))
    _merge(builder, node, source, target)


def _absorb_constant(builder: GraphBuilder, node: Node) -> None:
    constant = builder.constants[node.first]
    pin = builder.values[node.output].quant
    array, quant = constant.array, constant.quant
    if isinstance(node.attrs, ops.QuantizeLinear) and pin is not None:
        array, quant = pin.quantize(constant.real()), pin
    builder.remove(node)
    del builder.values[node.output]
    builder.constant(node.output, array, quant, keep_name=True)


def _may_pin(builder: GraphBuilder, name: str, pin: QuantParams | None) -> bool:
    """Whether nobody sees the value before its rounding."""
    readers = [node for node in builder.nodes.values() if name in node.inputs]
    alike = all(
        isinstance(reader.attrs, ops.QuantizeLinear) and builder.values[reader.output].quant == pin
        for reader in readers
    )
    return builder.values[name].quant is None and alike and name not in builder.outputs


def _merge(builder: GraphBuilder, node: Node, source: str, target: str) -> None:
    """Make `source` stand for `target`, which equals it; an output of the graph keeps its name."""
    if target not in builder.outputs:
        builder.remove(node)
        builder.rewire(target, source)
        return
    producer = next((n for n in builder.nodes.values() if source in n.outputs), None)
    pin = builder.values[source].quant
    builder.value(replace(builder.values[target], quant=pin))
    if producer is None or source in builder.outputs:
        builder.put(replace(node, attrs=_IDENTITY))
        return
    builder.remove(node)
    builder.put(replace(producer, outputs=(target,)))
    outputs = list(builder.outputs)
    builder.rewire(source, target)
    builder.outputs = outputs


def _spread_over_moves(builder: GraphBuilder) -> None:
    """Rule 8, to a fixed point: each step pins one value more or settles one conflict."""
    changed = True
    while changed:
        changed = False
        for node in list(builder.nodes.values()):
            if isinstance(node.attrs, ops.Transpose | ops.Reshape):
                changed |= _settle_move(builder, node)


def _settle_move(builder: GraphBuilder, node: Node) -> bool:
    source, target = node.first, node.output
    if source not in builder.values:
        return False
    before, after = builder.values[source], builder.values[target]
    if before.quant == after.quant:
        return False
    if after.quant is None:
        builder.value(replace(after, quant=before.quant))
        return True
    readers = [n for n in builder.nodes.values() if source in n.inputs]
    if before.quant is None and len(readers) == 1 and source not in builder.outputs:
        builder.value(replace(before, quant=after.quant))
        return True
    name = builder.fresh(f"{source}/requantized")
    builder.value(Value(name, before.shape, before.dtype, after.quant))
    builder.node(name, _IDENTITY, (source,), (name,), node.sources)
    builder.put(replace(node, inputs=(name,)))
    return True
