"""Random layers of bit planes: odd sizes, padding, strides, all ends, all numbers of bits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from binary_nets import CODES, Layers
from binary_nets import Layer as Shape

from edgec.base.dtypes import DType
from edgec.ir import Graph, qops
from edgec.ir.graph import Value
from edgec.ir.infer import infer_shapes
from edgec.ir.qops.planes import packed_planes

ENDS = ("planes", "codes", "residual")
FORMS = {
    "signs": (1, -1, 2),
    "ternary": (2, -1, 1),
    "wide ternary": (2, -127, 127),
    "two": (2, -2, 1),
    "odd": (2, -3, 2),
    "three": (3, -4, 1),
}
"""Weights by name: their bits, the least one, and the step from one to the next."""


@dataclass(frozen=True)
class Layer:
    """A layer: its shape, bits of x and of y, and numbers that weights may be."""

    shape: Shape
    x_planes: int = 2
    y_planes: int = 2
    weights: str = "two"
    end: str = field(default="planes")


class PlaneLayers(Layers):
    """Collects layers, each with an input of its own."""

    def add_planes(self, layer: Layer) -> str:
        """A layer of planes of the codes of a new input; the name of its output."""
        shape = layer.shape
        image = (1, shape.image[1]) if shape.kernel is None else (1, *shape.image)
        return self.plane_layer(layer, self.planes((*image, shape.channels), layer.x_planes))

    def planes(self, shape: tuple[int, ...], count: int) -> str:
        """Planes of the codes of a new input, with other ends in each channel."""
        b = self.builder
        x = b.value(Value(b.fresh("x"), shape, DType.INT8, CODES))
        b.inputs.append(x)
        ends = np.sort(self.rng.integers(-128, 128, ((1 << count) - 1, shape[-1])), axis=0)
        below = b.constant(f"{x}/below", ends.astype(np.int8))
        return self.node(qops.QPlanes(count), (x, below), qops.SIGNS, None)

    def plane_layer(self, layer: Layer, x: str) -> str:
        """A layer of planes that are there."""
        b, rng, shape = self.builder, self.rng, layer.shape
        bits, least, unit = FORMS[layer.weights]
        most = 3 if "ternary" in layer.weights else 1 << bits
        taps = () if shape.kernel is None else shape.kernel
        codes = rng.integers(0, most, (shape.filters, *taps, shape.channels))
        names = [x, b.constant("w", packed_planes(codes, bits))]
        reach = int(codes[0].size * ((1 << layer.x_planes) - 1) * max(-least, 1))
        attrs = {
            "channels": shape.channels,
            "x_planes": layer.x_planes,
            "w_planes": bits,
            "least": least,
            "unit": unit,
            "output": None,
        }
        if layer.end == "planes":
            count = (1 << layer.y_planes) - 1
            near = int(2 * np.sqrt(reach * max(-least, 1))) + 3
            ends = np.sort(rng.integers(-near, near + 1, (count, shape.filters)), axis=0)
            names.append(b.constant("b", ends.astype(np.int32)))
            attrs["y_planes"] = layer.y_planes
        else:
            bias = rng.integers(-reach, reach + 1, shape.filters).astype(np.int32)
            multiplier = rng.integers(-(1 << 30), 1 << 30, shape.filters).astype(np.int32)
            low, high = (-128, 127) if rng.random() < 0.5 else (-20, 100)
            form = qops.Requant31(24 + reach.bit_length(), CODES.zero_point[0], low, high)
            attrs |= {"output": form}
            names += [b.constant("b", bias), b.constant("m", multiplier)]
        if layer.end == "residual":
            attrs["residual"] = qops.AddParams(3, 3, 3597627, -1954031, 14, 3, -128, 127)
        made: qops.PlaneLayer
        if shape.kernel is None:
            made = qops.QPlaneGemm(**attrs)
        else:
            geometry = {"strides": shape.strides, "pads": shape.pads, "dilations": shape.dilations}
            made = qops.QPlaneConv(**attrs, **geometry)
        if layer.end == "residual":
            operands = [b.values[x].shape, *(b.constants[n].shape for n in names[1:])]
            (ended,) = infer_shapes(made, operands)
            names.append(b.value(Value(b.fresh("r"), ended, DType.INT8, CODES)))
            b.inputs.append(names[-1])
        if layer.end == "planes":
            return self.node(made, names, qops.SIGNS, None)
        return self.node(made, names, DType.INT8, CODES)

    def finish_planes(self, layer: Layer, y: str) -> None:
        """Make what is computed an output: planes by a product of matrices that reads them."""
        if layer.end == "planes":
            last = Shape((1, 1), layer.shape.filters, 5, None)
            y = self.plane_layer(Layer(last, layer.y_planes, 0, "signs", "codes"), y)
        self.builder.outputs.append(y)


def graph_of(seed: int, layers: list[Layer]) -> Graph:
    """A graph of layers, each with an input and an output of its own."""
    found = PlaneLayers(seed)
    for layer in layers:
        found.finish_planes(layer, found.add_planes(layer))
    return found.build()


EDGES = [
    Layer(Shape((5, 6), 3, 7, (3, 3), pads=(1, 1, 1, 1))),
    Layer(Shape((5, 6), 32, 33, (3, 3), pads=(1, 1, 1, 1)), 2, 0, "ternary", "codes"),
    Layer(Shape((4, 4), 40, 9, (3, 3), (2, 2), (0, 1, 1, 0)), 1, 0, "two", "residual"),
    Layer(Shape((7, 5), 64, 64, (3, 3), pads=(1, 1, 1, 1)), 2, 3, "signs"),
    Layer(Shape((7, 5), 100, 12, (1, 1)), 3, 0, "odd", "codes"),
    Layer(Shape((6, 9), 16, 34, (2, 3), (1, 2), (1, 2, 0, 1), (2, 2)), 2, 0, "three", "codes"),
    Layer(Shape((3, 3), 128, 5, (3, 3), pads=(2, 2, 2, 2)), 2, 1, "odd"),
    Layer(Shape((2, 2), 250, 6, (3, 3), pads=(1, 1, 1, 1)), 2, 0, "wide ternary", "residual"),
    Layer(Shape((1, 1), 33, 10, None), 3, 2, "ternary"),
    Layer(Shape((1, 3), 700, 31, None), 1, 0, "signs", "codes"),
    Layer(Shape((1, 5), 64, 65, None), 2, 0, "wide ternary", "residual"),
]
"""Layers at the edges of kernels: words that are not full, halves of vectors, several runs."""
