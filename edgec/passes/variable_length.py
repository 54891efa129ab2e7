"""Follows the variable axis through an integer graph: the graph that serves all lengths.

Every operator either works position by position along that axis, or is attention; all others are
refused, all at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from edgec.base.errors import InternalError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.length import MIN_LENGTH, VariableLength, layout_problem, slice_problem
from edgec.ir.specialize import specialized
from edgec.ir.verify import Stage, verify
from edgec.ir.weighted import plain_inputs
from edgec.passes.compare_lengths import REMEDY


def with_variable_length(graph: Graph, real: Graph) -> Graph:
    """The graph with `length` set.

    Args:
        graph: INTEGER stage, of the longest run.
        real: what it was quantized from: REAL stage, with its variable length.

    Raises:
        UnsupportedModelError: all nodes that cannot serve shorter runs.
    """
    if real.length is None:
        raise InternalError("the float network has one length", where=graph.name)
    scan = _Scan(graph, real, real.length)
    problems = []
    for node in graph.nodes:
        try:
            scan.follow(node)
        except _RefusedError as refused:
            problems.append(_problem(graph, node, str(refused)))
    if problems:
        raise UnsupportedModelError(tuple(problems))
    squares = frozenset(scan.squares)
    found = graph.replace(length=VariableLength(scan.maximum, scan.axes, squares, scan.loops))
    verify(specialized(found, MIN_LENGTH), Stage.INTEGER, "with_variable_length")
    return found


class _RefusedError(Exception):
    """An operator that cannot serve shorter runs; the text says why."""


class _Scan:
    """The axes found so far.

    Attributes:
        graph: INTEGER stage.
        real: the float network.
        wanted: the axes of its values.
        maximum: length of the longest run.
        loops: names of the loops with a turn for each position.
        axes: the variable axis of each tensor that varies.
        squares: constants that vary on both of their last axes.
    """

    def __init__(self, graph: Graph, real: Graph, length: VariableLength) -> None:
        self.graph, self.real = graph, real
        self.wanted, self.maximum, self.loops = length.axes, length.maximum, length.loops
        self.axes: dict[str, int] = {}
        self.squares: set[str] = set()
        for name in graph.inputs:
            if name in self.wanted:
                self._note(name, self.wanted[name])

    def follow(self, node: Node) -> None:
        """Note the axes of a node's output and constants.

        Raises:
            _RefusedError: it cannot serve shorter runs.
        """
        origin = self.origin(node.output)
        wanted = self.wanted.get(origin)
        if wanted is not None:  # before a refusal, so that later nodes are looked at, too
            self._note(node.output, wanted)
        axis = None
        if any(name in self.axes for name in node.inputs) or self._turns(node):
            rule = _RULES.get(type(node.attrs))
            if rule is None:
                raise _RefusedError("it mixes positions along the variable axis")
            axis = rule(self, node)
        if origin in self.real.values and axis != wanted:
            raise _RefusedError("shorter runs of the float network do something else here")
        if axis is not None:
            self._note(node.output, axis)

    def _turns(self, node: Node) -> bool:
        """Whether it stands at the border of a loop with a turn for each position."""
        border = node.attrs.border
        return border is not None and border.loop is not None and border.loop.name in self.loops

    def origin(self, name: str) -> str:
        """The name that a value has in the float network, if it is one of its tensors."""
        return self.graph.values[name].form_of or name

    def axis(self, name: str) -> int | None:
        """The variable axis of a tensor, if it has one."""
        return self.axes.get(name)

    def constant(self, name: str, axis: int) -> None:
        """Note that a constant has an entry for each position along `axis`."""
        if self.axes.get(name, axis) != axis or name in self.squares:
            raise _RefusedError(f"the constant {shown(name)} is read along two axes")
        self.axes[name] = axis

    def _note(self, name: str, axis: int) -> None:
        self.axes[name] = axis
        problem = layout_problem(self.graph.shape(name), axis, self.maximum)
        if problem:
            raise _RefusedError(problem)


def _by_position(scan: _Scan, node: Node) -> int | None:
    """Works on the last axis of each position; a constant residual has the output's shape."""
    axis = scan.axis(node.first)
    if axis is None or axis == len(scan.graph.shape(node.first)) - 1:
        raise _RefusedError("it sums up along the variable axis")
    for name in node.inputs:
        if scan.graph.is_constant(name) and scan.graph.shape(name) == scan.graph.shape(node.output):
            scan.constant(name, axis)
    return axis


