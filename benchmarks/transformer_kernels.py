"""The kernels of integer transformers: cycles by core, against the targets of the project.

    python benchmarks/transformer_kernels.py            # Cortex-M4
    python benchmarks/transformer_kernels.py m0plus m3 m4 m7 m33

Layers of their own in one firmware, run in the emulator with memory that never waits, as
`edgec profile --memory ideal` does.  The attention block is that of a published comparison: 32
tokens of 64 channels, 16 heads of 64 columns, three projections, attention, and the projection
back: 10.5 million multiply-accumulates.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from built import firmware_of

from edgec.base.dtypes import Array, DType
from edgec.interp import run_graph
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.memory import plan_memory
from edgec.profile.pricing import PricedSegment, Pricer
from edgec.sim.compare import compare_outputs
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.target.board import Board, load_board
from edgec.target.target import Target
from edgec.timing.core import core_model
from edgec.timing.types import MemoryMode

BOARDS = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
}
_SMALL = ("m0plus", "m3")
_BYTE = QuantParams.per_tensor(0.05, 0)
_STREAM = QuantParams.per_tensor(0.001, 0, DType.INT16)


class Layers:
    """Builds a graph of layers on one input."""

    def __init__(self, name: str, tokens: int, channels: int) -> None:
        self.builder = GraphBuilder(name)
        self.rng = np.random.default_rng(1)
        self.x = self._value("x", (1, tokens, channels), DType.INT16)
        self.builder.inputs.append(self.x)

    def _value(self, name: str, shape: tuple[int, ...], dtype: DType) -> str:
        quant = _BYTE if dtype is DType.INT8 else _STREAM
        return self.builder.value(Value(name, shape, dtype, quant))

    def _constant(self, array: Array, quant: QuantParams | None = None) -> str:
        return self.builder.constant(self.builder.fresh("constant"), array, quant)

    def _node(self, name: str, attrs: object, inputs: list[str], columns: int, dtype: DType) -> str:
        rows = self.builder.values[self.x].shape[:-1]
        y = self._value(name, (*rows, columns), dtype)
        self.builder.node(f"{name} node", attrs, inputs, [y])
        return y

    def norm(self, name: str, x: str) -> str:
        """LayerNormalization to int8."""
        channels = self.builder.values[x].shape[-1]
        gamma = self._constant(self.rng.integers(8000, 9000, channels).astype(np.int16))
        beta = self._constant(np.full(channels, 1 << 19, np.int32))
        square_shift = int(np.ceil(np.log2(channels) / 2))
        attrs = qops.QNorm(True, 5, 4, square_shift, 20, -127, 127)
        return self._node(name, attrs, [x, gamma, beta], channels, DType.INT8)

    def gemm(self, name: str, x: str, units: int, kind: str = "plain", residual: str = "") -> str:
        """A layer with weights: plain, table or residual."""
        depth = self.builder.values[x].shape[-1]
        weight = self.rng.integers(-127, 128, (units, depth)).astype(np.int8)
        bias = self.rng.integers(-999, 999, units).astype(np.int32)
        inputs = [x, *map(self._constant, (weight, bias, np.full(units, 20000, np.int16)))]
        pre = max(int(np.ceil(np.log2(74 * 40 * np.sqrt(depth) * 4))) - 15, 0)
        attrs = qops.QGemm(qops.Rescale16x15(pre, 22, -127, 127), raw=True)
        if kind == "table":
            attrs = qops.QGemm(qops.Rescale16x15(pre, 20, -512, 511), raw=True)
            inputs += ["", self._constant(self.rng.integers(-127, 128, 1024).astype(np.int8))]
        if kind == "residual":
            wide = qops.Rescale16x15(pre, 15, -32768, 32767, DType.INT16)
            attrs = qops.QGemm(wide, qops.StreamSum(), raw=True)
            inputs.append(residual)
        return self._node(name, attrs, inputs, units, attrs.output.dtype)

    def attention(self, name: str, qkv: str, heads: int) -> str:
        """Attention of three sets of columns of one tensor."""
        channels = self.builder.values[qkv].shape[-1] // 3
        width = channels // heads
        multiplier = round(2**26 * 0.002)
        row = [multiplier, min(8300, 2 * 128 * 128 * width), 2**29 + 12345, 8]
        table = self._constant(np.array([row] * heads, np.int32))
        attrs = qops.QAttention(heads, width, width, 0, channels, 2 * channels, 15)
        return self._node(name, attrs, [qkv, qkv, qkv, table], channels, DType.INT8)

    def graph(self, *outputs: str) -> Graph:
        """What was built."""
        self.builder.outputs.extend(outputs)
        return self.builder.build()


@dataclass(frozen=True, slots=True)
class Layer:
    """A step of a traced run."""

    name: str
    kernel: str
    macs: int
    elements: int
    priced: PricedSegment

    @property
    def cycles(self) -> int:
        """Of the step."""
        return self.priced.total.cycles

    def part(self, stem: str) -> int:
        """Cycles of the functions whose name contains `stem`."""
        functions = self.priced.functions.items()
        return sum(counts.cycles for name, counts in functions if stem in name)


def measure(graph: Graph, board: Board) -> list[Layer]:
    """Build and trace; the outputs are compared with the oracle's."""
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    program = lower(graph, choices, plan_memory(buffers, overlaps))
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-9000, 9000, graph.shape(x)).astype(np.int16) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(program, board, Path(name))
        with EmulatedFirmware(elf, board) as firmware:
            oracle = run_graph(graph, dict(zip(graph.inputs, inputs, strict=True)))
            compare_outputs(program, oracle, firmware.run(inputs).outputs, board.name)
        pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
        run = trace_inference(elf, board, inputs, MemoryMode.IDEAL, pace=pricer.pace)
    priced = [pricer.price(segment) for segment in run.trace.segments]
    return [
        Layer(c.node.output, c.spec.family, c.spec.macs, graph.values[c.node.output].elements, p)
        for c, p in zip(choices, priced, strict=True)
    ]


