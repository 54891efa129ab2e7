"""Small networks with a window of time, as keyword spotting has them, as ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT
_NORM = ((0.8, 1.2), (-0.1, 0.1))
"""Least and largest factors and offsets of a layer norm."""


class Net:
    """Builds a network whose input is ``x``; frames are the last axis, as PyTorch has it."""

    def __init__(self, *shape: int, seed: int = 0) -> None:
        self.shape = shape
        self._random = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def node(self, op: str, *inputs: str, **attrs: object) -> str:
        """Add an operator; the name of its output."""
        name = f"{op.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, list(inputs), [name], name, **attrs))
        return name

    def array(self, values: np.ndarray) -> str:
        """Add a constant; its name."""
        name = f"constant{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(values, name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant of int64; its name."""
        return self.array(np.array(values, np.int64))

    def conv(
        self,
        x: str,
        size: tuple[int, int],
        kernel: Sequence[int],
        *,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        group: int = 1,
        relu: bool = True,
    ) -> str:
        """A convolution from `size[0]` to `size[1]` channels; `pads`: all begins, then all ends."""
        inputs, outputs = size
        fan = inputs // group * int(np.prod(kernel))
        w = self._random.normal(0, (2 / fan) ** 0.5, (outputs, inputs // group, *kernel))
        names = (x, self.array(w.astype(np.float32)), self.array(self._small(outputs)))
        attrs = {"pads": pads, "strides": strides, "dilations": dilations}
        given = {name: list(value) for name, value in attrs.items() if value is not None}
        y = self.node("Conv", *names, kernel_shape=list(kernel), group=group, **given)
        return self.node("Relu", y) if relu else y

    def gemm(self, x: str, inputs: int, outputs: int) -> str:
        """A fully connected layer."""
        w = self._random.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32)
        return self.node("Gemm", x, self.array(w), self.array(self._small(outputs)), transB=1)

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        """A product over the last axis, with a bias."""
        w = self._random.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)
        product = self.node("MatMul", x, self.array(w))
        return self.node("Add", product, self.array(self._small(outputs)))

    def part(self, x: str, axis: int, start: int, end: int, step: int = 1) -> str:
        """Some positions along an axis."""
        numbers = (self.integers(each) for each in (start, end, axis, step))
        return self.node("Slice", x, *numbers)

    def model(self, *outputs: str) -> onnx.ModelProto:
        """The network that gives these outputs."""
        infos = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs]
        x = helper.make_tensor_value_info("x", FLOAT, list(self.shape))
        graph = helper.make_graph(self._nodes, "net", [x], infos, self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def _small(self, count: int) -> np.ndarray:
        return self._random.normal(0, 0.1, count).astype(np.float32)


def valid() -> onnx.ModelProto:
    """Depthwise and pointwise layers without padding down to one frame, as the wake word has."""
    n = Net(1, 6, 17)
    y = n.conv("x", (6, 6), [3], group=6, relu=False)
    y = n.conv(y, (6, 10), [1])
    y = n.conv(y, (10, 10), [5], group=10, relu=False)
    y = n.conv(y, (10, 8), [1])
    y = n.conv(y, (8, 8), [11])
    return n.model(n.gemm(n.node("Flatten", y), 8, 3))


def tcn(pool: bool = False) -> onnx.ModelProto:
    """Dilated causal layers with residual additions; the last frame decides, or all in a mean."""
    n = Net(1, 6, 40, seed=1)
    y = n.conv("x", (6, 8), [3], pads=[2, 0])
    for dilation in (1, 2, 4):
        pads = [2 * dilation, 0]
        a = n.conv(y, (8, 8), [3], pads=pads, dilations=[dilation])
        b = n.conv(a, (8, 8), [3], pads=pads, dilations=[dilation], relu=False)
        y = n.node("Relu", n.node("Add", y, b))
    y = n.node("GlobalAveragePool", y) if pool else n.part(y, 2, 39, 40)
    return n.model(n.node("Softmax", n.gemm(n.node("Flatten", y), 8, 4), axis=1))


def cropped_tcn() -> onnx.ModelProto:
    """Dilated layers without padding, whose shorter branches are cut at both ends."""
    n = Net(1, 5, 34, seed=2)
    y, length = n.conv("x", (5, 8), [3]), 32
    for dilation in (1, 2, 4):
        a = n.conv(y, (8, 8), [3], dilations=[dilation], relu=False)
        crop = n.part(y, 2, dilation, length - dilation)
        y, length = n.node("Relu", n.node("Add", crop, a)), length - 2 * dilation
    y = n.node("GlobalMaxPool", y)
    return n.model(n.gemm(n.node("Flatten", y), 8, 4))


def tenet() -> onnx.ModelProto:
    """Inverted bottlenecks of strides 1 and 2 in time, no padding, and a mean: as TENet has."""
    n = Net(1, 10, 61, seed=3)
    y = n.conv("x", (10, 8), [3])
    for stride in (2, 1, 2):
        a = n.conv(n.conv(y, (8, 16), [1]), (16, 16), [5], strides=[stride], group=16)
        a = n.conv(a, (16, 8), [1], relu=False)
        if stride == 1:
            a = n.node("Add", a, n.part(y, 2, 2, 26))
        y = n.node("Relu", a)
    y = n.node("GlobalAveragePool", y)
    return n.model(n.gemm(n.node("Flatten", y), 8, 5))


def matchbox() -> onnx.ModelProto:
    """Separable blocks with a pointwise residual, `same` padding in time: as MatchboxNet has."""
    n = Net(1, 8, 48, seed=4)
    y = n.conv(n.conv("x", (8, 8), [5], pads=[2, 2], group=8, relu=False), (8, 12), [1])
    for kernel in (3, 5):
        side, half = n.conv(y, (12, 12), [1], relu=False), kernel // 2
        a = n.conv(y, (12, 12), [kernel], pads=[half, half], group=12, relu=False)
        a = n.conv(a, (12, 12), [1])
        a = n.conv(a, (12, 12), [kernel], pads=[half, half], group=12, relu=False)
        y = n.node("Relu", n.node("Add", n.conv(a, (12, 12), [1], relu=False), side))
    y = n.conv(y, (12, 12), [3], pads=[2, 2], dilations=[2])
    y = n.node("GlobalAveragePool", y)
    return n.model(n.gemm(n.node("Flatten", y), 12, 4))


def mel_and_time() -> onnx.ModelProto:
    """Convolutions and pooling over time (rows) and mel bands (columns), then all frames."""
    n = Net(1, 1, 26, 10, seed=5)
    y = n.conv("x", (1, 6), [4, 3], strides=[2, 1], pads=[0, 1, 0, 1])
    y = n.node("MaxPool", y, kernel_shape=[1, 2], strides=[1, 2])
    y = n.conv(y, (6, 6), [3, 3], pads=[0, 1, 0, 1], group=6, relu=False)
    y = n.conv(y, (6, 8), [1, 1])
    y = n.node("AveragePool", y, kernel_shape=[2, 1], strides=[2, 1])
    return n.model(n.gemm(n.node("Flatten", y), 8 * 5 * 5, 4))


def same_strided() -> onnx.ModelProto:
    """Strides with padding at both ends, in time and mel, as DS-CNN has."""
    n = Net(1, 1, 25, 8, seed=6)
    y = n.conv("x", (1, 6), [6, 4], strides=[2, 2], pads=[2, 1, 3, 1])
    y = n.conv(y, (6, 6), [3, 3], pads=[1, 1, 1, 1], group=6, relu=False)
    y = n.conv(y, (6, 8), [1, 1])
    y = n.node("GlobalAveragePool", y)
    return n.model(n.gemm(n.node("Flatten", y), 8, 4))


def per_frame() -> onnx.ModelProto:
    """A result for each frame: causal layers, and one that a gate of each frame scales."""
    n = Net(1, 4, 20, seed=7)
    y = n.conv("x", (4, 6), [3], pads=[2, 0])
    gate = n.node("Sigmoid", n.conv(y, (6, 6), [1], relu=False))
    y = n.node("Mul", n.conv(y, (6, 6), [2], pads=[1, 0]), gate)
    y = n.node(
        "Concat", y, n.node("Pad", n.part(y, 2, 0, 19), n.integers(0, 0, 1, 0, 0, 0)), axis=1
    )
    return n.model(n.conv(y, (12, 2), [1], relu=False))


def conformer() -> onnx.ModelProto:
    """A block as Conformer has, without attention; the last frame decides.

    Layer norms, half a feed-forward part, a causal convolution with a gate, the other half.
    """
    channels, frames, kernel = 8, 20, 5
    n = Net(1, frames, channels, seed=8)

    def norm(x: str) -> str:
        scale, offset = (np.linspace(*ends, channels).astype(np.float32) for ends in _NORM)
        return n.node("LayerNormalization", x, n.array(scale), n.array(offset), axis=-1)

    def swish(x: str) -> str:
        return n.node("Mul", x, n.node("Sigmoid", x))

    def half(x: str) -> str:
        y = n.dense(swish(n.dense(norm(x), channels, 2 * channels)), 2 * channels, channels)
        return n.node("Add", x, n.node("Mul", y, n.array(np.float32(0.5))))

    x = half("x")
    y = n.dense(norm(x), channels, 2 * channels)
    gate = n.node("Sigmoid", n.part(y, 2, channels, 2 * channels))
    y = n.node("Transpose", n.node("Mul", n.part(y, 2, 0, channels), gate), perm=[0, 2, 1])
    y = n.conv(y, (channels, channels), [kernel], pads=[kernel - 1, 0], group=channels, relu=False)
    y = n.dense(swish(n.node("Transpose", y, perm=[0, 2, 1])), channels, channels)
    x = norm(half(n.node("Add", x, y)))
    last = n.node("Squeeze", n.part(x, 1, frames - 1, frames), n.integers(1))
    return n.model(n.gemm(last, channels, 3))


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "valid": valid,
    "tcn": tcn,
    "cropped tcn": cropped_tcn,
    "tenet": tenet,
    "mel and time": mel_and_time,
    "tcn and mean": lambda: tcn(pool=True),
    "matchbox": matchbox,
    "same, strided": same_strided,
    "per frame": per_frame,
    "conformer": conformer,
}
TIME = {**dict.fromkeys(NETWORKS, 2), "conformer": 1}
"""Axis of time of the input."""
DELAYED = ("matchbox", "same, strided")
"""Networks that look ahead."""
