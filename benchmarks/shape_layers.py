"""Shapes of single layers as networks for microcontrollers have them, and ONNX models of some.

Each layer has an input and an output of its own, so that nothing is joined with its neighbours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_OPSET = 17
_SAMPLES = 4
Attributes = tuple[tuple[str, int | float | str | tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A layer.

    Attributes:
        kind: what `--kinds` names.
        op: its ONNX operator.
        x: shape of the input, NCHW.
        weights: shapes of constants.
        attributes: of the ONNX node.
        inputs: tensors of the shape of x that it reads.
        y: elements of the output.
        macs: multiply-accumulates, those of padding included; 0: none.
    """

    kind: str
    op: str
    x: tuple[int, ...]
    y: int
    macs: int = 0
    weights: tuple[tuple[int, ...], ...] = ()
    attributes: Attributes = field(default=())
    inputs: int = 1

    def __str__(self) -> str:
        image = "x".join(map(str, self.x[1:]))
        kept = [f"{name} {_text(value)}" for name, value in self.attributes if name != "pads"]
        filters = [f"weights {'x'.join(map(str, self.weights[0]))}"] if self.weights else []
        return ", ".join([f"{self.op} {image}", *filters, *kept])

    @property
    def x_elements(self) -> int:
        """Elements that it reads of tensors."""
        return self.inputs * math.prod(self.x)


