"""What quantization adds to an export: Q/DQ pairs on activations, DQ on weights and biases."""

from __future__ import annotations

import numpy as np

from edgec.dtypes import Array, DType
from edgec.errors import InternalError
from edgec.frontend.onnx_export_state import Emitter, Layout
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams

INTEGER_IO = "edgec.integer_io."
"""Prefix of the metadata that names inputs and outputs with integer elements in the original."""


class QdqEmitter(Emitter):
    """An `Emitter` whose values pass through QuantizeLinear and DequantizeLinear."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._parameters: dict[QuantParams, tuple[list[str], dict[str, int]]] = {}
        self._codes: dict[str, str] = {}

    def settle(self, name: str, tensor: str) -> str:
        """Quantize and dequantize, unless the value exists only inside a fused operator."""
        value = self.graph.values[name]
        if value.quant is None or is_fused_away(self.graph, name):
            return tensor
        inputs, attrs = self._shared(name, value.quant)
        codes = self.emit(self.names[name], "QuantizeLinear", [tensor, *inputs], **attrs)
        real = self.emit(self.names[name], "DequantizeLinear", [codes, *inputs], **attrs)
        self._codes[real] = codes
        return real

    def settle_input(self, name: str, tensor: str) -> str:
        """An integer input is dequantized only."""
        value = self.graph.values[name]
        if value.quant is None or not self._is_integer(name):
            return self.settle(name, tensor)
        inputs, attrs = self._shared(name, value.quant)
        real = self.emit(self.names[name], "DequantizeLinear", [tensor, *inputs], **attrs)
        self._codes[real] = tensor
        return real

    def operand(self, name: str, layout: Layout) -> str:
        """A quantized constant as DequantizeLinear of its codes; a float one as it is."""
        constant = self.graph.constants[name]
        if constant.quant is None:
            return self.parameter(name, layout)
        key = (name, layout)
        if key not in self._cached:
            array = self.oriented(constant.array, layout)
            self._cached[key] = self._dequantized(name, array, constant.quant)
        return self._cached[key]

    def weight(self, name: str, perm: tuple[int, ...]) -> str:
        """A weight or bias as DequantizeLinear of its codes, per channel."""
        constant = self.graph.constants[name]
        if constant.quant is None:
            raise InternalError("weight has no quantization", where=name)
        key = (name, perm)
        if key not in self._cached:
            quant = constant.quant
            axis = None if quant.axis is None else perm.index(quant.axis)
            moved = QuantParams(quant.scale, quant.zero_point, quant.dtype, axis)
            self._cached[key] = self._dequantized(name, constant.array.transpose(perm), moved)
        return self._cached[key]

    def same_quant(self, first: str, second: str) -> bool:
        """True when the parameters of both values agree."""
        values = self.graph.values
        return values[first].quant == values[second].quant

    def output_tensor(self, name: str, perm: tuple[int, ...] | None) -> str:
        """The integer codes if the original model's output was an integer."""
        tensor = super().output_tensor(name, perm)
        return self._codes[tensor] if self._is_integer(name) and tensor in self._codes else tensor

    def input_dtype(self, value: Value) -> DType:
        """The quantized type for integer inputs."""
        return self._io_dtype(value)

    def output_dtype(self, value: Value) -> DType:
        """The quantized type for integer outputs."""
        return self._io_dtype(value) if value.quant else super().output_dtype(value)

    def _io_dtype(self, value: Value) -> DType:
        if value.quant is not None and self._is_integer(value.name):
            return value.quant.dtype
        return value.dtype

    def _is_integer(self, name: str) -> bool:
        return INTEGER_IO + name in self.graph.metadata

    def _shared(self, stem: str, quant: QuantParams) -> tuple[list[str], dict[str, int]]:
        if quant not in self._parameters:
            self._parameters[quant] = self.quant_parameters(stem, quant)
        return self._parameters[quant]

    def _dequantized(self, name: str, codes: Array, quant: QuantParams) -> str:
        inputs, attrs = self.quant_parameters(name, quant)
        stored = self.initializer(name, np.asarray(codes, quant.dtype.numpy))
        return self.emit(name, "DequantizeLinear", [stored, *inputs], **attrs)


def is_fused_away(graph: Graph, name: str) -> bool:
    """True for the value between an operator and the Clip that is fused onto it."""
    producer = graph.producers.get(name)
    return producer is not None and fused_clip(graph, producer) is not None