def block(tokens: int, channels: int, heads: int, width: int) -> Graph:
    """Projections, attention, projection back."""
    layers = Layers("block", tokens, channels)
    normed = layers.norm("norm", layers.x)
    qkv = layers.gemm("qkv", normed, 3 * heads * width)
    mixed = layers.attention("attention", qkv, heads)
    return layers.graph(layers.gemm("project", mixed, channels, "residual", layers.x))


def feed_forward(tokens: int, channels: int, hidden: int) -> Graph:
    """LayerNormalization, GELU layer, and the layer back."""
    layers = Layers("mlp", tokens, channels)
    normed = layers.norm("norm", layers.x)
    wide = layers.gemm("gelu", normed, hidden, "table")
    return layers.graph(layers.gemm("back", wide, channels, "residual", layers.x))


def show(core: str, graphs: Sequence[Graph]) -> None:
    """A row of a Markdown table for each layer."""
    heading = "cycles | an output | a MAC | storing an output | exponentials an element"
    print(f"\n| {core}: layer | kernel | {heading} |")
    print("|---|---|---|---|---|---|---|")
    for graph in graphs:
        found = measure(graph, load_board(BOARDS[core]))
        for layer in found:
            mac = f"{layer.cycles / layer.macs:.3f}" if layer.macs else ""
            part = ""
            store = layer.part("_store") / layer.elements
            stored = f"{store:.1f}" if store else ""
            if layer.kernel.startswith("attention"):
                node = next(n for n in graph.nodes if n.output == layer.name)
                (_, n, _), (_, m, _) = (graph.shape(x) for x in node.inputs[:2])
                cycles = layer.part("attention_row") + layer.part("exponential")
                part = f"{cycles / (node.attrs.heads * n * m):.1f}"
            each = layer.cycles / layer.elements
            shape = "x".join(map(str, graph.shape(layer.name)[1:]))
            print(
                f"| {layer.name} {shape} | {layer.kernel} | {layer.cycles:,} | {each:.1f} | "
                f"{mac} | {stored} | {part} |"
            )
        total, macs = (sum(getattr(x, key) for x in found) for key in ("cycles", "macs"))
        print(f"| {graph.name} | | {total:,} | | {total / macs:.3f} | | |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=["m4"], help=f"of {', '.join(BOARDS)}")
    args = parser.parse_args()
    graphs = [feed_forward(16, 192, 384), block(65, 64, 4, 16)]
    for core in args.cores:
        # The published block takes more RAM than the boards of the smaller cores have.
        large = [] if core in _SMALL else [block(32, 64, 16, 64)]
        show(core, [*large, *graphs])


if __name__ == "__main__":
    main()
