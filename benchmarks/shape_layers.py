"""Shapes of single layers as networks for microcontrollers have them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Attributes = tuple[tuple[str, int | float | str | tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A layer.

    Attributes:
        kind: what `--kinds` names.
        op: its ONNX operator; "Attention" stands for the products and the softmax of its heads.
        x: shape of the input, NCHW where it is an image.
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
    images = (
        *((3, 32, 16), (16, 32, 16), (40, 16, 39), (64, 8, 64), (17, 12, 24), (96, 6, 128)),
        *((1, 28, 6), (6, 14, 16), (24, 20, 12), (128, 4, 96)),
    )
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
    for kernel, stride in (((2, 2), 2), ((4, 4), 4), ((3, 1), 1), ((1, 3), 1), ((5, 5), 2)):
        yield _window("conv2d", (16, 16, 16), 24, kernel, (stride, stride), same=stride == 1)
    for channels, filters in ((512, 64), (256, 256), (33, 130), (2, 2), (12, 1), (1, 64)):
        yield _window("conv2d", (channels, 5, 5), filters, (1, 1))
    for channels in (11, 21, 45, 90):
        yield _window("conv2d", (channels, 9, 9), channels, (3, 3), same=False)
    # Bottlenecks of MobileNetV2 and MCUNet, MobileNetV1 of a quarter of its width.
    for channels, size, filters in (
        *((16, 24, 96), (24, 20, 144), (144, 12, 24), (32, 10, 192), (192, 10, 64), (384, 5, 96)),
        *((8, 48, 16), (32, 12, 64), (256, 3, 256), (96, 12, 32), (32, 12, 3)),
    ):
        yield _window("conv2d", (channels, size, size), filters, (1, 1))
    for channels, size, filters in ((3, 64, 32), (3, 96, 8), (64, 8, 128)):
        yield _window("conv2d", (channels, size, size), filters, (3, 3), (2, 2))


def _conv1d() -> Iterator[Shape]:
    """Time series, wake words, TCNs; time on the first axis."""
    sizes = (
        *((40, 49, 64), (3, 128, 16), (23, 100, 24), (64, 30, 64), (128, 16, 128)),
        *((1, 256, 8), (6, 64, 20), (9, 80, 33)),
    )
    for (channels, length, filters), kernel in itertools.product(sizes, (1, 3, 5, 9, 15)):
        yield _window("conv1d", (channels, length, 1), filters, (kernel, 1), same=kernel % 4 == 3)
    for dilation in (2, 4, 8):
        yield _window("conv1d", (32, 60, 1), 32, (3, 1), dilation=(dilation, 1), same=False)
    for kernel in (3, 7):
        yield _window("conv1d", (16, 1, 96), 24, (1, kernel), (1, 2))
    # Residual networks over time for keywords, electrocardiograms, gestures.
    for channels, length, filters, kernel, stride in (
        *((40, 98, 16, 3, 1), (16, 98, 24, 9, 2), (24, 49, 32, 9, 2), (32, 25, 48, 9, 2)),
        *((1, 187, 32, 5, 1), (16, 98, 24, 1, 2), (3, 200, 32, 11, 2), (45, 33, 45, 5, 1)),
    ):
        yield _window("conv1d", (channels, length, 1), filters, (kernel, 1), (stride, 1))
    for kernel, stride in ((4, 2), (8, 4), (11, 5), (15, 3)):
        yield _window("conv1d", (12, 120, 1), 24, (kernel, 1), (stride, 1), same=False)


def _depthwise2d() -> Iterator[Shape]:
    images = ((8, 48), (16, 24), (33, 12), (64, 10), (128, 6), (256, 3), (36, 20), (96, 7))
    windows = ((3, 1), (3, 2), (5, 1), (5, 2), (7, 1), (7, 2))
    for (channels, size), (kernel, stride) in itertools.product(images, windows):
        image = channels, size, size
        pair = (stride, stride)
        yield _window("depthwise2d", image, channels, (kernel, kernel), pair, groups=channels)
    yield _window("depthwise2d", (1, 40, 20), 8, (10, 4), (2, 2))
    for dilation in (2, 3):
        pair = (dilation, dilation)
        yield _window("depthwise2d", (24, 20, 20), 24, (3, 3), dilation=pair, groups=24)
    for filters in (32, 48):
        yield _window("depthwise2d", (16, 16, 16), filters, (3, 3), groups=16)
    for kernel in ((1, 5), (3, 5), (2, 2), (9, 9), (11, 11)):
        yield _window("depthwise2d", (32, 14, 14), 32, kernel, groups=32)

    for channels, size, kernel, stride in (
        *((96, 20, 3, 2), (144, 12, 3, 1), (144, 10, 5, 1), (192, 10, 3, 1), (384, 5, 3, 1)),
        *((480, 5, 5, 2), (576, 5, 3, 2), (39, 10, 3, 1)),
    ):
        image = channels, size, size
        pair = (stride, stride)
        yield _window("depthwise2d", image, channels, (kernel, kernel), pair, groups=channels)


def _depthwise1d() -> Iterator[Shape]:
    """Of MLPerf's streaming wake word and the mixed convolutions of microWakeWord among others."""
    for channels, length, kernel in ((40, 30, 3), (128, 28, 5), (128, 24, 10), (128, 15, 15)):
        image = channels, length, 1
        yield _window("depthwise1d", image, channels, (kernel, 1), groups=channels, same=False)
    for (channels, length), kernel in itertools.product(
        ((16, 100), (31, 40), (64, 20), (96, 50)), (3, 5, 7, 9, 13, 15)
    ):
        image = channels, length, 1
        yield _window("depthwise1d", image, channels, (kernel, 1), groups=channels)
    for kernel in (5, 9, 15):
        image = 64, kernel, 1
        yield _window("depthwise1d", image, 64, (kernel, 1), groups=64, same=False)
    for dilation in (2, 4, 8):
        rows = dilation, 1
        yield _window("depthwise1d", (32, 60, 1), 32, (3, 1), (1, 1), rows, 32, same=False)
    for kernel in (5, 9):
        yield _window("depthwise1d", (32, 60, 1), 32, (kernel, 1), (2, 1), groups=32, same=False)
    for dilation in (2, 4, 8):
        rows = dilation, 1
        yield _window("depthwise1d", (64, 64, 1), 64, (3, 1), (1, 1), rows, 64)
    for channels, length, kernel in ((24, 98, 9), (48, 25, 9), (256, 12, 11)):
        yield _window(
            "depthwise1d", (channels, length, 1), channels, (kernel, 1), (2, 1), groups=channels
        )
    yield _window("depthwise1d", (24, 1, 64), 24, (1, 7), groups=24)
    yield _window("depthwise1d", (24, 1, 64), 24, (1, 3), dilation=(1, 2), groups=24)


