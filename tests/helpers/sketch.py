"""Graphs of the real stage, one operator a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.qparams import QuantParams


class Sketch:
    """A GraphBuilder that infers shapes: `y = sketch(ops.Conv(), x, w, b)`."""

    def __init__(self, name: str = "sketch", seed: int = 0) -> None:
        self.builder = GraphBuilder(name)
        self.rng = np.random.default_rng(seed)

    def input(self, name: str, *shape: int, quant: QuantParams | None = None) -> str:
        self.builder.inputs.append(name)
        return self.builder.value(Value(name, shape, quant=quant))

    def const(self, name: str, array: Array, quant: QuantParams | None = None) -> str:
        array = np.asarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        return self.builder.constant(name, array, quant)

    def normal(self, name: str, *shape: int, scale: float = 1.0) -> str:
        return self.const(name, self.rng.normal(size=shape) * scale)

    def __call__(
        self, attrs: Any, *inputs: str, name: str = "", quant: QuantParams | None = None
    ) -> str:
        shapes = []
        for tensor in inputs:
            found = self.builder.values.get(tensor) or self.builder.constants.get(tensor)
            shapes.append(found.shape if found else None)
        shape = infer_shape(attrs, shapes)
        stem = name or type(attrs).__name__.lower()
        output = self.builder.fresh(stem)
        integers = attrs.gives_integers
        dtype = DType.INT32 if integers else DType.FLOAT32
        self.builder.value(Value(output, shape, dtype, quant))
        self.builder.node(f"{output}_node", attrs, inputs, (output,))
        return output

    def graph(self, *outputs: str) -> Graph:
        self.builder.outputs = list(outputs)
        return self.builder.build()
