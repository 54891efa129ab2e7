"""Networks at 224 x 224 pixels with weights drawn at random, for measurements of edgec itself.

MobileNetV1 (Howard et al., 2017) at a quarter of its width, MobileNetV2 (Sandler et al.,
CVPR 2018), also at 0.35 of its width and at 144 x 144 pixels, and ResNet-18 (He et al.,
CVPR 2016), batch norms folded, as ONNX.  Weights have He's deviation and biases lie around one
half, so that activations keep their scale through the layers and few are cut off.  Always the same
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 224
_CLASSES = 1000


class _Network:
    """Nodes and weights of an ONNX graph; every method returns the name of its result."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._rng = np.random.default_rng(0)

    def _node(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def _constant(self, array: npt.ArrayLike) -> str:
        name = f"constant_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def conv(
        self, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, group: int = 1
    ) -> str:
        """A convolution with bias."""
        shape = (outputs, inputs // group, kernel, kernel)
        deviation = np.sqrt(2 / np.prod(shape[1:]))
        weight = self._constant(self._rng.normal(0, deviation, shape))
        bias = self._constant(self._rng.normal(0.5, 0.1, outputs))
        pads = [kernel // 2] * 4
        return self._node("Conv", x, weight, bias, strides=[stride] * 2, pads=pads, group=group)

    def relu(self, x: str, most: float | None = None) -> str:
        """A rectifier, cut off at `most`."""
        if most is None:
            return self._node("Relu", x)
        return self._node("Clip", x, self._constant(0.0), self._constant(most))

    def add(self, a: str, b: str) -> str:
        """A sum."""
        return self._node("Add", a, b)

    def max_pool(self, x: str) -> str:
        """ResNet's pool of 3 x 3 with stride 2."""
        return self._node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    def model(self, x: str, channels: int, side: int = SIDE) -> onnx.ModelProto:
        """The model of pictures of some side, with a mean and a dense layer after `x`."""
        mean = self._node("Flatten", self._node("GlobalAveragePool", x))
        weight = self._rng.normal(0, np.sqrt(1 / channels), (_CLASSES, channels))
        bias = self._constant(self._rng.normal(0, 0.1, _CLASSES))
        y = self._node("Gemm", mean, self._constant(weight), bias, transB=1)
        shape = [1, 3, side, side]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        found = helper.make_tensor_value_info(y, TensorProto.FLOAT, [1, _CLASSES])
        graph = helper.make_graph(self._nodes, "network", [given], [found], self._weights)
        opsets = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _mobilenetv1() -> onnx.ModelProto:
    net, before = _Network(), 8
    x = net.relu(net.conv("x", 3, before, 3, 2), 6.0)
    widths = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2))
    for channels, stride in (*widths, (256, 1)):
        x = net.relu(net.conv(x, before, before, 3, stride, before), 6.0)
        x = net.relu(net.conv(x, before, channels, 1), 6.0)
        before = channels
    return net.model(x, before)


def _whole_eights(channels: float) -> int:
    """The nearest multiple of 8 that is not below 90 % of a number of channels."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found + 8 if found < 0.9 * channels else found


def _mobilenetv2(width: float = 1.0, side: int = SIDE) -> onnx.ModelProto:
    net, before = _Network(), _whole_eights(32 * width)
    x = net.relu(net.conv("x", 3, before, 3, 2), 6.0)
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1))
    for expansion, whole, count, first in (*stages, (6, 160, 3, 2), (6, 320, 1, 1)):
        channels = _whole_eights(whole * width)
        for number in range(count):
            stride, inner = first if number == 0 else 1, before * expansion
            y = net.relu(net.conv(x, before, inner, 1), 6.0) if expansion > 1 else x
            y = net.relu(net.conv(y, inner, inner, 3, stride, inner), 6.0)
            y = net.conv(y, inner, channels, 1)
            x = net.add(x, y) if number else y
            before = channels
    return net.model(net.relu(net.conv(x, before, 1280, 1), 6.0), 1280, side)


def _resnet18() -> onnx.ModelProto:
    net, before = _Network(), 64
    x = net.max_pool(net.relu(net.conv("x", 3, before, 7, 2)))
    for channels, first in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first, 1):
            y = net.relu(net.conv(x, before, channels, 3, stride))
            y = net.conv(y, channels, channels, 3)
            shortcut = net.conv(x, before, channels, 1, stride) if stride > 1 else x
            x, before = net.relu(net.add(shortcut, y)), channels
    return net.model(x, before)


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = MappingProxyType(
    {
        "mobilenetv1_025": _mobilenetv1,
        "mobilenetv2": _mobilenetv2,
        "mobilenetv2_035": partial(_mobilenetv2, 0.35),
        "mobilenetv2_035_144": partial(_mobilenetv2, 0.35, 144),
        "resnet18": _resnet18,
    }
)


def write_network(name: str, path: Path) -> None:
    """Write one of `NETWORKS` as an ONNX file."""
    onnx.save(NETWORKS[name](), path)


def images(count: int) -> npt.NDArray[np.float32]:
    """Pictures of smooth noise: float32 [count, 3, SIDE, SIDE] of deviation about 1."""
    rng = np.random.default_rng(1)
    whole = np.zeros((count, 3, SIDE, SIDE))
    for side in (7, 14, 28, 56, 112):
        coarse = rng.normal(0, 1, (count, 3, side, side))
        whole += coarse.repeat(SIDE // side, axis=2).repeat(SIDE // side, axis=3)
    return np.asarray(whole / np.sqrt(5), np.float32)
