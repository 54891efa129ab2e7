"""The kernels of integer transformers on Cortex-A: instructions with NEON, and without it.

    python benchmarks/neon_kernels.py              # Cortex-A53 (A64) and A7 (Thumb-2)
    python benchmarks/neon_kernels.py a53

The programs are those of `edgec compile` for a Raspberry Pi 3 and 2, run in the emulator, which
counts instructions; what they compute is compared with the oracle.  "C" are the kernels that every
core has, built by the same compiler with the same options; "DSP" those for cores with the DSP
extension, which Armv7-A has as well.  A whole network, `networks/cct_cifar10.onnx`, ends the table.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from built import firmware_of
from transformer_kernels import block, feed_forward

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.memory import plan_memory
from edgec.sim.linux_program import LinuxProgram
from edgec.sim.trace_linux import trace_program
from edgec.target.board import Board, load_board
from edgec.target.target import Target
from edgec.timing.decode_linux import count_kinds
from edgec.timing.types import Segment
from edgec.workflow.integer import integer_model

BOARDS = {"a53": "raspberry_pi_3", "a7": "raspberry_pi_2"}
KERNELS = {"C": "host", "DSP": "nucleo_l4r5zi", "NEON": ""}
"""The board whose kernels are compared; "": the own ones."""
NOTHING_DECIDED: Mapping[str, object] = MappingProxyType({})
KEYS = 196
NETWORK = Path(__file__).resolve().parents[1] / "networks" / "cct_cifar10.onnx"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a traced run.

    Attributes:
        name: of the output.
        macs, elements: multiply-accumulates, and elements of the output.
        functions: instructions by C function.
    """

    name: str
    macs: int
    elements: int
    functions: dict[str, int]

    @property
    def instructions(self) -> int:
        """Of the step."""
        return sum(self.functions.values())

    @property
    def per_mac(self) -> float:
        """Instructions a multiply-accumulate."""
        return self.instructions / self.macs

    @property
    def per_element(self) -> float:
        """Instructions an element of the output."""
        return self.instructions / self.elements

    def part(self, *stems: str) -> int:
        """Instructions of the functions whose name contains one of `stems`."""
        named = self.functions.items()
        return sum(count for name, count in named if any(stem in name for stem in stems))


def measure(
    graph: Graph, board: Board, kernels: Board, decisions: Mapping[str, object] = NOTHING_DECIDED
) -> list[Step]:
    """Build for `board` with the kernels for another one, trace, and compare with the oracle."""
    choices = select_kernels(graph, Target.of(kernels), decisions)
    buffers, overlaps, _ = buffers_of(graph, choices)
    program = lower(graph, choices, plan_memory(buffers, overlaps))
    inputs = list(_inputs(graph))
    with tempfile.TemporaryDirectory() as name:
        run = trace_program(firmware_of(program, board, Path(name)), board, inputs)
    oracle = run_graph(graph, dict(zip(graph.inputs, inputs, strict=True)))
    for y, output in zip(graph.outputs, run.outputs, strict=True):
        if not np.array_equal(oracle[y].ravel(), output.ravel()):
            raise SystemExit(f"{graph.name}: {y} differs from the oracle")
    return [
        Step(c.node.output, c.spec.macs, graph.values[c.node.output].elements, functions)
        for c, functions in zip(
            choices, (_functions(run.program, s) for s in run.segments), strict=True
        )
    ]


def _inputs(graph: Graph) -> Iterator[Array]:
    rng = np.random.default_rng(1)
    for x in graph.inputs:
        dtype = graph.values[x].dtype.numpy
        reach = 9000 if dtype == np.int16 else 100
        yield rng.integers(-reach, reach, graph.shape(x)).astype(dtype)


def _functions(program: LinuxProgram, segment: Segment) -> dict[str, int]:
    found: dict[str, int] = {}
    for edge, executions in segment.edges.items():
        code = program.read(edge.start, edge.size_bytes)
        kinds = count_kinds(code, edge.start, program.kind(edge.start))
        name = program.function(edge.start)
        found[name] = found.get(name, 0) + executions * kinds.instructions
    return found


def rows(board: Board, kernels: Board) -> Iterator[tuple[str, float | None]]:
    """The rows of the table: what is counted, and instructions; None where it is inlined."""
    mlp, half, small, wide, large = (
        {layer.name: layer for layer in measure(graph, board, kernels)}
        for graph in (
            feed_forward(16, 192, 384),
            feed_forward(16, 96, 384),
            block(65, 64, 4, 16),
            block(65, 128, 4, 16),
            block(KEYS, 64, 1, 64),
        )
    )
    yield "layer of 192 to 384 with GELU, a MAC", mlp["gelu"].per_mac
    yield "layer of 384 to 192, added to the stream, a MAC", mlp["back"].per_mac
    yield "layer of 64 to 64, added to the stream, a MAC", small["project"].per_mac
    yield "requantization, an output", _at_depth_0(wide["qkv"], small["qkv"])
    yield "requantization with GELU, an output", _at_depth_0(mlp["gelu"], half["gelu"])
    yield "LayerNorm of 192 channels, an element", mlp["norm"].per_element
    yield "attention, 65 tokens, 4 heads of 16, a MAC", small["attention"].per_mac
    yield "attention, 196 tokens, a head of 64, a MAC", large["attention"].per_mac
    weights = large["attention"].part("attention_row", "exponential", "neon_row")
    values = large["attention"].part("_values")
    yield "exponentials of 196 keys, an element", weights / KEYS**2 if weights else None
    yield "A*V of 196 keys, 64 columns, a product", values / (64 * KEYS**2) if values else None


def _at_depth_0(first: Step, second: Step) -> float:
    """What an output costs beside its products: a line through layers of two depths."""
    (a, x), (b, y) = ((s.per_element, s.macs / s.elements) for s in (first, second))
    return a - x * (a - b) / (x - y)


def transformer() -> Graph:
    """The integer CCT; calibrated on noise, for the count of instructions hardly depends on it."""
    noise = np.random.default_rng(0).normal(0, 1, (16, 3, 32, 32)).astype(np.float32)
    return integer_model(NETWORK, {"input": noise}, CompileOptions()).integer


def show(core: str, network: Graph) -> None:
    """A Markdown table of one core."""
    board = load_board(BOARDS[core])
    sets = {
        title: load_board(name) if name else board
        for title, name in KERNELS.items()
        if title != "DSP" or not board.core.is_aarch64
    }
    columns = [list(rows(board, kernels)) for kernels in sets.values()]
    print(f"\n| {core}, instructions | {' | '.join(sets)} |")
    print(f"|---{'|---' * len(sets)}|")
    for row in zip(*columns, strict=True):
        cells = ["" if value is None else f"{value:.3g}" for _, value in row]
        print(f"| {row[0][0]} | {' | '.join(cells)} |")
    totals = [sum(s.instructions for s in measure(network, board, k)) for k in sets.values()]
    cells = [f"{total / 1e6:.2f} million" for total in totals]
    print(f"| {NETWORK.stem} | {' | '.join(cells)} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    args = parser.parse_args()
    network = transformer()
    for core in args.cores:
        show(core, network)


if __name__ == "__main__":
    main()
