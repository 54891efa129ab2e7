"""Single layers, each with every kernel that could compute it, in one firmware: their cycles.

What `choice_prices.py` fits its prices to and judges them on.  Of Cortex-A cores, which have no
cycle model, executed instructions take the place of cycles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from built import firmware_of
from choice_planes import PlaneShape, add_layer, add_planes
from profile_networks import OPTIONS

from edgec.base.dtypes import Array, DType
from edgec.commands.compile_facts import placement_report, share_of
from edgec.ir import Graph, Node, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.base import LIMITS
from edgec.ir.qops.signs import SIGNS, packed, words_of
from edgec.kernels.select import KernelChoice, kernel_candidates
from edgec.lower.placed import lowered
from edgec.profile.instructions import InstructionCounter
from edgec.profile.pricing import Pricer
from edgec.profile.types import Counts
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.sim.trace_linux import trace_program
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.timing.core import core_model

_ZERO_POINT = -128
_ADDED = qops.AddParams(_ZERO_POINT, _ZERO_POINT, 1 << 10, 1 << 11, 12, _ZERO_POINT)
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
        x, y: element types; of x `SIGNS`: weights are signs, too.
        groups: independent groups of channels, of a layer with filters.
        bits: of inputs and weights, where both are bit planes; y `SIGNS` are planes, too, as many
            as those of x.  No bits of weights: the layer makes planes of codes.
        zeros: share of the weights that are zero, anywhere; 0: as many as there happen to be.
        weight_bits: of weights that are numbers of so few bits, of one bit -1 and 1, of 8
            -127 to 127; 0: small bytes.
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
    bits: tuple[int, int] | None = None
    groups: int = 1
    zeros: float = 0.0
    weight_bits: int = 0

    def __str__(self) -> str:
        image = f"[{self.height}, {self.width}, {self.channels}]"
        rows, columns = self.kernel
        kind = "depthwise" if not self.filters else f"to {self.filters}"
        added = ", residual" if self.residual else ""
        padding = ", padding after it" if self.after else ", no padding" if self.inside else ""
        types = "" if self.x is self.y is DType.INT8 else f", {self.x.value} to {self.y.value}"
        bits = "" if self.bits is None else ", {} by {} bits".format(*self.bits)
        groups = f", {self.groups} groups" if self.groups > 1 else ""
        zeros = f", {self.zeros:.0%} zeros" if self.zeros else ""
        weights = f", weights of {self.weight_bits} bits" if self.weight_bits else ""
        window = f"{rows}x{columns} by {self.stride}"
        return f"{image} {kind}, {window}{added}{padding}{types}{bits}{groups}{zeros}{weights}"

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """Padding above the image, before it, below and after it."""
        if self.inside:
            return (0, 0, 0, 0)
        halves = ((self.kernel[0] - 1) // 2, (self.kernel[1] - 1) // 2)
        return (0, 0, 1, 1) if self.after else (*halves, *halves)

    @property
    def out_size(self) -> tuple[int, int]:
        """Rows and columns of the outputs."""
        sizes, pads = (self.height, self.width), self.pads
        down, across = (
            (size + sum(pads[axis::2]) - taps) // self.stride + 1
            for axis, (size, taps) in enumerate(zip(sizes, self.kernel, strict=True))
        )
        return down, across


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
    """A node for each layer (`nodes_of`); images of one shape are one input."""
    rng = np.random.default_rng(3)
    builder = GraphBuilder("choice")
    for number, layer in enumerate(layers):
        if layer.bits is not None:
            _add_planes(builder, layer, layer.bits, number, rng)
        elif layer.x is SIGNS:
            _add_binary(builder, layer, number, rng)
        else:
            _add(builder, layer, number, rng)
    return builder.build()


def nodes_of(graph: Graph) -> list[Node]:
    """The nodes of the layers, in order: signs have others before and after them."""
    found = (node for node in graph.nodes if node.name.startswith("node_"))
    return sorted(found, key=lambda node: int(node.name.removeprefix("node_")))


def _add(builder: GraphBuilder, layer: Layer, number: int, rng: np.random.Generator) -> None:
    x = _image(builder, layer, layer.x)
    group = layer.groups if layer.filters else layer.channels
    filters, depth = layer.filters or layer.channels, layer.channels // group
    half = 1 << layer.weight_bits - 1 if layer.weight_bits else 0
    numbers = np.arange(-half, half) if half else np.arange(-40, 41)
    if layer.weight_bits == 1:
        numbers = np.array([-1, 1])
    if layer.weight_bits == 8:
        numbers = numbers[1:]  # -128 is a code of no weight
    weights = rng.choice(numbers, (filters, *layer.kernel, depth)).astype(np.int8)
    if layer.zeros:
        weights[rng.random(weights.shape) < layer.zeros] = 0
    names = [
        x,
        builder.constant(f"weights_{number}", weights),
        builder.constant(f"bias_{number}", rng.integers(-1000, 1000, filters).astype(np.int32)),
        builder.constant(
            f"multiplier_{number}", rng.integers(1 << 22, 1 << 23, filters).astype(np.int32)
        ),
    ]
    quant = _quant(layer.y)
    shape = (1, *layer.out_size, filters)
    y = builder.value(Value(f"y_{number}", shape, layer.y, quant))
    form = qops.Requant31(33, quant.tensor_zero_point, *LIMITS[layer.y], layer.y)
    conv = qops.QConv((layer.stride,) * 2, layer.pads, (1, 1), group, form)
    if layer.residual:
        conv = replace(conv, residual=_ADDED)
        names.append(_residual(builder, y, number))
    builder.node(f"node_{number}", conv, names, [y])
    builder.outputs.append(y)


def _image(builder: GraphBuilder, layer: Layer, dtype: DType) -> str:
    """The image of a layer as an input of the model."""
    x = f"x_{layer.height}_{layer.width}_{layer.channels}_{dtype.value}"
    if x not in builder.values:
        shape = (1, layer.height, layer.width, layer.channels)
        builder.value(Value(x, shape, dtype, _quant(dtype)))
        builder.inputs.append(x)
    return x


def _residual(builder: GraphBuilder, y: str, number: int) -> str:
    """What is added to the output of a layer."""
    name = builder.value(replace(builder.values[y], name=f"r_{number}"))
    builder.inputs.append(name)
    return name


def _add_binary(builder: GraphBuilder, layer: Layer, number: int, rng: np.random.Generator) -> None:
    """A layer of signs, after the signs of an image; outputs of signs go to a filter of codes."""
    x = _signs(builder, layer)
    gives_signs = layer.y is SIGNS
    shape = (1, *layer.out_size, words_of(layer.filters) if gives_signs else layer.filters)
    quant = None if gives_signs else _quant(layer.y)
    y = builder.value(Value(f"y_{number}", shape, layer.y, quant))
    form = None if gives_signs else qops.Requant31(33, _ZERO_POINT, *LIMITS[layer.y], layer.y)
    step = 1 if gives_signs else 127
    conv = qops.QBinaryConv(
        layer.channels, form, step, strides=(layer.stride,) * 2, pads=layer.pads
    )
    names = [
        x,
        *_binary_constants(builder, layer.filters, layer.kernel, layer.channels, number, rng),
    ]
    if gives_signs:
        names.pop()
    if layer.residual:
        conv = replace(conv, residual=_ADDED)
        names.append(_residual(builder, y, number))
    builder.node(f"node_{number}", conv, names, [y])
    if gives_signs:
        y = _end_of_signs(builder, y, layer.filters, number, rng)
    builder.outputs.append(y)


def _signs(builder: GraphBuilder, layer: Layer) -> str:
    image = _image(builder, layer, DType.INT8)
    x = f"signs_of_{image}"
    if x not in builder.values:
        shape = (1, layer.height, layer.width, words_of(layer.channels))
        builder.value(Value(x, shape, SIGNS))
        least, most = np.full(layer.channels, -128, np.int8), np.full(layer.channels, 3, np.int8)
        names = [builder.constant(f"least_of_{x}", least), builder.constant(f"most_of_{x}", most)]
        builder.node(f"{x}_node", qops.QSigns(), [image, *names], [x])
    return x


def _binary_constants(
    builder: GraphBuilder,
    filters: int,
    kernel: tuple[int, int],
    channels: int,
    number: int | str,
    rng: np.random.Generator,
) -> list[str]:
    """Weights, bias and multipliers of a layer of signs."""
    weights = packed(rng.integers(0, 2, (filters, *kernel, channels)).astype(bool))
    bias = rng.integers(-9, 10, filters).astype(np.int32)
    multiplier = rng.integers(1 << 22, 1 << 23, filters).astype(np.int32)
    return [
        builder.constant(f"weights_{number}", weights),
        builder.constant(f"bias_{number}", bias),
        builder.constant(f"multiplier_{number}", multiplier),
    ]


def _add_planes(
    builder: GraphBuilder,
    layer: Layer,
    bits: tuple[int, int],
    number: int,
    rng: np.random.Generator,
) -> None:
    """A layer of bit planes, after those of an image; planes go to a filter of codes."""
    image = _image(builder, layer, DType.INT8)
    shape = PlaneShape(
        (layer.height, layer.width),
        layer.out_size,
        layer.channels,
        layer.filters,
        layer.kernel,
        layer.stride,
        layer.pads,
        *bits,
        bits[0] if layer.y is SIGNS else 0,
        _ADDED,
    )
    if bits[1]:
        residual = (lambda y: _residual(builder, y, number)) if layer.residual else None
        x, quant = add_planes(builder, image, bits[0]), _quant(DType.INT8)
        y = add_layer(builder, shape, x, str(number), quant, rng, residual)
    else:
        y = add_planes(builder, image, bits[0], f"node_{number}")
        shape = replace(shape, filters=layer.channels, out=shape.image)
    if layer.y is SIGNS:
        end = replace(
            shape, image=shape.out, channels=shape.filters, filters=4, kernel=(1, 1), stride=1,
            pads=(0, 0, 0, 0), w_planes=1, y_planes=0,
        )  # fmt: skip
        y = add_layer(builder, end, y, f"end_{number}", _quant(DType.INT8), rng)
    builder.outputs.append(y)


def _end_of_signs(
    builder: GraphBuilder, signs: str, channels: int, number: int, rng: np.random.Generator
) -> str:
    """Four filters of codes: signs can be no output of a model."""
    form = qops.Requant31(33, _ZERO_POINT, *LIMITS[DType.INT8], DType.INT8)
    shape = (*builder.values[signs].shape[:-1], 4)
    y = builder.value(Value(f"end_{number}", shape, DType.INT8, _quant(DType.INT8)))
    names = _binary_constants(builder, 4, (1, 1), channels, f"end_{number}", rng)
    builder.node(f"end_{number}_node", qops.QBinaryConv(channels, form, 127), [signs, *names], [y])
    return y


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
        for layer, node in zip(layers, nodes_of(one), strict=True)
        for rank in range(len(kernel_candidates(one, node, target)))
    ]
    graph = graph_of([layer for layer, _ in ranked])
    ranks = dict(zip([node.name for node in nodes_of(graph)], ranked, strict=True))
    choices = [
        kernel_candidates(graph, node, target)[ranks[node.name][1] if node.name in ranks else 0]
        for node in graph.nodes
    ]
    share = share_of(OPTIONS, board)
    made = lowered(graph, choices, board, share)
    rng = np.random.default_rng(1)
    inputs = [_codes(graph.shape(x), graph.dtype(x), rng) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(made.program, board, Path(name), placement_report(made, share, board))
        counts, _ = run_steps(elf, board, inputs)
    taken = {each.node.name: pair for each, *pair in zip(choices, choices, counts, strict=True)}
    found: list[list[Measured]] = []
    for name, (layer, rank) in ranks.items():
        if rank == 0:
            found.append([])
        found[-1].append(Measured(layer, *taken[name]))
    return found


def run_steps(elf: Path, board: Board, inputs: Sequence[Array]) -> tuple[list[Counts], list[Array]]:
    """What each step of a firmware takes, and its outputs.

    Args:
        elf: the firmware.
        board: the one that it was built for; one with Linux takes executed instructions.
        inputs: one for each input of the model.
    """
    if board.linux is not None:
        program = trace_program(elf, board, inputs)
        counter = InstructionCounter(program.program)
        totals = [counter.total(part).instructions for part in program.segments]
        counts = [Counts(cycles=total, ideal_cycles=total, instructions=total) for total in totals]
        return counts, list(program.outputs)
    pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
    run = trace_inference(elf, board, inputs, pace=pricer.pace)
    return [pricer.price(part).total for part in run.trace.segments], list(run.outputs)
