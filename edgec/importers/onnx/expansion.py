"""Expansion of composite nodes into simpler ones, before any other step of the import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.importers.common.boundary import library_call

STANDARD = ("", "ai.onnx")
FIRST, LAST = [0, 3, 1, 2], [0, 2, 3, 1]
"""Orders of axes that bring the channels of images from the last place to the second, and back."""


class _Tensors:
    """Stored tensors, producers and names of a graph.

    Attributes:
        stored: everything that is stored, initializers and Constant nodes, by name.
        producers: the nodes that compute tensors, by their outputs.
        read: names that nodes read, and outputs of the graph.
        names: all names in use; grows with those of new tensors.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self._model = model
        self._shapes: dict[str, tuple[int, ...]] | None = None
        self.stored = {tensor.name: tensor for tensor in graph.initializer}
        self.producers = {name: node for node in graph.node for name in node.output}
        for node in graph.node:
            if node.op_type == "Constant":
                values = (a.t for a in node.attribute if a.name == "value")
                self.stored.update((node.output[0], value) for value in values)
        self.names = {info.name for info in graph.input} | set(self.stored) | set(self.producers)
        self.read = {name for node in graph.node for name in node.input}
        self.read |= {info.name for info in graph.output}
        self.names |= self.read

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Sizes of a tensor, 0 where one is open, as far as ONNX knows what comes before it."""
        if name in self.stored:
            return tuple(self.stored[name].dims)
        if self._shapes is None:
            with library_call("the shapes of the model make no sense"):
                graph = onnx.shape_inference.infer_shapes(self._model).graph
            infos = (*graph.input, *graph.value_info)
            kinds = {info.name: info.type.tensor_type for info in infos}
            known = {name: kind.shape.dim for name, kind in kinds.items() if kind.HasField("shape")}
            self._shapes = {n: tuple(dim.dim_value for dim in dims) for n, dims in known.items()}
        return self._shapes.get(name)


class Expansion:
    """Writes what one node stands for.

    Attributes:
        node: the node that is replaced.
        opset: version of ONNX's own operators in this model.
        attributes: the node's attributes by name.
    """

    def __init__(
        self,
        node: onnx.NodeProto,
        opset: int,
        tensors: _Tensors,
    ) -> None:
        self.node, self.opset = node, opset
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._tensors = tensors

    def input(self, index: int) -> str:
        """Name of an input, "" if it is absent."""
        return self.node.input[index] if index < len(self.node.input) else ""

    def array(self, name: str) -> Array | None:
        """Value of a stored tensor by name; None if the tensor is computed."""
        tensor = self._tensors.stored.get(name)
        if tensor is None:
            return None
        with library_call("a tensor cannot be read"):
            return np.asarray(numpy_helper.to_array(tensor))

    def producer(self, name: str) -> onnx.NodeProto | None:
        """The node of the file that computes a tensor."""
        return self._tensors.producers.get(name)

    def rank(self, name: str) -> int | None:
        """Number of axes of a tensor of the file; None if that is not known yet."""
        shape = self.shape(name)
        return None if shape is None else len(shape)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Sizes of a tensor of the file, 0 where one is open; None if they are not known yet."""
        return self._tensors.shape(name)

    def is_read(self, name: str) -> bool:
        """Whether a node of the file reads a tensor, or it is an output."""
        return name in self._tensors.read

    def constant(self, array: Array, stem: str) -> str:
        """Name of a new constant."""
        name = self._fresh(stem)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def add(
        self, op: str, inputs: list[str], output: str = "", name: str = "", **attributes: Any
    ) -> str:
        """Name of the output of a new node."""
        output = output or self._fresh(f"{self.node.output[0]}/{op}")
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def main(self, op: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Name of the output of the new node that has the name of the old one."""
        return self.add(op, inputs, output, self.node.name, **attributes)

    def size(self, name: str, axis: int) -> str:
        """Name of the length of an axis of a tensor, int64 [1], known once shapes are."""
        return self.add("Gather", [self.add("Shape", [name]), self.whole(axis)], axis=0)

    def whole(self, *numbers: int) -> str:
        """Name of a new constant, int64 [count]."""
        return self.constant(np.asarray(numbers, np.int64), "whole")

    def _fresh(self, stem: str) -> str:
        name, number = stem, 0
        while name in self._tensors.names:
            number += 1
            name = f"{stem}#{number}"
        self._tensors.names.add(name)
        return name


Rule = Callable[[Expansion], bool]
"""Write the expansion of a node; False where this form of the node is not known."""


def expand(model: onnx.ModelProto, rules: Mapping[tuple[str, str], Rule]) -> None:
    """Replace the nodes of a model's graph for which there are rules, in place.

    Args:
        model: screened, so that its nodes are in topological order.
        rules: by domain and operator; the domain of ONNX's own operators is "".
    """
    graph = model.graph
    if not any(_key(node) in rules for node in graph.node):
        return
    versions = [o.version for o in model.opset_import if o.domain in STANDARD]
    tensors = _Tensors(model)
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        rule = rules.get(_key(node))
        expansion = Expansion(node, versions[0], tensors)
        if rule is None or not rule(expansion):
            nodes.append(node)
            continue
        nodes.extend(expansion.nodes)
        graph.initializer.extend(expansion.initializers)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def _key(node: onnx.NodeProto) -> tuple[str, str]:
    return "" if node.domain in STANDARD else node.domain, node.op_type
