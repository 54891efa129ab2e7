"""Which tensors never hold the code -128: what the fastest products of a core with DSP ask for."""

from __future__ import annotations

from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, Node

_COPIES = (qops.QReshape, qops.QTranspose, qops.QSlice, qops.QMaxPool, qops.QConcat)


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
    match attrs:
        case qt.QGemm16x15() | qt.QConv16x15() if attrs.table:
            return int(graph.constants[node.inputs[5]].array.min())
        case qt.QNorm():
            return attrs.low
        case qt.QAttention():
            return qt.ATTENTION_MIN
        case qt.QAdd16() | qt.QEmbedding():
            return -INT8_MAX
        case qops.QLut():
            return int(graph.constants[node.inputs[1]].array.min())
        case _:
            output = getattr(attrs, "output", None)
            return output.low if isinstance(output, qt.Rescale16x15) else INT8_MIN
