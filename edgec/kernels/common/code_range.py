"""Ranges of codes for products of cores with DSP, and of sums for their accumulators."""

from __future__ import annotations

import numpy as np

from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs

_COPIES = (qops.QReshape, qops.QTranspose, qops.QSlice, qops.QMaxPool, qops.QConcat)
_MOST_PRE_SHIFT = 15
"""Bits of the half step that 16x15 requantization adds to a bias."""


def is_symmetric(graph: Graph, name: str) -> bool:
    """Whether no code of an int8 tensor is -128, whatever the input: by its producers' bounds."""
    waiting = [name]
    while waiting:
        tensor = waiting.pop()
        if graph.is_constant(tensor):
            if int(graph.constants[tensor].array.min(initial=0)) == INT8_MIN:
                return False
            continue
        node = graph.producers.get(tensor)
        if node is None:
            return False
        if isinstance(node.attrs, _COPIES):
            waiting += node.inputs
        elif _least(graph, node) == INT8_MIN:
            return False
    return True


def _least(graph: Graph, node: Node) -> int:
    """A lower bound of the codes that a node gives."""
    attrs = node.attrs
    table = _table(node)
    match attrs:
        case qops.QGemm() | qops.QConv() if table is not None:
            return int(graph.constants[table].array.min())
        case qops.QNorm():
            return attrs.low
        case qops.QAttention():
            return qops.ATTENTION_MIN
        case qops.QAdd(form=qops.CodeSum() as form):
            return form.low
        case qops.QEmbedding():
            return -INT8_MAX
        case qops.QLut(rule=qops.Entries()):
            return int(graph.constants[qops.QLut.Inputs.of(node.inputs).table].array.min())
        case _:
            output = getattr(attrs, "output", None)
            return output.low if isinstance(output, qops.Rescale16x15) else INT8_MIN


def _table(node: Node) -> str | None:
    """The table at the end of a layer with weights."""
    if not isinstance(node.attrs, qops.QGemm | qops.QConv):
        return None
    return node.attrs.Inputs.of(node.inputs).table


def has_room_for_any_code(graph: Graph, node: Node) -> bool:
    """Whether sums of any codes fit int32 with what the biases hold more."""
    inputs = plain_inputs(node)
    own = graph.constants[inputs.w].array, graph.constants[inputs.b].array
    weights, bias = (array.astype(np.int64) for array in own)
    rows = np.abs(weights.reshape(len(weights), -1)).sum(axis=1)
    # |x|, |zx| <= 128, and 128 times the odd weights.
    most = np.abs(bias) + 3 * 128 * rows + (1 << _MOST_PRE_SHIFT)
    return bool(np.all(most <= INT32_MAX))
