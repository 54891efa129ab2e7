"""Oracle = generated C for the products of five rows of activations in three words."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import operators
from targets import by_precedence

from edgec.base.dtypes import Array, DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.kernels.m0.dense_5x2_s8_m0.spec import Dense5x2
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {1: "nucleo_f207zg", 4: "nucleo_g0b1re"}
"""By activations of which a step of the loop takes a multiple."""


@dataclass(frozen=True)
class Conv:
    """A convolution of [size, size + 1, channels], or a product of `size` rows for kernel 0."""

    size: int
    channels: int
    filters: int
    kernel: int = 0
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    weights: str = "any"
    residual: bool = False

    def shape(self) -> tuple[int, ...]:
        if self.kernel == 0:
            return (1, self.size, self.channels)
        return (1, self.size, self.size + 1, self.channels)


CASES = (
    Conv(7, 64, 5),
    Conv(4, 300, 6, weights="lowest"),
    Conv(5, 129, 9, weights="extremes"),
    Conv(4, 16, 8, 1, residual=True),
    Conv(5, 3, 16, 3, pad=1),
    Conv(6, 5, 7, 3, stride=2, pad=1, weights="lowest"),
    Conv(6, 8, 4, 3, pad=2, dilation=2, residual=True),
    Conv(9, 2, 6, 3, dilation=2, stride=2),
    Conv(4, 70, 5, 2, pad=1, weights="extremes", residual=True),
    Conv(4, 16, 10, 3),
    # All lengths of the last turn of the loop, all numbers of rows in the last block.
    *(Conv(depth + 1, depth, 4 + depth % 3) for depth in range(1, 11)),
    # Words of so many activations leave room for the sums of few filters.
    Conv(3, 128, 36, 3, pad=1),
)


def weights_of(case: Conv, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if case.weights == "lowest":
        return np.full(shape, -128, np.int8)
    if case.weights == "extremes":
        return rng.choice(np.array([-128, 127], np.int8), shape)
    return rng.integers(-128, 128, shape).astype(np.int8)


def graph_of(cases: tuple[Conv, ...], seed: int = 1) -> Graph:
    builder = GraphBuilder("dense_5x2_s8_m0")
    rng = np.random.default_rng(seed)
    for number, case in enumerate(cases):
        _add(builder, case, number, rng)
    return builder.build()


def _add(builder: GraphBuilder, case: Conv, number: int, rng: np.random.Generator) -> None:
    zero, y_zero = (int(z) for z in rng.choice([-128, 127, -3, 0], 2))
    x = Value(f"x{number}", case.shape(), DType.INT8, QuantParams.per_tensor(0.05, zero))
    builder.inputs.append(builder.value(x))
    taps = (case.kernel, case.kernel) if case.kernel else ()
    weights = weights_of(case, (case.filters, *taps, case.channels), rng)
    depth = weights[0].size
    multipliers = rng.integers(2**29, 2**31 - 1, case.filters) // round(90 * depth**0.5)
    names = [
        builder.constant(f"weights{number}", weights),
        builder.constant(f"bias{number}", rng.integers(-9999, 9999, case.filters).astype(np.int32)),
        builder.constant(f"multipliers{number}", multipliers.astype(np.int32)),
    ]
    y_shape = (*case.shape()[:-1], case.filters)
    attrs: qops.QConv | qops.QGemm = qops.QGemm(qops.Requant31(32, y_zero))
    if case.kernel:
        reach = (case.kernel - 1) * case.dilation + 1
        sides = [(n + 2 * case.pad - reach) // case.stride + 1 for n in case.shape()[1:3]]
        y_shape = (1, *sides, case.filters)
        added = qops.AddParams(y_zero, 5, 1 << 10, 1 << 11, 12, y_zero) if case.residual else None
        pairs = [(n, n) for n in (case.stride, case.dilation)]
        form = qops.Requant31(31, y_zero, low=-120)
        attrs = qops.QConv(pairs[0], (case.pad,) * 4, pairs[1], 1, form, added)
        if added:
            other = Value(f"r{number}", y_shape, DType.INT8, QuantParams.per_tensor(0.05, 5))
            names.append(builder.value(other))
            builder.inputs.append(other.name)
    y = Value(f"y{number}", y_shape, DType.INT8, QuantParams.per_tensor(0.05, y_zero))
    builder.node(f"node{number}", attrs, [x.name, *names], [builder.value(y)])
    builder.outputs.append(y.name)


def test_the_cases_get_this_kernel_and_cut_long_sums():
    for step, board in BOARDS.items():
        specs = [
            choice.spec
            for choice in select_kernels(
                graph_of(CASES), by_precedence(Target.of(load_board(board)))
            )
        ]
        assert all(isinstance(spec, Dense5x2) for spec in specs)
        assert {spec.step for spec in specs} == {step}
        # 15 weights of -128 have room, 16 do not.
        lowest = specs[1]
        assert lowest.segment < 16
        assert lowest.segments == -(-lowest.padded_depth // lowest.segment) >= 5
        assert specs[3].segments == 1
        assert specs[-1].batch == 8


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("step", BOARDS)
def test_on_the_host(step: int, tmp_path: Path):
    check_host(graph_of(CASES), tmp_path, board=BOARDS[step])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("step", BOARDS)
def test_transformer_layers_on_the_host(step: int, tmp_path: Path):
    check_host(operators(4, ["gemm", "conv"], 12), tmp_path, board=BOARDS[step])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("step", BOARDS)
def test_on_an_emulated_core(step: int, tmp_path: Path):
    need_emulator(BOARDS[step])
    graph = graph_of(CASES, seed=2)
    program = compiled(graph, tmp_path / "library", board=BOARDS[step])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[step], tmp_path / "library", program, samples, tmp_path / "project")