def _same(scan: _Scan, node: Node) -> int | None:
    return scan.axis(node.first)


def _elementwise(scan: _Scan, node: Node) -> int | None:
    """Two operands with numpy broadcasting."""
    rank = len(scan.graph.shape(node.output))
    missing = {name: rank - len(scan.graph.shape(name)) for name in node.inputs}
    found = {scan.axes[name] + missing[name] for name in node.inputs if name in scan.axes}
    if len(found) != 1:
        raise _RefusedError("its operands vary along different axes")
    (axis,) = found
    for name in node.inputs:
        own = axis - missing[name]
        if name not in scan.axes and own >= 0 and scan.graph.shape(name)[own] > 1:
            if not scan.graph.is_constant(name):
                raise _RefusedError("one of its operands has the same length in every run")
            scan.constant(name, own)
    return axis


def _reduce(scan: _Scan, node: Node) -> int | None:
    attrs = node.attrs_as(qops.QReduce)
    axis = scan.axes[node.input]
    if axis in attrs.axes:
        kind = attrs.kind.value
        raise _RefusedError(f"{kind} along the variable axis has no form for all lengths")
    return axis if attrs.keepdims else axis - sum(other < axis for other in attrs.axes)


def _arg_max(scan: _Scan, node: Node) -> int | None:
    axis = scan.axes[node.input]
    if axis >= node.attrs_as(qops.QArgMax).axis:
        raise _RefusedError("it looks for the largest along the variable axis")
    return axis


def _pointwise(scan: _Scan, node: Node) -> int | None:
    attrs = node.attrs_as(qops.QConv)
    kernel = scan.graph.shape(plain_inputs(node).w)[1:3]
    channels = scan.graph.shape(node.first)[3]
    grouped = attrs.group != 1 and not attrs.group == channels == scan.graph.shape(node.output)[3]
    if (*kernel, *attrs.strides) != (1,) * 4 or any(attrs.pads) or grouped:
        raise _RefusedError("its window reaches over the variable axis")
    return _by_position(scan, node)


def _reshape(scan: _Scan, node: Node) -> int | None:
    before, after = scan.graph.shape(node.input), scan.graph.shape(node.output)
    old = scan.axes[node.input]
    for axis, size in enumerate(after):
        if size == before[old] and math.prod(after[:axis]) == 1:
            return axis
    raise _RefusedError(f"it merges the variable axis of {list(before)} into {list(after)}")


def _transpose(scan: _Scan, node: Node) -> int | None:
    axis = node.attrs_as(qops.QTranspose).perm.index(scan.axes[node.input])
    return axis


def _slice(scan: _Scan, node: Node) -> int | None:
    """Along the variable axis: either up to the end, or what the shortest run has, too."""
    attrs = node.attrs_as(qops.QSlice)
    axis = scan.axes[node.input]
    size = scan.graph.shape(node.input)[axis]
    if scan.origin(node.output) in scan.wanted:
        if attrs.steps[axis] != 1 or attrs.starts[axis] + attrs.sizes[axis] != size:
            raise _RefusedError("it takes positions that depend on the length in an unusual way")
        return axis
    taken = (attrs.starts[axis], attrs.steps[axis], attrs.sizes[axis])
    problem = slice_problem(*taken, size, scan.maximum)
    if problem:
        raise _RefusedError(problem)
    return None


def _concat(scan: _Scan, node: Node) -> int | None:
    joined = node.attrs_as(qops.QConcat).axis
    varying = [name for name in node.inputs if name in scan.axes]
    axes = {scan.axes[name] for name in varying}
    if len(axes) != 1 or (joined in axes and len(varying) > 1):
        raise _RefusedError("it joins several tensors of variable length")
    (axis,) = axes
    for name in node.inputs if axis != joined else ():
        if scan.graph.is_constant(name):
            scan.constant(name, axis)
    return axis


