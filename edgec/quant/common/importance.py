"""How much noise in each channel of a tensor becomes noise at the network's outputs.

Noise of rounding is small and without pattern, so its power passes through a layer by the squares
of the weights, through a sum as it is, and through a function of one variable by the square of its
slope.  Going through the graph backwards gives for each channel of each tensor its *importance*:
the noise power at the outputs, relative to their signal power, for a noise power of one in every
element of that channel.  Correlations, which would need the data, are left out: it is an estimate
to weigh channels and layers with, cheap and the same on every computer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.operator_table import OperatorTable
from edgec.quant.common.statistics import ChannelStatistics


def importance(graph: Graph, statistics: Mapping[str, ChannelStatistics]) -> dict[str, Array]:
    """The importance of the channels of all real tensors.

    Args:
        graph: REAL stage.
        statistics: what every real value of the graph holds.
    """
    found = _Backwards(graph, statistics)
    for name in graph.outputs:
        if name in statistics:
            own = statistics[name]
            signal = float(own.variance.sum()) or float(own.power.sum()) or 1.0
            found.add(name, np.full(len(own.power), len(own.power) / (signal * found.size(name))))
    for node in reversed(graph.nodes):
        passed = found.passed.get(node.output)
        if passed is not None:
            _RULES.get(type(node.attrs), _other)(found, node, passed)
    return found.passed


class _Backwards:
    """What is known on the way from the outputs to the inputs."""

    def __init__(self, graph: Graph, statistics: Mapping[str, ChannelStatistics]) -> None:
        self.graph, self.statistics = graph, statistics
        self.passed: dict[str, Array] = {}

    def size(self, name: str) -> int:
        """Elements of a tensor."""
        return max(math.prod(self.graph.shape(name)), 1)

    def add(self, name: str, more: Array) -> None:
        """Noise of this value reaches the outputs by one more way."""
        before = self.passed.get(name)
        self.passed[name] = more if before is None else before + more

    def channels(self, name: str) -> int:
        """Channels of a value."""
        return len(self.statistics[name].power)

    def fitted(self, name: str, more: Array) -> Array:
        """A number for each channel of a value, from those of another: their mean if unlike."""
        count = self.channels(name)
        if len(more) == count:
            return more
        if len(more) % count == 0:
            return np.asarray(more.reshape(-1, count).mean(axis=0))
        if count % len(more) == 0:
            return np.tile(more, count // len(more))
        return np.full(count, float(more.mean()))


_Rule = Callable[[_Backwards, Node, Array], None]
_RULES = OperatorTable[_Rule]()


@_RULES.entry(ops.Conv, ops.ConvTranspose, ops.Gemm)
def _layer(found: _Backwards, node: Node, passed: Array) -> None:
    """By the squares of the weights; an element of x is read by outputs / inputs filters each."""
    inputs = ops.layer_inputs(node)
    weight = found.graph.constants[inputs.w].real64()
    group = node.attrs.group if isinstance(node.attrs, ops.Conv | ops.ConvTranspose) else 1
    squares = (weight * weight).reshape(len(weight), -1, weight.shape[-1]).sum(axis=1)
    by_group = (squares * passed[:, None]).reshape(group, -1, weight.shape[-1]).sum(axis=1)
    positions = found.size(node.output) / len(passed)
    share = positions / (found.size(inputs.x) / found.channels(inputs.x))
    found.add(inputs.x, by_group.reshape(-1) * share)


@_RULES.entry(ops.Softmax)
def _softmax(found: _Backwards, node: Node, passed: Array) -> None:
    """A logit moves its own result p by p (1 - p) and each other one by p times that one.

    So the power of p bounds what passes.  The variance of logits would say nothing: some are hidden
    by numbers as low as they come.
    """
    p = found.statistics.get(node.output)
    if p is not None:
        found.add(node.input, passed * float(p.power.mean()))


@_RULES.entry(ops.Clip, ops.Unary)
def _function(found: _Backwards, node: Node, passed: Array) -> None:
    """By the ratio of variances, which is the square of the slope of a linear function."""
    x, y = found.statistics[node.input].variance, found.statistics.get(node.output)
    if y is None:
        return
    gain = np.divide(y.variance, x, out=np.ones_like(x), where=x > 0)
    found.add(node.input, passed * gain)


@_RULES.entry(ops.Mul)
def _product(found: _Backwards, node: Node, passed: Array) -> None:
    """By the power of the other operand."""
    inputs = ops.Mul.Inputs.of(node.inputs)
    for name, other in ((inputs.a, inputs.b), (inputs.b, inputs.a)):
        if name not in found.statistics:
            continue
        if other in found.statistics:
            power = found.statistics[other].power
        else:
            power = (found.graph.constants[other].real64() ** 2).reshape(-1)
        gain = power if len(power) == len(passed) else np.full(len(passed), float(power.mean()))
        found.add(name, found.fitted(name, passed * gain) * _spread(found, node, name))


@_RULES.entry(ops.AveragePool, ops.Reduce)
def _average(found: _Backwards, node: Node, passed: Array) -> None:
    """A mean of n elements has an n-th of the noise; as many read it as their windows overlap."""
    ratio = found.size(node.output) / found.size(node.input)
    attrs = node.attrs_as(ops.AveragePool, ops.Reduce)
    if isinstance(attrs, ops.AveragePool):
        ratio /= math.prod(attrs.kernel)
    elif attrs.kind is ops.ReduceKind.MEAN:
        ratio *= ratio
    elif attrs.kind is ops.ReduceKind.SUM:
        ratio = 1.0
    found.add(node.input, found.fitted(node.input, passed) * ratio)


@_RULES.entry(ops.Concat)
def _concat(found: _Backwards, node: Node, passed: Array) -> None:
    """Each part has its own channels."""
    last = node.attrs_as(ops.Concat).axis == len(found.graph.shape(node.output)) - 1
    start = 0
    for name in node.inputs:
        size = found.graph.shape(name)[-1] if last else len(passed)
        if name in found.statistics:
            found.add(name, passed[start : start + size])
        start += size if last else 0


@_RULES.entry(ops.Slice)
def _slice(found: _Backwards, node: Node, passed: Array) -> None:
    """Channels that are not taken pass nothing on."""
    attrs = node.attrs_as(ops.Slice)
    whole = np.zeros(found.channels(node.input))
    whole[attrs.starts[-1] + attrs.steps[-1] * np.arange(attrs.sizes[-1])] = passed
    share = found.size(node.output) / len(passed)
    found.add(node.input, whole * share / (found.size(node.input) / len(whole)))


def _other(found: _Backwards, node: Node, passed: Array) -> None:
    """Noise as it is, in all elements."""
    for name in dict.fromkeys(node.inputs):
        if name in found.statistics:
            found.add(name, found.fitted(name, passed) * _spread(found, node, name))


def _spread(found: _Backwards, node: Node, name: str) -> float:
    """How many elements of the output an element of an operand reaches."""
    return found.size(node.output) / found.size(name)
