"""Single layers, each with every kernel that could compute it, in one firmware: their cycles.

What `choice_prices.py` fits its prices to and judges them on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from built import firmware_of
from profile_networks import OPTIONS

from edgec.base.dtypes import Array, DType
from edgec.commands.compile_facts import placement_report, share_of
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.base import LIMITS
from edgec.kernels.select import KernelChoice, kernel_candidates
from edgec.lower.placed import lowered
from edgec.profile.pricing import Pricer
from edgec.profile.types import Counts
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.timing.core import core_model

_ZERO_POINT = -128
_LAYERS_A_BUILD = 6
"""Inputs and outputs of all layers of a build must fit the RAM together."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution of an image [height, width, channels].

    Attributes:
        height, width, channels: of the image; of a matrix product, 1, its rows and its depth.
        filters: of it; 0: a depthwise convolution.
        kernel: rows and columns of the window.
        stride: both ways.
        residual: the addition of another tensor is part of the layer.
        after: windows begin at the first pixel, with one row and one column of padding after the
            image; else padding is half the window, before it and after it.
        inside: there is no padding.
        x, y: element types.
    """

    height: int
    width: int
    channels: int
    filters: int
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    residual: bool = False
    after: bool = False
    x: DType = DType.INT8
    y: DType = DType.INT8
    inside: bool = False

    def __str__(self) -> str:
        image = f"[{self.height}, {self.width}, {self.channels}]"
        rows, columns = self.kernel
        kind = "depthwise" if not self.filters else f"to {self.filters}"
        added = ", residual" if self.residual else ""
        padding = ", padding after it" if self.after else ", no padding" if self.inside else ""
        types = "" if self.x is self.y is DType.INT8 else f", {self.x.value} to {self.y.value}"
        return f"{image} {kind}, {rows}x{columns} by {self.stride}{added}{padding}{types}"

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """Padding above the image, before it, below and after it."""
        if self.inside:
            return (0, 0, 0, 0)
        halves = ((self.kernel[0] - 1) // 2, (self.kernel[1] - 1) // 2)
        return (0, 0, 1, 1) if self.after else (*halves, *halves)


@dataclass(frozen=True, slots=True)
class Measured:
    """A kernel of a layer: what `edgec compile` takes is the first one of a layer."""

    layer: Layer
    choice: KernelChoice
    counts: Counts


def measure(layers: Sequence[Layer], board: Board) -> Iterator[list[Measured]]:
    """All kernels of each layer, with the flash of the board."""
    for first in range(0, len(layers), _LAYERS_A_BUILD):
        yield from _measured(layers[first : first + _LAYERS_A_BUILD], board)


def graph_of(layers: Sequence[Layer]) -> Graph:
    """A node for each layer; images of one shape are one input."""
    rng = np.random.default_rng(3)
    builder = GraphBuilder("choice")
    for number, layer in enumerate(layers):
        _add(builder, layer, number, rng)
    return builder.build()


def _add(builder: GraphBuilder, layer: Layer, number: int, rng: np.random.Generator) -> None:
    x = f"x_{layer.height}_{layer.width}_{layer.channels}_{layer.x.value}"
    if x not in builder.values:
        shape = (1, layer.height, layer.width, layer.channels)
        builder.value(Value(x, shape, layer.x, _quant(layer.x)))
        builder.inputs.append(x)
    filters, depth = (layer.filters, layer.channels) if layer.filters else (layer.channels, 1)
    weights = rng.integers(-40, 41, (filters, *layer.kernel, depth)).astype(np.int8)
    names = [
        x,
        builder.constant(f"weights_{number}", weights),
        builder.constant(f"bias_{number}", rng.integers(-1000, 1000, filters).astype(np.int32)),
        builder.constant(
            f"multiplier_{number}", rng.integers(1 << 22, 1 << 23, filters).astype(np.int32)
        ),
    ]
    sizes = (layer.height, layer.width)
    out = [
        (size + sum(layer.pads[axis::2]) - taps) // layer.stride + 1
        for axis, (size, taps) in enumerate(zip(sizes, layer.kernel, strict=True))
    ]
    quant = _quant(layer.y)
    y = builder.value(Value(f"y_{number}", (1, *out, filters), layer.y, quant))
    group = 1 if layer.filters else layer.channels
    form = qops.Requant31(33, quant.tensor_zero_point, *LIMITS[layer.y], layer.y)
    conv = qops.QConv((layer.stride,) * 2, layer.pads, (1, 1), group, form)
    if layer.residual:
        z = _ZERO_POINT
        conv = replace(conv, residual=qops.AddParams(z, z, 1 << 10, 1 << 11, 12, z))
        names.append(builder.value(replace(builder.values[y], name=f"r_{number}")))
        builder.inputs.append(names[-1])
    builder.node(f"node_{number}", conv, names, [y])
    builder.outputs.append(y)


def _quant(dtype: DType) -> QuantParams:
    return QuantParams.per_tensor(0.05, _ZERO_POINT if dtype is DType.INT8 else 0, dtype)


def _codes(shape: Sequence[int], dtype: DType, rng: np.random.Generator) -> Array:
    """Codes of all sorts."""
    low, high = LIMITS[dtype]
    return rng.integers(low, high + 1, shape).astype(dtype.numpy)


def _measured(layers: Sequence[Layer], board: Board) -> list[list[Measured]]:
    target = Target.of(board)
    one = graph_of(layers)
    ranked = [
        (layer, rank)
        for layer, node in zip(layers, one.nodes, strict=True)
        for rank in range(len(kernel_candidates(one, node, target)))
    ]
    graph = graph_of([layer for layer, _ in ranked])
    choices = [
        kernel_candidates(graph, node, target)[rank]
        for node, (_, rank) in zip(graph.nodes, ranked, strict=True)
    ]
    share = share_of(OPTIONS, board)
    made = lowered(graph, choices, board, share)
    rng = np.random.default_rng(1)
    inputs = [_codes(graph.shape(x), graph.dtype(x), rng) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(made.program, board, Path(name), placement_report(made, share, board))
        pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
        run = trace_inference(elf, board, inputs, pace=pricer.pace)
    found: list[list[Measured]] = []
    for (layer, rank), choice, part in zip(ranked, choices, run.trace.segments, strict=True):
        if rank == 0:
            found.append([])
        found[-1].append(Measured(layer, choice, pricer.price(part).total))
    return found
