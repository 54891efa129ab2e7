"""One ONNX node as the operator handlers read it.

State that the operator handlers share: the graph they write, and the model's weight pools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import onnx
import onnx_ir as ir

from edgec.base.dtypes import Array
from edgec.base.names import node_label
from edgec.importers.common.loops import LoopBuilder
from edgec.importers.common.tensors import (
    Tensor,
    UnknownTensorError,
    UnsupportedError,
    require_data,
    require_real,
)
from edgec.importers.common.turned import Turned
from edgec.importers.onnx.weight_pools import Pools
from edgec.ir.graph import Constant, Value


class OnnxNode:
    """One node as the handlers read it: inputs as tensors, attributes with their defaults."""

    def __init__(
        self,
        node: ir.Node,
        opset: int,
        tensors: Mapping[str, Tensor],
        turned: Mapping[str, Tensor] = MappingProxyType({}),
    ) -> None:
        self._node = node
        self._turned = turned
        self._tensors = tensors
        self.opset = opset
        self.op = node.op_type
        self.outputs = tuple(value.name or "" for value in node.outputs)
        self.name = node_label(node.name or "", node.op_type, self.outputs[0])

    @property
    def input_count(self) -> int:
        """Number of inputs, absent ones in the middle included."""
        return len(self._node.inputs)

    def has(self, index: int) -> bool:
        """True when an input is present."""
        return index < len(self._node.inputs) and bool(self.input_name(index))

    def input_name(self, index: int) -> str:
        """ONNX name of an input, "" if absent."""
        value = self._node.inputs[index]
        return (value.name or "") if value is not None else ""

    def tensor(self, index: int) -> Tensor:
        """An input, run-time value or constant.

        Raises:
            UnsupportedError: the input is absent.
            UnknownTensorError: an unsupported node computes it.
        """
        if not self.has(index):
            raise UnsupportedError(f"input {index} is absent", "export the model again")
        found = self._tensors.get(self.input_name(index))
        if found is None:
            raise UnknownTensorError(self.input_name(index))
        return found

    def any_tensor(self, index: int) -> Tensor:
        """As `tensor`, constants that differ from turn to turn as such."""
        if self.has(index) and self.input_name(index) in self._turned:
            return self._turned[self.input_name(index)]
        return self.tensor(index)

    def whole_number(self, index: int, what: str) -> int:
        """A constant input of one whole number or truth value."""
        array = self.constant(index, what).array
        if array.size != 1 or array.dtype.kind not in "iub":
            raise UnsupportedError(f"{what} is no whole number", "correct the model")
        return int(array.reshape(-1)[0])

    def value(self, index: int) -> Value:
        """A run-time input of any element type."""
        found = self.tensor(index)
        if isinstance(found, Constant):
            raise UnsupportedError(
                f"input {index} is a constant, which only weights and operands may be",
                "fold constants before the export (e.g. with onnxsim)",
            )
        return found

    def data_value(self, index: int) -> Value:
        """A run-time input of real numbers or of their codes."""
        return require_data(self.value(index))

    def real_value(self, index: int) -> Value:
        """A run-time input of real numbers."""
        return require_real(self.value(index))

    def constant(self, index: int, what: str) -> Constant:
        """An input that must be known at compile time."""
        found = self.tensor(index)
        if isinstance(found, Value):
            raise UnsupportedError(
                f"{what} is computed at run time", f"export the model with a constant {what}"
            )
        if isinstance(found, Turned):
            raise UnsupportedError(f"{what} differs from turn to turn", f"use a constant {what}")
        return found

    def real_array(self, index: int, what: str) -> Array:
        """A constant input as float32 numbers."""
        return self.constant(index, what).real()

    def ints_input(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input as a flat list of integers."""
        return tuple(int(i) for i in self.constant(index, what).array.reshape(-1))

    def float_input(self, index: int, what: str) -> float:
        """A constant input of one element."""
        array = self.real_array(index, what)
        if array.size != 1:
            raise UnsupportedError(f"{what} has {array.size} elements", f"use one {what} value")
        return float(array.reshape(-1)[0])

    def axes_input(self, attribute: str, index: int) -> tuple[int, ...] | None:
        """Integers that older opsets give as an attribute and newer ones as an input."""
        if self.has(index):
            return self.ints_input(index, attribute)
        return self.integers(attribute)

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        return int(self._node.attributes.get_int(name, default))

    def flag(self, name: str, default: bool) -> bool:
        """An attribute that is 0 or 1.

        Raises:
            UnsupportedError: it is another number, which runtimes read one way or the other.
        """
        found = self.integer(name, int(default))
        if found not in (0, 1):
            raise UnsupportedError(f"{name} is {found}, neither 0 nor 1", "correct the model")
        return bool(found)

    def integers(self, name: str) -> tuple[int, ...] | None:
        """An attribute of integers; None when absent."""
        found = self._node.attributes.get_ints(name)
        return None if found is None else tuple(int(i) for i in found)

    def number(self, name: str, default: float) -> float:
        """A float attribute."""
        return float(self._node.attributes.get_float(name, default))

    def numbers(self, name: str) -> tuple[float, ...] | None:
        """An attribute of floats; None when absent."""
        found = self._node.attributes.get_floats(name)
        return None if found is None else tuple(float(f) for f in found)

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        try:
            return str(self._node.attributes.get_string(name, default))
        except TypeError as error:  # its bytes are no UTF-8
            raise UnsupportedError(f"{name} is not text", "correct the model") from error

    def texts(self, name: str) -> tuple[str, ...]:
        """An attribute of strings; empty when absent."""
        try:
            return tuple(str(text) for text in self._node.attributes.get_strings(name) or ())
        except TypeError as error:  # their bytes are no UTF-8
            raise UnsupportedError(f"{name} is not text", "correct the model") from error

    def proto(self) -> onnx.NodeProto:
        """The node as ONNX has it."""
        return ir.serde.serialize_node(self._node)

    def body(self, name: str) -> ir.Graph:
        """An attribute that is a graph."""
        found = self._node.attributes.get(name)
        if found is None or not isinstance(found.value, ir.Graph):
            raise UnsupportedError(f"it has no {name}", "correct the model")
        return found.value

    def known(self, index: int) -> Tensor | None:
        """An input as far as it was translated: None for texts, which no graph holds."""
        return self._tensors.get(self.input_name(index)) if self.has(index) else None

    def leads_to_outputs(self) -> bool:
        """True when what the node computes is only renamed, reshaped or cast to outputs."""
        pending = list(self._node.outputs)
        while pending:
            for node, _ in pending.pop().uses():
                if node.op_type not in ("Cast", "Identity", "Reshape", "Squeeze", "LabelEncoder"):
                    return False
                pending += node.outputs
        return True

    def is_used(self, index: int) -> bool:
        """True when some node, or the model's outputs, reads output `index`."""
        if index >= len(self._node.outputs):
            return False
        value = self._node.outputs[index]
        return bool(value.uses()) or value.is_graph_output()

    def onnx_dtype(self, index: int) -> ir.DataType | None:
        """Element type of an input as the model has it."""
        value = self._node.inputs[index]
        return value.dtype if value is not None else None


Translate = Callable[[ir.Graph, str, Sequence[Tensor]], tuple[Tensor | None, ...]]
"""Translates a body; told the prefix of its names and its inputs, gives its outputs."""


class Context(LoopBuilder):
    """The graph under construction.

    Attributes:
        pools: weight pools, and what was looked up in them.
        translate: translates the body of a node; None for an output that could not be translated.
    """

    translate: Translate

    def __init__(self, name: str, reserved: frozenset[str]) -> None:
        super().__init__(name, reserved)
        self.pools = Pools()
