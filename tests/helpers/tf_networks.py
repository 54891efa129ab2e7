"""Small networks as TensorFlow's converter (tf2onnx) writes them, with random weights.

Images are channels last: a Transpose leads to the channels-first convolutions, another one back.  A
quantized file takes and gives int8, stores weights as int8 for each output channel and biases as
int32, and has a QuantizeLinear and a DequantizeLinear after every layer, as TFLite files become.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import Array

OPSET = 13
RANGE_SAMPLES = 16
TO_CHANNELS_FIRST, TO_CHANNELS_LAST = (0, 3, 1, 2), (0, 2, 3, 1)


class Writer:
    """Writes the nodes of one network, real or quantized.

    Attributes:
        ranges: (least, greatest) value of every layer's output in the order of layers, the input
            first; None writes a real network.
        layers: names of these outputs in the real network.
    """

    def __init__(self, ranges: list[tuple[float, float]] | None) -> None:
        self.rng = np.random.default_rng(5)
        self.ranges = ranges
        self.layers: list[str] = []
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.scales: dict[str, np.float32] = {}

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        """Append a node; the name of its output."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def const(self, array: Array) -> str:
        name = f"const_{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def parameters(self) -> tuple[str, str, np.float32]:
        """Scale and zero point of the layer that comes next, as constants, and the scale."""
        assert self.ranges is not None
        low, high = self.ranges[len(self.layers)]
        low, high = min(low, 0.0), max(high, 0.0, low + 1e-3)
        scale = np.float32((high - low) / 255)
        zero = np.int8(round(-128 - low / float(scale)))
        return self.const(scale), self.const(zero), scale

    def start(self) -> str:
        """The input "x": real numbers, or codes that become real."""
        x = "x"
        if self.ranges is not None:
            scale, zero, number = self.parameters()
            x = self.node("DequantizeLinear", "x", scale, zero)
            self.scales[x] = number
        self.layers.append("x")
        return x

    def image(self) -> str:
        """The input with its channels first."""
        x = self.start()
        moved = self.node("Transpose", x, perm=TO_CHANNELS_FIRST)
        if x in self.scales:
            self.scales[moved] = self.scales[x]
        return moved

    def end(self, x: str, last: bool = False) -> str:
        """A layer's output, rounded to its codes where the network is quantized."""
        real = x
        if self.ranges is not None:
            scale, zero, number = self.parameters()
            x = self.node("QuantizeLinear", x, scale, zero)
            if not last:
                x = self.node("DequantizeLinear", x, scale, zero)
                self.scales[x] = number
        self.layers.append(real)
        return x

    def weighted(self, op: str, x: str, shape: tuple[int, ...], **attributes: object) -> str:
        """Conv or Gemm with random weights [outputs, ...] and biases."""
        weight = self.rng.normal(0, 1.4 / np.sqrt(np.prod(shape[1:])), shape).astype(np.float32)
        bias = self.rng.normal(0, 0.2, shape[0]).astype(np.float32)
        if self.ranges is None:
            return self.node(op, x, self.const(weight), self.const(bias), **attributes)
        scales = np.abs(weight).reshape(shape[0], -1).max(axis=1) / np.float32(127)
        codes = np.round(weight / scales.reshape(-1, *[1] * (len(shape) - 1))).astype(np.int8)
        of_bias = scales * self.scales[x]
        zeros = np.zeros(shape[0], np.int8)
        stored = (self.const(codes), self.const(scales), self.const(zeros))
        biases = (self.const(np.round(bias / of_bias).astype(np.int32)), self.const(of_bias))
        weights = self.node("DequantizeLinear", *stored, axis=0)
        added = self.node("DequantizeLinear", *biases, axis=0)
        return self.node(op, x, weights, added, **attributes)

    def conv(
        self, x: str, outputs: int, depth: int, kernel: tuple[int, int] = (3, 3), *,
        stride: int = 1, group: int = 1, relu: bool = True,
    ) -> str:  # fmt: skip
        """A convolution that keeps the size (divided by the stride), with its ReLU."""
        attributes = {"auto_pad": "SAME_UPPER", "strides": (stride, stride), "group": group}
        y = self.weighted("Conv", x, (outputs, depth // group, *kernel), **attributes)
        return self.end(self.node("Relu", y) if relu else y)

    def dense(self, x: str, outputs: int, depth: int, relu: bool = False) -> str:
        y = self.weighted("Gemm", x, (outputs, depth), transB=1)
        return self.end(self.node("Relu", y) if relu else y)

    def classifier(self, x: str, depth: int, classes: int) -> str:
        """Channels last again, the mean of all pixels, a dense layer, probabilities."""
        x = self.node("Transpose", x, perm=TO_CHANNELS_LAST)
        x = self.end(self.node("ReduceMean", x, axes=(1, 2), keepdims=0))
        return self.end(self.node("Softmax", self.dense(x, classes, depth), axis=1), last=True)

    def model(self, shape: tuple[int, ...], output: str, columns: int) -> onnx.ModelProto:
        kind = TensorProto.FLOAT if self.ranges is None else TensorProto.INT8
        graph = helper.make_graph(
            self.nodes,
            "tf2onnx",
            [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_tensor_value_info(output, kind, (1, columns))],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def residual(w: Writer) -> onnx.ModelProto:
    """Residual blocks, the second with stride 2 and a 1x1 shortcut: 1,262,832 MACs."""
    x = w.image()
    x = w.conv(x, 12, 3)
    y = w.conv(w.conv(x, 12, 12), 12, 12, relu=False)
    x = w.end(w.node("Relu", w.node("Add", x, y)))
    y = w.conv(w.conv(x, 24, 12, stride=2), 24, 24, relu=False)
    z = w.conv(x, 24, 12, (1, 1), stride=2, relu=False)
    x = w.end(w.node("Relu", w.node("Add", y, z)))
    return w.model((1, 16, 16, 3), w.classifier(x, 24, 10), 10)


def separable(w: Writer) -> onnx.ModelProto:
    """A wide first window, depthwise and 1x1 convolutions, as for keywords."""
    x = w.image()
    x = w.conv(x, 16, 1, (10, 4), stride=2)
    for _ in range(2):
        x = w.conv(w.conv(x, 16, 16, group=16), 16, 16, (1, 1))
    return w.model((1, 25, 10, 1), w.classifier(x, 16, 12), 12)


def autoencoder(w: Writer) -> onnx.ModelProto:
    """Dense layers down to 8 numbers and up again."""
    x = w.start()
    for depth, outputs in ((64, 32), (32, 8), (8, 32)):
        x = w.dense(x, outputs, depth, relu=True)
    y = w.end(w.weighted("Gemm", x, (64, 32), transB=1), last=True)
    return w.model((1, 64), y, 64)


NETWORKS: dict[str, Callable[[Writer], onnx.ModelProto]] = {
    "residual": residual,
    "separable": separable,
    "autoencoder": autoencoder,
}


def written(name: str, *, quantized: bool = False) -> onnx.ModelProto:
    """The network `name`, real or quantized to the ranges of random inputs."""
    writer = Writer(None)
    model = NETWORKS[name](writer)
    return NETWORKS[name](Writer(_ranges(model, writer.layers))) if quantized else model


def _ranges(model: onnx.ModelProto, layers: list[str]) -> list[tuple[float, float]]:
    """Least and greatest values of the named tensors over random inputs."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in layers[1:])
    session = onnxruntime.InferenceSession(
        probe.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    shape = session.get_inputs()[0].shape
    inputs = np.random.default_rng(6).normal(size=(RANGE_SAMPLES, *shape)).astype(np.float32)
    rows = [[x, *session.run(layers[1:], {"x": x})] for x in inputs]
    return [
        (min(float(a.min()) for a in column), max(float(a.max()) for a in column))
        for column in zip(*rows, strict=True)
    ]


def save_written(name: str, folder: Path, *, quantized: bool = False) -> Path:
    """The network as a file of `folder`."""
    path = folder / f"{name}{'_qdq' if quantized else ''}.onnx"
    onnx.save(written(name, quantized=quantized), path)
    return path
