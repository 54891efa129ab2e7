"""The graph that a front of any file format builds, node by node of its file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError
from edgec.base.limits import MAX_ELEMENTS, MAX_RANK
from edgec.importers.common.attributes import axis_last, inverse
from edgec.importers.common.pins import Pin
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant, same_array
from edgec.ir import ops
from edgec.ir.graph import Constant, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.qparams import QuantParams


@dataclass(frozen=True, slots=True)
class SourceNode:
    """One node of a file, by the names that the file uses.

    Attributes:
        name: what messages call it.
        op: the file's name of its operator.
        inputs: tensors that it reads; absent optional ones are left out.
        weights: those of its inputs that count as parameters of the model if they are constant.
        outputs: tensors that it computes, "" where one is absent.
        declared: its outputs as far as the file says shape and element type.
        shape: shape of its first output; None where the file does not say it.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    weights: tuple[str, ...]
    outputs: tuple[str, ...]
    declared: tuple[Value, ...] = ()
    shape: tuple[int, ...] | None = None


class RealBuilder:
    """A REAL graph under construction.

    Attributes:
        builder: receives values, constants and nodes.
        tensors: every tensor of the file that was translated so far, by its name there.
        pins: what codes mean where the file says so, to be spread over data movement afterwards.
    """

    def __init__(self, name: str, reserved: frozenset[str]) -> None:
        self.builder = GraphBuilder(name)
        self.tensors: dict[str, Tensor] = {}
        self.pins: list[Pin] = []
        self._reserved = reserved
        self._node: SourceNode | None = None
        self._recent: list[str] = []
        self._constants: dict[str, list[Constant]] = {}

    def begin(self, node: SourceNode) -> None:
        """Attribute all nodes emitted from now on to `node` of the file."""
        self._node = node
        self._recent = []

    @property
    def current(self) -> SourceNode:
        """The node that what is emitted stands for."""
        return self._current()

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names of the file for its own tensors."""
        self._reserved |= frozenset(names)

    def emit(
        self,
        attrs: Any,
        *inputs: Tensor | None,
        dtype: DType | None = None,
        quant: QuantParams | None = None,
    ) -> Value:
        """Add a node; its output.

        Args:
            attrs: operator of `ir.ops`.
            inputs: its inputs, None for an absent optional one.
            dtype: element type of the output, by default that of the first input.
            quant: quantization of the output.

        Raises:
            ImportModelError: the shapes do not fit the operator.
            UnsupportedError: the output is empty or has more elements than 32 bits can index.
        """
        node = self._current()
        shapes = [tensor.shape if tensor is not None else None for tensor in inputs]
        shape = infer_shape(attrs, shapes)
        _check_size(shape)
        first = inputs[0]
        if dtype is None:
            dtype = first.dtype if isinstance(first, Value) else DType.FLOAT32
        stem = node.outputs[0] if node.outputs else node.name
        name = self.fresh(f"{stem}/{type(attrs).__name__}")
        output = Value(name, shape, dtype, quant)
        self.builder.value(output)
        names = [self._operand(tensor) for tensor in inputs]
        made = self.builder.node(node.name, attrs, names, (name,), (node.name,))
        self._recent.append(made.name)
        return output

    def bind(self, name: str, tensor: Tensor) -> None:
        """Bind `name` of the file to `tensor`; a tensor made by the current node takes the name."""
        if isinstance(tensor, Value) and tensor.name not in self._reserved and self._is_new(tensor):
            tensor = self._rename(tensor, name)
        self.tensors[name] = tensor

    def _is_new(self, value: Value) -> bool:
        """Whether the current node has made a value; Identity in a loop only passes one on."""
        return any(value.name in self.builder.nodes[key].outputs for key in self._recent)

    def fresh(self, stem: str) -> str:
        """A tensor name that neither the graph nor the model uses."""
        name, number = self.builder.fresh(stem), 0
        while name in self._reserved:
            number += 1
            name = self.builder.fresh(f"{stem}#{number}")
        return name

    def producer(self, x: Value) -> Node | None:
        """The node that computes x; None for a graph input."""
        return next((n for n in self.builder.nodes.values() if x.name in n.outputs), None)

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        """X with axes permuted; of a constant at once."""
        perm = tuple(perm)
        if perm == tuple(range(len(x.shape))):
            return x
        if isinstance(x, Constant):
            return moved_constant(x, lambda array: array.transpose(perm))
        return self.emit(ops.Transpose(perm), x)

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """X with another shape; of a constant at once."""
        shape = tuple(int(dim) for dim in shape)
        if shape == x.shape:
            return x
        if isinstance(x, Constant):
            _check_size(shape)
            infer_shape(ops.Reshape(shape), [x.shape])
            return moved_constant(x, lambda array: array.reshape(shape))
        return self.emit(ops.Reshape(shape), x)

    def axis_last(self, x: Tensor, axis: int) -> Tensor:
        """X with `axis` moved to the end."""
        return self.transpose(x, axis_last(len(x.shape), axis))

    def axis_back(self, y: Tensor, axis: int) -> Tensor:
        """The inverse of `axis_last`."""
        return self.transpose(y, inverse(axis_last(len(y.shape), axis)))

    def _current(self) -> SourceNode:
        if self._node is None:
            raise InternalError("a node was emitted outside a handler")
        return self._node

    def _operand(self, tensor: Tensor | None) -> str:
        """Name of an input of a new node; constants join the graph here, equal ones once."""
        if tensor is None:
            return ""
        if isinstance(tensor, Value):
            return tensor.name
        kin = self._constants.setdefault(tensor.name, [])
        for known in kin:
            if known.quant == tensor.quant and same_array(known.array, tensor.array):
                return known.name
        # The model's own name stays with the first constant made of a tensor.
        name = self.fresh(tensor.name) if kin else tensor.name
        self.builder.constant(
            name, tensor.array, tensor.quant, pooled=tensor.pooled, keep_name=True
        )
        kin.append(self.builder.constants[name])
        return name

    def _rename(self, value: Value, name: str) -> Value:
        """Give a value made by the current node another name; only nodes made with it know it."""
        renamed = replace(value, name=name)
        for key in self._recent:
            node = self.builder.nodes[key]
            outputs = tuple(name if out == value.name else out for out in node.outputs)
            inputs = tuple(name if i == value.name else i for i in node.inputs)
            self.builder.put(replace(node, inputs=inputs, outputs=outputs))
        del self.builder.values[value.name]
        self.builder.value(renamed)
        return renamed


def _check_size(shape: tuple[int, ...]) -> None:
    if len(shape) > MAX_RANK:
        raise UnsupportedError(f"the output has {len(shape)} dimensions", "use 8 at most")
    if math.prod(shape) > MAX_ELEMENTS:
        raise UnsupportedError(f"the output {list(shape)} is too large", "use smaller tensors")
    if 0 in shape:
        raise UnsupportedError(f"the output {list(shape)} is empty", "leave the node out")
