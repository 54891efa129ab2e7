"""What quantization adds to an export: Q/DQ pairs on activations, integer inputs and outputs."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.exporters.onnx.state import Emitter
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Value
from edgec.ir.integer_io import integer_io_dtype
from edgec.ir.qparams import QuantParams


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
        quant = self._io_quant(name)
        if quant is None:
            return self.settle(name, tensor)
        inputs, attrs = self._shared(name, quant)
        return self.emit(self.names[name], "DequantizeLinear", [tensor, *inputs], **attrs)

    def same_quant(self, first: str, second: str) -> bool:
        """True when the parameters of both values agree."""
        values = self.graph.values
        return values[first].quant == values[second].quant

    def output_tensor(self, name: str, perm: tuple[int, ...] | None) -> str:
        """The integer codes if the original model's output was an integer."""
        tensor, quant = super().output_tensor(name, perm), self._io_quant(name)
        if quant is None:
            return tensor
        if quant == self.graph.values[name].quant and tensor in self._codes:
            return self._codes[tensor]
        inputs, attrs = self._shared(name, quant)
        return self.emit(self.names[name], "QuantizeLinear", [tensor, *inputs], **attrs)

    def input_dtype(self, value: Value) -> DType:
        """The model's own integer type for integer inputs."""
        quant = self._io_quant(value.name)
        return super().input_dtype(value) if quant is None else quant.dtype

    def output_dtype(self, value: Value) -> DType:
        """The model's own integer type for integer outputs."""
        quant = self._io_quant(value.name)
        return super().output_dtype(value) if quant is None else quant.dtype

    def _io_quant(self, name: str) -> QuantParams | None:
        """Parameters of an input or output that is integer in the original model."""
        dtype, quant = integer_io_dtype(self.graph, name), self.graph.values[name].quant
        if dtype is None or quant is None:
            return None
        if dtype is not DType.UINT8:
            return quant
        # absorb_qdq moved unsigned codes by 128.
        zero_point = quant.tensor_zero_point + 128
        return QuantParams.per_tensor(quant.tensor_scale, zero_point, DType.UINT8)

    def _shared(self, stem: str, quant: QuantParams) -> tuple[list[str], dict[str, int]]:
        if quant not in self._parameters:
            self._parameters[quant] = self.quant_parameters(stem, quant)
        return self._parameters[quant]


def is_fused_away(graph: Graph, name: str) -> bool:
    """True for the value between an operator and the Clip that is fused onto it."""
    producer = graph.producers.get(name)
    return producer is not None and fused_clip(graph, producer) is not None
