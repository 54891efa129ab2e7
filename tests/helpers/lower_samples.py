"""Small INTEGER graphs and what compiles them, for the tests of lowering and code generation."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from targets import bare_target

from edgec.base.dtypes import Array, DType
from edgec.codegen import emit_library
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import ReduceKind
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.lower import Program, lower
from edgec.memory import MemoryPlan, check_plan, plan_memory
from edgec.target.cores import Core

BOARD = bare_target(Core.HOST)
"""A core that gets the plain C families."""
DSP_BOARD = bare_target(Core.CORTEX_M4)
"""A core with the DSP extension."""
SMALL_BOARD = bare_target(Core.CORTEX_M3)
"""A microcontroller's core without it."""


@dataclass(frozen=True)
class Lowered:
    """A graph on its way to C."""

    graph: Graph
    choices: tuple[KernelChoice, ...]
    plan: MemoryPlan
    program: Program


class NetBuilder:
    """A network, one short call per layer; every tensor has one quantization."""

    def __init__(self, name: str = "sample", zero_point: int = -3) -> None:
        self.builder = GraphBuilder(name)
        self.quant = QuantParams.per_tensor(0.05, zero_point)
        self.zero_point = zero_point
        self.rng = np.random.default_rng(7)

    def input(self, name: str, *shape: int) -> str:
        self.builder.inputs.append(name)
        return self.value(name, shape)

    def value(self, name: str, shape: tuple[int, ...]) -> str:
        return self.builder.value(Value(name, shape, DType.INT8, self.quant))

    def int8(self, *shape: int) -> Array:
        return self.rng.integers(-127, 128, shape, dtype=np.int8)

    def node(self, attrs: object, inputs: list[str], y: str, shape: tuple[int, ...]) -> str:
        self.value(y, shape)
        self.builder.node(f"{y}_node", attrs, inputs, [y], sources=[f"{y}_onnx"])
        return y

    def conv(
        self,
        x: str,
        y: str,
        shape: tuple[int, ...],
        kernel: int = 1,
        stride: int = 1,
        pad: int = 0,
        group: int = 1,
        residual: str = "",
    ) -> str:
        channels = self.builder.values[x].shape[3]
        filters = shape[3]
        weights = self.int8(filters, kernel, kernel, channels // group)
        constants = [
            self.builder.constant(f"{y}_weight", weights),
            *self._bias_and_multiplier(y, filters, kernel * kernel * channels // group),
        ]
        z = self.zero_point
        addition = qops.AddParams(z, z, 1 << 10, 1 << 11, 12, z) if residual else None
        form = qops.Requant31(32, z)
        attrs = qops.QConv((stride, stride), (pad,) * 4, (1, 1), group, form, addition)
        return self.node(attrs, [x, *constants, *([residual] if residual else [])], y, shape)

    def gemm(self, x: str, y: str, units: int) -> str:
        depth = self.builder.values[x].shape[-1]
        constants = [
            self.builder.constant(f"{y}_weight", self.int8(units, depth)),
            *self._bias_and_multiplier(y, units, depth),
        ]
        return self.node(
            qops.QGemm(qops.Requant31(32, self.zero_point)), [x, *constants], y, (1, units)
        )

    def add(self, a: str, b: str, y: str) -> str:
        z = self.zero_point
        attrs = qops.QAdd(qops.AddParams(z, z, 1 << 10, 1 << 10, 11, z))
        return self.node(attrs, [a, b], y, self.builder.values[a].shape)

    def mean(self, x: str, y: str) -> str:
        _, height, width, channels = self.builder.values[x].shape
        multiplier = round(2**32 / (height * width))
        form = qops.Requant31(32, self.zero_point)
        attrs = qops.QReduce(ReduceKind.MEAN, (1, 2), False, form, multiplier)
        return self.node(attrs, [x], y, (1, channels))

    def reshape(self, x: str, y: str, shape: tuple[int, ...]) -> str:
        return self.node(qops.QReshape(shape), [x], y, shape)

    def softmax(self, x: str, y: str) -> str:
        table = np.round(2**20 * np.exp(-0.05 * np.arange(256))).astype(np.int32)
        inputs = [x, self.builder.constant(f"{y}_table", table)]
        rule = qops.Quotients(1 << 20, 32, self.zero_point)
        return self.node(qops.QSoftmax(rule), inputs, y, self.builder.values[x].shape)

    def build(self, *outputs: str) -> Graph:
        self.builder.outputs.extend(outputs)
        return self.builder.build()

    def _bias_and_multiplier(self, y: str, filters: int, depth: int) -> list[str]:
        bias = self.rng.integers(-1000, 1000, filters).astype(np.int32)
        # Outputs spread over about a third of the codes.
        factor = 40.0 / (5000.0 * max(depth, 1) ** 0.5)
        multiplier = (self.rng.uniform(0.5, 1.0, filters) * factor * 2**32).astype(np.int32)
        return [
            self.builder.constant(f"{y}_bias", bias),
            self.builder.constant(f"{y}_multiplier", multiplier),
        ]


def small_net(name: str = "sample") -> Graph:
    """Most kinds of kernels: conv, depthwise, pointwise, residual, add, mean, gemm, softmax."""
    net = NetBuilder(name)
    x = net.input("x", 1, 9, 9, 3)
    c = net.conv(x, "c", (1, 9, 9, 8), kernel=3, pad=1)
    d = net.conv(c, "d", (1, 5, 5, 8), kernel=3, stride=2, pad=1, group=8)
    p = net.conv(d, "p", (1, 5, 5, 8))
    r = net.conv(p, "r", (1, 5, 5, 8), kernel=3, pad=1, residual=p)
    a = net.add(r, d, "a")
    m = net.mean(a, "m")
    f = net.reshape(m, "f", (1, 1, 8))
    g = net.gemm(f, "g", 10)
    return net.build(net.softmax(g, "s"))


def lowered(graph: Graph) -> Lowered:
    """The graph's program, with a checked plan."""
    choices = select_kernels(graph, BOARD)
    buffers, overlaps, _ = buffers_of(graph, choices)
    plan = plan_memory(buffers, overlaps)
    check_plan(plan, buffers, overlaps)
    return Lowered(graph, choices, plan, lower(graph, choices, plan))


def emitted(graph: Graph, folder: Path) -> Lowered:
    """As `lowered`, with the library written into `folder`."""
    result = lowered(graph)
    emit_library(result.program, folder)
    return result
