"""ANNOTATED to INTEGER, mechanical: every node is converted; nothing is chosen here any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.rounding import Rounding
from edgec.ir import qops
from edgec.ir.fusion import fused_clip, is_fused_clip
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.operator import Operator, OperatorTable
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.codes import Codes16
from edgec.quant.convert.context import Conversion, Converter
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.convert.rules import Rules
from edgec.quant.convert.takes16 import takes16
from edgec.quant.convert.tflm.converters import TFLM_CONVERTERS
from edgec.quant.convert.tflm.rules import TflmRules

Converters = Mapping[type[Operator], Converter]
_NO_OWN = OperatorTable[Converter]()
_ROUNDINGS: Mapping[Rounding, tuple[Converters, Rules]] = MappingProxyType(
    {
        Rounding.EDGEC: (_NO_OWN, Rules()),
        Rounding.TFLM: (TFLM_CONVERTERS, TflmRules(Rules())),
    }
)
"""Converters that go before those of all networks, and the forms in which operators end."""


def convert(c: Conversion, converters: Converters) -> None:
    """Add the integer operator of a node to the graph in the making.

    Raises:
        InternalError: there is no converter for the operator.
        QuantizationError: an accumulator could overflow, or a rescaling factor is out of range.
    """
    converter = converters.get(type(c.node.attrs))
    if converter is None:
        raise InternalError(f"operator {c.node.op} has no integer form", where=c.node.name)
    converter(c)


def to_integer(
    graph: Graph,
    converters: Converters = CONVERTERS,
    int16: Mapping[str, Codes16] = MappingProxyType({}),
    constants: Mapping[str, Array] = MappingProxyType({}),
) -> Graph:
    """The integer graph of an annotated one.

    A Clip that follows an operator which ends in a clamp becomes that clamp's bounds
    (`ir.fusion`); a table that changes nothing is dropped.  The rounding of the graph decides the
    form of requantization, and which operators have a rule of its own.

    Args:
        graph: ANNOTATED stage.
        converters: converter of each operator that the graph holds.
        int16: values that have int16 codes instead of those of the annotation.
        constants: real numbers of constant operands, for operators that read or write such values.

    Raises:
        QuantizationError: an accumulator could overflow, or a rescaling factor is out of range.
    """
    own, rules = _ROUNDINGS[graph.rounding]
    table = {**converters, **own}
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        builder.remove(node)
    for name in graph.inputs:
        builder.value(_input(graph.values[name], int16.get(name)))
    for node in graph.nodes:
        if not is_fused_clip(graph, node):
            clip = fused_clip(graph, node)
            last = node if clip is None else clip
            if int16.keys().isdisjoint((*node.inputs, last.output)):
                convert(AnnotatedConversion(graph, builder, node, clip, rules), table)
            else:
                more = graph, builder, node, clip, Rules(), int16, constants
                made = AnnotatedConversion(*more)
                convert(made if takes16(made) else AnnotatedConversion(*more, narrow=True), table)
    _drop_identities(builder)
    return builder.build()


def _input(value: Value, codes: Codes16 | None) -> Value:
    """An input of the integer graph."""
    if codes is not None:
        return replace(value, dtype=DType.INT16, quant=codes.quant)
    return value if value.dtype is DType.INT32 else replace(value, dtype=DType.INT8)


def _drop_identities(builder: GraphBuilder) -> None:
    """Take out tables that map each code to itself, between values of one quantization."""
    codes = np.arange(-128, 128)
    for node in list(builder.nodes.values()):
        if not isinstance(node.attrs, qops.QLut):
            continue
        current = builder.nodes[node.name]
        inputs, y = qops.QLut.Inputs.of(current.inputs), current.output
        x = inputs.x
        same = builder.values[x].quant == builder.values[y].quant
        if not (same and np.array_equal(builder.constants[inputs.table].array, codes)):
            continue
        if y not in builder.outputs:
            builder.remove(current)
            builder.rewire(y, x)
        elif x not in (*builder.inputs, *builder.outputs):
            builder.remove(current)
            _rename(builder, x, y)


def _rename(builder: GraphBuilder, old: str, new: str) -> None:
    """Make the node that computes `old` compute `new`, which all readers then read."""
    producer = next(node for node in builder.nodes.values() if old in node.outputs)
    builder.rewire(old, new)
    builder.put(replace(builder.nodes[producer.name], outputs=(new,)))
