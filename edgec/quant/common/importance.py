"""Gain from noise in each channel of a tensor to noise at the network's outputs.

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
from edgec.ir.operator import OperatorTable
from edgec.quant.common.back_through import back_through, mean_by_channel
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
    return {name: mean_by_channel(weights) for name, weights in found.passed.items()}


class _Backwards:
    """Importance of the tensors passed so far, from the outputs to the inputs.

    Attributes:
        passed: by value, the importance of channels, float64 [C], or of elements, of its shape:
            moves take channels elsewhere, and positions may differ.
    """

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

    def back(self, node: Node, name: str, weights: Array) -> None:
        """Noise reaches an operand as it is, wherever its elements go."""
        self.add(name, back_through(self.graph, node, name, weights))

    def back_broadcast(self, node: Node, name: str, weights: Array) -> None:
        """Noise reaches an operand as it is, each element of the outputs that it is paired with."""
        count = self.channels(name)
        if self.graph.shape(name) != self.graph.shape(node.output):
            weights = mean_by_channel(weights) * (self.size(node.output) / self.size(name))
            weights = weights if len(weights) == count else np.full(count, float(weights.mean()))
        self.add(name, weights)


_PAIRWISE = (
    *(ops.Add, ops.Sub, ops.Maximum, ops.Minimum, ops.Div, ops.SquaredDifference, ops.PRelu),
    *(ops.LayerNormalization, ops.RMSNormalization, ops.LogSoftmax),
)
"""Operators whose outputs' elements depend on elements of the same place above all."""
_Rule = Callable[[_Backwards, Node, Array], None]
_RULES = OperatorTable[_Rule]()


@_RULES.entry(ops.Conv, ops.ConvTranspose, ops.Gemm)
def _layer(found: _Backwards, node: Node, passed: Array) -> None:
    """By the squares of the weights; an element of x is read by outputs / inputs filters each."""
    inputs, passed = ops.layer_inputs(node), mean_by_channel(passed)
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
            power = _power(found.graph.constants[other].real64())
        channels = len(power) in (1, *found.graph.shape(node.output)[-1:])
        found.back_broadcast(node, name, passed * (power if channels else float(power.mean())))


def _power(values: Array) -> Array:
    """Mean square of each channel of [..., C]; float64 [C]."""
    return np.asarray((values**2).reshape(-1, values.shape[-1] if values.ndim else 1).mean(axis=0))


@_RULES.entry(ops.AveragePool, ops.Reduce)
def _average(found: _Backwards, node: Node, passed: Array) -> None:
    """A mean of n elements has an n-th of the noise; as many read it as their windows overlap."""
    attrs = node.attrs_as(ops.AveragePool, ops.Reduce)
    ratio = 1.0
    if isinstance(attrs, ops.AveragePool):
        ratio /= math.prod(attrs.kernel)
    elif attrs.kind is ops.ReduceKind.MEAN:
        ratio = found.size(node.output) / found.size(node.input)
    elif attrs.kind is ops.ReduceKind.SUM:
        ratio = found.size(node.input) / found.size(node.output)
    found.back(node, node.input, passed * ratio)


@_RULES.entry(*_PAIRWISE)
def _pairwise(found: _Backwards, node: Node, passed: Array) -> None:
    """Noise as it is, in all elements."""
    for name in dict.fromkeys(node.inputs):
        if name in found.statistics:
            found.back_broadcast(node, name, passed)


def _other(found: _Backwards, node: Node, passed: Array) -> None:
    """Noise as it is, where the elements come from."""
    for name in dict.fromkeys(node.inputs):
        if name in found.statistics:
            found.back(node, name, passed)