def _grouped() -> Iterator[Shape]:
    for groups, kernel in itertools.product((2, 4, 8, 16), (1, 3)):
        yield _window("grouped", (32, 10, 10), 48, (kernel, kernel), groups=groups)
    for groups in (3, 6):
        yield _window("grouped", (24, 24, 1), 36, (5, 1), groups=groups)
    for channels, size, filters in ((60, 14, 240), (240, 7, 60)):
        yield _window("grouped", (channels, size, size), filters, (1, 1), groups=3)


def _transposed() -> Iterator[Shape]:
    for channels, size, filters, kernel in (
        *((16, 8, 8, 2), (32, 6, 16, 3), (8, 16, 4, 4), (64, 4, 32, 2), (24, 7, 12, 5)),
        *((3, 12, 1, 3), (32, 12, 16, 2), (16, 20, 8, 2)),
    ):
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
        *((1, 128, 640), (1, 512, 64), (1, 33, 3), (1, 16, 1), (1, 96, 256), (1, 400, 120)),
        *((16, 64, 64), (64, 48, 192), (65, 192, 48), (10, 33, 17), (4, 128, 100), (2, 320, 64)),
        *((32, 32, 128), (49, 64, 16), (3, 256, 256), (17, 100, 50), (196, 64, 64), (8, 24, 96)),
        *((1, 784, 128), (1, 1024, 10), (1, 39, 20), (1, 20, 10), (1, 300, 75), (1, 256, 2)),
        *((50, 64, 256), (50, 256, 64), (100, 96, 32), (12, 40, 80)),
    ):
        y = rows * outputs
        x = (1, depth) if rows == 1 else (1, rows, depth)
        weights = ((depth, outputs), (outputs,))
        op, used = ("Gemm", weights) if rows == 1 else ("MatMul", weights[:1])
        yield Shape("dense", op, x, y, y * depth, used)


def _product() -> Iterator[Shape]:
    """Of two square tensors that are both computed, outside of attention."""
    for pairs, size in ((4, 16), (1, 64), (3, 33), (8, 24)):
        y = pairs * size * size
        yield Shape("product", "MatMul", (1, pairs, size, size), y, y * size, inputs=2)


