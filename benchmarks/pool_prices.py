"""Fits the prices in edgec/lower/pool_prices.py to what `edgec profile` counts.

    python benchmarks/pool_prices.py                 # all cores: errors of the present prices
    python benchmarks/pool_prices.py m4 --fit        # one core: write prices that fit best
    python benchmarks/pool_prices.py m4 --fit EXPAND WIDEN    # of these units only

Builds firmware of single layers, one step each, for every kernel and several shapes, runs it in the
emulator with memory that never waits, and compares cycles with the planner's estimates.  Of
Cortex-A cores, which have no cycle model, these are executed instructions.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from built import firmware_of

import edgec
from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph import GraphBuilder
from edgec.ir.pool_graph import with_plain_weights
from edgec.kernels.family import KernelSpec
from edgec.kernels.weightpool.bounds import least_response_shift
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.lower import buffers_of, lower, select_kernels
from edgec.lower.pool_cost import Unit, work_of
from edgec.lower.pool_prices import prices_of
from edgec.memory import plan_memory
from edgec.profile.instructions import InstructionCounter
from edgec.profile.pricing import Pricer
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.sim.trace_linux import trace_program
from edgec.target.board import Board, load_board
from edgec.target.cores import Core
from edgec.target.target import Target
from edgec.timing.core import core_model
from edgec.timing.types import MemoryMode

BOARDS = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
    "a7": "raspberry_pi_2",
    "a53": "raspberry_pi_3",
}
_LAYERS_A_BUILD = 14
"""Outputs of all layers of a build must fit the RAM together."""
_ZERO_POINT = -128
_SWEEPS = 20_000


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer to build: [size, size, channels] to `filters`, window of `kernel` x `kernel`."""

    size: int
    channels: int
    filters: int
    kernel: int
    stride: int
    pool_size: int
    bits: int
    config: PoolKernelConfig | None
    group: int = 8
    residual: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """A layer's specification and its cycles."""

    layer: Layer
    spec: KernelSpec
    cycles: int


def layers(core: Core) -> Iterator[Layer]:
    """Every kernel, at shapes of the CIFAR networks."""
    packed = PoolKernelConfig(PoolFamily.RESPONSES, index_bits=6)
    multiply, bitserial, nibble = (
        replace(packed, builder=kind)
        for kind in (ResponseKind.MULTIPLY, ResponseKind.BITSERIAL, ResponseKind.NIBBLE)
    )
    for config in (multiply, bitserial, nibble):
        for bits in (8, 4, 1):
            yield Layer(8, 64, 64, 3, 1, 64, bits, replace(config, chunk_groups=2))
        yield Layer(16, 32, 32, 3, 1, 64, 4, config)
        yield Layer(8, 32, 16, 3, 1, 32, 4, replace(config, index_bits=5, chunk_groups=4))
    for chunk in (1, 4):
        yield Layer(8, 64, 64, 3, 1, 64, 8, replace(multiply, chunk_groups=chunk))
    yield Layer(8, 64, 64, 3, 1, 64, 8, replace(multiply, chunk_groups=2, index_bits=16))
    yield Layer(8, 64, 64, 3, 1, 64, 8, replace(multiply, keep_rows=True))
    yield Layer(16, 32, 64, 3, 2, 64, 8, multiply)
    yield Layer(16, 16, 64, 1, 1, 64, 8, replace(multiply, chunk_groups=1))
    yield Layer(4, 64, 64, 3, 1, 64, 8, replace(multiply, chunk_groups=2))
    yield Layer(16, 16, 16, 3, 1, 64, 4, replace(bitserial, chunk_groups=1))
    yield Layer(16, 16, 16, 3, 1, 64, 8, replace(multiply, chunk_groups=1), residual=True)
    for config in (multiply, bitserial):
        yield Layer(8, 32, 32, 3, 1, 64, 8, replace(config, lanes=1))
        yield Layer(10, 32, 32, 3, 1, 64, 8, config)
        yield Layer(7, 32, 64, 3, 1, 64, 4, config)
        for bits in (8, 4):
            yield Layer(8, 32, 64, 3, 1, 64, bits, replace(config, runtime_bits=True))
    decode = PoolKernelConfig(PoolFamily.DECODE, index_bits=6)
    yield Layer(16, 16, 16, 3, 1, 64, 8, decode, residual=True)
    for size, channels, filters, kernel in ((8, 64, 64, 3), (16, 16, 16, 3), (8, 32, 64, 1)):
        yield Layer(size, channels, filters, kernel, 1, 64, 8, decode)
        yield Layer(size, channels, filters, kernel, 1, 64, 4, decode)
        yield Layer(size, channels, filters, kernel, 1, 64, 8, None)
    if True in core.possible_dsp:
        yield from _decodes_for_dsp(replace(decode, dsp=True))
    for kind in (ResponseKind.BITSERIAL, ResponseKind.NIBBLE):
        direct = PoolKernelConfig(PoolFamily.DIRECT, index_bits=6, builder=kind)
        for bits in (1, 4):
            yield Layer(8, 32, 16, 3, 1, 64, bits, direct)
        yield Layer(8, 16, 64, 3, 1, 64, 2, direct)


