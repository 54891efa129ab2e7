"""Single layers with a weight pool: built for a board, run in the emulator, and timed.

What `pool_prices.py` fits its prices to and judges them on, and what `pool_kernels.py` shows.
Firmware holds several layers, one step each, and runs with memory that never waits.  Of Cortex-A
cores, which have no cycle model, executed instructions take the place of cycles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from built import firmware_of

from edgec.base.dtypes import Array, DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool_graph import with_plain_weights
from edgec.kernels.buffers import buffers_of
from edgec.kernels.family import KernelSpec
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.bounds import least_response_shift
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.lower import lower
from edgec.memory import plan_memory
from edgec.profile.instructions import InstructionCounter
from edgec.profile.pricing import Pricer
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.sim.trace_linux import trace_program
from edgec.target.board import Board
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
"""A board of each core."""
_LAYERS_A_BUILD = 14
"""Outputs of all layers of a build must fit the RAM together."""
_ZERO_POINT = -128


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer to build: [size, size, channels] to `filters`, window of `kernel` x `kernel`.

    Attributes:
        pool_size: vectors of the pool, S.
        bits: width of activations.
        config: the kernel; None: weights are expanded and the kernel is a plain one.
        group: weights of a vector, G.
        residual: the addition of another tensor is part of the layer.
        zero_point: of the input; -128 after a ReLU.
        terms: vectors of the pool that are added up to one of the layer.
    """

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
    zero_point: int = _ZERO_POINT
    terms: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """A layer's specification and its cycles."""

    layer: Layer
    spec: KernelSpec
    cycles: int


def graph_of(made: Sequence[Layer]) -> tuple[Graph, dict[str, PoolKernelConfig]]:
    """One node per layer, each on the same input as others of its shape."""
    rng = np.random.default_rng(5)
    builder = GraphBuilder("prices")
    configs = {}
    for number, layer in enumerate(made):
        x = f"x_{layer.size}_{layer.channels}_{layer.zero_point + 128}"
        quant = QuantParams.per_tensor(0.05, layer.zero_point)
        if x not in builder.values:
            builder.value(Value(x, (1, layer.size, layer.size, layer.channels), DType.INT8, quant))
            builder.inputs.append(x)
        node = _add(builder, layer, number, x, rng)
        if layer.config is not None:
            configs[node] = layer.config
    graph = builder.build()
    plain = {f"node_{i}" for i, layer in enumerate(made) if layer.config is None}
    return with_plain_weights(graph, plain), configs


def _add(builder: GraphBuilder, layer: Layer, number: int, x: str, rng: np.random.Generator) -> str:
    vectors, indices = _weights(layer, rng)
    shift = _shift_of(layer, vectors, indices)
    names = [
        builder.constant(f"pool_{layer.pool_size}_{number}", vectors),
        builder.constant(f"indices_{number}", indices),
        builder.constant(f"bias_{number}", np.zeros(layer.filters, np.int32)),
        builder.constant(f"multiplier_{number}", np.full(layer.filters, 1 << 20, np.int32)),
    ]
    pad = layer.kernel // 2
    conv = qops.QConv((layer.stride,) * 2, (pad,) * 4, (1, 1), 1, qops.Requant31(32, _ZERO_POINT))
    side = -(-layer.size // layer.stride)
    quant = QuantParams.per_tensor(0.05, _ZERO_POINT)
    y = builder.value(Value(f"y_{number}", (1, side, side, layer.filters), DType.INT8, quant))
    if layer.residual:
        z = _ZERO_POINT
        conv = replace(conv, residual=qops.AddParams(z, z, 1 << 10, 1 << 11, 12, z))
        other = builder.value(replace(builder.values[y], name=f"r_{number}"))
        builder.inputs.append(other)
        names.append(other)
    attrs = qops.QPooledConv(conv, qops.PoolRounding(layer.bits, shift))
    builder.node(f"node_{number}", attrs, [x, *names], [y])
    builder.outputs.append(y)
    return f"node_{number}"


def _weights(layer: Layer, rng: np.random.Generator) -> tuple[Array, Array]:
    """A pool int8 [S, G], and indices uint16 [filters, kernel, kernel, groups * terms] into it."""
    most = 120 // layer.group
    vectors = rng.integers(-most, most + 1, (layer.pool_size, layer.group)).astype(np.int8)
    groups = -(-layer.channels // layer.group)
    shape = (layer.filters, layer.kernel, layer.kernel, groups * layer.terms)
    return vectors, rng.integers(0, layer.pool_size, shape).astype(np.uint16)


def _shift_of(layer: Layer, vectors: Array, indices: Array) -> int:
    """The response shift that the kernel needs."""
    config = layer.config
    if config is None or config.family is not PoolFamily.RESPONSES or config.lanes == 1:
        return 0
    return least_response_shift(vectors, indices, layer.zero_point, layer.bits, layer.channels)


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
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-128, 128, graph.shape(x)).astype(np.int8) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        counts = step_cycles(firmware_of(program, board, Path(name)), board, inputs)
    specs = [choice.spec for choice in choices]
    return [Measured(*each) for each in zip(made, specs, counts, strict=True)]


def step_cycles(elf: Path, board: Board, inputs: Sequence[Array]) -> list[int]:
    """Cycles of each step; executed instructions on a board with Linux."""
    if board.linux is not None:
        program = trace_program(elf, board, inputs)
        counter = InstructionCounter(program.program)
        return [counter.total(segment).instructions for segment in program.segments]
    pricer = Pricer(load_image(elf, board), core_model(board.core, board.fpu))
    run = trace_inference(elf, board, inputs, MemoryMode.IDEAL, pace=pricer.pace)
    return [pricer.price(segment).total.cycles for segment in run.trace.segments]
