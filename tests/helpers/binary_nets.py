"""Random layers of signs: odd sizes, padding, strides, all ends; graphs of the integer stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.ir.graph import Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shapes
from edgec.ir.qops.signs import packed

ENDS = ("signs", "codes", "residual")
CODES = QuantParams.per_tensor(0.1, 3)
_WIDE = QuantParams.per_tensor(0.01, 0, DType.INT16)


@dataclass(frozen=True)
class Layer:
    """A convolution of signs, or with `kernel` None a product of matrices."""

    image: tuple[int, int]
    channels: int
    filters: int
    kernel: tuple[int, int] | None = (3, 3)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    end: str = "signs"
    wide: bool = False
    ones: bool = False


class Layers:
    """Collects layers, each with an input of its own."""

    def __init__(self, seed: int) -> None:
        self.builder = GraphBuilder("signs")
        self.rng = np.random.default_rng(seed)

    def add(self, layer: Layer) -> str:
        """A layer of signs of the codes of a new input; the name of its output."""
        if layer.kernel is None:
            shape: tuple[int, ...] = (1, layer.image[1], layer.channels)
        else:
            shape = (1, *layer.image, layer.channels)
        return self.layer(layer, self.signs(shape, wide=layer.wide))

    def signs(self, shape: tuple[int, ...], *, wide: bool = False) -> str:
        """Signs of the codes of a new input."""
        b, quant = self.builder, _WIDE if wide else CODES
        x = b.value(Value(b.fresh("x"), shape, quant.dtype, quant))
        b.inputs.append(x)
        return self.signs_of(x)

    def signs_of(self, x: str) -> str:
        """Signs of codes: intervals of all kinds."""
        b = self.builder
        value = b.values[x]
        info = np.iinfo(value.dtype.numpy)
        ends = self.rng.integers(info.min, info.max + 1, (value.shape[-1], 2))
        kinds = self.rng.integers(0, 4, value.shape[-1])
        ends[kinds == 0, 0] = info.min
        ends[kinds == 1, 1] = info.max
        names = [
            b.constant(f"{x}/{what}", ends[:, n].astype(info.dtype))
            for n, what in enumerate(("least", "most"))
        ]
        return self.node(qops.QSigns(), (x, *names), qops.SIGNS, None)

    def layer(self, layer: Layer, x: str) -> str:
        """A layer of signs that are there."""
        b, rng = self.builder, self.rng
        taps = () if layer.kernel is None else layer.kernel
        negative = rng.random((layer.filters, *taps, layer.channels)) < rng.choice([0.2, 0.5, 0.9])
        depth = negative[0].size
        w = b.constant("w", packed(negative))
        attrs = {"channels": layer.channels, "output": None}
        names = [x, w]
        if layer.end == "signs":
            names.append(
                b.constant("b", rng.integers(-depth - 2, depth + 3, layer.filters, np.int32))
            )
        else:
            step = int(rng.choice([1, 127, 127 * 127]))
            bias = rng.integers(-depth * step, depth * step + 1, layer.filters).astype(np.int32)
            multiplier = rng.integers(-(1 << 30), 1 << 30, layer.filters).astype(np.int32)
            shift = 24 + (depth * step).bit_length()
            low, high = (-128, 127) if rng.random() < 0.5 else (-20, 100)
            form = qops.Requant31(shift, CODES.zero_point[0], low, high)
            attrs |= {"output": form, "step": step}
            names += [b.constant("b", bias), b.constant("m", multiplier)]
        if layer.end == "residual":
            attrs["residual"] = qops.AddParams(
                a_zero_point=3,
                b_zero_point=3,
                a_multiplier=3597627,
                b_multiplier=-1954031,
                shift=14,
                y_zero_point=3,
                low=-128,
                high=127,
            )
        made: qops.BinaryLayer
        if layer.kernel is None:
            made = qops.QBinaryGemm(**attrs)
        else:
            made = qops.QBinaryConv(
                **attrs,
                strides=layer.strides,
                pads=layer.pads,
                dilations=layer.dilations,
                pads_ones=layer.ones,
            )
        if layer.end == "residual":
            (shape,) = infer_shapes(
                made, [b.values[x].shape, *(b.constants[n].shape for n in names[1:])]
            )
            names.append(b.value(Value(b.fresh("r"), shape, DType.INT8, CODES)))
            b.inputs.append(names[-1])
        if layer.end == "signs":
            return self.node(made, names, qops.SIGNS, None)
        return self.node(made, names, DType.INT8, CODES)

    def node(
        self,
        attrs: qops.IntegerOperator,
        names: Iterable[str],
        dtype: DType,
        quant: QuantParams | None,
    ) -> str:
        """Add a node and its output; the name of that."""
        b = self.builder
        inputs = tuple(names)
        shapes = [(b.values.get(n) or b.constants[n]).shape for n in inputs]
        (shape,) = infer_shapes(attrs, shapes)
        y = b.value(Value(b.fresh("y"), shape, dtype, quant))
        b.node(f"{y}/node", attrs, inputs, (y,))
        return y

    def finish(self, y: str) -> None:
        """Make what is computed an output: signs by a product of matrices that reads them."""
        value = self.builder.values[y]
        if value.dtype is qops.SIGNS:
            channels = value.shape[-1] * 32
            y = self.layer(Layer((1, 1), channels, 5, None, end="codes"), y)
        self.builder.outputs.append(y)

    def build(self) -> Graph:
        """The graph."""
        return self.builder.build()


def graph_of(seed: int, layers: list[Layer]) -> Graph:
    """A graph of layers, each with an input and an output of its own."""
    found = Layers(seed)
    for layer in layers:
        found.finish(found.add(layer))
    return found.build()


EDGES = [
    Layer((5, 6), 3, 7, (3, 3), pads=(1, 1, 1, 1)),
    Layer((5, 6), 32, 33, (3, 3), pads=(1, 1, 1, 1), end="codes"),
    Layer((4, 4), 40, 9, (3, 3), (2, 2), (0, 1, 1, 0), end="residual"),
    Layer((7, 5), 64, 64, (3, 3), pads=(1, 1, 1, 1)),
    Layer((7, 5), 100, 12, (1, 1), end="codes"),
    Layer((6, 9), 16, 34, (2, 3), (1, 2), (1, 2, 0, 1), (2, 2), end="codes", wide=True),
    Layer((3, 3), 128, 5, (3, 3), pads=(2, 2, 2, 2)),
    Layer((2, 2), 511, 6, (3, 3), pads=(1, 1, 1, 1), end="residual"),
    Layer((5, 6), 32, 33, (3, 3), pads=(1, 1, 1, 1), end="codes", ones=True),
    Layer((4, 7), 70, 9, (3, 3), (2, 1), (1, 1, 1, 1), ones=True),
    Layer((1, 1), 33, 10, None),
    Layer((1, 3), 700, 31, None, end="codes"),
    Layer((1, 5), 64, 65, None, end="residual"),
]
"""Layers at the edges of kernels: words that are not full, halves of vectors, several runs."""
