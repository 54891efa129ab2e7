"""Least scales: what an operator gives may be small beside what it reads, but not without end.

A step of the output must not be far below a step of the sums that the operator computes, since the
factor between the two has few bits.  So the least scale of a tensor follows from the scales of the
tensors that it is computed from; there is none that holds for all networks, whose units differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.fixedpoint import INT8_MAX
from edgec.ir import ops
from edgec.ir.fusion import fused_producer
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import OperatorTable
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import EMPTY_SCALE, LEAST_SCALE, Scales, stream_unit
from edgec.quant.scales.groups import Group

_FACTOR_BITS = 13
"""Bits of the largest factor from sums to codes: one less than 16 by 15 bits can say."""
_EMPTY_BITS = 6
"""As _FACTOR_BITS, of tensors of zeros: their int16 codes have steps that are 128 times finer."""
_NORM_BITS = 28
_BIAS_BITS = 29
"""Bits of the largest bias, in steps of a sum."""
_CODES = 255.0


def scales_of(
    graph: Graph,
    group: Group,
    known: Mapping[str, QuantParams],
    stream: Mapping[str, QuantParams] = MappingProxyType({}),
) -> Scales:
    """The scales that a group may have; tensors whose parameters are not known ask for none.

    Args:
        graph: REAL stage.
        group: one of its groups.
        known: parameters of the tensors before it.
        stream: parameters of values of a stream, which their codes are made from.
    """
    makers = [_maker(graph, name) for name in group.sources if name in graph.producers]
    steps = {node.name: _step(graph, node, known) for node in makers}
    copied = [stream_unit(stream[name]) for name in group.members if name in stream]
    largest = max((*steps.values(), *copied), default=0.0)
    least = max(LEAST_SCALE, largest * 2.0**-_FACTOR_BITS)
    # What reads zeros reads tensors of the size of those that they come from, too.
    near = [_of_table(node, known) or steps[node.name] for node in makers]
    far = [_grown(node, step) for node, step in zip(makers, near, strict=True)]
    if max(near, default=0.0) == 0.0:
        return Scales(least, max(EMPTY_SCALE, least))
    empty = min(max(EMPTY_SCALE, max(near) * 2.0**-_EMPTY_BITS), max(far))
    return Scales(least, max(empty, least))


def _maker(graph: Graph, name: str) -> Node:
    """The node that computes a value, seen through a Clip that is part of it."""
    node = graph.producers[name]
    return fused_producer(graph, node) or node


_Rule = Callable[["_Operands"], float]
_RULES = OperatorTable[_Rule]()
"""By operator, a step of its sums; operators that read a table have none."""


def _step(graph: Graph, node: Node, known: Mapping[str, QuantParams]) -> float:
    rule = _RULES.get(type(node.attrs))
    return 0.0 if rule is None else rule(_Operands(graph, node, known))


def _of_table(node: Node, known: Mapping[str, QuantParams]) -> float:
    """The scale of what a function of one tensor reads; 0 of other operators."""
    tabled = isinstance(node.attrs, ops.Unary | ops.Clip) and node.input in known
    return max(known[node.input].scale) if tabled else 0.0


def _grown(node: Node, step: float) -> float:
    """The largest scale for zeros: the products of a layer are steps far below those of inputs."""
    layers = (ops.Weighted, ops.Mul, ops.MatMul, ops.SquaredDifference)
    return step * 2.0**_FACTOR_BITS if isinstance(node.attrs, layers) else step


class _Operands:
    """Steps of what a node reads."""

    def __init__(self, graph: Graph, node: Node, known: Mapping[str, QuantParams]) -> None:
        self.graph, self.node, self._known = graph, node, known

    def of(self, name: str) -> float:
        """The scale of an operand, 0 where it is not known; a constant has all codes."""
        if name in self.graph.constants:
            return self.most(name) / _CODES
        return max(self._known[name].scale) if name in self._known else 0.0

    def most(self, name: str) -> float:
        """The largest magnitude of a constant."""
        return float(np.abs(self.graph.constants[name].real64()).max(initial=0.0))

    @property
    def all(self) -> list[float]:
        """The scales of all operands."""
        return [self.of(name) for name in self.node.inputs if name]


@_RULES.entry(ops.Conv, ops.ConvTranspose, ops.Gemm)
def _layer(found: _Operands) -> float:
    inputs = ops.layer_inputs(found.node)
    bias = 0.0 if inputs.b is None else found.most(inputs.b) * 2.0**-_BIAS_BITS
    return max(found.of(inputs.x) * found.most(inputs.w) / INT8_MAX, bias)


@_RULES.entry(ops.Add, ops.Sub, ops.AveragePool)
def _sum(found: _Operands) -> float:
    return max(found.all)


@_RULES.entry(ops.Mul)
def _product(found: _Operands) -> float:
    return float(np.prod(found.all))


@_RULES.entry(ops.MatMul)
def _matmul(found: _Operands) -> float:
    return float(np.prod(found.all)) * abs(found.node.attrs_as(ops.MatMul).scale)


@_RULES.entry(ops.SquaredDifference)
def _square(found: _Operands) -> float:
    return max(found.all) ** 2


@_RULES.entry(ops.PRelu)
def _rectifier(found: _Operands) -> float:
    inputs = ops.PRelu.Inputs.of(found.node.inputs)
    return found.of(inputs.x) * max(1.0, found.most(inputs.slope))


@_RULES.entry(ops.LayerNormalization, ops.RMSNormalization)
def _norm(found: _Operands) -> float:
    """Steps by the factor of a row of length 1, which has 28 bits."""
    inputs = ops.Norm.Inputs.of(found.node.inputs)
    channels = found.graph.shape(inputs.x)[-1]
    return found.most(inputs.gamma) * math.sqrt(channels) * 2.0 ** (_FACTOR_BITS - _NORM_BITS)


@_RULES.entry(ops.Reduce)
def _reduction(found: _Operands) -> float:
    kind, step = found.node.attrs_as(ops.Reduce).kind, max(found.all)
    return step * step if kind is ops.ReduceKind.SUM_SQUARE else step