def _pool() -> Iterator[Shape]:
    images = (
        *((16, 24, 2, 2), (33, 12, 3, 2), (64, 8, 3, 1), (128, 4, 4, 4)),
        *((8, 32, 2, 2), (24, 15, 5, 1), (96, 7, 2, 2)),
    )
    for op, (channels, size, kernel, stride) in itertools.product(
        ("MaxPool", "AveragePool"), images
    ):
        y = channels * ((size - kernel) // stride + 1) ** 2
        window: Attributes = (
            ("kernel_shape", (kernel, kernel)),
            ("strides", (stride, stride)),
        )
        yield Shape("pool", op, (1, channels, size, size), y, 0, (), window)
    for channels, size in ((16, 48), (64, 14)):
        window = ("kernel_shape", (3, 3)), ("strides", (2, 2)), ("pads", (1, 1, 1, 1))
        y = channels * (size // 2) ** 2
        yield Shape("pool", "MaxPool", (1, channels, size, size), y, 0, (), window)
    for op, channels, length in (("MaxPool", 32, 64), ("AveragePool", 48, 30)):
        line: Attributes = (("kernel_shape", (2, 1)), ("strides", (2, 1)))
        yield Shape("pool", op, (1, channels, length, 1), channels * length // 2, 0, (), line)
    for channels, size in ((64, 8), (160, 8), (23, 5), (256, 4), (256, 3), (384, 5)):
        yield Shape("pool", "GlobalAveragePool", (1, channels, size, size), channels)


def _element() -> Iterator[Shape]:
    for channels, size in ((16, 24), (39, 10), (128, 4), (64, 8), (24, 20)):
        x, y = (1, channels, size, size), channels * size * size
        for op in ("Add", "Mul", "Sub", "Max"):
            yield Shape("element", op, x, y, inputs=2)
        for op in ("Relu", "Sigmoid", "HardSwish", "Tanh"):
            yield Shape("element", op, x, y)


def _softmax() -> Iterator[Shape]:
    for rows, classes in (
        (1, 10),
        (1, 1000),
        (64, 64),
        (17, 33),
        (1, 2),
        (8, 196),
        (576, 4),
        (144, 3),
    ):
        axis: Attributes = (("axis", -1),)
        yield Shape("softmax", "Softmax", (1, rows, classes), rows * classes, 0, (), axis)


def _resize() -> Iterator[Shape]:
    """Of decoders and detectors; by 2, by 4, and from 7 to 10."""
    for mode, (channels, size, out) in itertools.product(
        ("nearest", "linear"), ((16, 8, 16), (33, 6, 12), (64, 4, 16), (3, 24, 48), (24, 7, 10))
    ):
        attributes: Attributes = (
            ("mode", mode),
            ("sizes", (1, channels, out, out)),
            ("coordinate_transformation_mode", "asymmetric" if mode == "nearest" else "half_pixel"),
        )
        x = 1, channels, size, size
        yield Shape("resize", "Resize", x, channels * out * out, 0, (), attributes)


def _norm() -> Iterator[Shape]:
    """Of transformers: rows and their channels."""
    for rows, channels in ((16, 64), (65, 48), (197, 64), (1, 128), (49, 192), (8, 33), (50, 32)):
        weights = ((channels,), (channels,))
        axis: Attributes = (("axis", -1),)
        x = 1, rows, channels
        yield Shape("norm", "LayerNormalization", x, rows * channels, 0, weights, axis)


def _attention() -> Iterator[Shape]:
    """Heads, rows and channels of a head; products of rows and columns with each other."""
    for heads, rows, depth in (
        (4, 16, 16),
        (3, 65, 16),
        (8, 32, 8),
        (1, 49, 64),
        (4, 100, 32),
        (2, 50, 24),
    ):
        y = heads * rows * depth
        yield Shape("attention", "Attention", (1, heads, rows, depth), y, 2 * y * rows, inputs=3)


KINDS = {
    "conv2d": _conv2d,
    "conv1d": _conv1d,
    "depthwise2d": _depthwise2d,
    "depthwise1d": _depthwise1d,
    "grouped": _grouped,
    "transposed": _transposed,
    "dense": _dense,
    "product": _product,
    "pool": _pool,
    "element": _element,
    "softmax": _softmax,
    "resize": _resize,
    "norm": _norm,
    "attention": _attention,
}
TRANSFORMER_KINDS = frozenset({"norm", "attention"})
"""Layers whose network is quantized as a transformer: a build has these alone."""


def shapes_of(kinds: Sequence[str], limit: int | None) -> list[Shape]:
    """Layers of some kinds; `limit`: the most of each, spread evenly over its list."""
    found: list[Shape] = []
    for kind in kinds:
        own = list(KINDS[kind]())
        count = len(own) if limit is None else min(limit, len(own))
        found += [own[number * len(own) // count] for number in range(count)]
    return found
