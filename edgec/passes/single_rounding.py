"""Let layers that round twice round once, where every code stays what it is.

Rules:
1. offset: a QConv, QConvTranspose or QGemm in the form `Twice31` takes the form `Offset31`, which
   is cheaper, where numbers are found that give the same codes for all accumulators that its
   weights and its bias allow (`staircase`).

TensorFlow Lite's second rounding takes halves away from zero, so its staircase has a bend where
products become negative.  Layers whose least code is the zero point, as those with Relu have it,
never see it; for the others there are no such numbers as a rule.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import frozen
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.accumulator_range import product_range
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.staircase import offset_numbers

_LAYERS = (qops.QConv, qops.QConvTranspose, qops.QGemm)
_INPUT_SPAN = 256


def single_rounding(graph: Graph) -> Graph:
    """Apply the rule."""
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if isinstance(node.attrs, _LAYERS) and isinstance(node.attrs.output, qops.Twice31):
            _rewrite(builder, graph, node, node.attrs.output)
    return builder.build()


def rounding_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: layers that round once though TensorFlow Lite rounds twice."""
    forms = [node.attrs.output for node in after.nodes if isinstance(node.attrs, _LAYERS)]
    once = sum(isinstance(form, qops.Offset31) for form in forms)
    twice = sum(isinstance(form, qops.Twice31) for form in forms)
    if not once + twice:
        return ()
    return (f"{once} of {once + twice} layers round once, with the codes of two roundings",)


def _rewrite(builder: GraphBuilder, graph: Graph, node: Node, form: qops.Twice31) -> None:
    attrs = node.attrs_as(*_LAYERS)
    inputs = attrs.Inputs.of(node.inputs)
    bias, multiplier = (graph.constants[name] for name in (inputs.b, inputs.multiplier))
    weights = graph.constants[inputs.w].array
    least, greatest = product_range(graph, node)
    start = bias.array.astype(np.int64)
    found = offset_numbers(form, multiplier.array, start + least, start + greatest)
    if found is None:
        return
    rows = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(axis=1)
    moved = start + found.added
    if np.any(np.abs(moved) + _INPUT_SPAN * rows > INT32_MAX):
        return
    names = (
        builder.constant(bias.name, frozen(moved, np.int32), bias.quant),
        builder.constant(multiplier.name, frozen(found.multiplier, np.int32)),
    )
    once = inputs.with_rows(inputs.w, *names)
    builder.put(replace(node, attrs=replace(attrs, output=found.form), inputs=once.names()))
