"""An annotated graph that computes in integers and can be trained.

Each step has an integer graph of its own, made of the present weights and scales by the same
converters as a compile's.  Layers are computed in PyTorch, in exact sums; what moves codes moves
them; every other operator is computed by its definition (`qops`), and its gradient is that of the
real operator it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from torch import nn

from edgec.base.dtypes import Array
from edgec.base.errors import TrainingError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.finetune.integers.layer import IntegerLayer, as_codes
from edgec.finetune.network import logits_of
from edgec.finetune.operators import Operator, operator, unsupported
from edgec.interp import run_node
from edgec.ir import ops
from edgec.ir.fusion import act_bounds, fused_clip, is_fused_clip
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant import to_integer

Tensor: TypeAlias = torch.Tensor
_MOVERS = (ops.MaxPool, ops.Reshape, ops.Transpose, ops.Slice)
"""Operators that only move codes of their one operand, whatever its zero point."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A node without weights, with the Clip fused onto it.

    Attributes:
        node: the node.
        compute: the operator in real numbers.
        clip: the Clip, or None.
    """

    node: Node
    compute: Operator
    clip: ops.Clip | None


class IntegerNetwork(nn.Module):
    """Computes what the integer graph does, up to a last Softmax or Sigmoid.

    It takes any number of samples.

    Attributes:
        layers: the convolutions and matrix products by node name.
        output: the value of the graph that `forward` gives.
    """

    def __init__(self, annotated: Graph, real: Graph, open_values: Iterable[Sequence[str]]) -> None:
        """A network as annotated.

        Args:
            annotated: ANNOTATED stage.
            real: REAL stage with the same names of nodes.
            open_values: groups of values of one scale each, which is trained.

        Raises:
            TrainingError: an operator that cannot be trained, several outputs, nothing to train.
        """
        super().__init__()
        self.output = logits_of(annotated)
        self._graph = _with_biases(annotated)
        used = self._graph.replace(outputs=(self.output,)).pruned()
        self.layers: dict[str, IntegerLayer] = {}
        self._steps: list[IntegerLayer | _Function] = []
        self._outputs: dict[str, str] = {}
        reals = {node.name: node for node in real.nodes}
        for node in used.nodes:
            if is_fused_clip(used, node):
                continue
            clip = fused_clip(used, node)
            self._outputs[node.name] = node.output if clip is None else clip.output
            limits = None if clip is None else clip.attrs_as(ops.Clip)
            self._steps.append(self._step(node, limits, real, reals.get(node.name)))
        if not self.layers:
            raise TrainingError("no layer of the network has weights", where=annotated.name)
        self._modules_of_layers = nn.ModuleList(self.layers.values())
        self._hold_scales(used, open_values)
        self._integer = self._graph
        self._sources: dict[str, tuple[Node, ...]] = {}
        self._one_by_one: set[str] = set()
        self.convert()

    # -- parameters ------------------------------------------------------------------------------

    def latents(self) -> list[nn.Parameter]:
        """The weights."""
        return [layer.latent for layer in self.layers.values()]

    def biases(self) -> list[nn.Parameter]:
        """The biases."""
        return [layer.bias for layer in self.layers.values()]

    def scales(self) -> list[nn.Parameter]:
        """The logarithms of the factors by which scales changed: of weights, of activations."""
        return [*(layer.spread for layer in self.layers.values()), self.spread]

    def scale(self, value: str) -> Tensor:
        """The scale of an activation, float32 scalar."""
        start = self.get_buffer("start")[self._index[value]]
        place = self._trained.get(value)
        return start if place is None else start * torch.exp(self.spread[place])

    def annotated(self) -> Graph:
        """ANNOTATED stage, with the present constants and scales."""
        values = dict(self._graph.values)
        for name in self._trained:
            old = self._graph.quant(name)
            quant = QuantParams.per_tensor(float(self.scale(name).detach()), old.tensor_zero_point)
            values[name] = replace(values[name], quant=quant)
        constants = dict(self._graph.constants)
        for layer in self.layers.values():
            read = values[layer.node.first].quant
            assert read is not None
            for constant in layer.constants(read.tensor_scale):
                constants[constant.name] = constant
        return self._graph.replace(values=values, constants=constants)

    def convert(self) -> None:
        """Make the integer graph of the present constants and scales."""
        with torch.no_grad():
            self._integer = to_integer(self.annotated())
        for layer in self.layers.values():
            layer.take(self._integer, self._integer.producers[self._outputs[layer.node.name]])
        first = not self._sources
        for step in self._steps:
            if isinstance(step, _Function) and not isinstance(step.node.attrs, _MOVERS):
                output = self._outputs[step.node.name]
                self._sources[output] = self._chain(output)
                if first and not self._takes_batches(output):
                    self._one_by_one.add(output)

    # -- forward ---------------------------------------------------------------------------------

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Logits [N, classes] out of real inputs [N, ...] by graph input."""
        return self.codes(inputs) * self.scale(self.output)

    def codes(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Centred codes [N, classes] of `output`."""
        values = {name: self._input(name, x) for name, x in inputs.items()}
        for step in self._steps:
            first, output = step.node.first, self._outputs[step.node.name]
            if isinstance(step, IntegerLayer):
                values[output] = step(values[first], self.scale(first), self.scale(output))
            elif isinstance(step.node.attrs, _MOVERS):
                moved = ops.OneInput.Inputs(values[first])
                values[output] = step.compute(step.node.attrs, moved)
            else:
                values[output] = self._function(step, output, values)
        return values[self.output].flatten(1)

    def keep_within(self) -> None:
        """Undo the part of a step that took weights beyond the largest code."""
        for layer in self.layers.values():
            layer.keep_within()

    def _input(self, name: str, x: Tensor) -> Tensor:
        quant = self._graph.quant(name)
        zero = quant.tensor_zero_point
        steps = x.double() / quant.tensor_scale
        if quant.in_float32:
            # A quotient of floats in double precision rounds to that of float.
            steps = steps.float().double()
            codes = torch.copysign(torch.floor(steps.abs() + 0.5), steps)
        else:
            codes = torch.floor(steps + 0.5)
        return codes.clamp_(INT8_MIN - zero, INT8_MAX - zero).to(torch.float32)

    def _function(self, step: _Function, output: str, values: Mapping[str, Tensor]) -> Tensor:
        """A node by its definition in integers, with the gradient of the real operator."""
        node, quant = step.node, self._integer.quant(output)
        real = [self._real(name, values) if name else None for name in node.inputs]
        steps = step.compute(node.attrs, node.attrs.Inputs.of(real)) / self.scale(output)
        zero = quant.tensor_zero_point
        bounds = INT8_MIN, INT8_MAX
        if step.clip is not None:
            bounds = act_bounds(step.clip.low, step.clip.high, quant.tensor_scale, zero)
        centred = self._exact(output, values) - zero
        codes = torch.tensor(centred.astype(np.float32)).to(steps.device)
        return as_codes(steps, codes, bounds[0] - zero, bounds[1] - zero)

    def _real(self, name: str, values: Mapping[str, Tensor]) -> Tensor:
        if name in values:
            return values[name] * self.scale(name)
        return torch.tensor(self._graph.constants[name].real()).to(self.spread.device)

    # -- integers --------------------------------------------------------------------------------

    def _exact(self, output: str, values: Mapping[str, Tensor]) -> Array:
        """The codes of a value, int64, by the definitions of the nodes that compute it."""
        chain = self._sources[output]
        read = {name for node in chain for name in node.inputs if name in values}
        found = {name: self._stored(name, values[name]) for name in read}
        return self._computed(chain, found, batched=output not in self._one_by_one)

    def _stored(self, name: str, centred: Tensor) -> Array:
        codes = centred.detach().to(torch.int16) + self._graph.quant(name).tensor_zero_point
        return np.asarray(codes.to(torch.int8).cpu().numpy())

    def _computed(
        self, chain: Sequence[Node], found: Mapping[str, Array], *, batched: bool
    ) -> Array:
        if batched:
            every = dict(found)
            for node in chain:
                every[node.output] = run_node(self._integer, node, every)
            return every[chain[-1].output].astype(np.int64)
        count = len(next(iter(found.values())))
        one = [{name: x[i : i + 1] for name, x in found.items()} for i in range(count)]
        return np.concatenate([self._computed(chain, each, batched=True) for each in one])

    def _chain(self, output: str) -> tuple[Node, ...]:
        """The integer nodes between the values that steps compute and one of them, in order."""
        integer, known = self._integer, {*self._outputs.values(), *self._graph.inputs}
        needed, found = {output}, []
        for node in reversed(integer.nodes):
            if node.output in needed and (node.output == output or node.output not in known):
                found.append(node)
                needed.update(node.inputs)
        if not found:
            # The converter dropped a table that changed nothing; nobody trains such a network.
            node = self._graph.producers[output]
            unsupported(node, "its codes are those of its operand")
        return tuple(reversed(found))

    def _takes_batches(self, output: str) -> bool:
        """Whether the definitions of the nodes before a value take several samples at once."""
        chain = self._sources[output]
        made = {node.output for node in chain}
        names = {n for node in chain for n in node.inputs if n in self._integer.values} - made
        rng = np.random.default_rng(0)
        found = {}
        for name in sorted(names):
            shape = (2, *self._integer.shape(name)[1:])
            found[name] = rng.integers(INT8_MIN, INT8_MAX + 1, shape).astype(np.int8)
        try:
            together = self._computed(chain, found, batched=True)
        except (ValueError, IndexError):
            return False
        return np.array_equal(together, self._computed(chain, found, batched=False))

    # -- construction ----------------------------------------------------------------------------

    def _step(
        self, node: Node, clip: ops.Clip | None, real: Graph, original: Node | None
    ) -> IntegerLayer | _Function:
        if not isinstance(node.attrs, ops.Conv | ops.Gemm):
            return _Function(node, operator(node), clip)
        weight = None if original is None else real.constants[ops.layer_inputs(original).w]
        if weight is not None and (weight.quant is not None or weight.pooled is not None):
            unsupported(node, "its weights come as integers")
        layer = IntegerLayer(self._graph, weight, node)
        self.layers[node.name] = layer
        return layer

    def _hold_scales(self, used: Graph, open_values: Iterable[Sequence[str]]) -> None:
        """Scales of all values as buffers, and for those that are trained a parameter a group."""
        values = self._graph.values
        self._index = {name: place for place, name in enumerate(values)}
        start = [1.0 if v.quant is None else v.quant.tensor_scale for v in values.values()]
        self.register_buffer("start", torch.tensor(start, dtype=torch.float32))
        self._trained: dict[str, int] = {}
        groups = 0
        for members in open_values:
            if any(name in used.values for name in members) and not self._is_fixed(members):
                self._trained.update(dict.fromkeys(members, groups))
                groups += 1
        self.spread = nn.Parameter(torch.zeros(groups))

    def _is_fixed(self, members: Sequence[str]) -> bool:
        """Whether a group holds an input, or constants have its codes."""
        graph = self._graph
        nodes = [graph.producers[name] for name in members if name in graph.producers]
        moving = [node for node in nodes if node.attrs_as(RealOperator).moves_codes]
        coded = any(name in graph.constants for node in moving for name in node.inputs)
        padded = any(isinstance(node.attrs, ops.Pad) for node in nodes)
        return coded or padded or any(name in graph.inputs for name in members)


def _with_biases(graph: Graph) -> Graph:
    """Every layer with a bias."""
    constants, nodes = dict(graph.constants), {node.name: node for node in graph.nodes}
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Conv | ops.Gemm):
            continue
        inputs = ops.layer_inputs(node)
        if inputs.b is None:
            name = f"{node.name}/trained bias"
            zeros = np.zeros(graph.shape(inputs.w)[0], np.int32)
            constants[name] = Constant(name, zeros, graph.constants[inputs.w].quant)
            nodes[node.name] = replace(node, inputs=replace(inputs, b=name).names())
    return graph.replace(constants=constants, nodes=tuple(nodes.values()))
