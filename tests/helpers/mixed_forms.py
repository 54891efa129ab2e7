"""Graphs whose layers end in several forms of requantization."""

from random_transformer import Layer

from edgec.base.dtypes import DType
from edgec.ir import QuantParams
from edgec.ir.graph import Value
from edgec.ir.infer import infer_shape

ONES = (1, 1)


class Mixed(Layer):
    """A chain of layers, each of which reads what the one before wrote."""

    def put(self, attrs: object, inputs: list[str], zero_point: int) -> str:
        graph = self.builder
        shapes = [{**graph.values, **graph.constants}[name].shape for name in inputs]
        shape = infer_shape(attrs, shapes)
        quant = QuantParams.per_tensor(0.05, zero_point)
        name = graph.value(Value(graph.fresh("y"), shape, DType.INT8, quant))
        graph.node(f"{name} node", attrs, inputs, [name])
        return name

    def zero_point(self, name: str) -> int:
        """The zero point of a value."""
        quant = self.builder.values[name].quant
        assert quant is not None
        return quant.tensor_zero_point