def _decodes_for_dsp(decode: PoolKernelConfig) -> Iterator[Layer]:
    for bits in (8, 4):
        yield Layer(8, 64, 64, 3, 1, 64, bits, replace(decode, batch=4))
        yield Layer(8, 64, 64, 3, 1, 64, bits, replace(decode, batch=16))
        yield Layer(16, 16, 16, 3, 1, 64, bits, decode)
        yield Layer(8, 32, 64, 1, 1, 64, bits, decode)
        yield Layer(4, 64, 64, 3, 1, 64, bits, replace(decode, batch=32))
    yield Layer(16, 16, 16, 3, 1, 64, 8, decode, residual=True)
    yield Layer(8, 64, 64, 3, 1, 64, 8, replace(decode, batch=16, runtime_bits=True))


def graph_of(made: Sequence[Layer]) -> tuple[Graph, dict[str, PoolKernelConfig]]:
    """One node per layer, each on the same input as others of its shape."""
    rng = np.random.default_rng(5)
    builder = GraphBuilder("prices")
    configs = {}
    quant = QuantParams.per_tensor(0.05, _ZERO_POINT)
    for number, layer in enumerate(made):
        x = f"x_{layer.size}_{layer.channels}"
        if x not in builder.values:
            builder.value(Value(x, (1, layer.size, layer.size, layer.channels), DType.INT8, quant))
            builder.inputs.append(x)
        node = _add(builder, layer, number, x, quant, rng)
        if layer.config is not None:
            configs[node] = layer.config
    graph = builder.build()
    plain = {f"node_{i}" for i, layer in enumerate(made) if layer.config is None}
    return with_plain_weights(graph, plain), configs


def _add(
    builder: GraphBuilder,
    layer: Layer,
    number: int,
    x: str,
    quant: QuantParams,
    rng: np.random.Generator,
) -> str:
    groups = -(-layer.channels // layer.group)
    vectors = rng.integers(-15, 16, (layer.pool_size, layer.group)).astype(np.int8)
    shape = (layer.filters, layer.kernel, layer.kernel, groups)
    indices = rng.integers(0, layer.pool_size, shape).astype(np.uint16)
    two = layer.config is not None and layer.config.family is PoolFamily.RESPONSES
    shift = 0
    if two and layer.config is not None and layer.config.lanes == 2:
        shift = least_response_shift(vectors, indices, _ZERO_POINT, layer.bits)
    names = [
        builder.constant(f"pool_{layer.pool_size}_{number}", vectors),
        builder.constant(f"indices_{number}", indices),
        builder.constant(f"bias_{number}", np.zeros(layer.filters, np.int32)),
        builder.constant(f"multiplier_{number}", np.full(layer.filters, 1 << 20, np.int32)),
    ]
    pad = layer.kernel // 2
    conv = qops.QConv((layer.stride,) * 2, (pad,) * 4, (1, 1), 1, qops.Requant31(32, _ZERO_POINT))
    side = -(-layer.size // layer.stride)
    y = builder.value(Value(f"y_{number}", (1, side, side, layer.filters), DType.INT8, quant))
    if layer.residual:
        z = _ZERO_POINT
        conv = replace(conv, residual=qops.AddParams(z, z, 1 << 10, 1 << 11, 12, z))
        other = builder.value(replace(builder.values[y], name=f"r_{number}"))
        builder.inputs.append(other)
        names.append(other)
    attrs = qops.QPooledConv(conv, qops.Pooling(layer.bits, shift))
    builder.node(f"node_{number}", attrs, [x, *names], [y])
    builder.outputs.append(y)
    return f"node_{number}"


def measure(made: Sequence[Layer], board: Board) -> list[Measured]:
    """The cycles of each layer."""
    found: list[Measured] = []
    for first in range(0, len(made), _LAYERS_A_BUILD):
        found += _measured(made[first : first + _LAYERS_A_BUILD], board)
    return found


def _measured(made: Sequence[Layer], board: Board) -> list[Measured]:
    """Build layers into one firmware and trace it."""
    graph, configs = graph_of(made)
    choices = select_kernels(graph, Target.of(board), configs)
    buffers, overlaps, _ = buffers_of(graph, choices)
    program = lower(graph, choices, plan_memory(buffers, overlaps))
    with tempfile.TemporaryDirectory() as name:
        elf = firmware_of(program, board, Path(name))
        if board.linux is not None:
            return _counted(made, [c.spec for c in choices], elf, board, graph)
        pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
        rng = np.random.default_rng(1)
        inputs = [rng.integers(-128, 128, graph.shape(x)).astype(np.int8) for x in graph.inputs]
        run = trace_inference(elf, board, inputs, MemoryMode.IDEAL, pace=pricer.pace)
    cycles = [pricer.price(segment).total.cycles for segment in run.trace.segments]
    return [Measured(*each) for each in zip(made, (c.spec for c in choices), cycles, strict=True)]


def _counted(
    made: Sequence[Layer], specs: Sequence[KernelSpec], elf: Path, board: Board, graph: Graph
) -> list[Measured]:
    """The same in executed instructions."""
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-128, 128, graph.shape(x)).astype(np.int8) for x in graph.inputs]
    run = trace_program(elf, board, inputs)
    counter = InstructionCounter(run.program)
    counts = [counter.total(segment).instructions for segment in run.segments]
    return [Measured(*each) for each in zip(made, specs, counts, strict=True)]


