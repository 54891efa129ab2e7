"""A REAL graph as a PyTorch network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from edgec.base.errors import TrainingError
from edgec.finetune.layers import Layer
from edgec.finetune.operators import Operator, operator, unsupported
from edgec.finetune.ranges import Range
from edgec.finetune.steps import LearnedStep
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.logits import before_probabilities, is_sigmoid
from edgec.weightpool.few_codes import few_codes_of

_MOVERS = (ops.MaxPool, ops.Reshape, ops.Transpose, ops.Slice)
"""Operators whose output has the range of their input."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A node without weights of its own."""

    node: Node
    compute: Operator


class Network(nn.Module):
    """Computes what the graph does, for any number of samples, up to a last Softmax or Sigmoid.

    Weights and biases of layers are parameters, and so are gamma and beta of a transformer's norms;
    other constants are fixed.

    Attributes:
        layers: the convolutions and matrix products by node name.
        ranges: ranges of the inputs of pooled layers, by the Clip or value that they belong to.
        bits: width of the activations that pooled layers see.
        roundings: numbers of few bits that the graph gives pooled layers to read, by their value.
    """

    def __init__(self, graph: Graph, pooled: Sequence[str] = ()) -> None:
        """A network out of a graph.

        Args:
            graph: REAL stage.
            pooled: names of the nodes whose input is rounded to `bits`, or to the few bits that
                the graph says.

        Raises:
            TrainingError: an operator that cannot be trained, several outputs.
        """
        super().__init__()
        self.graph = graph
        self.output = logits_of(graph)
        self.bits = 8
        nodes = graph.replace(outputs=(self.output,)).pruned().nodes
        self.layers: dict[str, Layer] = {}
        self.roundings = self._roundings(nodes, pooled)
        rounds = {each.node.name: each for each in self.roundings.values()}
        inside = {node.name for each in rounds.values() for node in each.found.nodes[:-1]}
        outer = [node for node in nodes if node.name not in inside]
        self._steps = [rounds.get(node.name) or self._step(node) for node in outer]
        self._modules_of_layers = nn.ModuleList(self.layers.values())
        self._names = self._keep_constants(nodes)
        self.ranges: dict[str, Range] = {}
        read = {name: self.layers[name].node.first for name in pooled}
        self._sources = {
            name: self._range_of(value)
            for name, value in read.items()
            if value not in self.roundings
        }
        self._modules_of_ranges = nn.ModuleList(self.ranges.values())
        self._modules_of_roundings = nn.ModuleList(self.roundings.values())

    @property
    def classes(self) -> int:
        """Logits of a sample."""
        return math.prod(self.graph.shape(self.output))

    def forward(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """[N, classes] out of [N, ...] by graph input."""
        values = dict(inputs)
        rounded: dict[tuple[str, int], torch.Tensor] = {}
        for step in self._steps:
            node = step.node
            source = node.first
            if isinstance(step, Layer):
                x = values[source]
                key = self._sources.get(node.name)
                if key is not None and (source, self.bits) not in rounded:
                    rounded[source, self.bits] = self.ranges[key].rounded(x, self.bits)
                values[node.output] = step(x if key is None else rounded[source, self.bits])
            elif isinstance(step, LearnedStep):
                values[node.output] = step(values[step.found.source])
            elif node.name in self.ranges:
                values[node.output] = self.ranges[node.name].clipped(values[source])
            else:
                found = [self._operand(name, values) if name else None for name in node.inputs]
                operands = node.attrs.Inputs.of(found)
                values[node.output] = step.compute(node.attrs, operands)
        return values[self.output].flatten(1)

    @property
    def norms(self) -> list[nn.BatchNorm2d]:
        """The normalizations after convolutions."""
        return [layer.norm for layer in self.layers.values() if layer.norm is not None]

    def _roundings(self, nodes: Sequence[Node], pooled: Sequence[str]) -> dict[str, LearnedStep]:
        graph, found = self.graph, {}
        for value in {node.first: None for node in nodes if node.name in pooled}:
            if codes := few_codes_of(graph, value):
                found[value] = LearnedStep(codes, math.prod(graph.shape(value)))
        return found

    def _step(self, node: Node) -> _Step | Layer:
        if not isinstance(node.attrs, ops.Conv | ops.Gemm):
            return _Step(node, operator(node))
        inputs = ops.layer_inputs(node)
        if not all(self.graph.is_constant(name) for name in (inputs.w, inputs.b) if name):
            unsupported(node, "its weights are computed")
        layer = Layer(self.graph, node)
        self.layers[node.name] = layer
        return layer

    def norm_constants(self, node: Node) -> tuple[str, ...]:
        """The names of gamma and beta of a norm, which are trained; none of other nodes."""
        if not isinstance(node.attrs, ops.Norm):
            return ()
        inputs = ops.Norm.Inputs.of(node.inputs)
        return tuple(each for each in (inputs.gamma, inputs.beta) if each)

    def constant(self, name: str) -> torch.Tensor:
        """A constant that is no weight or bias of a layer."""
        found = getattr(self, self._names[name])
        assert isinstance(found, torch.Tensor)
        return found

    def _keep_constants(self, nodes: Sequence[Node]) -> dict[str, str]:
        """Parameters or buffers for the constants that steps read, by their names in the graph."""
        names: dict[str, str] = {}
        trained = {name for node in nodes for name in self.norm_constants(node)}
        for node in nodes:
            if node.name in self.layers:
                continue
            for name in node.inputs:
                if name not in self.graph.constants or name in names:
                    continue
                names[name] = f"constant_{len(names)}"
                value = torch.tensor(self.graph.constants[name].real())
                if name in trained:
                    self.register_parameter(names[name], nn.Parameter(value))
                else:
                    self.register_buffer(names[name], value)
        return names

    def _operand(self, name: str, values: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return values[name] if name in values else self.constant(name)

    def _range_of(self, value: str) -> str:
        """Key in `ranges` of a pooled layer's input; made if there is none."""
        node = self.graph.producers.get(value)
        while node is not None and isinstance(node.attrs, _MOVERS):
            node = self.graph.producers.get(node.first)
        if node is not None and isinstance(node.attrs, ops.Clip) and node.attrs.low == 0:
            self.ranges.setdefault(node.name, Range(node.attrs.high, signed=False))
            return node.name
        self.ranges.setdefault(value, Range(float("inf"), signed=True))
        return value


def logits_of(graph: Graph) -> str:
    """The value that training looks at: what a last Softmax or Sigmoid reads, or the output."""
    if len(graph.outputs) != 1:
        raise TrainingError(
            f"the network has {len(graph.outputs)} outputs; fine-tuning needs one, of classes",
            where=graph.name,
        )
    (output,) = graph.outputs
    return before_probabilities(graph, output)


def equal_classes(classes: int, teacher: Network) -> int:
    """The number of classes of a student.

    Raises:
        TrainingError: the teacher has another one.
    """
    if classes != teacher.classes:
        raise TrainingError(
            f"the teacher has {teacher.classes} classes, the network {classes}",
            where=teacher.graph.name,
            hint="give a teacher of the same classes",
        )
    return classes


def ends_in_sigmoid(graph: Graph) -> bool:
    """Whether each class has a probability of its own."""
    node = graph.producers.get(graph.outputs[0])
    while node is not None and isinstance(node.attrs, ops.Reshape):
        node = graph.producers.get(node.first)
    return node is not None and is_sigmoid(node.attrs)
