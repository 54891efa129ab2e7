"""ONNX models of single layers (`shape_layers.py`), side by side.

Each layer has an input and an output of its own, so that nothing is joined with its neighbours.
Two kinds of layers have another one before them, as in networks, whose cycles do not count: queries
of attention come from a matrix product, and images that are averaged as a whole have their channels
last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from shape_layers import Shape

_OPSET = 17
_PACKED_OPSET = 21
"""The first one with elements of four bits."""
_SAMPLES = 4
_MOST_CODE = 7
_MATRIX = 2
"""Axes from which on weights are a matrix."""


class _Model:
    """Nodes, constants, inputs and outputs of a model that grows."""

    def __init__(self, packed: bool) -> None:
        self.packed = packed
        self.rng = np.random.default_rng(5)
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.data: dict[str, np.ndarray] = {}

    def add(self, number: int, shape: Shape) -> None:
        """A layer; its node is called `layer_NUMBER`."""
        names = [f"x{number}_{each}" for each in range(shape.inputs)]
        for name in names:
            self.data[name] = self.rng.normal(size=(_SAMPLES, *shape.x[1:])).astype(np.float32)
            self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape.x))
        names += [self.weights(f"w{number}_{n}", size) for n, size in enumerate(shape.weights)]
        y = f"y{number}"
        self.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))
        attributes = dict(shape.attributes)
        if shape.op == "Attention":
            self.attention(number, names, y, shape.x[-1])
            return
        if shape.op == "GlobalAveragePool":
            names = [self.channels_last(number, names[0])]
        if "sizes" in attributes:
            sizes = np.asarray(attributes.pop("sizes"), np.int64)
            names += ["", "", self.constant(f"sizes{number}", sizes)]
        self.nodes.append(helper.make_node(shape.op, names, [y], f"layer_{number}", **attributes))

    def attention(self, number: int, names: Sequence[str], y: str, depth: int) -> None:
        """Softmax of the scaled products of rows of the first two, times the third one."""
        x, k, v = names
        q = f"q{number}"
        weights = self.weights(f"projection{number}", (depth, depth))
        self.nodes.append(helper.make_node("MatMul", [x, weights], [q], f"before_{number}"))
        turned, scores, scaled, shares = (f"t{number}_{step}" for step in range(4))
        factor = self.constant(f"factor{number}", np.float32(1 / math.sqrt(depth)))
        for op, inputs, output, attributes in (
            ("Transpose", [k], turned, {"perm": (0, 1, 3, 2)}),
            ("MatMul", [q, turned], scores, {}),
            ("Mul", [scores, factor], scaled, {}),
            ("Softmax", [scaled], shares, {"axis": -1}),
            ("MatMul", [shares, v], y, {}),
        ):
            name = f"layer_{number}" if output == y else f"layer_{number}_{op}"
            self.nodes.append(helper.make_node(op, inputs, [output], name, **attributes))

    def channels_last(self, number: int, name: str) -> str:
        """The image with its channels first, of an input that has them last."""
        self.data[name] = np.moveaxis(self.data[name], 1, -1)
        shape = 1, *self.data[name].shape[1:]
        self.inputs[-1] = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        image = f"image{number}"
        turn = helper.make_node("Transpose", [name], [image], f"before_{number}", perm=(0, 3, 1, 2))
        self.nodes.append(turn)
        return image

    def constant(self, name: str, array: np.ndarray) -> str:
        """The name of a new constant."""
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, name: str, size: tuple[int, ...]) -> str:
        """The name of normal numbers; of codes of four bits and one scale where they are packed."""
        matrix = len(size) >= _MATRIX
        scale = 1 / math.sqrt(math.prod(size[1:]) or 1) if matrix else 0.1
        array = (self.rng.normal(size=size) * scale).astype(np.float32)
        if not (self.packed and matrix):
            return self.constant(name, array)
        step = np.float32(np.abs(array).max() / _MOST_CODE)
        codes = np.round(array / step).astype(np.int8)
        packed = helper.make_tensor(f"{name}_codes", TensorProto.INT4, size, codes.ravel())
        self.constants.append(packed)
        scales = self.constant(f"{name}_scale", step)
        self.nodes.append(helper.make_node("DequantizeLinear", [packed.name, scales], [name]))
        return name


def model_of(
    shapes: Sequence[Shape], packed: bool = False
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Layers side by side; node number n is called `layer_n`, further ones of it `layer_n_OP`.

    Args:
        shapes: the layers.
        packed: weights have four bits.

    Returns:
        The model, and calibration data [4, ...] by input name.
    """
    made = _Model(packed)
    for number, shape in enumerate(shapes):
        made.add(number, shape)
    graph = helper.make_graph(made.nodes, "shapes", made.inputs, made.outputs, made.constants)
    opset = helper.make_opsetid("", _PACKED_OPSET if packed else _OPSET)
    ir_version = 10 if packed else 8
    model = helper.make_model(graph, opset_imports=[opset], ir_version=ir_version)
    return onnx.shape_inference.infer_shapes(model), made.data
