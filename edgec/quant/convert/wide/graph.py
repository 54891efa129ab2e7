"""The integer graph of a network whose file brings int16 codes for its activations."""

from __future__ import annotations

from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.rounding import Rounding
from edgec.ir.fusion import fused_clip, is_fused_clip
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.quant.common.refuse import refuse_real_only
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.convert.wide.conversion import WideConversion
from edgec.quant.convert.wide.converters import WIDE_CHECKS, WIDE_CONVERTERS
from edgec.quant.convert.wide.rules import WideRules


def to_wide(graph: Graph) -> Graph:
    """The integer graph of a real one whose values are all pinned, some of them to int16 codes.

    Args:
        graph: REAL stage, after `REAL_PASSES`.

    Raises:
        UnsupportedModelError: operators that have no form for such codes.
        QuantizationError: a tensor is not pinned, or its numbers are out of range; or the graph is
            not to be rounded as TensorFlow Lite Micro does.
    """
    if graph.rounding is not Rounding.TFLM:
        raise QuantizationError(
            "networks with 16-bit activations have no rounding of edgec's own",
            where=graph.name,
            hint="give the TensorFlow Lite file, without --rounding edgec",
        )
    refuse_real_only(graph, WIDE_CHECKS)
    converters = {**CONVERTERS, **WIDE_CONVERTERS}
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        builder.remove(node)
    for name in graph.inputs:
        builder.value(replace(graph.values[name], dtype=_dtype(graph, name)))
    for node in graph.nodes:
        if not is_fused_clip(graph, node):
            conversion = WideConversion(graph, builder, node, fused_clip(graph, node), WideRules())
            WIDE_CHECKS[type(node.attrs)](conversion)
            converters[type(node.attrs)](conversion)
    return builder.build()


def _dtype(graph: Graph, name: str) -> DType:
    quant = graph.values[name].quant
    if quant is None:
        raise QuantizationError(
            "this input has no scale, others have int16 codes",
            where=name,
            hint="quantize the whole model with int16 activations and int8 weights",
        )
    return quant.dtype
