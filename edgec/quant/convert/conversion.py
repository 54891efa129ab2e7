"""ANNOTATED to INTEGER: mechanical, one converter an operator; nothing is chosen here any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.fusion import fused_clip, is_fused_clip
from edgec.ir.graph import Graph, GraphBuilder
from edgec.ir.operator import Operator
from edgec.quant.convert import elementwise, linear, move, products
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS: Mapping[type[Operator], Converter] = MappingProxyType(
    {
        **linear.CONVERTERS,
        **products.CONVERTERS,
        **elementwise.CONVERTERS,
        **move.CONVERTERS,
    }
)
"""What makes the integer operator of each real one."""


def to_integer(graph: Graph, converters: Mapping[type[Operator], Converter] = CONVERTERS) -> Graph:
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
        if is_fused_clip(graph, node):
            continue
        converter = converters.get(type(node.attrs))
        if converter is None:
            raise InternalError(f"operator {node.op} has no integer form", where=node.name)
        converter(Conversion(graph, builder, node, fused_clip(graph, node)))
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