def _attention(scan: _Scan, node: Node) -> int | None:
    """Queries, keys or both vary; values and a mask go with the keys, a bias with both."""
    graph, inputs = scan.graph, node.attrs_as(qops.QAttention).Inputs.of(node.inputs)
    q, k, v = inputs.q, inputs.k, inputs.v
    masks = [] if inputs.keys is None else [inputs.keys]
    rank = len(graph.shape(k))
    keys = rank - 2
    axes = [scan.axis(name) for name in (k, v) if not graph.is_constant(name)]
    if scan.axis(q) not in (None, keys) or len(set(axes)) > 1 or set(axes) - {None, keys}:
        raise _RefusedError("its queries, keys and values vary along different axes")
    if keys in axes:
        for name in (k, v):
            if graph.is_constant(name):
                scan.constant(name, keys)
        for name in masks:
            last = len(graph.shape(name)) - 1
            if graph.is_constant(name) and graph.shape(name)[last] > 1:
                scan.constant(name, last)
    if any(name in scan.axes for name in masks) and keys not in axes:
        raise _RefusedError("its mask varies, its keys do not")
    if inputs.places is not None:
        _places(scan, inputs.places, scan.axis(q) is not None, keys in axes)
    return scan.axis(q)


def _places(scan: _Scan, name: str, queries: bool, keys: bool) -> None:
    """The constant [..., queries, keys] of a bias on the logits, as both vary or not."""
    if queries and keys:
        if name in scan.axes:
            raise _RefusedError(f"the constant {shown(name)} is read along two axes")
        scan.squares.add(name)
    elif queries or keys:
        scan.constant(name, len(scan.graph.shape(name)) - (2 if queries else 1))


def _turn_slice(scan: _Scan, node: Node) -> int | None:
    """A turn reads a position, or a window of some that moves on by one."""
    attrs = node.attrs_as(qops.QTurnSlice)
    if attrs.loop.name not in scan.loops or abs(attrs.part.step) != 1:
        raise _RefusedError("a loop reads a part of the positions")
    if scan.axes.get(node.input, attrs.part.axis) != attrs.part.axis:
        raise _RefusedError("each turn of a loop reads all positions")
    if scan.graph.is_constant(node.input):
        scan.constant(node.input, attrs.part.axis)
    return None


def _turn_stack(scan: _Scan, node: Node) -> int | None:
    attrs = node.attrs_as(qops.QTurnStack)
    if node.input in scan.axes:
        raise _RefusedError("each turn of a loop computes all positions")
    return attrs.part.axis


def _in_turns(scan: _Scan, node: Node) -> int | None:
    """A value that turns carry, or that the last one leaves, has one size in all runs."""
    if node.first in scan.axes:
        raise _RefusedError("each turn of a loop computes all positions")
    return None


def _chain(scan: _Scan, node: Node) -> int | None:
    """Functions of elements, with tables after the operands."""
    names = node.inputs[: len(node.inputs) - qops.table_count(scan.graph, node)]
    return _elementwise(scan, replace(node, inputs=names))


_RULES: Mapping[type, Callable[[_Scan, Node], int | None]] = MappingProxyType(
    {
        **dict.fromkeys((qops.QGemm, qops.QNorm, qops.QSoftmax), _by_position),
        **dict.fromkeys((qops.QRescale, qops.QEmbedding, qops.QIsEqual, qops.QLut), _same),
        **dict.fromkeys((qops.QMul, qops.QAdd), _elementwise),
        qops.QReduce: _reduce,
        qops.QConv: _pointwise,
        qops.QAttention: _attention,
        qops.QArgMax: _arg_max,
        qops.QReshape: _reshape,
        qops.QTranspose: _transpose,
        qops.QSlice: _slice,
        qops.QConcat: _concat,
        qops.QChain: _chain,
        qops.QTurnSlice: _turn_slice,
        qops.QTurnStack: _turn_stack,
        **dict.fromkeys((qops.QTurnLast, qops.QCarry), _in_turns),
    }
)


def _problem(graph: Graph, node: Node, reason: str) -> UnsupportedNode:
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op,
        shape="x".join(map(str, graph.shape(node.output))),
        reason=f"{reason}, in a model of variable length",
        remedy=REMEDY,
    )