def _text(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _window(
    kind: str,
    image: tuple[int, int, int],
    filters: int,
    kernel: tuple[int, int],
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    groups: int = 1,
    same: bool = True,
) -> Shape:
    channels, *sizes = image
    spans = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    pads = [span // 2 if same else 0 for span in spans] + [
        (span + 1) // 2 if same else 0 for span in spans
    ]
    out = [
        (size + pads[axis] + pads[axis + 2] - spans[axis] - 1) // stride[axis] + 1
        for axis, size in enumerate(sizes)
    ]
    attributes: Attributes = (
        ("group", groups),
        ("strides", stride),
        ("dilations", dilation),
        ("pads", tuple(pads)),
    )
    depth = channels // groups
    y = filters * math.prod(out)
    weights = ((filters, depth, *kernel), (filters,))
    return Shape(kind, "Conv", (1, *image), y, y * depth * math.prod(kernel), weights, attributes)


def _conv2d() -> Iterator[Shape]:
    """ResNet, MobileNet, MCUNet, keyword spotting; numbers of channels as pruning leaves them."""
    images = ((3, 32, 16), (16, 32, 16), (40, 16, 39), (64, 8, 64), (17, 12, 24), (96, 6, 128))
    for channels, size, filters in images:
        for kernel, stride in ((1, 1), (3, 1), (3, 2), (5, 1)):
            image = channels, size, size
            yield _window("conv2d", image, filters, (kernel, kernel), (stride, stride))
    for filters, kernel, stride in ((8, (7, 7), 2), (32, (10, 4), 2), (16, (1, 7), 1)):
        yield _window("conv2d", (1 if stride == 2 else 8, 40, 20), filters, kernel, (stride,) * 2)
    for dilation in (2, 4):
        yield _window("conv2d", (24, 12, 12), 24, (3, 3), dilation=(dilation, dilation))
    for channels, filters in ((8, 48), (48, 8), (130, 20), (31, 63), (7, 5), (160, 320)):
        yield _window("conv2d", (channels, 7, 7), filters, (1, 1))


def _conv1d() -> Iterator[Shape]:
    """Time series, wake words, TCNs; time on the first axis."""
    sizes = ((40, 49, 64), (3, 128, 16), (23, 100, 24), (64, 30, 64), (128, 16, 128))
    for (channels, length, filters), kernel in itertools.product(sizes, (3, 5, 9, 15)):
        yield _window("conv1d", (channels, length, 1), filters, (kernel, 1), same=kernel % 4 == 3)
    for dilation in (2, 4, 8):
        yield _window("conv1d", (32, 60, 1), 32, (3, 1), dilation=(dilation, 1), same=False)
    for kernel in (3, 7):
        yield _window("conv1d", (16, 1, 96), 24, (1, kernel), (1, 2))


def _depthwise2d() -> Iterator[Shape]:
    images = ((8, 48), (16, 24), (33, 12), (64, 10), (128, 6), (256, 3))
    for (channels, size), (kernel, stride) in itertools.product(
        images, ((3, 1), (3, 2), (5, 1), (5, 2), (7, 1))
    ):
        image = channels, size, size
        pair = (stride, stride)
        yield _window("depthwise2d", image, channels, (kernel, kernel), pair, groups=channels)
    yield _window("depthwise2d", (1, 40, 20), 8, (10, 4), (2, 2))
    yield _window("depthwise2d", (24, 20, 20), 24, (3, 3), dilation=(2, 2), groups=24)
    yield _window("depthwise2d", (16, 16, 16), 32, (3, 3), groups=16)


def _depthwise1d() -> Iterator[Shape]:
    """Of MLPerf's streaming wake word and the mixed convolutions of microWakeWord among others."""
    for channels, length, kernel in ((40, 30, 3), (128, 28, 5), (128, 24, 10), (128, 15, 15)):
        image = channels, length, 1
        yield _window("depthwise1d", image, channels, (kernel, 1), groups=channels, same=False)
    for (channels, length), kernel in itertools.product(
        ((16, 100), (31, 40), (64, 20)), (3, 5, 9, 15)
    ):
        image = channels, length, 1
        yield _window("depthwise1d", image, channels, (kernel, 1), groups=channels)
    for kernel in (5, 9, 15):
        image = 64, kernel, 1
        yield _window("depthwise1d", image, 64, (kernel, 1), groups=64, same=False)
    for dilation in (2, 4):
        rows = dilation, 1
        yield _window("depthwise1d", (32, 60, 1), 32, (3, 1), (1, 1), rows, 32, same=False)
    yield _window("depthwise1d", (32, 60, 1), 32, (5, 1), (2, 1), groups=32, same=False)
    yield _window("depthwise1d", (24, 1, 64), 24, (1, 7), groups=24)


def _grouped() -> Iterator[Shape]:
    for groups, kernel in itertools.product((2, 4, 8), (1, 3)):
        yield _window("grouped", (32, 10, 10), 48, (kernel, kernel), groups=groups)


def _transposed() -> Iterator[Shape]:
    for channels, size, filters, kernel in ((16, 8, 8, 2), (32, 6, 16, 3), (8, 16, 4, 4)):
        y = filters * ((size - 1) * 2 + kernel) ** 2
        weights = ((channels, filters, kernel, kernel), (filters,))
        macs = size * size * channels * filters * kernel * kernel
        strides: Attributes = (("strides", (2, 2)),)
        x = 1, channels, size, size
        yield Shape("transposed", "ConvTranspose", x, y, macs, weights, strides)


def _dense() -> Iterator[Shape]:
    """Matrix products with constants: autoencoders, classifiers, transformers."""
    for rows, depth, outputs in (
        *((1, 640, 128), (1, 128, 128), (1, 8, 128), (1, 64, 10), (1, 250, 33), (1, 1000, 12)),
        *((16, 64, 64), (64, 48, 192), (65, 192, 48), (10, 33, 17), (4, 128, 100), (2, 320, 64)),
    ):
        y = rows * outputs
        x = (1, depth) if rows == 1 else (1, rows, depth)
        weights = ((depth, outputs), (outputs,))
        op, used = ("Gemm", weights) if rows == 1 else ("MatMul", weights[:1])
        yield Shape("dense", op, x, y, y * depth, used)


def _pool() -> Iterator[Shape]:
    for op, (channels, size, kernel, stride) in itertools.product(
        ("MaxPool", "AveragePool"), ((16, 24, 2, 2), (33, 12, 3, 2), (64, 8, 3, 1), (128, 4, 4, 4))
    ):
        y = channels * ((size - kernel) // stride + 1) ** 2
        window: Attributes = (
            ("kernel_shape", (kernel, kernel)),
            ("strides", (stride, stride)),
        )
        yield Shape("pool", op, (1, channels, size, size), y, 0, (), window)
    for channels, size in ((64, 8), (160, 8), (23, 5)):
        yield Shape("pool", "GlobalAveragePool", (1, channels, size, size), channels)


def _element() -> Iterator[Shape]:
    for channels, size in ((16, 24), (39, 10), (128, 4)):
        x, y = (1, channels, size, size), channels * size * size
        for op in ("Add", "Mul"):
            yield Shape("element", op, x, y, inputs=2)
        for op in ("Relu", "Sigmoid", "HardSwish"):
            yield Shape("element", op, x, y)


def _softmax() -> Iterator[Shape]:
    for rows, classes in ((1, 10), (1, 1000), (64, 64), (17, 33)):
        axis: Attributes = (("axis", -1),)
        yield Shape("softmax", "Softmax", (1, rows, classes), rows * classes, 0, (), axis)


KINDS = {
    "conv2d": _conv2d,
    "conv1d": _conv1d,
    "depthwise2d": _depthwise2d,
    "depthwise1d": _depthwise1d,
    "grouped": _grouped,
    "transposed": _transposed,
    "dense": _dense,
    "pool": _pool,
    "element": _element,
    "softmax": _softmax,
}


def shapes_of(kinds: Sequence[str], limit: int | None) -> list[Shape]:
    """Layers of some kinds; `limit`: the most of each, spread evenly over its list."""
    found: list[Shape] = []
    for kind in kinds:
        own = list(KINDS[kind]())
        count = len(own) if limit is None else min(limit, len(own))
        found += [own[number * len(own) // count] for number in range(count)]
    return found


def model_of(shapes: Sequence[Shape]) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Layers side by side; node number n is called `layer_n`.

    Returns:
        The model, and calibration data [4, ...] by input name.
    """
    rng = np.random.default_rng(5)
    nodes, inputs, outputs, constants = [], [], [], []
    data: dict[str, np.ndarray] = {}
    for number, shape in enumerate(shapes):
        names = [f"x{number}_{each}" for each in range(shape.inputs)]
        for name in names:
            data[name] = rng.normal(size=(_SAMPLES, *shape.x[1:])).astype(np.float32)
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape.x))
        for each, size in enumerate(shape.weights):
            scale = 1 / math.sqrt(math.prod(size[1:]) or 1) if len(size) > 1 else 0.1
            array = (rng.normal(size=size) * scale).astype(np.float32)
            names.append(f"w{number}_{each}")
            constants.append(numpy_helper.from_array(array, names[-1]))
        y = f"y{number}"
        attributes = dict(shape.attributes)
        nodes.append(helper.make_node(shape.op, names, [y], f"layer_{number}", **attributes))
        outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "shapes", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model), data
