"""ANNOTATED to INTEGER, mechanical: every node is converted; nothing is chosen here any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.fusion import fused_clip, is_fused_clip
from edgec.ir.graph import Graph, GraphBuilder
from edgec.ir.operator import Operator
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.context import Conversion, Converter
from edgec.quant.convert.converters import CONVERTERS

Converters = Mapping[type[Operator], Converter]


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


def to_integer(graph: Graph, converters: Converters = CONVERTERS) -> Graph:
    """The integer graph of an annotated one.

    A Clip that follows an operator which ends in a clamp becomes that clamp's bounds
    (`ir.fusion`); a table that changes nothing is dropped.

    Args:
        graph: ANNOTATED stage.
        converters: converter of each operator that the graph holds.

    Raises:
        QuantizationError: an accumulator could overflow, or a rescaling factor is out of range.
    """
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        builder.remove(node)
    for name in graph.inputs:
        builder.value(replace(graph.values[name], dtype=DType.INT8))
    for node in graph.nodes:
        if not is_fused_clip(graph, node):
            clip = fused_clip(graph, node)
            convert(AnnotatedConversion(graph, builder, node, clip), converters)
    _drop_identities(builder)
    return builder.build()


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