def fit(found: Sequence[Measured], board: Board, free: Sequence[Unit]) -> dict[Unit, float]:
    """Prices of the units `free` with the least relative errors, none far from what they were."""
    before = prices_of(board)
    units = list(Unit)
    rows = np.array([[work_of(m.spec, m.layer.bits).get(u, 0.0) for u in units] for m in found])
    rows /= np.array([m.cycles for m in found])[:, None]
    prices = np.array([before.get(unit, 0.0) for unit in units])
    # A weak pull towards the present prices decides what the layers do not tell.
    pull = np.diag(0.02 / np.maximum(prices, 0.5))
    left = np.concatenate([rows, pull])
    right = np.concatenate([np.ones(len(found)), 0.02 * prices / np.maximum(prices, 0.5)])
    squares, target = left.T @ left, left.T @ right
    for _ in range(_SWEEPS):  # coordinate descent: least squares without negative prices
        for unit in map(units.index, free):
            rest = target[unit] - squares[unit] @ prices + squares[unit, unit] * prices[unit]
            prices[unit] = max(rest / squares[unit, unit], 0.0)
    return {unit: round(float(price), 2) for unit, price in zip(units, prices, strict=True)}


def write(core: str, prices: dict[Unit, float]) -> None:
    """Put prices of a core into pool_prices.py."""
    path = Path(edgec.__file__).parent / "lower" / "pool_prices.py"
    lines = [f"        Unit.{unit.name}: {price},\n" for unit, price in prices.items()]
    table = f"_{core.upper()}: Mapping[Unit, float] = MappingProxyType(\n    {{\n"
    before, _, after = path.read_text("utf-8").partition(table)
    rest = after[after.index("    }\n") :]
    path.write_text(before + table + "".join(lines) + rest, "utf-8")


def show(core: str, found: Sequence[Measured], board: Board) -> None:
    """Measured and estimated cycles of every layer."""
    prices = prices_of(board)
    for m in found:
        guess = sum(n * prices[unit] for unit, n in work_of(m.spec, m.layer.bits).items())
        layer = m.layer
        name = m.spec.family
        if layer.config is not None and layer.config.family is not PoolFamily.DECODE:
            name += f" {layer.config.builder.value} x{layer.config.chunk_groups}"
        shape = f"{layer.size:2}x{layer.size:<2} {layer.channels:3}->{layer.filters:3}"
        window = f"{layer.kernel}x{layer.kernel}/{layer.stride}"
        print(
            f"{core:7} {name:28} {shape} {window} S={layer.pool_size} b={layer.bits} "
            f"{m.cycles:>11,} {guess:>13,.0f} {guess / m.cycles - 1:+7.1%}"
        )


def show_choices(core: str, found: Sequence[Measured], board: Board) -> None:
    """What is lost where the kernel with the least estimate is not the fastest, shape by shape."""
    prices = prices_of(board)
    shapes: dict[Layer, list[tuple[float, int]]] = {}
    for m in found:
        guess = sum(n * prices[unit] for unit, n in work_of(m.spec, m.layer.bits).items())
        shapes.setdefault(replace(m.layer, config=None), []).append((guess, m.cycles))
    losses = [
        min(ways)[1] / min(cycles for _, cycles in ways) - 1
        for ways in shapes.values()
        if len(ways) > 1
    ]
    right = sum(loss == 0 for loss in losses)
    print(f"{core:7} fastest chosen in {right} of {len(losses)} shapes, lost at most", end=" ")
    print(f"{max(losses):.1%}")


def main() -> None:
    """Measure, and fit or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument(
        "--fit",
        nargs="*",
        metavar="UNIT",
        help="write prices that fit best: of these units, or all",
    )
    args = parser.parse_args()
    for core in args.cores:
        board = load_board(BOARDS[core])
        found = measure(list(layers(board.core)), board)
        show(core, found, board)
        show_choices(core, found, board)
        if args.fit is not None:
            write(core, fit(found, board, [Unit[name] for name in args.fit] or list(Unit)))


if __name__ == "__main__":
    main()
