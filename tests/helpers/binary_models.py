"""Binary networks as exporters write them, made with the ONNX helper; numpy arrays of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import Array

SIDE, CLASSES = 10, 5


class BinaryModel:
    """Collects the nodes of a network; images are [1, C, H, W]."""

    def __init__(self, seed: int, style: str) -> None:
        self.rng = np.random.default_rng(seed)
        self.style = style
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def whole(self, numbers: list[int]) -> str:
        """A constant of whole numbers."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def sign(self, x: str) -> str:
        """The sign of a tensor, in the style of the model."""
        one, less, zero = (self.constant(np.array(value)) for value in (1.0, -1.0, 0.0))
        match self.style:
            case "sign":
                return self.node("Sign", x)
            case "where":
                return self.node("Where", self.node("GreaterOrEqual", x, zero), one, less)
            case "twice":
                tenth = self.constant(np.array(0.1))
                return self.node("Sign", self.node("Add", self.node("Sign", x), tenth))
            case "cast":
                truth = self.node("GreaterOrEqual", x, zero)
                bits = self.node("Cast", truth, to=TensorProto.FLOAT)
                two = self.constant(np.array(2.0))
                return self.node("Sub", self.node("Mul", bits, two), one)
            case _:
                # A straight-through estimator: a - b + b.
                soft = self.node("Clip", x, less, one)
                return self.node("Add", self.node("Sub", self.node("Sign", x), soft), soft)

    def norm(self, x: str, channels: int, spread: float) -> str:
        """Batch normalization of sums with this spread; some factors are negative."""
        gamma = self.rng.choice([-1.0, 1.0], channels) * self.rng.uniform(0.5, 1.5, channels)
        numbers = gamma, self.rng.normal(0, 0.5, channels), self.rng.normal(0, spread / 4, channels)
        variance = spread**2 * self.rng.uniform(0.5, 2.0, channels)
        return self.node("BatchNormalization", x, *map(self.constant, (*numbers, variance)))

    def binary(
        self,
        x: str,
        inputs: int,
        outputs: int,
        stride: int = 1,
        kernel: int = 3,
        pad: int | None = None,
    ) -> str:
        """A convolution of signs by weights of one magnitude a filter, and a normalization.

        Zeros are padded so that a stride of 1 keeps the size; or as many as `pad` says.
        """
        signs = self.rng.choice([-1.0, 1.0], (outputs, inputs, kernel, kernel))
        scale = self.rng.uniform(0.02, 0.3, (outputs, 1, 1, 1))
        pad = kernel // 2 if pad is None else pad
        y = self.node("Conv", x, self.constant(signs * scale), strides=[stride] * 2, pads=[pad] * 4)
        return self.norm(y, outputs, 0.15 * np.sqrt(inputs) * kernel)

    def save(self, y: str, path: Path) -> Path:
        """Write the model with an input "x" [1, 3, SIDE, SIDE] and the output y."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
        out = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "binary", [x], [out], self.constants)
        opsets = [helper.make_opsetid(*each) for each in (("", 17), ("qonnx.custom_op.general", 1))]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path


def network(path: Path, style: str = "where", seed: int = 0) -> Path:
    """Convolutions of signs: one after another, beside a residual, with stride 2, and a dense one.

    The second one reads signs of what the first one gives, which nobody else reads.
    """
    m = BinaryModel(seed, style)
    first = m.constant(m.rng.normal(0, 0.3, (20, 3, 3, 3)))
    x = m.norm(m.node("Conv", "x", first, pads=[1] * 4), 20, 1.5)
    x = m.binary(m.sign(x), 20, 36)
    x = m.binary(m.sign(x), 36, 40)
    y = m.binary(m.sign(x), 40, 40)
    x = m.node("Add", y, x)
    x = m.binary(m.sign(x), 40, 48, stride=2)
    x = m.node("Flatten", m.sign(x))
    signs = m.rng.choice([-0.1, 0.1], (CLASSES, 48 * (SIDE // 2) ** 2))
    y = m.node("Gemm", x, m.constant(signs), m.constant(m.rng.normal(0, 1, CLASSES)), transB=1)
    return m.save(y, path)


def images(count: int, seed: int = 1) -> Array:
    """Noise, float32 [N, 3, SIDE, SIDE]."""
    shape = (count, 3, SIDE, SIDE)
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)
