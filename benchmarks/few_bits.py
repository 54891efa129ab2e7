"""Convolutions of ResNet-18 with few bits: instructions a multiply-accumulate, int8 and int16.

    python benchmarks/few_bits.py                  # Cortex-A53, C2 to C11
    python benchmarks/few_bits.py a53 a7 --layers C2 C9
    python benchmarks/few_bits.py m4 m0plus m3     # cycles of small layers
    python benchmarks/few_bits.py a53 a7 --rows    # one row by weights of few bits

Layers and their names are those that Cowan et al. 2018, "Automating Generation of Low Precision
Deep Learning Operators" (arXiv 1810.11066), take from ResNet-18; here they multiply signs (W1A1)
and give signs, or weights of one or two bits and activations of two (W1A2, W2A2), which they give.
Programs are those of `edgec compile` for a board, run in the emulator, which counts instructions;
of microcontrollers, cycles with memory that never waits.  Outputs on Cortex-A are compared with the
oracle.  int8 is the same layer by the kernel that edgec chooses for it; int16 has int16 activations
and int8 weights, by the plain C that edgec has for it on Cortex-A.  Packing the bits of an int8
tensor is a step of its own (its cost is that of an element); so is the little layer that makes
outputs of bits.

With `--rows` the layers are fully connected ones of one row, int8 activations and weights of 1 to 4
bits, which stay packed, beside weights in bytes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from built import firmware_of
from choice_planes import PlaneShape, add_layer, add_planes
from choice_prices import BOARDS
from neon_kernels import measure
from pool_layers import step_cycles

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.signs import packed, words_of
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.memory import plan_memory
from edgec.target.board import Board, load_board
from edgec.target.target import Target

_CODES = QuantParams.per_tensor(0.05, 3)
_WIDE = QuantParams.per_tensor(0.001, 0, DType.INT16)


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution of [size, size, channels] to `filters`, with padding of half its kernel."""

    size: int
    channels: int
    filters: int
    kernel: int
    stride: int

    @property
    def out(self) -> int:
        """Rows and columns of the output."""
        return -(-self.size // self.stride)

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.out**2 * self.filters * self.kernel**2 * self.channels

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """Shape of the weights."""
        return self.filters, self.kernel, self.kernel, self.channels


LAYERS = {
    "C2": Layer(56, 64, 64, 3, 1),
    "C3": Layer(56, 64, 64, 1, 1),
    "C4": Layer(56, 64, 128, 3, 2),
    "C5": Layer(56, 64, 128, 1, 2),
    "C6": Layer(28, 128, 128, 3, 1),
    "C7": Layer(28, 128, 256, 3, 2),
    "C8": Layer(28, 128, 256, 1, 2),
    "C9": Layer(14, 256, 256, 3, 1),
    "C10": Layer(14, 256, 512, 3, 2),
    "C11": Layer(14, 256, 512, 1, 2),
}
SMALL = {
    "3x3, 32 to 32, 8x8": Layer(8, 32, 32, 3, 1),
    "3x3, 64 to 64, 8x8": Layer(8, 64, 64, 3, 1),
    "3x3, 128 to 128, 4x4": Layer(4, 128, 128, 3, 1),
    "1x1, 128 to 128, 8x8": Layer(8, 128, 128, 1, 1),
}
"""Layers that fit microcontrollers."""
PAIRS = {"W1A2": (1, 2), "W2A2": (2, 2)}
"""Bits of weights and of activations."""
ROWS = ((256, 128), (640, 128), (128, 512), (640, 512))
"""Columns and filters of layers of one row: an autoencoder's, and gates of a recurrent layer."""
WEIGHTS = {
    "W1A8": (-1, 1),
    "W2A8": (-2, -1, 0, 1),
    "W3A8": tuple(range(-4, 4)),
    "W4A8": tuple(range(-8, 8)),
    "int8": tuple(range(-127, 128)),
}
"""Weights of layers of one row."""


class _Layers:
    """A graph of one layer."""

    def __init__(self, layer: Layer, quant: QuantParams) -> None:
        self.layer, self.builder = layer, GraphBuilder("layer")
        self.rng = np.random.default_rng(1)
        shape = (1, layer.size, layer.size, layer.channels)
        self.x = self.builder.value(Value("x", shape, quant.dtype, quant))
        self.builder.inputs.append(self.x)

    def node(
        self,
        name: str,
        attrs: qops.IntegerOperator,
        inputs: Sequence[str],
        shape: tuple[int, ...],
        quant: QuantParams | None,
    ) -> str:
        """Add a node and its output, signs where there is no quantization."""
        dtype = qops.SIGNS if quant is None else quant.dtype
        y = self.builder.value(Value(name, shape, dtype, quant))
        self.builder.node(name, attrs, inputs, [y])
        return y

    def bias(self, count: int, reach: int) -> str:
        """Biases."""
        numbers = self.rng.integers(-reach, reach + 1, count).astype(np.int32)
        return self.builder.constant("bias", numbers)

    def finished(self, y: str) -> Graph:
        """The graph with an output."""
        self.builder.outputs.append(y)
        return self.builder.build()


def of_signs(layer: Layer) -> Graph:
    """Signs of codes, the layer "y", which gives signs, and one that makes codes of them."""
    made, (filters, *_taps, channels) = _Layers(layer, _CODES), layer.weights
    pads = (layer.kernel // 2,) * 4
    ends = [made.builder.constant("end", np.full(channels, end, np.int8)) for end in (-128, 3)]
    image = (1, layer.size, layer.size, words_of(channels))
    x = made.node("signs", qops.QSigns(), [made.x, *ends], image, None)
    w = made.builder.constant("w", packed(made.rng.random(layer.weights) < 0.5))
    attrs = qops.QBinaryConv(channels, None, strides=(layer.stride,) * 2, pads=pads)
    shape = (1, layer.out, layer.out)
    y = made.node("y", attrs, [x, w, made.bias(filters, 9)], (*shape, words_of(filters)), None)
    last = made.builder.constant("w", packed(made.rng.random((1, 1, 1, filters)) < 0.5))
    multiplier = made.builder.constant("m", np.full(1, 1 << 26, np.int32))
    end = qops.QBinaryConv(filters, qops.Requant31(30, 3))
    return made.finished(
        made.node("last", end, [y, last, made.bias(1, 9), multiplier], (*shape, 1), _CODES)
    )


def of_codes(layer: Layer, quant: QuantParams) -> Graph:
    """The layer "y" with int8 weights."""
    made, pads = _Layers(layer, quant), (layer.kernel // 2,) * 4
    w = made.builder.constant("w", made.rng.integers(-127, 128, layer.weights).astype(np.int8))
    multiplier = made.builder.constant("m", np.full(layer.filters, 1 << 20, np.int32))
    is_wide = quant.dtype is DType.INT16
    low, high = (-32768, 32767) if is_wide else (-128, 127)
    form = qops.Requant31(32, quant.zero_point[0], low, high, quant.dtype)
    # Sums of int16 codes must stay within 32 bits: the codes are of 12 bits.
    reach = 2000 if is_wide else qops.INT8_SPAN
    attrs = qops.QConv((layer.stride,) * 2, pads, (1, 1), 1, form, reach=reach)
    inputs = [made.x, w, made.bias(layer.filters, 999), multiplier]
    return made.finished(
        made.node("y", attrs, inputs, (1, layer.out, layer.out, layer.filters), quant)
    )


def of_planes(layer: Layer, w_planes: int, x_planes: int) -> Graph:
    """Planes of codes, the layer "y", which gives as many planes, and one that makes codes."""
    made = _Layers(layer, _CODES)
    builder = made.builder
    x = add_planes(builder, made.x, x_planes, "packing")
    out, pads = (layer.out,) * 2, (layer.kernel // 2,) * 4
    shape = PlaneShape(
        (layer.size,) * 2, out, layer.channels, layer.filters, (layer.kernel,) * 2, layer.stride,
        pads, x_planes, w_planes, x_planes,
    )  # fmt: skip
    y = add_layer(builder, shape, x, "layer", _CODES, made.rng)
    last = PlaneShape(out, out, layer.filters, 1, (1, 1), 1, (0, 0, 0, 0), x_planes, 1, 0)
    return made.finished(add_layer(builder, last, y, "last", _CODES, made.rng))


def of_row(depth: int, filters: int, values: Sequence[int]) -> Graph:
    """The layer "y" of one row, with weights of some values."""
    builder, rng = GraphBuilder("row"), np.random.default_rng(1)
    x = builder.value(Value("x", (1, depth), DType.INT8, _CODES))
    builder.inputs.append(x)
    numbers = (
        rng.choice(np.array(values), (filters, depth)).astype(np.int8),
        rng.integers(-999, 1000, filters).astype(np.int32),
        np.full(filters, (1 << 30) // max(values), np.int32),
    )
    inputs = [x, *(builder.constant(f"c{at}", array) for at, array in enumerate(numbers))]
    y = builder.value(Value("y", (1, filters), DType.INT8, _CODES))
    builder.node("y", qops.QGemm(qops.Requant31(40, 3)), inputs, [y])
    builder.outputs.append(y)
    return builder.build()


def costs(graph: Graph, board: Board) -> dict[str, int]:
    """Instructions of each step, or cycles, by the name of its output."""
    if board.linux is not None:
        return {step.name: step.instructions for step in measure(graph, board, board)}
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    program = lower(graph, choices, plan_memory(buffers, overlaps))
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-100, 101, graph.shape(x)).astype(np.int8) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        found = step_cycles(firmware_of(program, board, Path(name)), board, inputs)
    return {choice.node.output: cost for choice, cost in zip(choices, found, strict=True)}


def planes_costs(layer: Layer, board: Board, pair: tuple[int, int]) -> tuple[float, float]:
    """Cost of a multiply-accumulate of a layer of planes, and of an element that is packed."""
    graph = of_planes(layer, *pair)
    found = costs(graph, board)
    by_node = {node.name: found[node.output] for node in graph.nodes}
    elements = layer.size**2 * layer.channels
    return by_node["node_layer"] / layer.macs, by_node["packing"] / elements


def show(core: str, names: Sequence[str]) -> None:
    """A Markdown table of one core."""
    board = load_board(BOARDS[core])
    is_linux = board.linux is not None
    what, layers = ("instructions", LAYERS) if is_linux else ("cycles", SMALL)
    wholes = ("int8", "int16") if is_linux else ("int8",)
    against = [f"{wholes[-1]} / {name}" for name in ("W1A1", *PAIRS)]
    heads = ("W1A1", *PAIRS, *wholes, *against, "packing 1 bit", "2 bits")
    print(f"\n| {core}, {what} a MAC | {' | '.join(heads)} |")
    print(f"|---{'|---:' * len(heads)}|")
    for name, layer in layers.items():
        if is_linux and names and name not in names:
            continue
        bits = costs(of_signs(layer), board)
        packing = bits["signs"] / (layer.size**2 * layer.channels)
        pairs = {name: planes_costs(layer, board, pair) for name, pair in PAIRS.items()}
        own = [bits["y"] / layer.macs, *(cost for cost, _ in pairs.values())]
        codes = [costs(of_codes(layer, _CODES), board)["y"] / layer.macs]
        if is_linux:
            codes.append(costs(of_codes(layer, _WIDE), board)["y"] / layer.macs)
        cells = [f"{each:.4f}" for each in (*own, *codes)]
        cells += [f"{codes[-1] / each:.1f}" for each in own]
        cells += [f"{each:.2f}" for each in (packing, pairs["W1A2"][1])]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def show_rows(core: str) -> None:
    """A Markdown table of layers of one row on one core."""
    board = load_board(BOARDS[core])
    what = "instructions" if board.linux is not None else "cycles"
    print(f"\n| {core}, {what} a weight | {' | '.join(WEIGHTS)} |")
    print(f"|---{'|---:' * len(WEIGHTS)}|")
    for depth, filters in ROWS:
        found = [costs(of_row(depth, filters, each), board)["y"] for each in WEIGHTS.values()]
        cells = " | ".join(f"{cost / (depth * filters):.3f}" for cost in found)
        print(f"| {depth} to {filters} | {cells} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=["a53"], help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--layers", nargs="+", default=[], choices=LAYERS, help="on Cortex-A")
    parser.add_argument("--rows", action="store_true", help="layers of one row, int8 activations")
    args = parser.parse_args()
    for core in set(args.cores) - set(BOARDS):
        parser.error(f"{core} is no core of {', '.join(BOARDS)}")
    for core in args.cores:
        if args.rows:
            show_rows(core)
        else:
            show(core, args.layers)


if __name__ == "__main__":
    main()
