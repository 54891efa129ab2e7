"""int16 codes of the tensors of an annotated network, and the proof that their sums have 32 bits.

A sum of int16 by int8 products has 32 bits where the codes are small enough: with ``reach`` the
largest magnitude of a code and ``reach * sum |w| + |b| < 2**31`` for each filter that reads the
tensor.  So a tensor that a long filter reads has a reach below 32767, and its producer saturates
there; nothing has to be split, and no sum has 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.weighted import code_bounds, plain_inputs
from edgec.quant.common.params import LEAST_SCALE, Range
from edgec.quant.convert.codes import Codes16
from edgec.quant.scales.groups import Group

_WITH_OPERANDS = (ops.Arithmetic, ops.Concat, ops.TurnSlice, ops.TurnStack, ops.Carry, ops.Update)
"""Operators whose constant operands may have int16 codes."""
_SUM_LIMIT = float(INT32_MAX) * (1.0 - 2.0**-20)
"""Below 2^31 by more than a rounded bias can add."""


def int16_codes(
    graph: Graph, groups: Sequence[Group], ranges: Mapping[str, Range]
) -> dict[str, Codes16]:
    """The int16 codes of values that share them.

    A group with an input of the graph, whose codes are the user's and may be any, is left out where
    a reader could overflow with the largest of them.

    Args:
        graph: ANNOTATED stage.
        groups: what is to have int16 codes, from `code_groups`.
        ranges: those that every source is to have room for; what constants add to a group is in its
            int8 codes.
    """
    found = {}
    for group in groups:
        magnitude = max(_magnitude(graph, name, ranges) for name in group.sources)
        codes = group_codes(graph, group, magnitude)
        if codes is not None:
            found.update(dict.fromkeys(group.members, codes))
    return found


def group_codes(graph: Graph, group: Group, magnitude: float) -> Codes16 | None:
    """The int16 codes of values that share them; None where the user's codes could overflow.

    Args:
        graph: ANNOTATED stage.
        group: the values.
        magnitude: the largest number that the codes have to hold.
    """
    reach = min(_reach(graph, name, magnitude) for name in group.members)
    if any(name in graph.inputs for name in group.members):
        if reach < INT16_MAX:
            return None
        reach += 1
    scale = float(np.float32(max(magnitude / min(reach, INT16_MAX), LEAST_SCALE)))
    return Codes16(QuantParams.per_tensor(scale, 0, DType.INT16), reach)


def real_constants(real: Graph, annotated: Graph) -> dict[str, Array]:
    """The real numbers of the constant operands that an annotated graph has in int8 codes.

    Args:
        real: REAL stage, what was annotated.
        annotated: ANNOTATED stage, whose nodes have the names of the real ones.

    Returns:
        float64 by the name of the constant in the annotated graph.
    """
    nodes = {node.name: node for node in real.nodes}
    found = {}
    for node in annotated.nodes:
        if node.name not in nodes or not isinstance(node.attrs, _WITH_OPERANDS):
            continue
        for name, original in zip(node.inputs, nodes[node.name].inputs, strict=True):
            if name in annotated.constants and original in real.constants:
                found[name] = real.constants[original].real64()
    return found


def _magnitude(graph: Graph, name: str, ranges: Mapping[str, Range]) -> float:
    """The largest number that a tensor has to hold."""
    quant, info = graph.quant(name), np.iinfo(np.int8)
    codes = np.array([info.min, info.max], np.float64) - quant.tensor_zero_point
    annotated = float(np.abs(codes * quant.tensor_scale).max())
    return max(annotated, ranges[name].magnitude)


def _reach(graph: Graph, name: str, magnitude: float) -> int:
    """The largest code that no reader of a value can overflow with."""
    limits = [float(INT16_MAX)]
    for node in graph.consumers[name]:
        if isinstance(node.attrs, ops.Weighted) and node.first == name:
            limits.append(layer_reach(*_sums_of_one(graph, node, magnitude)))
        elif isinstance(node.attrs, ops.MatMul):
            limits.append(code_limit(graph, node))
    return int(min(limits))


def _sums_of_one(graph: Graph, node: Node, magnitude: float) -> tuple[Array, Array]:
    """The sums of magnitudes of a layer's weights, and its biases in codes of its input's reach."""
    inputs = ops.layer_inputs(node)
    weight = graph.constants[inputs.w]
    rows = np.abs(weight.array.astype(np.float64)).reshape(weight.shape[0], -1).sum(axis=1)
    if inputs.b is None:
        return rows, np.zeros(len(rows))
    bias = np.abs(graph.constants[inputs.b].array.astype(np.float64))
    return rows, bias * graph.quant(inputs.x).tensor_scale / magnitude


def layer_reach(rows: Array, bias: Array) -> float:
    """The largest code of its input with which a layer stays within 32 bits.

    Args:
        rows: sums of magnitudes of the weights of each output; float64 [O].
        bias: magnitudes of its biases, in products of a weight of 1 and that code; float64 [O].
    """
    return _SUM_LIMIT / max(float((rows + bias).max()), 1.0)


def code_limit(graph: Graph, node: Node) -> float:
    """The largest code of both operands with which a product of activations fits 32 bits."""
    attrs = node.attrs_as(ops.MatMul)
    return math.sqrt(_SUM_LIMIT / attrs.terms(attrs.Inputs.of(graph.shapes(node))))


_MOVES = (
    qops.QWhere,
    qops.QExtremum,
    qops.QTopK,
    qops.QReshape,
    qops.QTranspose,
    qops.QSlice,
    qops.QConcat,
    qops.QMaxPool,
    qops.QPad,
    qops.QResizeNearest,
    qops.QTurnSlice,
    qops.QTurnStack,
    qops.QTurnLast,
    qops.QCarry,
    qops.QUpdate,
)


def check_reach(graph: Graph) -> None:
    """Check that int16 codes stay within what the layers that read them were bounded with.

    Args:
        graph: INTEGER stage.

    Raises:
        InternalError: a layer could meet a larger code.
    """
    largest = _largest_codes(graph)
    for node in graph.nodes:
        for name, reach in _reaches(node):
            if graph.tensor(name).dtype is DType.INT16 and _largest(graph, largest, name) > reach:
                raise InternalError("it could read larger codes than it sums up", where=node.name)


def _largest_codes(graph: Graph) -> dict[str, int]:
    """The largest magnitude of the codes of values, by name.

    What updates hand on grows from turn to turn until it has all that operators in the turn give.
    """
    carried = dict.fromkeys(graph.updates, 0)
    while True:
        largest = dict.fromkeys(graph.inputs, INT16_MAX + 1)
        for node in graph.nodes:
            found = _of_node(graph, node, largest)
            largest[node.output] = max(found, carried.get(node.output, 0))
        more = {name: largest[update.output] for name, update in graph.updates.items()}
        if all(more[name] <= carried[name] for name in carried):
            return largest
        carried = {name: max(carried[name], size) for name, size in more.items()}


def _reaches(node: Node) -> Iterator[tuple[str, int]]:
    """The tensors that a node sums products of, with the bounds of their codes."""
    match node.attrs:
        case qops.QConv(reach=reach) | qops.QConvTranspose(reach=reach) | qops.QGemm(reach=reach):
            yield plain_inputs(node).x, reach
        case qops.QMatMul(a_reach=a_reach, b_reach=b_reach):
            inputs = qops.QMatMul.Inputs.of(node.inputs)
            yield from ((inputs.a, a_reach), (inputs.b, b_reach))


def _of_node(graph: Graph, node: Node, largest: Mapping[str, int]) -> int:
    attrs = node.attrs
    selects = isinstance(attrs, qops.QReduce) and attrs.kind.selects
    if selects or isinstance(attrs, _MOVES):
        names = qops.tensors_of(attrs.Inputs.of(node.inputs))
        codes = (name for name in names if graph.tensor(name).dtype is not DType.INT32)
        return max((_largest(graph, largest, name) for name in codes), default=0)
    bounds = code_bounds(attrs)
    return INT16_MAX + 1 if bounds is None else max(abs(bounds[0]), abs(bounds[1]))


def _largest(graph: Graph, largest: Mapping[str, int], name: str) -> int:
    if name in graph.constants:
        return int(np.abs(graph.constants[name].array.astype(np.int64)).max(initial=0))
    return largest.get(name, INT16_MAX + 1)
