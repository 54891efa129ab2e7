"""The integer graph of a network whose file brings int16 codes for its activations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.ir.fusion import fused_clip, is_fused_clip
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.operator import Operator
from edgec.quant.common.refuse import refuse_real_only
from edgec.quant.convert.context import Converter
from edgec.quant.convert.conversion import convert
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.convert.rules import Rules
from edgec.quant.convert.tflm.converters import TFLM_CONVERTERS
from edgec.quant.convert.tflm.rules import TflmRules
from edgec.quant.convert.wide.conversion import FileConversion, has_int16
from edgec.quant.convert.wide.converters import WIDE_CHECKS, WIDE_CONVERTERS
from edgec.quant.convert.wide.rules import WideRules

_OF_INT8: Mapping[type[Operator], Converter] = MappingProxyType({**CONVERTERS, **TFLM_CONVERTERS})
_OF_INT16: Mapping[type[Operator], Converter] = MappingProxyType({**CONVERTERS, **WIDE_CONVERTERS})


def to_wide(graph: Graph) -> Graph:
    """The integer graph of a real one whose values are all pinned, some of them to int16 codes.

    Args:
        graph: REAL stage, after `REAL_PASSES`.

    Raises:
        UnsupportedModelError: operators that have no form for such codes.
        QuantizationError: a tensor is not pinned, or its numbers are out of range.
    """
    refuse_real_only(graph, lambda node: type(node.attrs) in _operators(graph, node))
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        builder.remove(node)
    for name in graph.inputs:
        builder.value(replace(graph.values[name], dtype=_dtype(graph, name)))
    for node in graph.nodes:
        if not is_fused_clip(graph, node):
            _convert(graph, builder, node)
    return builder.build()


def _convert(graph: Graph, builder: GraphBuilder, node: Node) -> None:
    """Add the integer operator of a node, by the rules of the types of its tensors."""
    made = graph, builder, node, fused_clip(graph, node)
    if has_int16(graph, node):
        conversion = FileConversion(*made, WideRules())
        WIDE_CHECKS[type(node.attrs)](conversion)
        convert(conversion, _OF_INT16)
    else:
        convert(FileConversion(*made, TflmRules(Rules())), _OF_INT8)


def _operators(graph: Graph, node: Node) -> Collection[type]:
    """The operators that have a form for the types of a node's tensors."""
    return WIDE_CHECKS if has_int16(graph, node) else _OF_INT8


def _dtype(graph: Graph, name: str) -> DType:
    quant = graph.values[name].quant
    if quant is None:
        raise QuantizationError(
            "this input has no scale, others have int16 codes",
            where=name,
            hint="quantize the whole model with int16 activations and int8 weights",
        )
    return quant.dtype
